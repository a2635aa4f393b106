//! The degree of ACK aggregation: segments acknowledged beyond the bandwidth's share of an epoch,
//! maximum over 5 to 10 round trips (Linux 5.1, `bbr_update_ack_aggregation`, after "BBR congestion
//! control: IETF 101 update"; not in draft-cardwell-iccrg-bbr-congestion-control-00).

use super::bandwidth::{BW_UNIT, Bandwidth, micros};
use crate::units::{Duration, Instant};

/// Round trips per half of the maximum filter.
pub(in super::super) const ROUNDS: u32 = 5;
/// An epoch that reaches this many segments is restarted.
const LONGEST_EPOCH: u64 = 1 << 20;
/// Upper limit of the extra window, as a time at the bandwidth.
const MOST: Duration = Duration::from_millis(100);

/// Estimator of the degree of aggregation.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Aggregation {
    epoch: Instant,
    acked: u64,
    /// Maximum of extra segments in this half of the filter's window and in the previous half.
    extra: [u64; 2],
    current: usize,
    rounds: u32,
}

impl Aggregation {
    /// Starts an epoch.
    pub(in super::super) fn restart(&mut self, now: Instant) {
        (self.epoch, self.acked) = (now, 0);
    }

    /// Starts a round trip. After `kept` round trips the filter forgets its older half.
    pub(in super::super) fn begin_round(&mut self, kept: u32) {
        self.rounds += 1;
        if self.rounds >= kept {
            self.rounds = 0;
            self.current = 1 - self.current;
            self.extra[self.current] = 0;
        }
    }

    /// Counts `acked` segments delivered at `now`, at the current `bandwidth`. `cwnd` limits the
    /// extra segments.
    pub(in super::super) fn on_delivered(
        &mut self,
        now: Instant,
        acked: u64,
        bandwidth: Bandwidth,
        cwnd: u32,
    ) {
        let mut expected = worth(bandwidth, now.saturating_since(self.epoch));
        if self.acked <= expected || self.acked + acked >= LONGEST_EPOCH {
            self.restart(now);
            expected = 0;
        }
        self.acked = (self.acked + acked).min(LONGEST_EPOCH - 1);
        let extra = self.acked.saturating_sub(expected).min(u64::from(cwnd));
        self.extra[self.current] = self.extra[self.current].max(extra);
    }

    /// Extra window, in segments, that keeps the path busy between aggregates
    /// (`bbr_ack_aggregation_cwnd`).
    pub(in super::super) fn room(&self, bandwidth: Bandwidth) -> u64 {
        self.extra[0].max(self.extra[1]).min(worth(bandwidth, MOST))
    }
}

/// Segments that `bandwidth` delivers in `time`.
fn worth(bandwidth: Bandwidth, time: Duration) -> u64 {
    (u128::from(bandwidth) * u128::from(micros(time)) / u128::from(BW_UNIT)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One segment per millisecond; ACKs of 20 segments every 20 ms: 20 arrive at once where none
    /// was expected.
    #[test]
    fn aggregates_are_measured_and_forgotten() {
        let bandwidth = BW_UNIT / 1000 + 1; // rounded up
        let mut aggregation = Aggregation::default();
        let mut now = Instant::ZERO;
        for _ in 0..50 {
            now = now + Duration::from_millis(20);
            aggregation.on_delivered(now, 20, bandwidth, 1000);
        }
        assert_eq!(aggregation.room(bandwidth), 20);
        for round in 0..60 {
            assert!(round >= 5 || aggregation.room(bandwidth) == 20, "round {round}");
            now = now + Duration::from_millis(2);
            aggregation.begin_round(ROUNDS);
            aggregation.on_delivered(now, 1, bandwidth, 1000);
        }
        assert_eq!(aggregation.room(bandwidth), 1);
    }

    #[test]
    fn extra_segments_are_limited_to_a_window_and_a_tenth_of_a_second() {
        let bandwidth = BW_UNIT / 1000 + 1; // rounded up
        let mut aggregation = Aggregation::default();
        aggregation.on_delivered(Instant::ZERO, 5_000, bandwidth, 300);
        assert_eq!(aggregation.room(bandwidth), 100);
        assert_eq!(aggregation.room(bandwidth * 10), 300);
    }
}
