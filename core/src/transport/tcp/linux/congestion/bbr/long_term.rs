//! The rate of a token-bucket policer: two intervals in a row that begin and end with losses, both
//! with a fifth of the segments lost and about the same throughput, show one; then BBR sends at
//! that rate for 48 round trips (Linux 4.9, `lt_bw`; not in the draft).

use super::{BW_UNIT, Bandwidth, UNIT, bytes_per_second};
use crate::transport::tcp::congestion::Totals;
use crate::units::Duration;

/// An interval lasts at least so many round trips, at most four times as many.
const MIN_ROUNDS: u32 = 4;
/// Segments lost of 256 delivered that make a policer likely: 20 %.
const LOSS: u64 = 50;
/// Two intervals agree if they differ by no more than an eighth, or 4 kbit/s.
const RATIO: u64 = 8;
const DIFFERENCE: u64 = 4000 / 8;
/// Round trips after which the rate is forgotten and probed for again.
const MAX_ROUNDS: u32 = 48;

/// One look at the sampling.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) totals: Totals,
    /// An ACK or a timeout declared something lost.
    pub(super) losses: bool,
    pub(super) app_limited: bool,
    pub(super) round_start: bool,
    /// Bytes of payload of a full segment.
    pub(super) mss: u32,
}

/// Long-term bandwidth.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTerm {
    sampling: bool,
    used: bool,
    bandwidth: Bandwidth,
    rounds: u32,
    /// Where the interval began.
    start: Totals,
}

impl LongTerm {
    /// The policer's rate, if there seems to be one.
    pub(super) fn get(&self) -> Option<Bandwidth> {
        self.used.then_some(self.bandwidth)
    }

    /// Whether the rate was in use for long enough: then it is forgotten.
    pub(super) fn expires(&mut self, look: &Look, probing: bool) -> bool {
        if !self.used || !probing || !look.round_start {
            return false;
        }
        self.rounds += 1;
        if self.rounds < MAX_ROUNDS {
            return false;
        }
        self.reset(look.totals);
        true
    }

    /// Looks at the losses; says whether a policer was found.
    pub(super) fn sample(&mut self, look: &Look) -> bool {
        if self.used {
            return false;
        }
        if !self.sampling {
            if !look.losses {
                return false;
            }
            self.begin_interval(look.totals);
            self.sampling = true;
        }
        if look.app_limited {
            self.reset(look.totals);
            return false;
        }
        self.rounds += u32::from(look.round_start);
        if self.rounds < MIN_ROUNDS {
            return false;
        }
        if self.rounds > 4 * MIN_ROUNDS {
            self.reset(look.totals);
            return false;
        }
        look.losses && self.end_interval(look)
    }

    /// Begins anew.
    pub(super) fn reset(&mut self, totals: Totals) {
        *self = Self { start: totals, ..Self::default() };
    }

    fn begin_interval(&mut self, totals: Totals) {
        self.start = totals;
        self.rounds = 0;
    }

    /// The interval ends with a loss, if enough was lost in it.
    fn end_interval(&mut self, look: &Look) -> bool {
        let lost = look.totals.lost - self.start.lost;
        let delivered = look.totals.delivered - self.start.delivered;
        if delivered == 0 || lost << 8 < LOSS * delivered {
            return false;
        }
        let time = look.totals.delivered_at.saturating_since(self.start.delivered_at);
        let millis = time.as_nanos() / Duration::from_millis(1).as_nanos();
        if millis == 0 {
            return false;
        }
        let bandwidth = u128::from(delivered) * u128::from(BW_UNIT) / (u128::from(millis) * 1000);
        let bandwidth = Bandwidth::try_from(bandwidth).unwrap_or(Bandwidth::MAX);
        if self.bandwidth > 0 {
            let difference = bandwidth.abs_diff(self.bandwidth);
            if difference.saturating_mul(RATIO) <= self.bandwidth
                || bytes_per_second(difference, look.mss, UNIT) <= DIFFERENCE
            {
                self.bandwidth = self.bandwidth.midpoint(bandwidth);
                self.used = true;
                self.rounds = 0;
                return true;
            }
        }
        self.bandwidth = bandwidth;
        self.begin_interval(look.totals);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Round trips of 100 ms in which `delivered` get through and `lost` do not.
    fn drive(policer: &mut LongTerm, look: &mut Look, rounds: u64, delivered: u64, lost: u64) {
        for _ in 0..rounds {
            look.totals.delivered += delivered;
            look.totals.lost += lost;
            look.totals.delivered_at = look.totals.delivered_at + Duration::from_millis(100);
            look.losses = lost > 0;
            look.round_start = true;
            policer.sample(look);
        }
    }

    fn look() -> Look {
        Look {
            totals: Totals::default(),
            losses: false,
            app_limited: false,
            round_start: false,
            mss: 1448,
        }
    }

    #[test]
    fn a_policer_is_found_and_forgotten() {
        let (mut policer, mut look) = (LongTerm::default(), look());
        drive(&mut policer, &mut look, 20, 100, 0);
        assert_eq!(policer.get(), None);
        // The interval begins after the first lossy round and has 4; the second one agrees.
        drive(&mut policer, &mut look, 8, 100, 30);
        let rate = policer.get().unwrap();
        assert_eq!(rate, 100 * BW_UNIT / 100_000);
        let forgotten = (1..100).find(|_| policer.expires(&look, true));
        assert_eq!((forgotten, policer.get()), (Some(48), None));
    }

    /// 10 % lost, throughputs that differ, or the application: no policer.
    #[test]
    fn other_losses_are_none() {
        let (mut policer, mut look) = (LongTerm::default(), look());
        drive(&mut policer, &mut look, 100, 100, 10);
        assert_eq!(policer.get(), None);
        for round in 0..12 {
            let delivered = 100 * 3u64.pow(round) / 2u64.pow(round);
            drive(&mut policer, &mut look, 1, delivered, delivered / 3);
        }
        assert_eq!(policer.get(), None);
        look.app_limited = true;
        drive(&mut policer, &mut look, 100, 100, 30);
        assert_eq!(policer.get(), None);
    }
}
