//! What will come out of a link, ordered by time.

use std::collections::VecDeque;

use crate::link::schedule::{Schedule, Timed};
use crate::link::{LinkEvent, PacketId, Transit, earliest};
use crate::units::Instant;

/// A packet's end, known ahead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub(crate) transit: Transit,
    pub(crate) lost: bool,
}

/// The ends of packets by (time, order of admission).
pub(crate) type DueQueue = Schedule<Due>;

impl Due {
    pub(crate) fn event(self) -> LinkEvent {
        if self.lost { LinkEvent::Lost(self.transit) } else { LinkEvent::Delivered(self.transit) }
    }
}

impl Timed for Due {
    type Time = Instant;

    #[inline]
    fn key(&self) -> (Instant, u64) {
        (self.transit.at, self.transit.order)
    }
}

/// What a link tells beside the ends of packets: departures, if asked to, and the end of its trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notices {
    /// When the next one is due.
    next: Option<Instant>,
    /// In order of time; `None`: not to be told.
    departures: Option<VecDeque<(Instant, PacketId)>>,
    ended: TraceEnd,
}

/// Whether [`LinkEvent::TraceEnded`] was told.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum TraceEnd {
    /// Nothing needed the trace past its end so far.
    #[default]
    Ahead,
    /// A packet does, and the event is due at `at`.
    Due {
        packet: PacketId,
        at: Instant,
    },
    Told,
}

impl Notices {
    /// Has departures told from now on.
    pub(crate) fn tell_departures(&mut self) {
        self.departures.get_or_insert_default();
    }

    pub(crate) fn departures_told(&self) -> bool {
        self.departures.is_some()
    }

    /// The packet leaves the queue at `at`, no earlier than the last one did.
    #[inline]
    pub(crate) fn departs(&mut self, packet: PacketId, at: Instant) {
        if let Some(departures) = &mut self.departures {
            departures.push_back((at, packet));
            self.look_ahead();
        }
    }

    /// Whether nothing needed the trace past its end so far.
    pub(crate) fn trace_end_is_ahead(&self) -> bool {
        self.ended == TraceEnd::Ahead
    }

    /// The packet needs the trace past its end, hopelessly from `at` on; the first one counts.
    pub(crate) fn trace_ends(&mut self, packet: PacketId, at: Instant) {
        if self.trace_end_is_ahead() {
            self.ended = TraceEnd::Due { packet, at };
            self.look_ahead();
        }
    }

    fn look_ahead(&mut self) {
        let end = match self.ended {
            TraceEnd::Due { at, .. } => Some(at),
            TraceEnd::Ahead | TraceEnd::Told => None,
        };
        self.next = earliest(self.first_departure().map(|(at, _)| at), end);
    }

    fn first_departure(&self) -> Option<(Instant, PacketId)> {
        self.departures.as_ref()?.front().copied()
    }

    /// When the next one is due.
    #[inline]
    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.next
    }

    /// Tells the next one if it is due by `now` and its turn comes before what comes out next at
    /// `next`: of one instant a departure goes first, the end of the trace last.
    #[inline]
    pub(crate) fn tell(&mut self, now: Instant, next: Option<Instant>) -> Option<LinkEvent> {
        let at = self.next.filter(|&at| at <= now && next.is_none_or(|next| at <= next))?;
        self.tell_due(at, next)
    }

    #[cold]
    fn tell_due(&mut self, due: Instant, next: Option<Instant>) -> Option<LinkEvent> {
        let departure = self.first_departure().filter(|&(at, _)| at == due);
        let event = match (departure, self.ended) {
            (Some((at, packet)), _) => {
                self.departures.as_mut().and_then(VecDeque::pop_front);
                LinkEvent::Departed { packet, at }
            }
            (None, TraceEnd::Due { packet, at }) if next != Some(at) => {
                self.ended = TraceEnd::Told;
                LinkEvent::TraceEnded { packet, at }
            }
            _ => return None,
        };
        self.look_ahead();
        Some(event)
    }
}
