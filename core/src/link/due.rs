//! Upcoming events of a link, in order of time.

use std::collections::VecDeque;

use crate::link::schedule::{Schedule, Timed};
use crate::link::{LinkEvent, PacketId, Transit, earliest};
use crate::units::Instant;

/// The end of a packet, known in advance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub(crate) transit: Transit,
    pub(crate) lost: bool,
}

/// Ends of packets, by (time, order of admission).
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

/// Events other than ends of packets: departures, if requested, and the end of the trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notices {
    /// Time of the next one.
    next: Option<Instant>,
    /// In order of time; `None` if not requested.
    departures: Option<VecDeque<(Instant, PacketId)>>,
    ended: TraceEnd,
}

/// State of [`LinkEvent::TraceEnded`].
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum TraceEnd {
    /// No packet has needed the trace past its end so far.
    #[default]
    Ahead,
    /// A packet does, and the event is due at `at`.
    Due {
        packet: PacketId,
        at: Instant,
    },
    Reported,
}

impl Notices {
    /// Reports departures from now on.
    pub(crate) fn tell_departures(&mut self) {
        self.departures.get_or_insert_default();
    }

    pub(crate) fn departures_told(&self) -> bool {
        self.departures.is_some()
    }

    /// Records that the packet leaves the queue at `at`, not earlier than the previous one.
    #[inline]
    pub(crate) fn departs(&mut self, packet: PacketId, at: Instant) {
        if let Some(departures) = &mut self.departures {
            departures.push_back((at, packet));
            self.look_ahead();
        }
    }

    /// True if no packet has needed the trace past its end so far.
    pub(crate) fn trace_end_is_ahead(&self) -> bool {
        self.ended == TraceEnd::Ahead
    }

    /// Records that the packet needs the trace past its end and cannot be sent after `at`; the
    /// first one counts.
    pub(crate) fn trace_ends(&mut self, packet: PacketId, at: Instant) {
        if self.trace_end_is_ahead() {
            self.ended = TraceEnd::Due { packet, at };
            self.look_ahead();
        }
    }

    fn look_ahead(&mut self) {
        let end = match self.ended {
            TraceEnd::Due { at, .. } => Some(at),
            TraceEnd::Ahead | TraceEnd::Reported => None,
        };
        self.next = earliest(self.first_departure().map(|(at, _)| at), end);
    }

    fn first_departure(&self) -> Option<(Instant, PacketId)> {
        self.departures.as_ref()?.front().copied()
    }

    /// Time of the next event.
    #[inline]
    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.next
    }

    /// Returns the next event if it is due by `now` and precedes the next end of a packet, at
    /// `next`. At equal times a departure comes first, the end of the trace last.
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
                self.ended = TraceEnd::Reported;
                LinkEvent::TraceEnded { packet, at }
            }
            _ => return None,
        };
        self.look_ahead();
        Some(event)
    }
}
