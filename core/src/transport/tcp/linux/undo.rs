//! Detection and undo of spurious reductions. By D-SACK: every retransmission of the episode was
//! reported as a duplicate (RFC 3708). By timestamps: an ACK echoes a segment sent before the first
//! retransmission (Eifel, RFC 3522).

use crate::units::{Duration, Instant};

/// State for undoing a reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// Lowest segment in flight at the reduction (`undo_marker`); `None` if there is nothing to
    /// undo.
    marker: Option<u64>,
    /// Retransmissions not reported as duplicates yet (`undo_retrans`); `None` before the first
    /// one.
    unreported: Option<u64>,
    /// Window and threshold before the reduction.
    prior: Option<(u32, u32)>,
    /// Time of the first retransmission of the episode.
    first_retransmission: Option<Instant>,
}

impl Undo {
    /// A reduction is about to begin; `out` retransmissions are already in flight.
    pub(super) fn start(&mut self, first: u64, out: u64, cwnd: u32, ssthresh: u32) {
        self.marker = Some(first);
        self.unreported = (out > 0).then_some(out);
        self.prior = Some((cwnd, ssthresh));
    }

    /// Clears the window to restore: ECN marks caused the reduction.
    pub(super) fn forget_prior(&mut self) {
        self.prior = None;
    }

    /// Turns undo off: a reduction caused by marks is never undone.
    pub(super) fn disarm(&mut self) {
        (self.marker, self.prior) = (None, None);
    }

    /// True if a reduction may be undone.
    pub(super) fn is_armed(&self) -> bool {
        self.marker.is_some()
    }

    /// Records a retransmission.
    pub(super) fn on_retransmitted(&mut self, now: Instant) {
        self.first_retransmission.get_or_insert(now);
        self.unreported = Some(self.unreported.unwrap_or(0) + 1);
    }

    /// Records a D-SACK for `count` segments up to `end`.
    pub(super) fn on_duplicates(&mut self, end: u64, count: u64) {
        if self.marker.is_some_and(|marker| end > marker) {
            self.unreported = self.unreported.map(|left| left.saturating_sub(count));
        }
    }

    /// No retransmission is in flight any more.
    pub(super) fn forget_retransmissions(&mut self) {
        self.first_retransmission = None;
    }

    /// True if D-SACKs have reported every retransmission.
    pub(super) fn all_reported(&self) -> bool {
        self.is_armed() && self.unreported == Some(0)
    }

    /// True if the acknowledged segments were only late: the ACK echoes a segment sent before the
    /// first retransmission, by the timestamp clock (1 ms), or there was no retransmission, as
    /// far as that is `known`.
    pub(super) fn is_late(&self, echo: Option<Instant>, known: bool) -> bool {
        let Some(first) = self.first_retransmission else { return known };
        echo.is_some_and(|echo| is_before(echo, first))
    }

    /// Returns window and threshold to restore, once.
    pub(super) fn take(&mut self) -> Option<(u32, u32)> {
        self.marker = None;
        self.prior.take()
    }
}

/// True if one timestamp is before another. Timestamps are in milliseconds.
pub(super) fn is_before(earlier: Instant, later: Instant) -> bool {
    millis(earlier) < millis(later)
}

/// Time between two timestamps, at least a millisecond.
pub(super) fn by_clock(from: Instant, to: Instant) -> Duration {
    Duration::from_millis(millis(to).saturating_sub(millis(from)).max(1))
}

fn millis(time: Instant) -> u64 {
    time.as_nanos() / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn undo_is_due_once_every_retransmission_is_reported() {
        let mut undo = Undo::default();
        assert!(!undo.all_reported());
        undo.start(10, 0, 20, 100);
        undo.on_duplicates(12, 1);
        assert!(!undo.all_reported(), "no retransmission yet");
        undo.on_retransmitted(at(5));
        undo.on_retransmitted(at(6));
        undo.on_duplicates(12, 1);
        assert!(!undo.all_reported());
        undo.on_duplicates(10, 1); // below the episode
        assert!(!undo.all_reported());
        undo.on_duplicates(13, 1);
        assert!(undo.all_reported());
        assert_eq!(undo.take(), Some((20, 100)));
        assert!(!undo.is_armed());
    }

    #[test]
    fn an_echo_from_before_the_first_retransmission_is_late() {
        let mut undo = Undo::default();
        undo.start(10, 0, 20, 100);
        assert!(undo.is_late(None, true) && !undo.is_late(None, false));
        undo.on_retransmitted(at(500));
        undo.on_retransmitted(at(600));
        assert!(!undo.is_late(Some(at(500)), true));
        assert!(!undo.is_late(None, true));
        assert!(undo.is_late(Some(at(499)), false));
    }
}
