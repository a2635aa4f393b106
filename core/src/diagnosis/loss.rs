//! The loss of a unit on a live link, its repair, and what the transport did meanwhile.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use crate::link::{Transmission, TransmissionKind};
use crate::simulation::{Event, EventKind, Observer, RunError, Setup, Wants, run};
use crate::units::{Duration, Instant};

/// Units and segments around a loss.
///
/// ```
/// use clift::diagnosis::loss_after;
/// use clift::link::TransmissionKind;
/// use clift::scenario::{Scenario, Store};
/// use clift::trace::Folder;
/// use clift::units::Instant;
///
/// let text = r#"
///     scheme = "ARQ"
///     duration = "20 s"
///     channel = { model = "bernoulli", erasures = 0.02, slot = "1 ms", lldu = "300 B" }
///     link = { rtt = "300 ms", live = true }
/// "#;
/// let scenario = Scenario::parse("arq.toml", text, &[], &clift::Registry::new())?;
/// let setup = scenario.cells()[0].setup(0, &Store::new(Folder::new("")))?;
/// let from = Instant::from_nanos(5_000_000_000);
/// let loss = loss_after(&setup, from)?.unwrap();
/// assert!(loss.at >= from && loss.received.unwrap() > loss.at);
/// let again = |unit: &&clift::diagnosis::LossUnit| unit.sent.kind == TransmissionKind::Again;
/// assert!(loss.units.iter().filter(again).any(|unit| unit.is_of_loss));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// Send time of the erased unit.
    pub at: Instant,
    /// Flow and first byte of the packet that the unit carried a part of.
    pub packet: (u32, u64),
    /// When the receiver got these bytes; `None`: not before the log ends.
    pub received: Option<Instant>,
    /// Units of the link sent or under way between a little before the loss and a little after the
    /// receipt, in order of time.
    pub units: Vec<LossUnit>,
    /// Segments of the flow in the same time, in order of time.
    pub segments: Vec<LossSegment>,
}

/// A unit near a loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossUnit {
    /// The unit.
    pub sent: Transmission,
    /// Its number for a plot; of a repair unit, the middle of the data units that it repairs, if it was
    /// requested, else the last one sent before it.
    pub number: f64,
    /// Whether it carries or repairs a part of the lost packet.
    pub is_of_loss: bool,
}

/// What happened to a segment near a loss.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LossSegment {
    /// When.
    pub at: Instant,
    /// What.
    pub kind: EventKind,
    /// Its first byte; for an acknowledgement the next byte expected.
    pub seq: u64,
}

/// Units and segments that are kept at most.
const MOST: usize = 1 << 18;

/// Runs a setup until the first erasure of a data unit from `from` on, and the receipt of its packet.
/// `None` if the first live link erased no unit with data of a flow from then on, or none is live.
///
/// # Errors
/// If the run fails before that.
pub fn loss_after(setup: &Setup, from: Instant) -> Result<Option<Loss>, RunError> {
    let mut log = Log { from, ..Log::default() };
    match run(setup, &mut log) {
        Err(RunError::Interrupted { .. }) | Ok(_) => Ok(log.finish()),
        Err(error) => Err(error),
    }
}

#[derive(Debug, Default)]
struct Log {
    from: Instant,
    hop: Option<usize>,
    units: VecDeque<Transmission>,
    segments: VecDeque<(u32, LossSegment)>,
    found: Option<Found>,
}

#[derive(Clone, Copy, Debug)]
struct Found {
    unit: Transmission,
    flow: u32,
    seq: u64,
    received: Option<Instant>,
}

impl Found {
    /// Whether this is the receipt of the lost packet.
    fn is_receipt(&self, flow: u32, segment: &LossSegment) -> bool {
        let is_it = (flow, segment.seq) == (self.flow, self.seq);
        is_it && segment.kind == EventKind::Received && segment.at > self.unit.at
    }

    /// The time span of a plot of a log that ends at `last`.
    fn span(&self, last: Instant) -> (Instant, Instant) {
        let end = self.received.unwrap_or(last);
        let before = Duration::from_nanos(end.saturating_since(self.unit.at).as_nanos() / 5);
        let from = self.unit.at.saturating_since(Instant::ZERO + before);
        (Instant::ZERO + from, end + before * 3)
    }
}

impl Log {
    fn finish(self) -> Option<Loss> {
        let found = self.found?;
        let last = self.segments.back().map_or(found.unit.at, |(_, segment)| segment.at);
        let (from, until) = found.span(last.max(found.unit.at));
        let packet = found.unit.packets.0;
        let unit = |(sent, number): (&Transmission, f64)| {
            let is_of_loss = sent.packets.0 <= packet && packet <= sent.packets.1;
            let is_in = sent.at <= until && sent.arrival.unwrap_or(sent.at) >= from;
            is_in.then_some(LossUnit { sent: *sent, number, is_of_loss })
        };
        let segment = |&(flow, segment): &(u32, LossSegment)| {
            let is_in = segment.at >= from && segment.at <= until;
            (flow == found.flow && is_in).then_some(segment)
        };
        let numbers = numbers(&self.units);
        Some(Loss {
            at: found.unit.at,
            packet: (found.flow, found.seq),
            received: found.received,
            units: self.units.iter().zip(numbers).filter_map(unit).collect(),
            segments: self.segments.iter().filter_map(segment).collect(),
        })
    }
}

/// The numbers of units for a plot.
fn numbers(units: &VecDeque<Transmission>) -> Vec<f64> {
    let is_new = |unit: &&Transmission| unit.kind == TransmissionKind::New;
    let data: Vec<&Transmission> = units.iter().filter(is_new).collect();
    let mut sent = 0usize;
    let number = |unit: &Transmission| {
        sent += usize::from(is_new(&unit));
        if unit.kind != TransmissionKind::Repair || data.is_empty() {
            return unit.unit as f64;
        }
        let number = |place: usize| data[place.min(data.len() - 1)].unit as f64;
        let first = data.partition_point(|it| it.packets.0 < unit.packets.0);
        let last = data.partition_point(|it| it.packets.0 <= unit.packets.1).saturating_sub(1);
        match unit.attempt {
            0 => number(sent.saturating_sub(1).max(first).min(last)),
            _ => f64::midpoint(number(first), number(last)),
        }
    };
    units.iter().map(number).collect()
}

impl Observer for Log {
    fn wants(&self) -> Wants {
        Wants { events: true, units: true, ..Wants::default() }
    }

    fn event(&mut self, at: Instant, event: &Event) {
        let (flow, seq) = match *event {
            // A lost acknowledgement has no place among the numbers of segments.
            Event::Gone { len: 0, .. } => return,
            Event::Sent { flow, seq, .. }
            | Event::Received { flow, seq, .. }
            | Event::Gone { flow, seq, .. } => (flow, seq),
            Event::Acked { flow, ack } => (flow, ack),
        };
        let segment = LossSegment { at, kind: event.kind(), seq };
        self.segments.push_back((flow, segment));
        if let Some(found) = &mut self.found
            && found.received.is_none()
            && found.is_receipt(flow, &segment)
        {
            found.received = Some(at);
        }
    }

    fn units(&mut self, hop: usize, sent: Vec<Transmission>) {
        if sent.is_empty() || *self.hop.get_or_insert(hop) != hop {
            return;
        }
        if self.found.is_none() {
            let is_loss = |unit: &&Transmission| {
                unit.kind == TransmissionKind::New && unit.arrival.is_none() && unit.at >= self.from
            };
            let carried = |unit: &Transmission| Some((*unit, unit.carries?));
            self.found = sent.iter().filter(is_loss).find_map(carried).map(|(unit, carried)| {
                let (flow, seq) = (carried.flow, carried.start);
                let mut found = Found { unit, flow, seq, received: None };
                // The link tells its units later than the engine its segments.
                let receipt = |(flow, it): &&(u32, LossSegment)| found.is_receipt(*flow, it);
                found.received = self.segments.iter().find(receipt).map(|(_, it)| it.at);
                found
            });
        }
        self.units.extend(sent);
    }

    fn checkpoint(&mut self, now: Instant, _: u64) -> ControlFlow<()> {
        match self.found {
            None => {
                self.units.drain(..self.units.len().saturating_sub(MOST));
                self.segments.drain(..self.segments.len().saturating_sub(MOST));
                ControlFlow::Continue(())
            }
            Some(found) if found.received.is_some() && now > found.span(now).1 => {
                ControlFlow::Break(())
            }
            Some(_) if self.units.len() > 2 * MOST => ControlFlow::Break(()),
            Some(_) => ControlFlow::Continue(()),
        }
    }
}
