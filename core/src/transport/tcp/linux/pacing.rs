//! Pacing, as `tcp_output.c` of Linux does it without a queueing discipline: segments leave spaced
//! by what each takes at a rate that the congestion control names, or by a share of the round-trip
//! time (twice the window's rate in slow start, 1.2 times beyond: `tcp_update_pacing_rate`).

use crate::transport::tcp::congestion::{Pace, Window};
use crate::units::{Duration, Instant};

/// So many segments leave before any is held back for a named rate.
const UNPACED: u64 = 10;

/// When the next segment may leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    by_window: bool,
    pace: Option<Pace>,
    next: Instant,
    /// A segment was refused until then.
    refused: Option<Instant>,
    /// That time has come: one may leave.
    released: bool,
    /// Segments that may still leave together with those of this instant.
    together: (Instant, u64),
    /// By how much the last departure was late: it shortens the gap after it, at most to half.
    credit: Duration,
}

/// A segment that leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure<'a> {
    pub(super) now: Instant,
    /// Bytes of payload.
    pub(super) len: u32,
    /// How many segments have left, this one included.
    pub(super) count: u64,
    pub(super) window: &'a Window,
    pub(super) outstanding: u64,
    pub(super) smoothed: Option<Duration>,
}

impl Pacer {
    pub(super) fn new(by_window: bool) -> Self {
        Self {
            by_window,
            pace: None,
            next: Instant::ZERO,
            refused: None,
            released: false,
            together: (Instant::ZERO, 0),
            credit: Duration::ZERO,
        }
    }

    /// The congestion control names a rate from now on.
    pub(super) fn set_pace(&mut self, pace: Pace) {
        self.pace = Some(pace);
    }

    /// When the next segment may leave.
    pub(super) fn departure(&self, now: Instant) -> Instant {
        self.next.max(now)
    }

    /// Whether the next segment has to wait; if so, until [`Pacer::deadline`].
    #[inline]
    pub(super) fn refuses(&mut self, now: Instant) -> bool {
        if self.pace.is_none() && !self.by_window {
            return false;
        }
        let goes_along = self.together.0 == now && self.together.1 > 0;
        self.refused = (self.next > now && !goes_along && !self.released).then_some(self.next);
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
            self.released = true;
        }
    }

    /// A segment leaves.
    #[inline]
    pub(super) fn on_sent(&mut self, departure: Departure<'_>) {
        self.released = false;
        match self.pace {
            Some(pace) => self.space_at(pace, departure),
            None if self.by_window => self.space_by_window(departure),
            None => {}
        }
    }

    fn space_at(&mut self, pace: Pace, departure: Departure<'_>) {
        let now = departure.now;
        if departure.count < UNPACED {
            return;
        }
        if self.together.0 == now && self.together.1 > 0 {
            self.together.1 -= 1;
        } else {
            self.together = (now, pace.quantum.saturating_sub(1));
            self.credit = now.saturating_since(self.next);
            self.next = self.next.max(now);
        }
        let gap = u128::from(departure.len) * 1_000_000_000 / u128::from(pace.bytes_per_second);
        let gap = u64::try_from(gap).unwrap_or(u64::MAX).min(1 << 40);
        let used = (gap / 2).min(self.credit.as_nanos());
        self.credit = Duration::from_nanos(self.credit.as_nanos() - used);
        self.next = self.next + Duration::from_nanos(gap - used);
    }

    fn space_by_window(&mut self, departure: Departure<'_>) {
        let Departure { now, window, outstanding, smoothed, .. } = departure;
        let Some(rtt) = smoothed else { return };
        let percent = if window.cwnd() < window.ssthresh() / 2 { 200 } else { 120 };
        let segments = u64::from(window.cwnd()).max(outstanding);
        self.next = now + Duration::from_nanos(rtt.as_nanos() / percent * 100 / segments);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tcp::config::TcpConfig;
    use crate::transport::tcp::congestion::CongestionAlgorithm;

    /// When 20 segments of 1000 bytes leave that want to leave at once, and again after 10 ms.
    fn departures(pace: Pace) -> Vec<u64> {
        let window = Window::new(&TcpConfig::linux(CongestionAlgorithm::BBR));
        let mut pacer = Pacer::new(false);
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
            let (outstanding, smoothed) = (count, None);
            let departure =
                Departure { now, len: 1000, count, window: &window, outstanding, smoothed };
            pacer.on_sent(departure);
        }
        left
    }

    /// 4 ms a segment; after the pause of 10 ms the gap is half, and then half again: what is
    /// left of the credit is lost.
    #[test]
    fn a_late_departure_shortens_the_gap_after_it() {
        let pace = Pace { bytes_per_second: 250_000, quantum: 1 };
        assert_eq!(departures(pace), [0, 4, 8, 12, 16, 30, 32, 36, 40, 44]);
    }

    #[test]
    fn a_quantum_leaves_at_once() {
        let pace = Pace { bytes_per_second: 250_000, quantum: 2 };
        assert_eq!(departures(pace)[..5], [0, 0, 8, 8, 16]);
    }
}
