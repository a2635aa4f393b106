//! What will come out of a link, ordered by time.

use crate::link::schedule::{Schedule, Timed};
use crate::link::{LinkEvent, PacketId, Transit};
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

/// Whether [`LinkEvent::TraceEnded`] was told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum TraceEnd {
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

impl TraceEnd {
    pub(crate) fn is_ahead(&self) -> bool {
        matches!(self, Self::Ahead)
    }

    /// The packet needs the trace past its end, hopelessly from `at` on; the first one counts.
    pub(crate) fn reach(&mut self, packet: PacketId, at: Instant) {
        if self.is_ahead() {
            *self = Self::Due { packet, at };
        }
    }

    /// When the event is due.
    #[inline]
    pub(crate) fn due(&self) -> Option<Instant> {
        match *self {
            Self::Due { at, .. } => Some(at),
            Self::Ahead | Self::Told => None,
        }
    }

    /// Tells it, once, if it is due by `now` and before what comes out next at `next`.
    #[inline]
    pub(crate) fn tell(&mut self, now: Instant, next: Option<Instant>) -> Option<LinkEvent> {
        let Self::Due { packet, at } = *self else { return None };
        if at > now || next.is_some_and(|next| next <= at) {
            return None;
        }
        *self = Self::Told;
        Some(LinkEvent::TraceEnded { packet, at })
    }
}
