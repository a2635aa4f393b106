//! HyStart (Ha and Rhee, "Taming the elephants: new TCP slow start", 2011) as in Linux's CUBIC:
//! slow start ends when the ACKs of one round arrive closely spaced over half of the least
//! round-trip time, or when the round's least round-trip time has risen by an eighth. Pacing spreads
//! what leaves over half a round trip in slow start: with it the train must last for all of the
//! least round-trip time (`hystart_update` in `tcp_cubic.c`, which asks for `sk_pacing_status`).

use crate::transport::tcp::congestion::Ack;
use crate::units::{Duration, Instant};

/// Windows below are left alone, in segments.
const LOW_WINDOW: u32 = 16;
/// ACKs no further apart belong to a train.
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// Round-trip samples of a round that count.
const SAMPLES: u32 = 8;
/// What large offloaded bursts may add to a train: the time of four of them at the pacing rate, but
/// no more than this, which it is below 2 Gbit/s (`hystart_ack_delay`).
const BURSTS: Duration = Duration::from_millis(1);
/// Least and greatest rise of the round-trip time.
const RISE: (u64, u64) = (4_000_000, 16_000_000); // nanoseconds

/// What one round of slow start has shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct HyStart {
    enabled: bool,
    paced: bool,
    found: bool,
    round_start: Instant,
    last_ack: Instant,
    /// The segment that ends the round.
    end: u64,
    least: Option<Duration>,
    samples: u32,
}

impl HyStart {
    pub(super) fn new(enabled: bool, paced: bool) -> Self {
        Self {
            enabled,
            paced,
            found: false,
            round_start: Instant::ZERO,
            last_ack: Instant::ZERO,
            end: 0,
            least: None,
            samples: 0,
        }
    }

    /// A timeout: slow start begins anew.
    pub(super) fn restart(&mut self, now: Instant, next: u64) {
        self.found = false;
        self.begin_round(now, next);
    }

    /// Takes in an ACK of slow start that tells a round-trip time; says whether slow start is over. `least_rtt` is the least
    /// round-trip time of the connection.
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

    /// ACKs 1 ms apart: the train is longer than half of 100 ms and the burst's one at the 51st,
    /// or with pacing longer than all of them at the 102nd.
    #[test]
    fn ack_train() {
        for (paced, expected) in [(false, 51), (true, 102)] {
            let mut hystart = HyStart::new(true, paced);
            let over = (0..200).find(|n| hystart.is_over(&sample(n * 1000, 100), MS * 100, 50));
            assert_eq!(over, Some(expected));
        }
    }

    /// ACKs far apart, round-trip time up by 13 ms, more than an eighth of 100: the ninth sample.
    #[test]
    fn delay() {
        let mut hystart = HyStart::new(true, false);
        let over = (0..200).find(|n| hystart.is_over(&sample(n * 3000, 113), MS * 100, 50));
        assert_eq!(over, Some(8));
        let mut hystart = HyStart::new(true, false);
        assert!(!(0..200).any(|n| hystart.is_over(&sample(n * 3000, 112), MS * 100, 50)));
    }

    #[test]
    fn small_windows_and_the_option_leave_slow_start_alone() {
        for (enabled, cwnd) in [(true, 15), (false, 50)] {
            let mut hystart = HyStart::new(enabled, false);
            assert!(!(0..200).any(|n| hystart.is_over(&sample(n * 1000, 200), MS * 100, cwnd)));
        }
    }
}
