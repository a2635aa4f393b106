//! Captures of the engine's runs.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

use super::SNAP;
use super::comment::{Fate, Units};
use super::frame::{Flow, Frame};
use super::timeline::{Seen, Ticket, Timeline};
use crate::link::clock::SlotClock;
use crate::link::{Transit, Transmission, TransmissionKind};
use crate::simulation::{Hop, Observer, Outcome, RunError, Setup, Step, run};
use crate::trace::{FileError, LinkTrace, WriteError, write_file};
use crate::transport::End;
use crate::units::{Duration, Instant};

/// How a capture is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Options {
    /// Bytes kept of each packet.
    pub snap: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { snap: SNAP }
    }
}

/// Why there is no capture. What the file held before is then unchanged.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The run has no outcome.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The file cannot be written; the message names it.
    #[error(transparent)]
    File(#[from] FileError),
    /// Proxies split the flows.
    #[error("a capture shows one connection for a flow, and proxies split it; leave `pep` out")]
    Proxies,
    /// The file's name says that it is something else.
    #[error("{0}: captures are written as pcapng; give a name that ends in .pcapng")]
    Name(String),
    /// A log was asked for, and the flow is not there.
    #[error("flow {flow}: there are {flows} flows, counted from 0")]
    NoFlow {
        /// Which was asked for.
        flow: usize,
        /// How many there are.
        flows: usize,
    },
    /// A log was asked for, and the transport keeps none.
    #[error("flow {flow}: {transport} keeps no log of its own; quic does")]
    NoLog {
        /// Which was asked for.
        flow: usize,
        /// Its transport.
        transport: &'static str,
    },
}

/// What was captured.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Packets in the file, once for each place where they were seen.
    pub packets: u64,
    /// What the run measured.
    pub outcome: Outcome,
}

/// Runs a setup and writes what was seen of it to `path`; `go_on` is asked from time to time.
///
/// ```
/// use clift::capture::{Options, record};
/// use clift::scenario::{Scenario, Store};
/// use clift::trace::Folder;
/// let text = r#"
///     duration = "2 s"
///     [[path]]
///     leg = { rate = "1 Mbit/s", delay = "20 ms" }
/// "#;
/// let scenario = Scenario::parse("leg.toml", text, &[])?;
/// let setup = scenario.cells()[0].setup(0, &Store::new(Folder::new("")))?;
/// let folder = std::env::temp_dir().join(format!("clift-capture-{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// let summary = record(&setup, &folder.join("x.pcapng"), &Options::default(), &|| true)?;
/// // Data and acknowledgements, each seen at three places.
/// assert!(summary.packets > 3 * summary.outcome.flows[0].segments_sent);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the run has no outcome, or the file cannot be written; it is then as before.
pub fn record(
    setup: &Setup,
    path: &Path,
    options: &Options,
    go_on: &(dyn Fn() -> bool + Sync),
) -> Result<Summary, CaptureError> {
    check_name(path)?;
    if !setup.proxies.is_empty() {
        return Err(CaptureError::Proxies);
    }
    let mut ran = None;
    let written = write_file(path, go_on, |out| {
        let timeline = Timeline::new(out, 0, options.snap)?;
        let mut recorder = Recorder::new(setup, timeline, options.snap, go_on);
        let outcome = run(setup, &mut recorder);
        let packets = recorder.finish(outcome.is_ok())?;
        let failed = outcome.is_err();
        ran = Some(outcome.map(|outcome| Summary { packets, outcome }));
        if failed { Err(io::Error::other("no outcome").into()) } else { Ok(()) }
    });
    match (ran, written) {
        (Some(Err(RunError::Interrupted { .. })), Err(error)) => Err(error.into()),
        (Some(Err(error)), _) => Err(error.into()),
        (Some(Ok(summary)), Ok(())) => Ok(summary),
        (_, Err(error)) => Err(error.into()),
        (None, Ok(())) => Err(WriteError::Io(io::Error::other("nothing was run")))
            .map_err(|error| FileError::Write { place: path.display().to_string(), error }.into()),
    }
}

/// Whether a file's name is one of a capture, or it is no ordinary file.
///
/// # Errors
/// If it is not.
pub fn check_name(path: &Path) -> Result<(), CaptureError> {
    let fits = path.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("pcapng"));
    let device = || std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir());
    match fits || device() {
        true => Ok(()),
        false => Err(CaptureError::Name(path.display().to_string())),
    }
}

/// Watches a run and writes what is seen of it.
pub struct Recorder<'a, W> {
    timeline: Timeline<W>,
    failed: Option<io::Error>,
    go_on: &'a (dyn Fn() -> bool + Sync),
    snap: u32,
    flows: Vec<Flow>,
    /// The packets on their way by number.
    flights: Vec<Option<Flight>>,
    hops: Vec<Way>,
    /// The units of packets that are on a link.
    accounts: Vec<Account>,
}

/// A packet on its way.
struct Flight {
    ticket: Ticket,
    from: End,
    frame: Frame,
    sent: Instant,
    on_link: Option<Instant>,
    /// When a queue marked it.
    marked: Option<Instant>,
    queued: Option<u64>,
    units: Units,
    retransmission: u16,
    counts: Option<u32>,
}

/// What a hop is.
#[derive(Clone, Debug, Default)]
struct Way {
    /// Its place on its way, from 1.
    number: u32,
    /// Whether packets are seen as they begin to be sent over it.
    seen: bool,
    units: Kept,
}

/// Who knows what a hop sent for a packet.
#[derive(Clone, Debug, Default)]
enum Kept {
    /// Nobody: a leg has no units.
    #[default]
    Nowhere,
    /// The link, which tells of each unit.
    ByLink,
    /// The trace, and when it passes.
    InTrace(Arc<LinkTrace>, SlotClock),
}

impl Kept {
    fn of(hop: &Hop) -> Self {
        let Hop::Link(link) = hop else { return Self::Nowhere };
        let Some(trace) = link.medium.get::<LinkTrace>() else { return Self::ByLink };
        let parts = trace.parts();
        let period = (parts.span.1 - parts.span.0 + parts.gap).max(0) as u64;
        let period = link.wrap.then_some(Duration::from_nanos(period));
        match SlotClock::new(parts.span.0, link.start_offset, period) {
            Ok(clock) => Self::InTrace(trace, clock),
            Err(_) => Self::Nowhere,
        }
    }
}

/// How often the LLDUs of a packet were sent again, the first of which was at `departed`.
fn sent_again(trace: &LinkTrace, clock: &SlotClock, departed: Instant, lldus: u32) -> u64 {
    let t = &trace.parts().t[..];
    if t.is_empty() {
        return 0;
    }
    let at = clock.trace_time(departed.as_nanos() as i64);
    let first = t.partition_point(|&t| t < at);
    let again = |place: usize| u64::from(trace.transmissions(place % t.len()).saturating_sub(1));
    (first..first + lldus as usize).map(again).sum()
}

impl<'a, W: Write> Recorder<'a, W> {
    /// A recorder of runs of `setup`, which keeps `snap` bytes of a packet.
    pub fn new(
        setup: &Setup,
        timeline: Timeline<W>,
        snap: u32,
        go_on: &'a (dyn Fn() -> bool + Sync),
    ) -> Self {
        let flow = |(number, flow): (u32, &crate::simulation::Flow)| {
            let own = Flow::new(number, flow.transport.name() == "tcp");
            if flow.application.is_session() { own.of_dialogue() } else { own }
        };
        let connections =
            setup.flows.iter().flat_map(|flow| std::iter::repeat_n(flow, flow.connections()));
        let mut hops = ways(&setup.forward);
        hops.extend(ways(&setup.backward));
        Self {
            timeline,
            failed: None,
            go_on,
            snap,
            flows: (0..).zip(connections).map(flow).collect(),
            flights: Vec::new(),
            accounts: hops.iter().map(|_| Account::default()).collect(),
            hops,
        }
    }

    /// Writes the rest; `whole`: the run went to its end. The number of packets written.
    ///
    /// # Errors
    /// If something could not be written.
    pub fn finish(mut self, whole: bool) -> io::Result<u64> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if whole {
            let mut open: Vec<Flight> = self.flights.drain(..).flatten().collect();
            open.sort_by_key(|flight| flight.sent);
            open.iter().for_each(|flight| flight.end(&mut self.timeline, Fate::Open, None));
        }
        self.timeline.finish()
    }

    fn take(&mut self, id: u32) -> Option<Flight> {
        self.flights.get_mut(id as usize)?.take()
    }

    fn way(&self, hop: usize) -> Way {
        // The number of a source's own leg means nothing to anybody: it is the first or the last.
        self.hops.get(hop).cloned().unwrap_or_default()
    }

    /// A packet came through a link, or was given up by it.
    fn over_link(&mut self, id: u32, hop: usize, transit: &Transit, sent: &[Transmission]) {
        let way = self.way(hop);
        let mut units = Units { data: u64::from(transit.lldus), ..Units::default() };
        match (&way.units, self.accounts.get_mut(hop)) {
            (Kept::ByLink, Some(account)) => {
                account.note(sent);
                let (again, repair) = account.take(transit.order);
                (units.again, units.repair) = (Some(again), Some(repair));
            }
            (Kept::InTrace(trace, clock), _) => {
                units.again = Some(sent_again(trace, clock, transit.departed, transit.lldus));
            }
            _ => {}
        }
        let Some(Some(flight)) = self.flights.get_mut(id as usize) else { return };
        flight.units = flight.units.and(units);
        if way.seen {
            flight.on_link = Some(transit.departed);
            flight.queued = Some(transit.departed.saturating_since(transit.entered).as_nanos());
        }
    }
}

impl Units {
    fn and(self, other: Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        Self {
            data: self.data + other.data,
            again: sum(self.again, other.again),
            repair: sum(self.repair, other.repair),
        }
    }
}

/// Packets are seen at the first link of a way, or at its first leg if it has no link.
fn ways(hops: &[Hop]) -> Vec<Way> {
    let is_link = |hop: &Hop| matches!(hop, Hop::Link(_));
    let seen = hops.iter().position(is_link).unwrap_or(0);
    let way = |(place, hop): (usize, &Hop)| Way {
        number: place as u32 + 1,
        seen: place == seen,
        units: Kept::of(hop),
    };
    hops.iter().enumerate().map(way).collect()
}

impl Flight {
    fn end<W: Write>(&self, timeline: &mut Timeline<W>, fate: Fate, arrived: Option<Instant>) {
        let seen = Seen {
            from: self.from,
            frame: &self.frame.kept,
            size: self.frame.size,
            on_link: self.on_link.map(Instant::as_nanos),
            arrived: arrived.map(Instant::as_nanos),
            fate,
            queued: self.queued,
            units: self.units,
            retransmission: self.retransmission,
            counts: self.counts,
            late: None,
            marked: self.marked.map(Instant::as_nanos),
        };
        timeline.end(self.ticket, &seen);
    }
}

impl<W: Write> Observer for Recorder<'_, W> {
    const PACKETS: bool = true;

    fn packet(&mut self, now: Instant, flow: u32, id: u32, step: Step<'_>) {
        match step {
            Step::Sent { from, packet } => {
                let frame = self.flows[flow as usize].frame(from, packet, self.snap);
                let flight = Flight {
                    ticket: self.timeline.begin(now.as_nanos()),
                    from,
                    sent: now,
                    on_link: None,
                    marked: None,
                    queued: None,
                    units: Units::default(),
                    retransmission: packet.retransmission,
                    counts: (frame.size != packet.size.0).then_some(packet.size.0),
                    frame,
                };
                let place = id as usize;
                if place >= self.flights.len() {
                    self.flights.resize_with(place + 1, || None);
                }
                self.flights[place] = Some(flight);
            }
            Step::OnLeg { hop, begins } => {
                let way = self.way(hop);
                if let (true, Some(Some(flight))) = (way.seen, self.flights.get_mut(id as usize)) {
                    flight.on_link = Some(begins);
                    flight.queued = Some(begins.saturating_since(now).as_nanos());
                }
            }
            Step::OverLink { hop, transit, units } => self.over_link(id, hop, &transit, &units),
            Step::Lost { hop, begins } => {
                let way = self.way(hop);
                let Some(mut flight) = self.take(id) else { return };
                if let (true, Some(begins)) = (way.seen, begins) {
                    flight.on_link = Some(begins);
                    flight.queued = Some(begins.saturating_since(now).as_nanos());
                }
                let after = now.saturating_since(flight.sent).as_nanos();
                flight.end(&mut self.timeline, Fate::Lost(after, way.number), None);
            }
            Step::Dropped { hop, too_large } => {
                let number = self.way(hop).number;
                let fate = if too_large { Fate::TooLarge(number) } else { Fate::QueueFull(number) };
                if let Some(flight) = self.take(id) {
                    flight.end(&mut self.timeline, fate, None);
                }
            }
            Step::Marked { .. } => {
                if let Some(Some(flight)) = self.flights.get_mut(id as usize) {
                    flight.marked.get_or_insert(now);
                }
            }
            Step::Arrived => {
                if let Some(flight) = self.take(id) {
                    let delay = now.saturating_since(flight.sent).as_nanos();
                    flight.end(&mut self.timeline, Fate::Delivered(delay), Some(now));
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

/// Units sent again and for repair, by the packet that they carry or repair.
#[derive(Debug, Default)]
struct Account {
    /// Those of the packets from the order `base` on; the first is of a packet on its way, and `true`
    /// stands with those whose fate is known.
    packets: std::collections::VecDeque<(u64, u64, bool)>,
    base: u64,
}

impl Account {
    fn note(&mut self, sent: &[Transmission]) {
        for unit in sent {
            let (first, last) = unit.packets;
            if unit.kind == TransmissionKind::New || last < self.base {
                continue;
            }
            for order in first.max(self.base)..=last {
                let Some((again, repair, _)) = self.place(order) else { continue };
                match unit.kind {
                    TransmissionKind::Again => *again += 1,
                    TransmissionKind::Repair => *repair += 1,
                    TransmissionKind::New => {}
                }
            }
        }
    }

    /// What was sent for the packet of this order, which is gone.
    fn take(&mut self, order: u64) -> (u64, u64) {
        let Some((again, repair, gone)) = self.place(order) else { return (0, 0) };
        *gone = true;
        let found = (*again, *repair);
        while self.packets.front().is_some_and(|(_, _, gone)| *gone) {
            self.packets.pop_front();
            self.base += 1;
        }
        found
    }

    fn place(&mut self, order: u64) -> Option<&mut (u64, u64, bool)> {
        let place = usize::try_from(order.checked_sub(self.base)?).ok()?;
        if place >= self.packets.len() {
            self.packets.resize(place + 1, (0, 0, false));
        }
        self.packets.get_mut(place)
    }
}
