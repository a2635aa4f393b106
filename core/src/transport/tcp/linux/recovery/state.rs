//! The congestion state of a sender, what it remembers to leave that state, and the tail loss probe.

use crate::transport::tcp::config::LinuxOptions;
use crate::transport::tcp::congestion::CongestionState;
use crate::transport::tcp::linux::undo::Undo;
use crate::units::Instant;

/// State of the tail loss probe.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(in super::super) enum Probe {
    #[default]
    None,
    /// A probe is due, regardless of the window: a new segment, or the last segment again.
    NewDue,
    AgainDue,
    /// Sent. All bytes below `end` were outstanding at that time.
    Out {
        end: u64,
        again: bool,
    },
}

impl Probe {
    #[inline]
    pub(in super::super) fn is_due(&self) -> bool {
        matches!(self, Self::NewDue | Self::AgainDue)
    }

    /// True if the probe in flight is a retransmission.
    pub(in super::super) fn is_retransmission(&self) -> bool {
        matches!(self, Self::Out { again: true, .. })
    }

    /// True if a probe is in flight.
    #[inline]
    pub(in super::super) fn is_out(&self) -> bool {
        matches!(self, Self::Out { .. })
    }

    /// True if a D-SACK up to segment `end` reports the probe.
    pub(in super::super) fn is_duplicate_of(&self, end: u64) -> bool {
        matches!(self, Self::Out { end: probed, .. } if *probed == end)
    }
}

/// The congestion state and the conditions for leaving it.
#[derive(Debug, Default)]
pub(in super::super) struct Recovery {
    pub(super) may_undo: bool,
    pub(super) uses_frto: bool,
    pub(super) uses_sacks: bool,
    pub(super) state: CongestionState,
    /// Next new segment when the state began (`high_seq`).
    pub(super) end: u64,
    pub(super) undo: Undo,
    /// Lowest byte in flight when undo was armed.
    pub(super) undo_start: u64,
    /// Timeouts since the last undone or recovered one.
    pub(super) timeouts_in_row: u32,
    /// True if the timeout may prove spurious (RFC 5682).
    pub(super) frto: bool,
    /// True if the receiver must hear of the reduction (RFC 3168, section 6.1.2).
    pub(super) reduced: bool,
    /// True if lost segments may be retransmitted (until the next ACK).
    pub(super) repairing: bool,
    pub(super) probe: Probe,
}

impl Recovery {
    /// A recovery in state Open.
    pub(in super::super) fn new(options: &LinuxOptions, uses_sacks: bool) -> Self {
        Self { may_undo: options.undo, uses_frto: options.frto, uses_sacks, ..Self::default() }
    }

    #[inline]
    pub(in super::super) fn state(&self) -> CongestionState {
        self.state
    }

    /// True if nothing is missing and no probe is out or due.
    pub(in super::super) fn is_calm(&self) -> bool {
        self.state == CongestionState::Open && self.probe == Probe::None
    }

    /// True if lost segments may be retransmitted.
    #[inline]
    pub(in super::super) fn is_repairing(&self) -> bool {
        self.repairing
    }

    /// Whether the window was reduced and the receiver must hear of it.
    #[inline]
    pub(in super::super) fn reduced(&mut self) -> &mut bool {
        &mut self.reduced
    }

    /// True if the window falls in proportion to deliveries.
    #[inline]
    pub(in super::super) fn is_reducing(&self) -> bool {
        matches!(self.state, CongestionState::Cwr | CongestionState::Recovery)
    }

    #[inline]
    pub(in super::super) fn probe(&self) -> &Probe {
        &self.probe
    }

    /// True if the segment had been sent when the state began.
    #[inline]
    pub(in super::super) fn began_after(&self, number: u64) -> bool {
        number < self.end
    }

    /// True if late segments count as reordering in this state.
    pub(in super::super) fn tells_reordering(&self) -> bool {
        self.state != CongestionState::Loss || self.undo.is_armed()
    }

    /// Handles a D-SACK of a retransmitted segment in flight.
    pub(in super::super) fn on_duplicate(&mut self, number: u64) {
        self.undo.on_duplicates(number + 1, 1);
    }

    /// Handles a D-SACK of `count` segments up to byte `end` that are no longer in flight. They
    /// have no numbers any more, but lie below all segments in flight.
    pub(in super::super) fn on_duplicates_below(&mut self, end: u64, count: u64) {
        if end > self.undo_start {
            self.undo.on_duplicates(u64::MAX, count);
        }
    }

    /// Records a retransmission of a lost segment.
    pub(in super::super) fn on_retransmitted(&mut self, now: Instant) {
        self.undo.on_retransmitted(now);
    }

    /// Handles an ACK that only advances: it triggers no retransmission.
    #[inline]
    pub(in super::super) fn pause(&mut self) {
        self.repairing = false;
    }

    /// A segment blocked by pacing may leave. Lost segments go first, after any decision of the last ACK
    /// (`tcp_tsq_write` in `tcp_output.c`).
    #[inline]
    pub(in super::super) fn on_released(&mut self) {
        self.repairing = true;
    }

    /// After two round trips without an ACK, a segment must provoke one: a new segment if
    /// available. At most one probe is in flight. Returns true if this one is due.
    pub(in super::super) fn on_probe_timeout(&mut self, new: bool) -> bool {
        if self.probe != Probe::None {
            return false;
        }
        self.probe = if new { Probe::NewDue } else { Probe::AgainDue };
        true
    }

    /// An ACK of everything arrived before the probe left.
    pub(in super::super) fn forget_probe(&mut self) {
        self.probe = Probe::None;
    }

    /// The probe was sent; `next` is the next new segment.
    pub(in super::super) fn on_probe_sent(&mut self, next: u64) {
        let again = self.probe != Probe::NewDue;
        self.probe = Probe::Out { end: next, again };
    }
}
