//! Bandwidth as Westwood+ estimates it (Grieco and Mascolo, "Performance evaluation and comparison
//! of Westwood+, New Reno, and Vegas TCP congestion control", ACM CCR 34(2), 2004): acknowledged
//! bytes over time, duplicate ACKs included, sampled once per round trip and put through two
//! low-pass filters of gain 1/8.
//!
//! As in Linux, bandwidth is in whole bytes per tick of the kernel's clock and both filters round
//! down, so that each stalls up to 7 bytes per tick below its input: with ticks of a millisecond
//! together 0.1 Mbit/s, 40 % of a 263 kbit/s link.

/// A sample takes at least this long, in milliseconds.
const LEAST_SAMPLE: u64 = 50;

/// The rate of ACKs.
#[derive(Debug)]
pub(crate) struct AckRate {
    mss: u64,
    /// A sample takes at least so many ticks.
    least_sample: u64,
    /// Output of the first filter, in bytes per tick.
    once: u64,
    /// Output of the second filter: the estimate.
    estimate: u64,
    /// When the sample began, in ticks; `None`: the first ACK begins it.
    since: Option<u64>,
    /// No ACK yet since the connection was established.
    first: bool,
    /// Bytes acknowledged since.
    bytes: u64,
    /// Cumulative acknowledgement up to which bytes were counted.
    una: u64,
    /// Bytes counted for duplicate ACKs that no cumulative acknowledgement has made up for yet.
    in_advance: u64,
}

impl AckRate {
    /// For segments of `mss` bytes and ticks of a millisecond.
    pub(crate) fn new(mss: u32) -> Self {
        Self::with_ticks(mss, 1)
    }

    /// For segments of `mss` bytes and ticks of `millis` milliseconds.
    pub(crate) fn with_ticks(mss: u32, millis: u64) -> Self {
        Self {
            mss: u64::from(mss.max(1)),
            least_sample: LEAST_SAMPLE / millis,
            once: 0,
            estimate: 0,
            since: None,
            first: false,
            bytes: 0,
            una: 0,
            in_advance: 0,
        }
    }

    /// The connection is established at this tick: the first sample begins, and what the first ACK
    /// acknowledges counts as one segment.
    pub(crate) fn begin(&mut self, now: u64) {
        self.since = Some(now);
        self.first = true;
    }

    /// Segments that the bandwidth delivers in `rtt` ticks, at least two.
    pub(crate) fn segments_in(&self, rtt: u64) -> u32 {
        let bytes = self.estimate.saturating_mul(rtt);
        u32::try_from(bytes / self.mss).unwrap_or(u32::MAX).max(2)
    }

    /// An ACK up to byte `una`, `now` and the round-trip time being in ticks. `plain`: it
    /// advances, and neither losses nor SACKs are about.
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

    /// Ends the sample if it is long enough.
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

    /// Bytes that an ACK stands for while something is amiss: a duplicate ACK for one segment,
    /// a cumulative one for what no duplicate ACK was counted for.
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

    /// After so many ACKs of 1448 bytes, `every` ms apart, at a round trip of 500 ms.
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
    fn the_estimate_settles_at_the_rate_of_acks() {
        let rate = after_stream(1000, 8);
        assert!((176..=181).contains(&rate.estimate), "{}", rate.estimate);
        assert_eq!(u64::from(rate.segments_in(500)), rate.estimate * 500 / 1448);
        assert_eq!(AckRate::new(1448).segments_in(500), 2);
    }

    /// Three duplicate ACKs, then a cumulative one for four segments: four segments in all. Two
    /// cumulative ones for two each: the second finds one counted in advance.
    #[test]
    fn duplicate_acks_count_and_are_made_up_for() {
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

    /// Established at 0, the first ACK at 100 ms: the sample that the second one ends holds one
    /// segment, whatever the first acknowledged.
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
    fn the_least_sample_is_counted_in_ticks() {
        let mut rate = AckRate::with_ticks(1448, 4);
        rate.begin(0);
        rate.on_ack(2, 2, 1448, true);
        rate.on_ack(12, 2, 2 * 1448, true);
        assert_eq!(rate.estimate, 0);
        rate.on_ack(13, 2, 3 * 1448, true);
        assert_eq!(rate.estimate, 2 * 1448 / 13);
    }

    #[test]
    fn samples_take_a_round_trip() {
        assert_eq!(after_stream(60, 8).estimate, 0, "not 500 ms yet");
        assert_eq!(after_stream(64, 8).estimate, 62 * 1448 / 504);
    }
}
