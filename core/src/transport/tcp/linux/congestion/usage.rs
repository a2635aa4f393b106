//! Whether the window is what limits sending (RFC 7661 in the way of Linux): only then it grows.

use crate::transport::tcp::congestion::Window;
use crate::units::{Duration, Instant};

/// How much of the window the last round trip used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    limited: bool,
    /// Most segments outstanding while the window was not the limit.
    most: u64,
    /// The segment that ends the round trip.
    round_end: u64,
    /// When the window was set anew, could grow or was fully used last, and the most of it used since.
    since: Instant,
    used: u64,
}

/// The sender when it stops sending.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    pub(super) now: Instant,
    /// Whether the window made it stop.
    pub(super) limited: bool,
    /// Segments in flight: `first..next`.
    pub(super) first: u64,
    pub(super) next: u64,
    /// A window unused for so long decays; `None`: it stays.
    pub(super) patience: Option<Duration>,
    /// Nothing is lost, and nothing SACKed: only then it decays.
    pub(super) open: bool,
}

impl Usage {
    /// The window starts, or starts small again after a pause.
    pub(super) fn begin(&mut self, now: Instant) {
        self.since = now;
        self.used = 0;
    }

    /// The window was set anew, or an ACK could make it grow: until then it was not too large
    /// (`snd_cwnd_stamp` in `tcp_input.c`).
    #[inline]
    pub(super) fn on_change(&mut self, now: Instant) {
        self.since = now;
    }

    /// The sender stops sending, after it has sent something or because the window is full.
    pub(super) fn on_stop(&mut self, level: Level, window: &mut Window, initial: u32) {
        let outstanding = level.next - level.first;
        if level.first >= self.round_end
            || level.limited
            || (!self.limited && outstanding > self.most)
        {
            self.limited = level.limited;
            self.most = outstanding;
            self.round_end = level.next;
        }
        if self.is_limit(window) {
            self.used = 0;
            self.since = level.now;
            return;
        }
        self.used = self.used.max(outstanding);
        let unused = level.now.saturating_since(self.since);
        if level.patience.is_some_and(|patience| unused >= patience) {
            if level.open {
                let used = u32::try_from(self.used).unwrap_or(u32::MAX).max(initial);
                if used < window.cwnd() {
                    window.set_ssthresh(window.threshold_in_use());
                    window.set_cwnd(window.cwnd().midpoint(used));
                }
                self.used = 0;
            }
            self.since = level.now;
        }
    }

    /// Whether the window made the sender stop last.
    pub(super) fn was_limited(&self) -> bool {
        self.limited
    }

    /// Whether the window may grow: it was the limit, or in slow start at least half used.
    pub(super) fn is_limit(&self, window: &Window) -> bool {
        self.limited || (window.in_slow_start() && u64::from(window.cwnd()) < 2 * self.most)
    }
}
