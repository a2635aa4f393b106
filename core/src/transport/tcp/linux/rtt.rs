//! Round-trip estimate and retransmission timeout as in Linux. Differences from RFC 6298: a sample
//! below the estimate by more than the deviation has gain 1/32; the variance is the largest
//! deviation of the last round trip and at least 200 ms, so that the timeout is at least the
//! estimate plus 200 ms; the initial timeout is 1 s.

use crate::units::{Duration, Instant};

const INITIAL: i64 = 1_000_000_000; // nanoseconds
const MIN_VARIANCE: i64 = 200_000_000;
const MAXIMUM: i64 = 120_000_000_000;
/// Half of the lifetime of a minimum round-trip time.
const HALF_WINDOW: Duration = Duration::from_secs(150);

/// The minimum of the last 150 to 300 s.
#[derive(Clone, Copy, Debug, Default)]
struct MinRttFilter {
    previous: Option<Duration>,
    current: Option<Duration>,
    since: Instant,
}

impl MinRttFilter {
    #[inline]
    fn sample(&mut self, now: Instant, rtt: Duration) {
        if now.saturating_since(self.since) >= HALF_WINDOW {
            self.previous = self.current.take();
            self.since = now;
        }
        self.current = Some(self.current.map_or(rtt, |least| least.min(rtt)));
    }

    #[inline]
    fn get(&self) -> Option<Duration> {
        match (self.previous, self.current) {
            (Some(previous), Some(current)) => Some(previous.min(current)),
            (previous, current) => current.or(previous),
        }
    }
}

/// Smoothed round-trip time and retransmission timeout.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RttEstimator {
    /// Eight times the smoothed round-trip time in nanoseconds; 0 before the first sample.
    srtt8: i64,
    /// Four times the mean deviation.
    deviation4: i64,
    /// Largest deviation of this round trip.
    largest: i64,
    variance: i64,
    /// The segment whose ACK ends this round trip.
    round_end: u64,
    rto: i64,
    least: MinRttFilter,
}

impl RttEstimator {
    /// An estimator without samples.
    pub(super) fn new() -> Self {
        Self { rto: INITIAL, ..Self::default() }
    }

    /// Adds a sample while segments `first..next` are in flight. Ends any back-off.
    #[inline(always)] // called for every ACK: a call costs as much as what it does
    pub(super) fn sample(&mut self, rtt: Duration, first: u64, next: u64) {
        let rtt = (rtt.as_nanos() as i64).max(1);
        if self.srtt8 == 0 {
            self.srtt8 = rtt * 8;
            self.deviation4 = rtt * 2;
            self.variance = self.deviation4.max(MIN_VARIANCE);
            self.largest = self.variance;
            self.round_end = next;
        } else {
            let error = rtt - (self.srtt8 >> 3);
            self.srtt8 = (self.srtt8 + error).max(1);
            let excess = error.abs() - (self.deviation4 >> 2);
            self.deviation4 += if error < 0 && excess > 0 { excess >> 3 } else { excess };
            self.largest = self.largest.max(self.deviation4);
            self.variance = self.variance.max(self.largest);
            if first > self.round_end {
                if self.largest < self.variance {
                    self.variance -= (self.variance - self.largest) / 4;
                }
                self.round_end = next;
                self.largest = MIN_VARIANCE;
            }
        }
        self.rto = ((self.srtt8 >> 3) + self.variance).min(MAXIMUM);
    }

    /// Adds a sample for the minimum round-trip time.
    #[inline]
    pub(super) fn sample_least(&mut self, now: Instant, rtt: Duration) {
        self.least.sample(now, rtt);
    }

    /// Doubles the timeout after an expiry.
    pub(super) fn back_off(&mut self) {
        self.rto = (self.rto * 2).min(MAXIMUM);
    }

    /// The current retransmission timeout.
    #[inline]
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_nanos(self.rto as u64)
    }

    /// Smoothed round-trip time; `None` before the first sample.
    #[inline]
    pub(super) fn smoothed(&self) -> Option<Duration> {
        (self.srtt8 > 0).then(|| Duration::from_nanos(self.srtt8 as u64 / 8))
    }

    /// Minimum round-trip time of the last minutes; `None` before the first sample.
    #[inline]
    pub(super) fn least(&self) -> Option<Duration> {
        self.least.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn timeout_ms(rtt: &RttEstimator) -> u64 {
        rtt.timeout().as_nanos() / MS.as_nanos()
    }

    #[test]
    fn the_timeout_is_a_second_at_first_and_three_round_trips_after_a_sample() {
        let mut rtt = RttEstimator::new();
        assert_eq!(timeout_ms(&rtt), 1000);
        rtt.back_off();
        assert_eq!(timeout_ms(&rtt), 2000);
        rtt.sample(MS * 500, 0, 10);
        assert_eq!(timeout_ms(&rtt), 1500);
        rtt.back_off();
        rtt.sample(MS * 500, 1, 10);
        assert_eq!(timeout_ms(&rtt), 1500);
    }

    /// The variance is constant for a round trip, then falls to 200 ms by quarters of the
    /// difference: 1000, 800, 650, ...
    #[test]
    fn the_variance_falls_once_per_round_trip_to_200_ms() {
        let mut rtt = RttEstimator::new();
        rtt.sample(MS * 500, 0, 10);
        // The first round trip keeps its own largest deviation.
        rtt.sample(MS * 500, 11, 20);
        assert_eq!(timeout_ms(&rtt), 1500);
        rtt.sample(MS * 500, 21, 30); // largest of the round: 562.5
        assert_eq!(timeout_ms(&rtt), 500 + 1000 - (1000 - 562) / 4 - 1);
        for round in 3..100 {
            rtt.sample(MS * 500, round * 10 + 1, round * 10 + 10);
        }
        assert_eq!(timeout_ms(&rtt), 700);
    }

    #[test]
    fn the_timeout_is_at_most_two_minutes() {
        let mut rtt = RttEstimator::new();
        (0..20).for_each(|_| rtt.back_off());
        assert_eq!(timeout_ms(&rtt), 120_000);
    }

    #[test]
    fn the_minimum_round_trip_time_expires_after_five_minutes() {
        let mut rtt = RttEstimator::new();
        for second in 0..1000 {
            let now = Instant::ZERO + Duration::from_secs(second);
            rtt.sample_least(now, if second < 10 { MS * 5 } else { MS * 7 });
            let least = rtt.least().unwrap().as_nanos() / MS.as_nanos();
            assert!(
                least
                    == if second < 150 {
                        5
                    } else if second < 300 {
                        least
                    } else {
                        7
                    }
            );
        }
    }
}
