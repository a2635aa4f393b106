//! Detection of token-bucket policers. Two consecutive intervals that begin and end with losses,
//! with a fifth of the segments lost and about the same throughput, indicate a policer; BBR then
//! sends at that rate for 48 round trips (Linux 4.9, `bbr_lt_bw_sampling`; not in the draft).

use super::bandwidth::{BW_UNIT, Bandwidth, UNIT, bytes_per_second};
use crate::transport::tcp::congestion::Totals;
use crate::units::Duration;

/// Minimum duration of an interval in round trips; the maximum is four times as long.
const MIN_ROUNDS: u32 = 4;
/// Segments lost per 256 delivered that indicate a policer: 20 %.
const LOSS: u64 = 50;
/// Two intervals agree if their rates differ by at most an eighth, or by 4 kbit/s.
const RATIO: u64 = 8;
const DIFFERENCE: u64 = 4000 / 8;
/// Lifetime of the policer's rate in round trips; then BBR probes again.
const MAX_ROUNDS: u32 = 48;

/// Input of one sampling step.
#[derive(Clone, Copy, Debug)]
pub(super) struct PolicerSample {
    pub(super) totals: Totals,
    /// True if an ACK or a timeout declared a segment lost.
    pub(super) losses: bool,
    pub(super) app_limited: bool,
    pub(super) round_start: bool,
    /// Bytes of payload of a full segment.
    pub(super) mss: u32,
}

/// Long-term bandwidth estimator.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTerm {
    sampling: bool,
    used: bool,
    bandwidth: Bandwidth,
    rounds: u32,
    /// Totals at the start of the interval.
    start: Totals,
}

impl LongTerm {
    /// The policer's rate, if one was detected.
    pub(super) fn get(&self) -> Option<Bandwidth> {
        self.used.then_some(self.bandwidth)
    }

    /// True if the rate has been in use for its lifetime; the rate is then forgotten.
    pub(super) fn expires(&mut self, sample: &PolicerSample, probing: bool) -> bool {
        if !self.used || !probing || !sample.round_start {
            return false;
        }
        self.rounds += 1;
        if self.rounds < MAX_ROUNDS {
            return false;
        }
        self.reset(sample.totals);
        true
    }

    /// Processes an ACK or a timeout. Returns true if a policer was detected.
    pub(super) fn sample(&mut self, sample: &PolicerSample) -> bool {
        if self.used {
            return false;
        }
        if !self.sampling {
            if !sample.losses {
                return false;
            }
            self.begin_interval(sample.totals);
            self.sampling = true;
        }
        if sample.app_limited {
            self.reset(sample.totals);
            return false;
        }
        self.rounds += u32::from(sample.round_start);
        if self.rounds < MIN_ROUNDS {
            return false;
        }
        if self.rounds > 4 * MIN_ROUNDS {
            self.reset(sample.totals);
            return false;
        }
        sample.losses && self.end_interval(sample)
    }

    /// Restarts the detection.
    pub(super) fn reset(&mut self, totals: Totals) {
        *self = Self { start: totals, ..Self::default() };
    }

    fn begin_interval(&mut self, totals: Totals) {
        self.start = totals;
        self.rounds = 0;
    }

    /// Ends the interval at a loss, if enough segments were lost in it.
    fn end_interval(&mut self, sample: &PolicerSample) -> bool {
        let lost = sample.totals.lost - self.start.lost;
        let delivered = sample.totals.delivered - self.start.delivered;
        if delivered == 0 || lost << 8 < LOSS * delivered {
            return false;
        }
        let time = sample.totals.delivered_at.saturating_since(self.start.delivered_at);
        let millis = time.as_nanos() / Duration::from_millis(1).as_nanos();
        if millis == 0 {
            return false;
        }
        let bandwidth = u128::from(delivered) * u128::from(BW_UNIT) / (u128::from(millis) * 1000);
        let bandwidth = Bandwidth::try_from(bandwidth).unwrap_or(Bandwidth::MAX);
        if self.bandwidth > 0 {
            let difference = bandwidth.abs_diff(self.bandwidth);
            if difference.saturating_mul(RATIO) <= self.bandwidth
                || bytes_per_second(difference, sample.mss, UNIT) <= DIFFERENCE
            {
                self.bandwidth = self.bandwidth.midpoint(bandwidth);
                self.used = true;
                self.rounds = 0;
                return true;
            }
        }
        self.bandwidth = bandwidth;
        self.begin_interval(sample.totals);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Round trips of 100 ms in which `delivered` segments arrive and `lost` segments do not.
    fn drive(
        policer: &mut LongTerm,
        sample: &mut PolicerSample,
        rounds: u64,
        delivered: u64,
        lost: u64,
    ) {
        for _ in 0..rounds {
            sample.totals.delivered += delivered;
            sample.totals.lost += lost;
            sample.totals.delivered_at = sample.totals.delivered_at + Duration::from_millis(100);
            sample.losses = lost > 0;
            sample.round_start = true;
            policer.sample(sample);
        }
    }

    fn sample() -> PolicerSample {
        PolicerSample {
            totals: Totals::default(),
            losses: false,
            app_limited: false,
            round_start: false,
            mss: 1448,
        }
    }

    #[test]
    fn a_policer_is_detected_and_forgotten() {
        let (mut policer, mut sample) = (LongTerm::default(), sample());
        drive(&mut policer, &mut sample, 20, 100, 0);
        assert_eq!(policer.get(), None);
        // The interval begins after the first lossy round and lasts 4 rounds; the second interval
        // agrees.
        drive(&mut policer, &mut sample, 8, 100, 30);
        let rate = policer.get().unwrap();
        assert_eq!(rate, 100 * BW_UNIT / 100_000);
        let forgotten = (1..100).find(|_| policer.expires(&sample, true));
        assert_eq!((forgotten, policer.get()), (Some(48), None));
    }

    /// 10 % losses, different throughputs, or application-limited sending: no policer.
    #[test]
    fn other_losses_indicate_no_policer() {
        let (mut policer, mut sample) = (LongTerm::default(), sample());
        drive(&mut policer, &mut sample, 100, 100, 10);
        assert_eq!(policer.get(), None);
        for round in 0..12 {
            let delivered = 100 * 3u64.pow(round) / 2u64.pow(round);
            drive(&mut policer, &mut sample, 1, delivered, delivered / 3);
        }
        assert_eq!(policer.get(), None);
        sample.app_limited = true;
        drive(&mut policer, &mut sample, 100, 100, 30);
        assert_eq!(policer.get(), None);
    }
}
