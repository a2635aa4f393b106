//! Pacing: segments leave spaced by a share of the round-trip time (twice the window's rate in
//! slow start, 1.2 times beyond), as `tcp_update_pacing_rate` of Linux sets it.

use super::window::Window;
use crate::units::{Duration, Instant};

/// When the next segment may leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spacing {
    enabled: bool,
    next: Instant,
    /// A segment was refused until then.
    refused: Option<Instant>,
}

impl Spacing {
    pub(super) fn new(enabled: bool) -> Self {
        Self { enabled, next: Instant::ZERO, refused: None }
    }

    /// Whether the next segment has to wait; if so, until [`Spacing::deadline`].
    #[inline]
    pub(super) fn refuses(&mut self, now: Instant) -> bool {
        if !self.enabled {
            return false;
        }
        self.refused = (self.next > now).then_some(self.next);
        self.refused.is_some()
    }

    /// Until when a segment was refused.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.refused
    }

    /// Time has come to `now`.
    pub(super) fn on_time(&mut self, now: Instant) {
        if self.refused.is_some_and(|at| at <= now) {
            self.refused = None;
            self.next = Instant::ZERO;
        }
    }

    /// A segment leaves with so many outstanding.
    #[inline]
    pub(super) fn on_sent(
        &mut self,
        now: Instant,
        window: &Window,
        outstanding: u64,
        smoothed: Option<Duration>,
    ) {
        let (true, Some(rtt)) = (self.enabled, smoothed) else { return };
        let percent = if window.cwnd < window.ssthresh / 2 { 200 } else { 120 };
        let segments = u64::from(window.cwnd).max(outstanding);
        self.next = now + Duration::from_nanos(rtt.as_nanos() / percent * 100 / segments);
    }
}
