//! Captures of simulated runs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

use thiserror::Error;

use super::frame::Flow;
use super::timeline::{Fate, Seen, Ticket, Timeline};
use crate::config::Fault;
use crate::diagnosis::{Cut, diagnose};
use crate::link::{Transit, Transmission};
use crate::simulation::{Hop, Observer, Outcome, RunError, Setup, Step, UnitCounts, Wants, run};
use crate::trace::{FileError, write_file};
use crate::transport::End;
use crate::units::Instant;

/// The reason why no capture was written. The previous content of the file is then unchanged.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The run has no outcome.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The file cannot be written; the message names it.
    #[error(transparent)]
    File(#[from] FileError),
    /// The setup or the name of the file does not allow a capture, or a connection keeps no log.
    #[error(transparent)]
    Setup(#[from] Fault),
}

/// Result of a capture.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Packets in the file, once for each place where they were captured.
    pub packets: u64,
    /// The outcome of the run.
    pub outcome: Outcome,
}

/// Runs a setup, first to find the causes of window cuts, then to write its capture to `path`, with
/// `snap` bytes of each packet (80 hold the longest headers of IPv4 and TCP);
/// `go_on` is called regularly, and the run stops if it returns false.
///
/// ```
/// use clift::capture::record;
/// use clift::scenario::{Scenario, Store};
/// use clift::trace::Folder;
/// let text = r#"
///     duration = "2 s"
///     [[path]]
///     leg = { rate = "1 Mbit/s", delay = "20 ms" }
/// "#;
/// let scenario = Scenario::parse("leg.toml", text, &[], &clift::Registry::new())?;
/// let setup = scenario.cells()[0].setup(0, &Store::new(Folder::new("")))?;
/// let folder = std::env::temp_dir().join(format!("clift-capture-{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// let summary = record(&setup, &folder.join("x.pcapng"), 80, &|| true)?;
/// // Data and acknowledgements, each captured at three places.
/// assert!(summary.packets > 3 * summary.outcome.flows[0].sender.segments_sent);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the run has no outcome, or the file cannot be written; the file is then unchanged.
pub fn record(
    setup: &Setup,
    path: &Path,
    snap: u32,
    go_on: &(dyn Fn() -> bool + Sync),
) -> Result<Summary, CaptureError> {
    check_name(path)?;
    if !setup.proxies.is_empty() {
        let cure = "a capture shows one connection per flow, but proxies split it; remove `pep`";
        return Err(Fault::at(cure).into());
    }
    if setup.routing.rerouting.is_some() {
        let cure = "a capture shows the packets at a link of their route, but the routes change; \
                    leave `network.reroute_every` out, or give routes";
        return Err(Fault::at(cure).into());
    }
    // A run that fails, fails again below; one without a capacity has comments without causes.
    let cuts = diagnose(setup, &|| go_on()).map(|(_, found)| found.cuts).unwrap_or_default();
    run_into(path, go_on, |out| {
        let paths = setup.flows.iter().map(|flow| flow.transport.paths()).max().unwrap_or(1);
        let timeline = Timeline::new(out, 0, snap, paths as u8)?;
        let mut recorder = Recorder::new(setup, timeline, snap, &cuts, go_on);
        let outcome = run(setup, &mut recorder);
        let packets = recorder.finish(outcome.is_ok())?;
        Ok(outcome.map(|outcome| Summary { packets, outcome }))
    })
}

/// Lets `run` write the file at `path`, whose previous content stays if the run has no outcome.
pub(super) fn run_into<T>(
    path: &Path,
    go_on: &(dyn Fn() -> bool + Sync),
    run: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<Result<T, RunError>>,
) -> Result<T, CaptureError> {
    let mut ran = None;
    let written = write_file(path, go_on, |out| {
        let is_done = ran.insert(run(out)?).is_ok();
        if is_done { Ok(()) } else { Err(io::Error::other("no outcome").into()) }
    });
    match (ran, written) {
        (Some(Err(RunError::Interrupted { .. })) | None | Some(Ok(_)), Err(error)) => {
            Err(error.into())
        }
        (Some(ran), _) => Ok(ran?),
        (None, Ok(())) => unreachable!("a file is written by a run"),
    }
}

/// Checks that a file has the suffix of a capture, or is not an ordinary file.
///
/// # Errors
/// If it does not.
pub fn check_name(path: &Path) -> Result<(), CaptureError> {
    let fits = path.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("pcapng"));
    let device = || std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir());
    match fits || device() {
        true => Ok(()),
        false => {
            let cure = "captures are written as pcapng; give a name that ends in .pcapng";
            Err(Fault::at(format!("{}: {cure}", path.display())).into())
        }
    }
}

/// Observes a run and writes its packets.
struct Recorder<'a, W> {
    timeline: Timeline<W>,
    failed: Option<io::Error>,
    go_on: &'a (dyn Fn() -> bool + Sync),
    snap: u32,
    /// Flows, each with its paths.
    flows: Vec<Vec<Over>>,
    /// The packets in flight, by number.
    flights: Vec<Option<Flight>>,
    /// The units of packets, by hop.
    counts: Vec<UnitCounts>,
    /// What packets led to, by flow, path, first byte and time of sending.
    led_to: BTreeMap<(u32, u32, u64, Instant), String>,
}

/// A packet in flight.
struct Flight {
    ticket: Ticket,
    seen: Seen,
    /// The hop at which it is captured when its transmission starts.
    seen_at: Option<usize>,
    sent: Instant,
}

/// A path of a flow.
struct Over {
    flow: Flow,
    /// The hops that packets of each end cross, in order.
    ways: [Vec<usize>; 2],
    /// Those of them at which packets are captured when their transmission starts.
    seen_at: [Option<usize>; 2],
}

impl<'a, W: Write> Recorder<'a, W> {
    /// A recorder of runs of `setup`, which keeps `snap` bytes of each packet. The comment of a packet
    /// that led to one of these window cuts says so.
    fn new(
        setup: &Setup,
        timeline: Timeline<W>,
        snap: u32,
        cuts: &[Cut],
        go_on: &'a (dyn Fn() -> bool + Sync),
    ) -> Self {
        let flow = |(number, (place, flow)): (u32, (usize, &crate::simulation::Flow))| {
            let over = |(path, ways): (u8, [Vec<usize>; 2])| {
                let own = Flow::new(number, path, flow.transport.name() == "tcp");
                let own = if flow.application.is_session() { own.of_dialogue() } else { own };
                let seen_at = [0, 1].map(|end| first_link(setup, &ways[end]));
                Over { flow: own, ways, seen_at }
            };
            (0..).zip(ways(setup, place)).map(over).collect()
        };
        let mut led_to: BTreeMap<_, String> = BTreeMap::new();
        for (number, cut) in cuts.iter().enumerate() {
            if let Some(packet) = &cut.packet {
                let key = (cut.flow, cut.connection, packet.start, packet.sent);
                let text = led_to.entry(key).or_default();
                // Writing to a string does not fail.
                let _ = write!(text, "; at {:.3} s {}", cut.at.as_secs_f64(), cut.words(number));
            }
        }
        let connections = setup.flows.iter().enumerate();
        let connections = connections.flat_map(|own| std::iter::repeat_n(own, own.1.connections()));
        Self {
            timeline,
            failed: None,
            go_on,
            snap,
            flows: (0..).zip(connections).map(flow).collect(),
            flights: Vec::new(),
            counts: setup.forward.iter().chain(&setup.backward).map(UnitCounts::of).collect(),
            led_to,
        }
    }

    /// Writes the remaining packets; `whole`: the run reached its end. Returns the number of
    /// packets written.
    ///
    /// # Errors
    /// If writing failed.
    fn finish(mut self, whole: bool) -> io::Result<u64> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if whole {
            let mut open: Vec<Flight> = self.flights.drain(..).flatten().collect();
            open.sort_by_key(|flight| flight.sent);
            open.into_iter().for_each(|flight| flight.end(&mut self.timeline, Fate::Open, None));
        }
        self.timeline.finish()
    }

    fn take(&mut self, id: u32) -> Option<Flight> {
        self.flights.get_mut(id as usize)?.take()
    }

    /// The number of a hop on the way of a packet, from 1; 0: the own leg of a source, which is
    /// always the first or the last hop.
    fn number(&self, flow: u32, flight: &Flight, hop: usize) -> u32 {
        let own = &self.flows[flow as usize][usize::from(flight.seen.path)];
        let place = own.ways[flight.seen.from as usize].iter().position(|&crossed| crossed == hop);
        place.map_or(0, |place| place as u32 + 1)
    }

    /// Handles a packet that passed a link or was given up by it.
    fn over_link(&mut self, id: u32, hop: usize, transit: &Transit, sent: &[Transmission]) {
        let counts = self.counts.get_mut(hop);
        let units = counts.map(|counts| counts.count(transit, sent)).unwrap_or_default();
        let Some(Some(flight)) = self.flights.get_mut(id as usize) else { return };
        flight.seen.units = flight.seen.units.and(units);
        flight.starts(hop, transit.departed, transit.entered);
    }
}

/// For each path of a flow, the hops that packets of each end cross.
fn ways(setup: &Setup, flow: usize) -> Vec<[Vec<usize>; 2]> {
    let routing = &setup.routing;
    let Some(way) = routing.ways.get(flow) else {
        let forward = setup.forward.len();
        let all = forward + setup.backward.len();
        return vec![[(0..forward).collect(), (forward..all).collect()]];
    };
    let ways = std::iter::once(way).chain(routing.further.get(&flow).into_iter().flatten());
    let hops = |way: &[u32]| way.iter().map(|&hop| hop as usize).collect();
    ways.map(|way| [hops(&way.to_receiver), hops(&way.to_sender)]).collect()
}

/// The first link of a way, or its first leg if it has no link.
fn first_link(setup: &Setup, way: &[usize]) -> Option<usize> {
    let all = || setup.forward.iter().chain(&setup.backward);
    let is_link = |hop: &usize| matches!(all().nth(*hop), Some(Hop::Link(_)));
    way.iter().copied().find(is_link).or(way.first().copied())
}

impl Flight {
    /// Its transmission over a hop, into whose queue it came at `entered`.
    fn starts(&mut self, hop: usize, at: Instant, entered: Instant) {
        if self.seen_at == Some(hop) {
            self.seen.on_link = Some(at.as_nanos());
            self.seen.queued = Some(at.saturating_since(entered).as_nanos());
        }
    }

    fn end<W: Write>(mut self, timeline: &mut Timeline<W>, fate: Fate, arrived: Option<Instant>) {
        (self.seen.fate, self.seen.arrived) = (fate, arrived.map(Instant::as_nanos));
        timeline.end(self.ticket, &self.seen);
    }
}

impl<W: Write> Observer for Recorder<'_, W> {
    fn wants(&self) -> Wants {
        Wants { packets: true, ..Wants::default() }
    }

    fn packet(&mut self, now: Instant, flow: u32, id: u32, step: Step<'_>) {
        match step {
            Step::Sent { from, connection, packet, payload } => {
                let own = &mut self.flows[flow as usize][usize::from(packet.path)];
                let seen_at = own.seen_at[from as usize];
                let frame = own.flow.frame(from, packet, payload, self.snap);
                let key = (flow, connection, packet.start, now);
                let led_to = match from {
                    End::Sender => self.led_to.remove(&key),
                    End::Receiver => None,
                };
                let seen = Seen { led_to: led_to.unwrap_or_default(), ..frame };
                let ticket = self.timeline.begin(now.as_nanos());
                let flight = Flight { ticket, seen, seen_at, sent: now };
                let place = id as usize;
                if place >= self.flights.len() {
                    self.flights.resize_with(place + 1, || None);
                }
                self.flights[place] = Some(flight);
            }
            Step::OnLeg { hop, begins } => {
                if let Some(Some(flight)) = self.flights.get_mut(id as usize) {
                    flight.starts(hop, begins, now);
                }
            }
            Step::OverLink { hop, transit, units } => self.over_link(id, hop, &transit, &units),
            Step::Lost { hop, begins } => {
                let Some(mut flight) = self.take(id) else { return };
                if let Some(begins) = begins {
                    flight.starts(hop, begins, now);
                }
                let after = now.saturating_since(flight.sent).as_nanos();
                let number = self.number(flow, &flight, hop);
                flight.end(&mut self.timeline, Fate::Lost(after, number), None);
            }
            Step::Dropped { hop, too_large } => {
                let Some(flight) = self.take(id) else { return };
                let number = self.number(flow, &flight, hop);
                let fate = if too_large { Fate::TooLarge(number) } else { Fate::QueueFull(number) };
                flight.end(&mut self.timeline, fate, None);
            }
            Step::Marked { .. } => {
                if let Some(Some(flight)) = self.flights.get_mut(id as usize) {
                    flight.seen.marked.get_or_insert(now.as_nanos());
                }
            }
            Step::Arrived { discarded } => {
                if let Some(flight) = self.take(id) {
                    let delay = now.saturating_since(flight.sent).as_nanos();
                    let fate = match discarded {
                        None => Fate::Delivered(delay),
                        Some(why) => Fate::Discarded(delay, why),
                    };
                    flight.end(&mut self.timeline, fate, Some(now));
                }
            }
        }
    }

    fn checkpoint(&mut self, now: Instant, _: u64) -> ControlFlow<()> {
        self.failed = self.timeline.write_until(now.as_nanos()).err();
        match self.failed.is_none() && (self.go_on)() {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
}
