//! Setups and runs of the engine.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration as WallTime, Instant as WallClock};

use clift::link::{Fragmentation, LinkConfig, QueueLimit, Resequencing};
use clift::simulation::{self as engine, Application, LegConfig, Loss, Observer};
use clift::transport::tcp::{LinuxOptions, Profile, TcpConfig};
use clift::units::{BitRate, Bytes, Duration, Instant, Probability};
use pyo3::prelude::*;

use crate::delays::propagation;
use crate::errors::{run_error, scenario_error};
use crate::medium::AnyMedium;
use crate::outcome::Outcome;

/// How often a run looks whether somebody pressed Ctrl-C, and reports progress.
const LOOK: WallTime = WallTime::from_millis(50);

/// One element of a path: a wired leg or a link.
#[pyclass(frozen, module = "clift._clift")]
pub(crate) struct Hop(engine::Hop);

#[pymethods]
impl Hop {
    /// A leg that only delays, by `(from_ns, delay_ns)` in steps.
    #[staticmethod]
    fn varying(steps: Vec<(u64, u64)>, keep_order: bool) -> PyResult<Self> {
        let delay = propagation(&steps, keep_order)?;
        Ok(Self(engine::Hop::Leg(LegConfig::of_delay(delay))))
    }

    /// The hops of the way back over these of the way there, if nothing else is known of it.
    #[staticmethod]
    fn way_back(there: Vec<PyRef<'_, Self>>) -> Vec<Self> {
        let there: Vec<_> = there.iter().map(|hop| hop.0.clone()).collect();
        engine::Hop::way_back(&there).into_iter().map(Self).collect()
    }

    /// A wired leg. `rate_bps` None: packets take no time; `loss` is a probability,
    /// `lost_packets` the numbers of the packets to lose, `held_packets` of those to hold back for
    /// so many nanoseconds.
    #[staticmethod]
    #[pyo3(signature = (*, rate_bps=None, delay_ns=0, queue_packets=None, queue_bytes=None, loss=0.0, lost_packets=None, held_packets=None))]
    fn leg(
        rate_bps: Option<u64>,
        delay_ns: u64,
        queue_packets: Option<u32>,
        queue_bytes: Option<u64>,
        loss: f64,
        lost_packets: Option<Vec<u64>>,
        held_packets: Option<Vec<(u64, u64)>>,
    ) -> PyResult<Self> {
        let loss = match (lost_packets, held_packets) {
            (lost, Some(packets)) => {
                let held = packets.into_iter().map(|(number, nanos)| Ok((number, time(nanos)?)));
                let mut held = held.collect::<PyResult<Vec<_>>>()?;
                held.sort_unstable();
                held.dedup_by_key(|&mut (number, _)| number);
                let lost = ascending(lost.unwrap_or_default()).into();
                Loss::Fates { lost, held: held.into() }
            }
            (Some(packets), None) => Loss::Packets(ascending(packets).into()),
            (None, None) => Loss::Random(Probability::new(loss).map_err(scenario_error)?),
        };
        let rate = rate_bps.map(bit_rate).transpose()?;
        let delay = time(delay_ns)?;
        Ok(Self(engine::Hop::Leg(LegConfig {
            rate,
            delay: delay.into(),
            queue: limit(queue_packets, queue_bytes),
            loss,
        })))
    }

    /// A link over a link trace or a live one.
    #[staticmethod]
    #[pyo3(signature = (medium, *, queue_packets=None, queue_bytes=None, start_offset_ns=0, wrap=false, lldu_header=0, packet_header=0, extra_lldu=false, overlap_papers=false, reorder=None))]
    #[allow(clippy::too_many_arguments)] // keyword-only on the Python side
    fn link(
        medium: AnyMedium<'_>,
        queue_packets: Option<u32>,
        queue_bytes: Option<u64>,
        start_offset_ns: u64,
        wrap: bool,
        lldu_header: u32,
        packet_header: u32,
        extra_lldu: bool,
        overlap_papers: bool,
        reorder: Option<&crate::link::Reorder>,
    ) -> PyResult<Self> {
        Ok(Self(engine::Hop::Link(LinkConfig {
            medium: medium.medium(),
            queue: limit(queue_packets, queue_bytes),
            start_offset: time(start_offset_ns)?,
            wrap,
            fragmentation: Fragmentation {
                lldu_header: Bytes(lldu_header),
                packet_header: Bytes(packet_header),
                extra_lldu,
            },
            overlap_papers,
            reorder: reorder.map(|reorder| -> Resequencing { reorder.rule() }),
        })))
    }
}

/// One connection over a path.
#[pyclass(frozen, module = "clift._clift")]
pub(crate) struct Flow(engine::Flow);

#[pymethods]
impl Flow {
    /// `transport`: newreno, cubic, hybla, westwood, compound, bbr or udp. `delayed_ack_ns` None: the
    /// profile's, 0: none. `linux`: parts of that profile by name. Exactly one application: `file_bytes`,
    /// `message_bytes` with `message_rate_bps`, or neither for bulk.
    #[new]
    #[pyo3(signature = (*, transport, profile="papers", packet_bytes=1500, start_ns=0, timestamps=true, sack=true, linux=None, initial_window=None, delayed_ack_ns=None, cwnd_max_packets=None, receive_window_bytes=None, file_bytes=None, message_bytes=None, message_rate_bps=None, deadline_ns=None, source_leg=None))]
    #[allow(clippy::too_many_arguments)] // keyword-only on the Python side
    fn new(
        transport: &str,
        profile: &str,
        packet_bytes: u32,
        start_ns: u64,
        timestamps: bool,
        sack: bool,
        linux: Option<BTreeMap<String, Bound<'_, PyAny>>>,
        initial_window: Option<u32>,
        delayed_ack_ns: Option<u64>,
        cwnd_max_packets: Option<u32>,
        receive_window_bytes: Option<u32>,
        file_bytes: Option<u64>,
        message_bytes: Option<u32>,
        message_rate_bps: Option<u64>,
        deadline_ns: Option<u64>,
        source_leg: Option<&Hop>,
    ) -> PyResult<Self> {
        let application = match (file_bytes, message_bytes, message_rate_bps) {
            (None, None, None) => Application::Bulk,
            (Some(0), _, _) => return Err(scenario_error("a file of 0 bytes: give at least 1")),
            (Some(bytes), None, None) => Application::File { bytes },
            (None, Some(message), Some(rate)) if message > 0 => Application::ConstantRate {
                rate: bit_rate(rate)?,
                message: Bytes(message),
                deadline: deadline_ns.map(time).transpose()?,
            },
            _ => {
                return Err(scenario_error(
                    "give file_bytes, or message_bytes (above 0) with message_kbps, or neither",
                ));
            }
        };
        let transport = if transport == "udp" {
            if packet_bytes <= clift::transport::datagram::HEADER {
                return Err(scenario_error("packet_bytes: a UDP packet has 29 bytes or more"));
            }
            engine::Transport::Datagram { packet: Bytes(packet_bytes) }
        } else {
            engine::Transport::Tcp(tcp(
                transport,
                profile,
                packet_bytes,
                timestamps,
                sack,
                linux,
                initial_window,
                delayed_ack_ns,
                cwnd_max_packets,
                receive_window_bytes,
            )?)
        };
        let source_leg = match source_leg.map(|hop| &hop.0) {
            None => None,
            Some(engine::Hop::Leg(leg)) => Some(leg.clone()),
            Some(engine::Hop::Link(_)) => {
                return Err(scenario_error(
                    "source_leg: give a leg; links stand on the shared path",
                ));
            }
        };
        let start = Instant::ZERO + time(start_ns)?;
        Ok(Self(engine::Flow { start, transport, application, source_leg }))
    }
}

/// One run: everything that decides its outcome.
#[pyclass(frozen, module = "clift._clift")]
pub(crate) struct Setup(Arc<engine::Setup>);

#[pymethods]
impl Setup {
    #[new]
    #[pyo3(signature = (*, forward, backward, flows, duration_ns, seed, stop_when_done=false))]
    fn new(
        forward: Vec<PyRef<'_, Hop>>,
        backward: Vec<PyRef<'_, Hop>>,
        flows: Vec<PyRef<'_, Flow>>,
        duration_ns: u64,
        seed: u64,
        stop_when_done: bool,
    ) -> PyResult<Self> {
        let hops = |hops: &[PyRef<'_, Hop>]| hops.iter().map(|hop| hop.0.clone()).collect();
        Ok(Self(Arc::new(engine::Setup {
            seed: clift::seed::Seed(seed),
            duration: time(duration_ns)?,
            stop_when_done,
            forward: hops(&forward),
            backward: hops(&backward),
            flows: flows.iter().map(|flow| flow.0.clone()).collect(),
        })))
    }
}

impl Setup {
    pub(crate) fn new_inner(setup: engine::Setup) -> Self {
        Self(Arc::new(setup))
    }

    pub(crate) fn inner(&self) -> &engine::Setup {
        &self.0
    }
}

/// Runs one setup. `progress(simulated_ns, bytes_in_order)` is called about 20 times a second.
#[pyfunction]
#[pyo3(signature = (setup, progress=None))]
pub(crate) fn run(py: Python<'_>, setup: &Setup, progress: Option<Py<PyAny>>) -> PyResult<Outcome> {
    let mut observer = Watcher { progress, looked: now(), failure: None };
    let outcome = py.detach(|| engine::run(&setup.0, &mut observer));
    match observer.failure {
        Some(failure) => Err(failure),
        None => outcome.map(Outcome::new).map_err(run_error),
    }
}

/// Runs many setups on `threads` threads. `progress(done)` is called about 20 times a second; an
/// exception in it (or Ctrl-C) stops the runs. Returns, in input order, an outcome, an error
/// message, or None where a run did not finish, and the exception that stopped them.
#[pyfunction]
#[pyo3(signature = (setups, threads, progress=None))]
#[allow(clippy::type_complexity)]
pub(crate) fn run_many(
    py: Python<'_>,
    setups: Vec<PyRef<'_, Setup>>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Vec<Option<Result_>>, Option<PyErr>)> {
    let setups: Vec<Arc<engine::Setup>> = setups.iter().map(|setup| Arc::clone(&setup.0)).collect();
    let (results, stopped) = py.detach(|| run_on_threads(&setups, threads, progress));
    let results = results.into_iter().map(|result| result.map(Result_::from)).collect();
    Ok((results, stopped))
}

/// What `run_many` gives for a finished run: an outcome or the message of its error.
#[derive(IntoPyObject)]
pub(crate) enum Result_ {
    Outcome(Outcome),
    Error(String),
}

impl From<Result<engine::Outcome, engine::RunError>> for Result_ {
    fn from(result: Result<engine::Outcome, engine::RunError>) -> Self {
        match result {
            Ok(outcome) => Self::Outcome(Outcome::new(outcome)),
            Err(error) => Self::Error(error.to_string()),
        }
    }
}

type Finished = Option<Result<engine::Outcome, engine::RunError>>;

/// Threads take the next setup in turn; what each finds depends on nothing but its setup.
fn run_on_threads(
    setups: &[Arc<engine::Setup>],
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> (Vec<Finished>, Option<PyErr>) {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let (sender, finished) = mpsc::channel();
    let mut results: Vec<Finished> = vec![None; setups.len()];
    let mut stopped = None;
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, setups.len().max(1)) {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(setup) = setups.get(index) else { return };
                    let outcome = engine::run(setup, &mut Stoppable(stop));
                    if sender.send((index, outcome)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let (mut done, mut looked) = (0usize, now());
        loop {
            match finished.recv_timeout(LOOK) {
                Ok((index, Err(engine::RunError::Interrupted { .. }))) => results[index] = None,
                Ok((index, outcome)) => {
                    results[index] = Some(outcome);
                    done += 1;
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            if stopped.is_none() && looked.elapsed() >= LOOK {
                looked = now();
                if let Err(failure) = look(&progress, (done,)) {
                    stop.store(true, Ordering::Relaxed);
                    stopped = Some(failure);
                }
            }
        }
    });
    (results, stopped)
}

/// Lets Python handle signals and call the progress function.
fn look<'py>(
    progress: &Option<Py<PyAny>>,
    arguments: impl for<'a> pyo3::call::PyCallArgs<'a>,
) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        match progress {
            Some(progress) => progress.call1(py, arguments).map(drop),
            None => Ok(()),
        }
    })
}

/// Watches a single run for Python.
struct Watcher {
    progress: Option<Py<PyAny>>,
    looked: WallClock,
    failure: Option<PyErr>,
}

impl Observer for Watcher {
    fn checkpoint(&mut self, at: Instant, bytes_in_order: u64) -> ControlFlow<()> {
        if self.looked.elapsed() < LOOK {
            return ControlFlow::Continue(());
        }
        self.looked = now();
        match look(&self.progress, (at.as_nanos(), bytes_in_order)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                self.failure = Some(failure);
                ControlFlow::Break(())
            }
        }
    }
}

/// Ends a run when the flag goes up.
struct Stoppable<'a>(&'a AtomicBool);

impl Observer for Stoppable<'_> {
    fn checkpoint(&mut self, _: Instant, _: u64) -> ControlFlow<()> {
        if self.0.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// The wall clock: only for how often to look, never for what a run computes.
#[allow(clippy::disallowed_methods)]
fn now() -> WallClock {
    WallClock::now()
}

#[allow(clippy::too_many_arguments)]
fn tcp(
    congestion: &str,
    profile: &str,
    packet_bytes: u32,
    timestamps: bool,
    sack: bool,
    linux: Option<BTreeMap<String, Bound<'_, PyAny>>>,
    initial_window: Option<u32>,
    delayed_ack_ns: Option<u64>,
    cwnd_max_packets: Option<u32>,
    receive_window_bytes: Option<u32>,
) -> PyResult<TcpConfig> {
    let congestion = congestion.parse().map_err(scenario_error)?;
    let mut config = match profile {
        "papers" => TcpConfig::papers(congestion),
        "linux" => TcpConfig::linux(congestion),
        _ => {
            let message = format!("profile `{profile}` is not there; give `papers` or `linux`");
            return Err(scenario_error(message));
        }
    };
    config.packet = Bytes(packet_bytes);
    config.timestamps = timestamps;
    config.sack = sack;
    if let Some(parts) = linux {
        if config.profile != Profile::Linux {
            return Err(scenario_error("linux: its parts belong to profile=\"linux\""));
        }
        config.linux = linux_options(&parts)?;
    }
    if let Some(window) = initial_window {
        config.initial_window = window;
    }
    match delayed_ack_ns {
        None => {}
        Some(0) => config.delayed_ack = None,
        Some(nanos) => config.delayed_ack = Some(time(nanos)?),
    }
    config.cwnd_max = cwnd_max_packets;
    config.receive_window = receive_window_bytes.map(Bytes);
    config.check().map_err(scenario_error)?;
    Ok(config)
}

/// The parts of profile `linux` by name, the others as they are by default.
fn linux_options(parts: &BTreeMap<String, Bound<'_, PyAny>>) -> PyResult<LinuxOptions> {
    let mut options = LinuxOptions::default();
    for (name, value) in parts {
        let wants = if name == "max_reordering" {
            options.max_reordering = value.extract().unwrap_or(0);
            (options.max_reordering == 0).then_some("a number of segments, 3 or more")
        } else if let Some(switch) = options.switch(name) {
            value.extract().map(|on| *switch = on).err().map(|_| "True or False")
        } else {
            let known = LinuxOptions::NAMES.join(", ");
            return Err(scenario_error(format!("linux: no part `{name}`; one of {known}")));
        };
        if let Some(wants) = wants {
            return Err(scenario_error(format!("linux: {name} = {value}: give {wants}")));
        }
    }
    Ok(options)
}

fn ascending(mut packets: Vec<u64>) -> Vec<u64> {
    packets.sort_unstable();
    packets.dedup();
    packets
}

fn limit(packets: Option<u32>, bytes: Option<u64>) -> QueueLimit {
    match (packets, bytes) {
        (Some(packets), _) => QueueLimit::Packets(packets),
        (None, Some(bytes)) => QueueLimit::Bytes(bytes),
        (None, None) => QueueLimit::Unlimited,
    }
}

pub(crate) fn bit_rate(bits: u64) -> PyResult<BitRate> {
    BitRate::from_bits_per_second(bits)
        .ok_or_else(|| scenario_error("a rate of 0 bit/s carries nothing; give one above 0"))
}

/// A time in nanoseconds, at most 2^61 (73 years).
pub(crate) fn time(nanos: u64) -> PyResult<Duration> {
    if nanos > 1 << 61 {
        return Err(scenario_error(format!("{nanos} ns is over 73 years; check the unit")));
    }
    Ok(Duration::from_nanos(nanos))
}
