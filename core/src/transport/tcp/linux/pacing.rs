//! Pacing as in `tcp_output.c` of Linux without a queueing discipline. Segments are spaced by the
//! transmission time of their payload at the pacing rate (`tcp_update_skb_after_send`). The
//! congestion control sets the rate; otherwise it is twice the window's rate in slow start and 1.2
//! times the window's rate afterwards (`tcp_update_pacing_rate` in `tcp_input.c`).

use crate::transport::tcp::congestion::{Pace, Window};
use crate::units::{Duration, Instant};

/// Number of initial segments that are not paced.
const UNPACED: u64 = 10;
/// Minimum and maximum burst size in segments at a rate that follows the window; a burst is one
/// millisecond at that rate (`tcp_tso_autosize`).
pub(super) const QUANTUM: (u64, u64) = (2, 44);

/// The pacer: decides when the next segment may leave.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacer {
    pace: Option<Pace>,
    next: Instant,
    /// A segment was blocked until this time.
    refused: Option<Instant>,
    /// True if that time has come: one segment may leave.
    released: bool,
    /// Segments of the current burst that may still leave.
    together: (Instant, u64),
    /// Lateness of the last departure; it shortens the next gap, at most to half.
    credit: Duration,
}

/// A segment that leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    pub(super) now: Instant,
    /// Bytes of payload.
    pub(super) len: u32,
    /// Number of segments sent so far, including this one and its burst.
    pub(super) count: u64,
    /// Number of further segments of the same burst.
    pub(super) along: u64,
}

/// Pacing rate that follows the window. `outstanding` segments of `mss` bytes are sent and not
/// acknowledged.
#[inline]
pub(super) fn pace_of(window: &Window, mss: u32, outstanding: u64, rtt: Duration) -> Pace {
    let percent = if window.cwnd() < window.ssthresh() / 2 { 200 } else { 120 };
    let segments = u64::from(window.cwnd()).max(outstanding);
    let (share, nanos) = (percent * 10_000_000, rtt.as_nanos().max(1));
    let bytes = u64::from(mss).checked_mul(segments);
    let rate = match bytes.and_then(|bytes| bytes.checked_mul(share)) {
        Some(product) => product / nanos,
        None => {
            let bytes = u128::from(mss) * u128::from(segments);
            u64::try_from(bytes * u128::from(share) / u128::from(nanos)).unwrap_or(u64::MAX)
        }
    };
    let bytes_per_second = rate.max(1);
    let quantum = (bytes_per_second / 1024 / u64::from(mss)).clamp(QUANTUM.0, QUANTUM.1);
    Pace { bytes_per_second, quantum }
}

impl Pacer {
    /// Turns pacing on at this rate.
    pub(super) fn set_pace(&mut self, pace: Pace) {
        self.pace = Some(pace);
    }

    /// Turns pacing off.
    pub(super) fn stop(&mut self) {
        self.pace = None;
        self.next = Instant::ZERO;
    }

    /// Earliest departure of the next segment.
    pub(super) fn departure(&self, now: Instant) -> Instant {
        self.next.max(now)
    }

    /// True if the next segment must wait, until [`Pacer::deadline`].
    #[inline(always)] // called for every packet
    pub(super) fn refuses(&mut self, now: Instant) -> bool {
        if self.pace.is_none() {
            return false;
        }
        let goes_along = self.together.0 == now && self.together.1 > 0;
        self.refused = (self.next > now && !goes_along && !self.released).then_some(self.next);
        self.refused.is_some()
    }

    /// Time until which a segment is blocked.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.refused
    }

    /// Handles the time `now`. Returns true if a segment was blocked until then.
    pub(super) fn on_time(&mut self, now: Instant) -> bool {
        let due = self.refused.is_some_and(|at| at <= now);
        if due {
            self.refused = None;
            self.released = true;
        }
        due
    }

    /// Records a departure.
    #[inline]
    pub(super) fn on_sent(&mut self, departure: Departure) {
        self.released = false;
        if let Some(pace) = self.pace {
            self.space_at(pace, departure);
        }
    }

    fn space_at(&mut self, pace: Pace, departure: Departure) {
        let now = departure.now;
        if self.together.0 == now && self.together.1 > 0 {
            self.together.1 -= 1;
        } else {
            self.together = (now, departure.along);
            self.credit = now.saturating_since(self.next);
            self.next = self.next.max(now);
        }
        if departure.count < UNPACED {
            return;
        }
        let gap = u64::from(departure.len) * 1_000_000_000 / pace.bytes_per_second;
        let gap = gap.min(1 << 40);
        let used = (gap / 2).min(self.credit.as_nanos());
        self.credit = Duration::from_nanos(self.credit.as_nanos() - used);
        self.next = self.next + Duration::from_nanos(gap - used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Departure times of 20 segments of 1000 bytes that are all ready at once, and again after 10
    /// ms.
    fn departures(pace: Pace) -> Vec<u64> {
        let mut pacer = Pacer::default();
        pacer.set_pace(pace);
        let (mut now, mut left) = (Instant::ZERO, Vec::new());
        for count in 10..20 {
            while pacer.refuses(now) {
                now = pacer.deadline().unwrap();
                pacer.on_time(now);
            }
            if count == 15 {
                now = now + Duration::from_millis(10);
            }
            left.push(now.as_nanos() / 1_000_000);
            let along = pace.quantum - 1;
            pacer.on_sent(Departure { now, len: 1000, count, along });
        }
        left
    }

    /// 4 ms per segment. After the pause of 10 ms the gap is halved, and halved again; the rest of
    /// the credit expires.
    #[test]
    fn a_late_departure_shortens_the_gap_after_it() {
        let pace = Pace { bytes_per_second: 250_000, quantum: 1 };
        assert_eq!(departures(pace), [0, 4, 8, 12, 16, 30, 32, 36, 40, 44]);
    }

    #[test]
    fn a_burst_leaves_at_once() {
        let pace = Pace { bytes_per_second: 250_000, quantum: 2 };
        assert_eq!(departures(pace)[..5], [0, 0, 8, 8, 16]);
    }

    /// 100 segments of 1000 bytes in 100 ms are 1 MB/s. The rate is twice that while the window is
    /// below half of its threshold, else 1.2 times. A burst is one millisecond, at least two
    /// segments.
    #[test]
    fn the_rate_follows_the_window() {
        let rate = |cwnd, ssthresh, outstanding, rtt| {
            let window = Window::of(cwnd, ssthresh);
            let pace = pace_of(&window, 1000, outstanding, Duration::from_millis(rtt));
            (pace.bytes_per_second, pace.quantum)
        };
        assert_eq!(rate(100, u32::MAX, 50, 100), (2_000_000, 2));
        assert_eq!(rate(100, 200, 50, 100), (1_200_000, 2));
        assert_eq!(rate(100, 200, 150, 100), (1_800_000, 2));
        assert_eq!(rate(400, u32::MAX, 400, 100), (8_000_000, 7));
        assert_eq!(rate(10_000, u32::MAX, 0, 100), (200_000_000, 44));
        // 1000 * 10^8 * 2 * 10^9 / 10^8: the product takes 68 bits.
        assert_eq!(rate(100_000_000, u32::MAX, 0, 100), (2_000_000_000_000, 44));
    }
}
