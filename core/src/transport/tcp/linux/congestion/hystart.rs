//! HyStart (Ha and Rhee, "Taming the elephants: new TCP slow start", 2011) as in Linux's CUBIC.
//! Slow start ends when the ACKs of one round arrive closely spaced for more than half of the
//! minimum round-trip time, or when the round's minimum round-trip time has risen by an eighth.
//! With pacing, slow start spreads segments over half a round trip, so that the ACK train must last
//! for the whole minimum round-trip time (`hystart_update` in `tcp_cubic.c`, which checks
//! `sk_pacing_status`).

use crate::transport::tcp::congestion::Ack;
use crate::units::{Duration, Instant};

/// HyStart ignores smaller windows, in segments.
const LOW_WINDOW: u32 = 16;
/// ACKs up to this far apart belong to one train.
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// Number of round-trip samples per round that count.
const SAMPLES: u32 = 8;
/// Allowance for offloaded bursts in an ACK train: the time of four bursts at the pacing rate, at
/// most this. It is this maximum below 2 Gbit/s (`hystart_ack_delay`).
const BURSTS: Duration = Duration::from_millis(1);
/// Smallest and largest threshold for the rise of the round-trip time.
const RISE: (u64, u64) = (4_000_000, 16_000_000); // nanoseconds

/// HyStart's state in the current round of slow start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HyStart {
    enabled: bool,
    paced: bool,
    found: bool,
    round_start: Instant,
    last_ack: Instant,
    /// The segment whose ACK ends the round.
    end: u64,
    least: Option<Duration>,
    samples: u32,
}

impl HyStart {
    pub(super) fn new(enabled: bool, paced: bool) -> Self {
        Self { enabled, paced, ..Self::default() }
    }

    /// A timeout: slow start begins again.
    pub(super) fn restart(&mut self, now: Instant, next: u64) {
        self.found = false;
        self.begin_round(now, next);
    }

    /// Handles an ACK of slow start that has a round-trip sample. Returns true if slow start is
    /// over. `least_rtt` is the minimum round-trip time of the connection.
    pub(super) fn is_over(&mut self, ack: &Ack, least_rtt: Duration, cwnd: u32) -> bool {
        let Some(rtt) = ack.rtt.filter(|_| self.enabled && !self.found) else { return false };
        if ack.first > self.end {
            self.begin_round(ack.now, ack.next);
        }
        if cwnd < LOW_WINDOW {
            return false;
        }
        if ack.now.saturating_since(self.last_ack) <= TRAIN_GAP {
            self.last_ack = ack.now;
            let length = ack.now.saturating_since(self.round_start);
            let bound = least_rtt + BURSTS;
            self.found |= length > if self.paced { bound } else { bound.half() };
        }
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else {
            let rise = (least_rtt.as_nanos() / 8).clamp(RISE.0, RISE.1);
            self.found |= least > least_rtt + Duration::from_nanos(rise);
        }
        self.found
    }

    fn begin_round(&mut self, now: Instant, next: u64) {
        self.round_start = now;
        self.last_ack = now;
        self.end = next;
        self.least = None;
        self.samples = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn sample(micros: u64, rtt_ms: u64) -> Ack {
        let now = Instant::ZERO + Duration::from_micros(micros);
        Ack { now, rtt: Some(MS * rtt_ms), first: 5, next: 100, ..Ack::default() }
    }

    /// ACKs 1 ms apart: the train exceeds half of 100 ms plus the burst allowance at the 51st ACK.
    /// With pacing it exceeds the full 100 ms at the 102nd.
    #[test]
    fn a_long_ack_train_ends_slow_start() {
        for (paced, expected) in [(false, 51), (true, 102)] {
            let mut hystart = HyStart::new(true, paced);
            let over = (0..200).find(|n| hystart.is_over(&sample(n * 1000, 100), MS * 100, 50));
            assert_eq!(over, Some(expected));
        }
    }

    /// ACKs far apart, round-trip time up by 13 ms, more than an eighth of 100 ms: the ninth sample
    /// ends slow start.
    #[test]
    fn a_rise_of_the_round_trip_time_ends_slow_start() {
        let mut hystart = HyStart::new(true, false);
        let over = (0..200).find(|n| hystart.is_over(&sample(n * 3000, 113), MS * 100, 50));
        assert_eq!(over, Some(8));
        let mut hystart = HyStart::new(true, false);
        assert!(!(0..200).any(|n| hystart.is_over(&sample(n * 3000, 112), MS * 100, 50)));
    }

    #[test]
    fn small_windows_and_a_disabled_option_do_not_end_slow_start() {
        for (enabled, cwnd) in [(true, 15), (false, 50)] {
            let mut hystart = HyStart::new(enabled, false);
            assert!(!(0..200).any(|n| hystart.is_over(&sample(n * 1000, 200), MS * 100, cwnd)));
        }
    }
}
