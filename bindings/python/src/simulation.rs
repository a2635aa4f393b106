//! What the engine can run: hops, flows, setups.

use std::collections::BTreeMap;
use std::sync::Arc;

use clift::application::{Application, Bulk, ConstantRate, File};
use clift::link::{Fragmentation, QueueLimit, Resequencing};
use clift::scheme::LinkConfig;
use clift::simulation::{self as engine, LegConfig, Loss};
use clift::transport::Protocol;
use clift::transport::datagram::{self, DatagramConfig};
use clift::units::{BitRate, Bytes, Duration, Instant, Probability};
use pyo3::prelude::*;

use crate::delays::propagation;
use crate::errors::scenario_error;
use crate::medium::AnyMedium;
use crate::tcp::tcp;

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
    /// messages at
    /// `message_rate_bps`, or neither for bulk; they are of `message_bytes`, or of what a packet carries.
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
        let transport: Arc<dyn Protocol> = if transport == "udp" {
            if packet_bytes <= datagram::HEADER {
                return Err(scenario_error("packet_bytes: a UDP packet has 29 bytes or more"));
            }
            Arc::new(DatagramConfig { packet: Bytes(packet_bytes) })
        } else {
            Arc::new(tcp(
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
        let application: Arc<dyn Application> = match (file_bytes, message_rate_bps) {
            (None, None) => Arc::new(Bulk),
            (Some(0), _) => return Err(scenario_error("a file of 0 bytes: give at least 1")),
            (Some(bytes), None) => Arc::new(File { bytes }),
            (None, Some(rate)) => Arc::new(ConstantRate {
                rate: bit_rate(rate)?,
                message: message_bytes.map_or(transport.payload(), Bytes),
                deadline: deadline_ns.map(time).transpose()?,
            }),
            (Some(_), Some(_)) => {
                let cure = "a file, and messages at a constant rate: leave one of them out";
                return Err(scenario_error(format!("file_bytes and message_kbps: {cure}")));
            }
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
pub(crate) struct Setup(pub(crate) Arc<engine::Setup>);

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
