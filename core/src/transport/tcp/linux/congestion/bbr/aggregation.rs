//! How far ACKs arrive in clumps: what was acknowledged beyond the bandwidth's worth of an epoch,
//! the most of it in 5 to 10 round trips (Linux 5.1, after "BBR congestion control: IETF 101
//! update"; not in draft-cardwell-iccrg-bbr-congestion-control-00).

use super::{BW_UNIT, Bandwidth, micros};
use crate::units::{Duration, Instant};

/// Round trips after which the older half of the maximum is forgotten.
pub(in super::super) const ROUNDS: u32 = 5;
/// An epoch with so many segments begins anew.
const LONGEST_EPOCH: u64 = 1 << 20;
/// The window has room for no more than the bandwidth's worth of this time.
const MOST: Duration = Duration::from_millis(100);

/// Degree of aggregation.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Aggregation {
    epoch: Instant,
    acked: u64,
    /// Most segments beyond the expected ones, of this and the previous half of the window.
    extra: [u64; 2],
    current: usize,
    rounds: u32,
}

impl Aggregation {
    /// An epoch begins.
    pub(in super::super) fn restart(&mut self, now: Instant) {
        (self.epoch, self.acked) = (now, 0);
    }

    /// A round trip begins; the older half of the maximum is forgotten after `kept` of them.
    pub(in super::super) fn begin_round(&mut self, kept: u32) {
        self.rounds += 1;
        if self.rounds >= kept {
            self.rounds = 0;
            self.current = 1 - self.current;
            self.extra[self.current] = 0;
        }
    }

    /// `acked` segments were delivered at `now`, the bandwidth being `bandwidth`; `cwnd` bounds
    /// what can be extra.
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

    /// Segments by which the window must be larger for the bandwidth to be used between clumps.
    pub(in super::super) fn room(&self, bandwidth: Bandwidth) -> u64 {
        self.extra[0].max(self.extra[1]).min(worth(bandwidth, MOST))
    }
}

/// Segments that a bandwidth delivers in a time.
fn worth(bandwidth: Bandwidth, time: Duration) -> u64 {
    (u128::from(bandwidth) * u128::from(micros(time)) / u128::from(BW_UNIT)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One segment a millisecond; ACKs of 20 every 20 ms: 20 at once where none was expected.
    #[test]
    fn clumps_are_seen_and_forgotten() {
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
    fn no_more_than_a_window_or_a_tenth_of_a_second() {
        let bandwidth = BW_UNIT / 1000 + 1; // rounded up
        let mut aggregation = Aggregation::default();
        aggregation.on_delivered(Instant::ZERO, 5_000, bandwidth, 300);
        assert_eq!(aggregation.room(bandwidth), 100);
        assert_eq!(aggregation.room(bandwidth * 10), 300);
    }
}
