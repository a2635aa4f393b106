//! The bounds of the model: the bandwidth of the last two cycles, the largest inflight that the
//! path carried, and the deliveries since a loss (draft-ietf-ccwg-bbr-04 sections 5.5.5 and
//! 5.5.10).

use super::{Bandwidth, MIN_CWND, UNIT};

/// Value of an unset bound.
pub(super) const UNBOUNDED: u64 = u64::MAX;
/// A loss scales bandwidth and inflight by 0.7 (1 - 76/256 in the tree).
pub(super) const AFTER_LOSS: u64 = UNIT - UNIT * 30 / 100;
/// Fraction of `inflight_hi` left to other flows: 0.15.
const HEADROOM: u64 = UNIT * 15 / 100;

/// Bounds of bandwidth and inflight, and whether this round trip had losses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Maximum of the previous cycle and of the current one.
    bw_hi: [Bandwidth; 2],
    pub(super) bw_lo: Bandwidth,
    pub(super) inflight_hi: u64,
    pub(super) inflight_lo: u64,
    /// Maximum of the current round trip.
    bw_latest: Bandwidth,
    pub(super) inflight_latest: u64,
    pub(super) loss_in_round: bool,
    /// Values to restore after a spurious reduction: `bw_lo`, `inflight_lo`, `inflight_hi`.
    saved: (Bandwidth, u64, u64),
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            bw_hi: [0; 2],
            bw_lo: UNBOUNDED,
            inflight_hi: UNBOUNDED,
            inflight_lo: UNBOUNDED,
            bw_latest: 0,
            inflight_latest: 0,
            loss_in_round: false,
            saved: (0, 0, 0),
        }
    }
}

impl Bounds {
    /// Maximum of the current and the previous cycle.
    pub(super) fn max_bandwidth(&self) -> Bandwidth {
        self.bw_hi[0].max(self.bw_hi[1])
    }

    /// Bandwidth in use: the maximum, limited by `bw_lo`.
    pub(super) fn bandwidth(&self) -> Bandwidth {
        self.max_bandwidth().min(self.bw_lo)
    }

    pub(super) fn take_bandwidth(&mut self, bandwidth: Bandwidth) {
        self.bw_hi[1] = self.bw_hi[1].max(bandwidth);
    }

    /// Ends a cycle; a cycle without samples is not counted.
    pub(super) fn forget_a_cycle(&mut self) {
        if self.bw_hi[1] > 0 {
            self.bw_hi = [self.bw_hi[1], 0];
        }
    }

    /// Records the deliveries of an ACK.
    pub(super) fn note_delivery(&mut self, bandwidth: Bandwidth, delivered: u64) {
        self.bw_latest = self.bw_latest.max(bandwidth);
        self.inflight_latest = self.inflight_latest.max(delivered);
    }

    /// Starts a round trip with this delivery.
    pub(super) fn begin_round(&mut self, bandwidth: Bandwidth, delivered: u64) {
        (self.bw_latest, self.inflight_latest) = (bandwidth, delivered);
    }

    /// Section 5.5.10.3: a round trip with losses lowers the bounds of bandwidth and inflight, but
    /// not below its deliveries (`bbr_adapt_lower_bounds`).
    pub(super) fn adapt_lower(&mut self, cwnd: u32) {
        if self.loss_in_round {
            if self.bw_lo == UNBOUNDED {
                self.bw_lo = self.max_bandwidth();
            }
            if self.inflight_lo == UNBOUNDED {
                self.inflight_lo = cwnd.into();
            }
            self.bw_lo = self.bw_latest.max(share(self.bw_lo, AFTER_LOSS));
            self.inflight_lo = self.inflight_latest.max(share(self.inflight_lo, AFTER_LOSS));
        }
        self.bw_lo = self.bw_lo.max(1);
    }

    /// Clears the short-term bounds at the start of a probe.
    pub(super) fn reset_lower(&mut self) {
        (self.bw_lo, self.inflight_lo) = (UNBOUNDED, UNBOUNDED);
    }

    /// Clears losses and deliveries of a probe, which do not apply to the next phase.
    pub(super) fn reset_signals(&mut self) {
        self.loss_in_round = false;
        self.begin_round(0, 0);
    }

    /// `inflight_hi` less the headroom for other flows (`bbr_inflight_with_headroom`).
    pub(super) fn with_headroom(&self) -> u64 {
        if self.inflight_hi == UNBOUNDED {
            return UNBOUNDED;
        }
        let headroom = share(self.inflight_hi, HEADROOM).max(1);
        self.inflight_hi.saturating_sub(headroom).max(MIN_CWND.into())
    }

    pub(super) fn save(&mut self) {
        self.saved = (self.bw_lo, self.inflight_lo, self.inflight_hi);
    }

    /// Restores the bounds after a spurious reduction.
    pub(super) fn undo(&mut self) {
        self.loss_in_round = false;
        self.bw_lo = self.bw_lo.max(self.saved.0);
        self.inflight_lo = self.inflight_lo.max(self.saved.1);
        self.inflight_hi = self.inflight_hi.max(self.saved.2);
    }
}

/// `share`/256 of a number, rounded down.
pub(super) fn share(of: u64, share: u64) -> u64 {
    u64::try_from((u128::from(of) * u128::from(share)) >> 8).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compared with a list of all samples and their cycles: the maximum of the last two cycles
        /// with samples.
        #[test]
        fn bandwidth_is_the_maximum_of_two_cycles(
            steps in prop::collection::vec(prop::option::of(1u64..1_000), 1..200),
        ) {
            let mut bounds = Bounds::default();
            let mut cycles = vec![vec![]];
            for step in steps {
                match step {
                    Some(bandwidth) => {
                        bounds.take_bandwidth(bandwidth);
                        cycles.last_mut().unwrap().push(bandwidth);
                    }
                    None => {
                        bounds.forget_a_cycle();
                        if !cycles.last().unwrap().is_empty() {
                            cycles.push(vec![]);
                        }
                    }
                }
                let last = &cycles[cycles.len().saturating_sub(2)..];
                let most = last.iter().flatten().copied().max().unwrap_or(0);
                prop_assert_eq!(bounds.max_bandwidth(), most);
            }
        }
    }

    /// Window 100, bandwidth 1000: each falls to 70 % (180/256) twice, but not below the
    /// deliveries.
    #[test]
    fn losses_lower_the_bounds_to_seven_tenths_but_not_below_deliveries() {
        let mut bounds = Bounds::default();
        bounds.take_bandwidth(1000);
        bounds.loss_in_round = true;
        bounds.adapt_lower(100);
        assert_eq!((bounds.bandwidth(), bounds.inflight_lo), (703, 70));
        bounds.note_delivery(600, 60);
        bounds.adapt_lower(100);
        assert_eq!((bounds.bandwidth(), bounds.inflight_lo), (600, 60));
        bounds.save();
        bounds.loss_in_round = true;
        bounds.reset_signals();
        bounds.adapt_lower(100);
        assert_eq!((bounds.bandwidth(), bounds.inflight_lo), (600, 60), "no loss");
        bounds.reset_lower();
        assert_eq!((bounds.bandwidth(), bounds.inflight_lo), (1000, UNBOUNDED));
    }

    #[test]
    fn a_spurious_loss_restores_the_bounds() {
        let mut bounds = Bounds { inflight_hi: 200, inflight_lo: 150, ..Bounds::default() };
        bounds.take_bandwidth(1000);
        bounds.save();
        bounds.loss_in_round = true;
        bounds.adapt_lower(100);
        bounds.inflight_hi = 90;
        assert_eq!((bounds.bandwidth(), bounds.inflight_lo), (703, 105));
        bounds.undo();
        assert_eq!((bounds.bandwidth(), bounds.inflight_lo, bounds.inflight_hi), (1000, 150, 200));
    }

    /// 38/256 of 1000 is 148; at least one segment is left free; at least four are used.
    #[test]
    fn headroom_of_a_seventh_is_left_to_other_flows() {
        let hi = |inflight_hi| Bounds { inflight_hi, ..Bounds::default() }.with_headroom();
        assert_eq!([hi(1000), hi(6), hi(4), hi(UNBOUNDED)], [852, 5, 4, UNBOUNDED]);
    }
}
