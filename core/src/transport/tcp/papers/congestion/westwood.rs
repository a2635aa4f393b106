//! TCP Westwood+ (Grieco and Mascolo, "Performance evaluation and comparison of Westwood+, New
//! Reno, and Vegas TCP congestion control", ACM CCR 34(2), 2004), as in ns-2's
//! `Agent/TCP/Linux` (Linux 2.6.22).
//!
//! A loss puts the window to bandwidth times least round-trip time. The bandwidth is sampled once
//! per round trip (50 ms at least) as acknowledged bytes over time, duplicate ACKs included, and
//! goes through two low-pass filters of gain 1/8.
//!
//! What the kernel code in ns-2 makes of it: bandwidth is in whole bytes per millisecond and both
//! filters round down, so that each stalls up to 7 bytes/ms below its input: together 0.1 Mbit/s,
//! 40 % of a 263 kbit/s link. The threshold after a loss is Reno's, half the window, and a
//! timeout is Reno's altogether, since ns-2 never tells the algorithm that recovery ended.

use super::newreno::NewReno;
use super::{Acked, CongestionControl, Reduction, Window, ticks};

/// A bandwidth sample takes at least this long, in ticks.
const LEAST_SAMPLE: u64 = 50;
/// Round-trip time before any sample, in ticks.
const INITIAL_RTT: u64 = 20_000;

/// Bandwidth estimation by the rate of ACKs.
#[derive(Debug)]
pub(super) struct Westwood {
    mss: u64,
    /// An ACK has arrived.
    started: bool,
    /// Output of the first filter, in bytes per tick.
    bandwidth_once: u64,
    /// Output of the second filter: the estimate, in bytes per tick.
    bandwidth: u64,
    /// Tick at which the sample began.
    since: u64,
    /// Bytes acknowledged since.
    bytes: u64,
    /// Cumulative acknowledgement up to which bytes were counted.
    una: u64,
    /// Bytes counted for duplicate ACKs that no cumulative acknowledgement has made up for yet.
    in_advance: u64,
    /// Smoothed round-trip time in ticks.
    rtt: u64,
    /// Its least value; `None` before the first ACK was counted.
    least_rtt: Option<u64>,
}

impl Westwood {
    pub(super) fn new(mss: u32) -> Self {
        Self {
            mss: u64::from(mss.max(1)),
            started: false,
            bandwidth_once: 0,
            bandwidth: 0,
            since: 0,
            bytes: 0,
            una: 0,
            in_advance: 0,
            rtt: INITIAL_RTT,
            least_rtt: None,
        }
    }

    /// Ends the sample if it is long enough.
    fn sample(&mut self, now: u64) {
        let elapsed = now.saturating_sub(self.since);
        if self.rtt == 0 || elapsed <= self.rtt.max(LEAST_SAMPLE) {
            return;
        }
        let rate = self.bytes / elapsed;
        if self.bandwidth_once == 0 && self.bandwidth == 0 {
            self.bandwidth_once = rate;
            self.bandwidth = rate;
        } else {
            self.bandwidth_once = low_pass(self.bandwidth_once, rate);
            self.bandwidth = low_pass(self.bandwidth, self.bandwidth_once);
        }
        self.bytes = 0;
        self.since = now;
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

impl CongestionControl for Westwood {
    fn watches(&self) -> bool {
        true
    }

    fn on_arrival(&mut self, ack: &Acked, _window: &mut Window) {
        let now = ticks(ack.now);
        if !self.started {
            self.started = true;
            self.since = now;
            self.una = ack.una;
        }
        if ack.segments > 0 {
            self.rtt = ack.srtt8() >> 3;
        }
        self.sample(now);
        self.bytes += if ack.undisturbed && ack.segments > 0 {
            let acknowledged = ack.una.saturating_sub(self.una);
            self.una = ack.una;
            acknowledged
        } else {
            self.count_disturbed(ack.una)
        };
        self.least_rtt = Some(self.least_rtt.map_or(self.rtt, |least| least.min(self.rtt)));
    }

    fn on_ack(&mut self, ack: &Acked, window: &mut Window) {
        NewReno.on_ack(ack, window);
    }

    fn on_loss(&mut self, window: &Window) -> Reduction {
        let bytes = self.bandwidth.saturating_mul(self.least_rtt.unwrap_or(INITIAL_RTT));
        let cwnd = u32::try_from(bytes / self.mss).unwrap_or(u32::MAX).max(2);
        Reduction { ssthresh: NewReno.on_timeout(window), cwnd }
    }

    fn on_timeout(&mut self, window: &Window) -> u32 {
        NewReno.on_timeout(window)
    }
}

/// 7/8 of the old value and 1/8 of the new one, rounded down.
fn low_pass(old: u64, new: u64) -> u64 {
    (7 * old + new) >> 3
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack, window};
    use super::*;
    use crate::units::{Duration, Instant};

    /// The `n`-th of a stream of ACKs of 1448 bytes, `every_ms` apart, at a round trip of 500 ms.
    fn nth(n: u64, every_ms: u64) -> Acked {
        Acked {
            now: Instant::ZERO + Duration::from_millis(500 + n * every_ms),
            una: (n + 1) * 1448,
            srtt: Some(Duration::from_millis(500)),
            ..ack()
        }
    }

    fn after_stream(acks: u64, every_ms: u64) -> Westwood {
        let mut westwood = Westwood::new(1448);
        let mut window = window(100, 50);
        (0..acks).for_each(|n| westwood.on_arrival(&nth(n, every_ms), &mut window));
        westwood
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
    fn a_loss_puts_the_window_to_bandwidth_times_round_trip() {
        let mut westwood = after_stream(1000, 8);
        assert!((176..=181).contains(&westwood.bandwidth), "{}", westwood.bandwidth);
        let reduction = westwood.on_loss(&window(200, 50));
        assert_eq!(reduction.ssthresh, 100);
        assert_eq!(u64::from(reduction.cwnd), westwood.bandwidth * 500 / 1448);
        assert_eq!(westwood.on_timeout(&window(200, 50)), 100);
    }

    #[test]
    fn two_segments_at_least() {
        assert_eq!(Westwood::new(1448).on_loss(&window(200, 50)).cwnd, 2);
    }

    /// Three duplicate ACKs, then a cumulative one for four segments: four segments in all. Two
    /// cumulative ones for two each: the second finds one counted in advance.
    #[test]
    fn duplicate_acks_count_and_are_made_up_for() {
        let mut westwood = Westwood::new(1448);
        let count = |westwood: &mut Westwood, segments: u64| {
            westwood.count_disturbed(segments * 1448) / 1448
        };
        assert_eq!([0, 0, 0].map(|at| count(&mut westwood, at)), [1, 1, 1]);
        assert_eq!(count(&mut westwood, 4), 1);
        assert_eq!([4, 4, 4].map(|at| count(&mut westwood, at)), [1, 1, 1]);
        assert_eq!(count(&mut westwood, 6), 1, "two of three were counted in advance");
        assert_eq!(count(&mut westwood, 8), 1, "and the third");
        assert_eq!(count(&mut westwood, 10), 2);
        assert_eq!(count(&mut westwood, 11), 1);
    }

    #[test]
    fn samples_take_a_round_trip() {
        let westwood = after_stream(60, 8);
        assert_eq!(westwood.bandwidth, 0, "not 500 ms yet");
        let westwood = after_stream(64, 8);
        assert_eq!(westwood.bandwidth, 62 * 1448 / 504);
    }
}
