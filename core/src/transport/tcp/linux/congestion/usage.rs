//! Congestion window validation (RFC 7661 as in Linux): the window grows only if it limits sending.

use crate::transport::tcp::congestion::Window;
use crate::units::{Duration, Instant};

/// How much of the window the last round trip used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowUsage {
    limited: bool,
    /// Maximum of segments outstanding while the window was not the limit (`max_packets_out`).
    most: u64,
    /// The segment whose ACK ends the round trip.
    round_end: u64,
    /// When the window was last set, allowed to grow or fully used (`snd_cwnd_stamp`).
    since: Instant,
    /// Maximum use since the window was last full, decayed or set (`snd_cwnd_used`).
    used: u64,
}

/// State of the sender when it stops sending.
#[derive(Clone, Copy, Debug)]
pub(super) struct SenderState {
    pub(super) now: Instant,
    /// True if the window made it stop.
    pub(super) limited: bool,
    /// Segments in flight: `first..next`.
    pub(super) first: u64,
    pub(super) next: u64,
    /// An unused window decays after this time; `None` if it never decays.
    pub(super) patience: Option<Duration>,
    /// True if nothing is lost or SACKed and no ECN mark is being answered. The window decays only
    /// then.
    pub(super) open: bool,
}

impl WindowUsage {
    /// The window starts, or restarts after an idle period.
    pub(super) fn begin(&mut self, now: Instant) {
        self.since = now;
        self.used = 0;
    }

    /// The window was set, or an ACK allowed it to grow. The decay timer restarts (`snd_cwnd_stamp`
    /// in `tcp_input.c`).
    #[inline]
    pub(super) fn on_change(&mut self, now: Instant) {
        self.since = now;
    }

    /// The sender stops sending, after a transmission or because the window is full
    /// (`tcp_cwnd_validate`).
    #[inline]
    pub(super) fn on_stop(&mut self, level: SenderState, window: &mut Window, initial: u32) {
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

    /// True if the window made the sender stop the last time.
    pub(super) fn was_limited(&self) -> bool {
        self.limited
    }

    /// True if the window may grow: it was the limit, or slow start used at least half of it
    /// (`tcp_is_cwnd_limited`).
    pub(super) fn is_limit(&self, window: &Window) -> bool {
        self.limited || (window.in_slow_start() && u64::from(window.cwnd()) < 2 * self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tcp::{CongestionAlgorithm, TcpConfig};

    const SECOND: Duration = Duration::from_millis(1000);

    /// 15 of 40 segments are used. One timeout after the last ACK that could have raised it, the
    /// window decays halfway, and only in state Open.
    #[test]
    fn an_unused_window_decays_a_timeout_after_its_last_chance_to_grow() {
        let at = |ms: u64| Instant::ZERO + Duration::from_millis(ms);
        let mut window = Window::new(&TcpConfig::linux(CongestionAlgorithm::CUBIC));
        window.set_ssthresh(20);
        window.set_cwnd(40);
        let mut usage = WindowUsage::default();
        usage.begin(at(500));
        let mut stop = |usage: &mut WindowUsage, now: u64, open: bool| {
            let (limited, first, next, patience) = (false, 0, 15, Some(SECOND));
            usage.on_stop(
                SenderState { now: at(now), limited, first, next, patience, open },
                &mut window,
                10,
            );
            window.cwnd()
        };
        assert_eq!(stop(&mut usage, 1400, true), 40, "not for a whole timeout");
        usage.on_change(at(1450));
        assert_eq!(stop(&mut usage, 2400, true), 40, "an ACK came");
        assert_eq!(stop(&mut usage, 2450, false), 40, "something is lost");
        assert_eq!(stop(&mut usage, 3400, true), 40, "that restarts the time");
        assert_eq!(stop(&mut usage, 3450, true), 27);
    }
}
