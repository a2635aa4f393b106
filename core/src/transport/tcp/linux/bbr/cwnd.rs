//! How many segments may be in flight (section 4.2.3).

use super::{BW_UNIT, Bandwidth, Bbr, Mode, Sample, Window, micros, narrow};
use crate::transport::tcp::linux::repair::Phase;

/// Least window (4.2.3.3), and the window before there is a model.
pub(super) const MIN_CWND: u32 = 4;
const INITIAL_CWND: u64 = 10;

impl Bbr {
    /// Section 4.2.3.2: `gain` times the bandwidth-delay product.
    fn product(&self, bandwidth: Bandwidth, gain: u64) -> u64 {
        let Some(rtt) = self.min_rtt else { return INITIAL_CWND };
        let product = (u128::from(bandwidth) * u128::from(micros(rtt)) * u128::from(gain)) >> 8;
        u64::try_from(product.div_ceil(u128::from(BW_UNIT))).unwrap_or(u64::MAX)
    }

    /// Room for what stands in the sender's and the receiver's offload: three quanta, an even
    /// number, and two more while bandwidth is probed for, lest a small window hinder that.
    fn with_quanta(&self, segments: u64) -> u64 {
        let even = segments.saturating_add(3 * self.quantum() + 1) & !1;
        even.saturating_add(if self.mode == Mode::ProbeBw && self.cycle == 0 { 2 } else { 0 })
    }

    pub(super) fn inflight(&self, bandwidth: Bandwidth, gain: u64) -> u64 {
        self.with_quanta(self.product(bandwidth, gain))
    }

    /// Section 4.2.3.6.
    pub(super) fn set_cwnd(&mut self, sample: &Sample, window: &mut Window) {
        if sample.acked > 0 {
            let cwnd = self.modulate(sample, window.cwnd);
            window.set(cwnd);
        }
        if self.mode == Mode::ProbeRtt {
            window.set(window.cwnd.min(MIN_CWND));
        }
    }

    fn modulate(&mut self, sample: &Sample, cwnd: u32) -> u32 {
        let acked = narrow(sample.acked);
        let cwnd = match self.recover(sample, cwnd) {
            Ok(conserved) => return conserved,
            Err(cwnd) => cwnd,
        };
        let bandwidth = self.model();
        let mut target = self.product(bandwidth, self.cwnd_gain);
        if self.full {
            target = target.saturating_add(self.aggregation.room(bandwidth));
        }
        let target = narrow(self.with_quanta(target));
        let grown = cwnd.saturating_add(acked);
        let cwnd = if self.full {
            grown.min(target)
        } else if cwnd < target || sample.totals.delivered < INITIAL_CWND {
            grown
        } else {
            cwnd
        };
        cwnd.max(MIN_CWND)
    }

    /// Section 4.2.3.4: packet conservation in the first round trip of a recovery (`Ok`), and what
    /// the window was once it is over (`Err`: it then follows the model).
    fn recover(&mut self, sample: &Sample, cwnd: u32) -> Result<u32, u32> {
        let conserved = narrow(sample.in_flight + sample.acked);
        let mut cwnd =
            if sample.lost > 0 { cwnd.saturating_sub(narrow(sample.lost)).max(1) } else { cwnd };
        let prior = std::mem::replace(&mut self.prior_phase, sample.phase);
        if sample.phase == Phase::Recovery && prior != Phase::Recovery {
            self.conserving = true;
            self.round_end = sample.totals.delivered;
            cwnd = conserved;
        } else if prior >= Phase::Recovery && sample.phase < Phase::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserving = false;
        }
        if self.conserving { Ok(cwnd.max(conserved)) } else { Err(cwnd) }
    }

    /// A recovery or ProbeRTT begins.
    pub(super) fn save_cwnd(&mut self, window: &Window) {
        let reduced = self.prior_phase >= Phase::Recovery || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if reduced { self.prior_cwnd.max(window.cwnd) } else { window.cwnd };
    }
}
