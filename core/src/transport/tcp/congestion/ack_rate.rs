//! The bandwidth estimate of Westwood+ (Grieco and Mascolo, "Performance evaluation and comparison
//! of Westwood+, New Reno, and Vegas TCP congestion control", ACM CCR 34(2), 2004): acknowledged
//! bytes over time, duplicate ACKs included, sampled once per round trip and smoothed by two
//! low-pass filters of gain 1/8.
//!
//! As in Linux, bandwidth is in whole bytes per tick of the kernel's clock and both filters round
//! down. Each filter therefore stalls up to 7 bytes per tick below its input: with ticks of a
//! millisecond together 0.1 Mbit/s, 40 % of a 263 kbit/s link.

/// Minimum duration of a sample, in milliseconds.
const LEAST_SAMPLE: u64 = 50;

/// Bandwidth estimator based on the rate of ACKs.
#[derive(Debug, Default)]
pub(crate) struct AckRate {
    mss: u64,
    /// Minimum duration of a sample, in ticks.
    least_sample: u64,
    /// Output of the first filter, in bytes per tick.
    once: u64,
    /// Output of the second filter: the estimate.
    estimate: u64,
    /// Start of the current sample, in ticks; `None` before the first ACK.
    since: Option<u64>,
    /// True until the first ACK after the handshake.
    first: bool,
    /// Bytes acknowledged in the current sample.
    bytes: u64,
    /// Cumulative acknowledgement up to which bytes are counted.
    una: u64,
    /// Bytes counted for duplicate ACKs that no cumulative acknowledgement has covered yet.
    in_advance: u64,
}

impl AckRate {
    /// An estimator for segments of `mss` bytes and ticks of a millisecond.
    pub(crate) fn new(mss: u32) -> Self {
        Self::with_ticks(mss, 1)
    }

    /// An estimator for segments of `mss` bytes and ticks of `millis` milliseconds.
    pub(crate) fn with_ticks(mss: u32, millis: u64) -> Self {
        Self { mss: u64::from(mss.max(1)), least_sample: LEAST_SAMPLE / millis, ..Self::default() }
    }

    /// The handshake is complete at tick `now`. The first sample begins, and the first ACK counts
    /// as one segment.
    pub(crate) fn begin(&mut self, now: u64) {
        self.since = Some(now);
        self.first = true;
    }

    /// Bandwidth times `rtt` ticks, in segments, at least two.
    pub(crate) fn segments_in(&self, rtt: u64) -> u32 {
        let bytes = self.estimate.saturating_mul(rtt);
        u32::try_from(bytes / self.mss).unwrap_or(u32::MAX).max(2)
    }

    /// Handles an ACK up to byte `una`. `now` and `rtt` are in ticks. `plain` is true if the ACK
    /// advances and there are no losses or SACKed segments.
    pub(crate) fn on_ack(&mut self, now: u64, rtt: u64, una: u64, plain: bool) {
        let first = std::mem::take(&mut self.first);
        if first || self.since.is_none() {
            self.una = una;
        }
        let plain = plain && !first;
        self.sample(now, rtt);
        self.bytes += if plain {
            let acknowledged = una.saturating_sub(self.una);
            self.una = una;
            acknowledged
        } else {
            self.count_disturbed(una)
        };
    }

    /// Ends the current sample if it is long enough.
    fn sample(&mut self, now: u64, rtt: u64) {
        let elapsed = now.saturating_sub(*self.since.get_or_insert(now));
        if rtt == 0 || elapsed <= rtt.max(self.least_sample) {
            return;
        }
        let rate = self.bytes / elapsed;
        if self.once == 0 && self.estimate == 0 {
            self.once = rate;
            self.estimate = rate;
        } else {
            self.once = low_pass(self.once, rate);
            self.estimate = low_pass(self.estimate, self.once);
        }
        self.bytes = 0;
        self.since = Some(now);
    }

    /// Bytes to count for an ACK during loss or reordering (`westwood_acked_count` of Linux): one
    /// segment for a duplicate ACK; for a cumulative ACK, the bytes not yet counted for duplicate
    /// ACKs.
    fn count_disturbed(&mut self, una: u64) -> u64 {
        let acknowledged = una.saturating_sub(self.una);
        self.una = una;
        if acknowledged == 0 {
            self.in_advance += self.mss;
            return self.mss;
        }
        if acknowledged <= self.mss {
            return acknowledged;
        }
        if self.in_advance >= acknowledged {
            self.in_advance -= acknowledged;
            return self.mss;
        }
        acknowledged - std::mem::take(&mut self.in_advance)
    }
}

/// 7/8 of the old value and 1/8 of the new one, rounded down.
fn low_pass(old: u64, new: u64) -> u64 {
    (7 * old + new) >> 3
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An estimator after `acks` ACKs of 1448 bytes, `every` ms apart, at a round trip of 500 ms.
    fn after_stream(acks: u64, every: u64) -> AckRate {
        let mut rate = AckRate::new(1448);
        (0..acks).for_each(|n| rate.on_ack(500 + n * every, 500, (n + 1) * 1448, true));
        rate
    }

    #[test]
    fn filters_round_down_and_stall() {
        assert_eq!(low_pass(0, 8), 1);
        assert_eq!(low_pass(0, 7), 0);
        let settle = |mut old| {
            (0..1000).for_each(|_| old = low_pass(old, 100));
            old
        };
        assert_eq!(settle(0), 93, "seven below, from below");
        assert_eq!(settle(200), 100, "exact, from above");
    }

    /// A segment every 8 ms is 181 bytes/ms, 62 segments in 500 ms.
    #[test]
    fn the_estimate_converges_to_the_rate_of_acks() {
        let rate = after_stream(1000, 8);
        assert!((176..=181).contains(&rate.estimate), "{}", rate.estimate);
        assert_eq!(u64::from(rate.segments_in(500)), rate.estimate * 500 / 1448);
        assert_eq!(AckRate::new(1448).segments_in(500), 2);
    }

    /// Three duplicate ACKs, then a cumulative one for four segments: four segments in all. Then
    /// two cumulative ACKs for two segments each: for the second, one segment was counted in
    /// advance.
    #[test]
    fn duplicate_acks_are_counted_once() {
        let mut rate = AckRate::new(1448);
        let count =
            |rate: &mut AckRate, segments: u64| rate.count_disturbed(segments * 1448) / 1448;
        assert_eq!([0, 0, 0].map(|at| count(&mut rate, at)), [1, 1, 1]);
        assert_eq!(count(&mut rate, 4), 1);
        assert_eq!([4, 4, 4].map(|at| count(&mut rate, at)), [1, 1, 1]);
        assert_eq!(count(&mut rate, 6), 1, "two of three were counted in advance");
        assert_eq!(count(&mut rate, 8), 1, "and the third");
        assert_eq!(count(&mut rate, 10), 2);
        assert_eq!(count(&mut rate, 11), 1);
    }

    /// Handshake at 0, first ACK at 100 ms: the sample that the second ACK ends holds one segment,
    /// for any first ACK.
    #[test]
    fn the_first_sample_begins_with_the_connection() {
        let mut rate = AckRate::new(1448);
        rate.begin(0);
        rate.on_ack(100, 100, 2 * 1448, true);
        assert_eq!(rate.estimate, 0, "not more than a round trip");
        rate.on_ack(104, 100, 4 * 1448, true);
        assert_eq!(rate.estimate, 1448 / 104);
    }

    /// 13 ticks of 4 ms are 52 ms, more than 50.
    #[test]
    fn the_minimum_sample_duration_is_counted_in_ticks() {
        let mut rate = AckRate::with_ticks(1448, 4);
        rate.begin(0);
        rate.on_ack(2, 2, 1448, true);
        rate.on_ack(12, 2, 2 * 1448, true);
        assert_eq!(rate.estimate, 0);
        rate.on_ack(13, 2, 3 * 1448, true);
        assert_eq!(rate.estimate, 2 * 1448 / 13);
    }

    #[test]
    fn a_sample_lasts_at_least_a_round_trip() {
        assert_eq!(after_stream(60, 8).estimate, 0, "not 500 ms yet");
        assert_eq!(after_stream(64, 8).estimate, 62 * 1448 / 504);
    }
}
