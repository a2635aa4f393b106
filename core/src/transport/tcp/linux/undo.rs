//! Was the reduction spurious? By D-SACK: every retransmission of the episode was reported as a
//! duplicate (RFC 3708). By timestamps: an ACK echoes something sent before the first
//! retransmission (Eifel, RFC 3522).

use crate::units::{Duration, Instant};

/// What is needed to take a reduction back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// The lowest segment in flight when the window was reduced; `None`: nothing to take back.
    marker: Option<u64>,
    /// Retransmissions not yet reported as duplicates; `None`: there was none so far.
    unreported: Option<u64>,
    /// Window and threshold before.
    prior: Option<(u32, u32)>,
    /// First retransmission of the episode.
    first_retransmission: Option<Instant>,
}

impl Undo {
    /// The window is about to be reduced; `out` retransmissions are under way already.
    pub(super) fn start(&mut self, first: u64, out: u64, cwnd: u32, ssthresh: u32) {
        self.marker = Some(first);
        self.unreported = (out > 0).then_some(out);
        self.prior = Some((cwnd, ssthresh));
    }

    /// There is no window to return to: marks asked for a reduction.
    pub(super) fn forget_prior(&mut self) {
        self.prior = None;
    }

    /// Marks make the window fall: nothing of it is taken back.
    pub(super) fn disarm(&mut self) {
        (self.marker, self.prior) = (None, None);
    }

    /// Whether there is a reduction that may be taken back.
    pub(super) fn is_armed(&self) -> bool {
        self.marker.is_some()
    }

    /// A segment is sent again.
    pub(super) fn on_retransmitted(&mut self, now: Instant) {
        self.first_retransmission.get_or_insert(now);
        self.unreported = Some(self.unreported.unwrap_or(0) + 1);
    }

    /// A D-SACK reports the segments up to `end` as duplicates, `count` of them.
    pub(super) fn on_duplicates(&mut self, end: u64, count: u64) {
        if self.marker.is_some_and(|marker| end > marker) {
            self.unreported = self.unreported.map(|left| left.saturating_sub(count));
        }
    }

    /// No retransmission is out any more.
    pub(super) fn forget_retransmissions(&mut self) {
        self.first_retransmission = None;
    }

    /// Whether D-SACKs have reported every retransmission.
    pub(super) fn all_reported(&self) -> bool {
        self.is_armed() && self.unreported == Some(0)
    }

    /// Whether what an ACK acknowledges was only late: it echoes a segment sent before the first
    /// retransmission, by the clock of timestamps (1 ms), or nothing was retransmitted at all.
    pub(super) fn is_late(&self, echo: Option<Instant>) -> bool {
        let Some(first) = self.first_retransmission else { return true };
        echo.is_some_and(|echo| is_before(echo, first))
    }

    /// Whether the reduction was spurious.
    pub(super) fn is_due(&self, echo: Option<Instant>) -> bool {
        self.is_armed() && (self.unreported == Some(0) || self.is_late(echo))
    }

    /// Takes the reduction back, once: window and threshold before it.
    pub(super) fn take(&mut self) -> Option<(u32, u32)> {
        self.marker = None;
        self.prior.take()
    }
}

/// Whether one time stamp is before another: they are in milliseconds.
pub(super) fn is_before(earlier: Instant, later: Instant) -> bool {
    millis(earlier) < millis(later)
}

/// From one time stamp to another: a millisecond at least.
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
    fn due_once_every_retransmission_is_reported() {
        let mut undo = Undo::default();
        assert!(!undo.is_due(None));
        undo.start(10, 0, 20, 100);
        undo.on_duplicates(12, 1);
        assert!(!undo.all_reported(), "nothing was sent again yet");
        undo.on_retransmitted(at(5));
        undo.on_retransmitted(at(6));
        undo.on_duplicates(12, 1);
        assert!(!undo.all_reported());
        undo.on_duplicates(10, 1); // below the episode
        assert!(!undo.all_reported());
        undo.on_duplicates(13, 1);
        assert!(undo.all_reported());
        assert_eq!(undo.take(), Some((20, 100)));
        assert!(!undo.is_due(Some(at(0))));
    }

    #[test]
    fn due_by_an_echo_from_before_the_first_retransmission() {
        let mut undo = Undo::default();
        undo.start(10, 0, 20, 100);
        undo.on_retransmitted(at(500));
        undo.on_retransmitted(at(600));
        assert!(!undo.is_due(Some(at(500))));
        assert!(!undo.is_due(None));
        assert!(undo.is_due(Some(at(499))));
    }
}
