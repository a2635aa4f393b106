//! The channel's mutual information in run time, and what happens at its end.

use std::sync::Arc;

use crate::link::{HORIZON, LinkConfig, LinkEvent, PacketId, span};
use crate::trace::MiTrace;
use crate::units::Instant;

/// The mutual information per coded bit, from a start offset on, perhaps repeated.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    information: Arc<MiTrace>,
    offset: i64,
    wrap: bool,
}

impl Channel {
    pub(super) fn new(information: &Arc<MiTrace>, usage: &LinkConfig) -> Self {
        let (offset, wrap) = (span(usage.start_offset), usage.wrap);
        Self { information: Arc::clone(information), offset, wrap }
    }

    /// That of an instant; `None` past the end.
    #[inline]
    pub(super) fn at(&self, run_time: i64) -> Option<f64> {
        let mut at = run_time.saturating_add(self.offset).max(0) as u64;
        if self.wrap {
            at %= self.length();
        }
        self.information.at(Instant::from_nanos(at)).map(f64::from)
    }

    /// When it ends, in run time.
    pub(super) fn end(&self) -> i64 {
        let length = i64::try_from(self.length()).unwrap_or(HORIZON).min(HORIZON);
        if self.wrap { HORIZON } else { length - self.offset }
    }

    fn length(&self) -> u64 {
        self.information.every().as_nanos().saturating_mul(self.information.values().len() as u64)
    }
}

/// Whether [`LinkEvent::TraceEnded`] was told.
#[derive(Clone, Copy, Debug)]
pub(super) enum ChannelEnd {
    /// Not yet due; nobody asks for what is later than the end of the run.
    Ahead {
        end_of_run: i64,
    },
    /// Due from `at` on.
    Due {
        packet: PacketId,
        at: Instant,
    },
    Told,
}

impl ChannelEnd {
    /// A packet needs the channel past its end. The run is in error only if its clock gets there,
    /// `at`, before it is over.
    pub(super) fn reached(&mut self, at: i64, packet: PacketId) {
        if matches!(*self, Self::Ahead { end_of_run } if at < end_of_run) {
            *self = Self::Due { packet, at: super::instant(at) };
        }
    }

    pub(super) fn due(&self) -> Option<Instant> {
        match *self {
            Self::Due { at, .. } => Some(at),
            Self::Ahead { .. } | Self::Told => None,
        }
    }

    /// Tells it, once.
    pub(super) fn tell(&mut self) -> Option<LinkEvent> {
        let Self::Due { packet, at } = *self else { return None };
        *self = Self::Told;
        Some(LinkEvent::TraceEnded { packet, at })
    }
}
