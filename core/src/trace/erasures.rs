//! Statistics of a PHY trace: rate, erasures, bursts, gaps.

use std::collections::BTreeMap;

use crate::trace::PhyTrace;
use crate::units::Duration;

/// Statistics of a PHY trace (DESIGN section 4: erasure and burst-length distribution).
///
/// A burst is a maximal run of erased slots; a good run is a maximal run of received slots. Runs
/// cut by an end of the trace count with their visible length.
#[derive(Clone, Debug, PartialEq)]
pub struct Erasures {
    /// Slots.
    pub slots: u64,
    /// Erased slots.
    pub erased: u64,
    /// [`PhyTrace::period`]: last `t` - first `t` + median gap.
    pub duration: Duration,
    /// Capacity: bits of all slots over `duration`, bit/s; `None` for a single slot.
    pub rate: Option<f64>,
    /// Lower median of the gaps between slots.
    pub median_gap: Duration,
    /// Longest gap between two slots.
    pub longest_gap: Duration,
    /// Runs of erased slots.
    pub bursts: Runs,
    /// Runs of received slots.
    pub good_runs: Runs,
    /// The fitted two-state chain.
    pub gilbert: GilbertFit,
}

/// A histogram of run lengths, in ascending order; absent lengths are omitted.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Runs {
    /// (length in slots, number of runs).
    pub counts: Vec<(u32, u64)>,
}

/// A Gilbert chain (good: received, bad: erased) fitted by maximum likelihood: of the slots in a
/// state that have a successor, the share whose successor is in the same state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertFit {
    /// Probability of staying good; `None` if no slot but possibly the last was received.
    pub alpha: Option<f64>,
    /// Probability of staying bad; `None` if no slot but possibly the last was erased.
    pub beta: Option<f64>,
}

impl PhyTrace {
    /// Bytes of all slots.
    pub fn bytes(&self) -> u64 {
        self.sizes().sum(0..self.len())
    }

    /// Bits of the received slots over the duration of the trace, bit/s; `None` for a single slot.
    pub fn received_rate(&self) -> Option<f64> {
        let bytes = |slot: usize| u64::from(self.sizes().at(slot));
        let received = (0..self.len()).filter(|&slot| self.d()[slot] > 0);
        let bits = received.map(bytes).sum::<u64>() as f64 * 8.0;
        let duration = self.period();
        (duration > Duration::ZERO).then(|| bits / duration.as_secs_f64())
    }

    /// Statistics of the trace, in one pass over each column.
    ///
    /// ```
    /// use clift::trace::PhyTrace;
    /// use clift::units::Bytes;
    /// let d = vec![5, 0, 0, 5, 5, 0, 5, 5];
    /// let phy = PhyTrace::new((0..8).map(|i| i * 1_000_000).collect::<Vec<_>>().into(), d.into(), Bytes(33));
    /// let erasures = phy.unwrap().erasures();
    /// assert_eq!(erasures.rate, Some(264_000.0));
    /// assert_eq!(erasures.erasure_rate(), 3.0 / 8.0);
    /// assert_eq!(erasures.bursts.counts, [(1, 1), (2, 1)]);
    /// assert_eq!(erasures.bursts.mean(), Some(1.5));
    /// ```
    pub fn erasures(&self) -> Erasures {
        let (bursts, good_runs) = runs(self.d());
        let slots = self.len() as u64;
        let duration = self.period();
        let bits = self.bytes() as f64 * 8.0;
        let last_erased = self.d()[self.len() - 1] == 0;
        let longest = self.t().windows(2).fold(0, |most, pair| most.max(pair[1] - pair[0]));
        Erasures {
            slots,
            erased: bursts.slots(),
            duration,
            rate: (duration > Duration::ZERO).then(|| bits / duration.as_secs_f64()),
            median_gap: self.median_gap(),
            longest_gap: Duration::from_nanos(longest as u64),
            gilbert: GilbertFit {
                alpha: good_runs.staying(!last_erased),
                beta: bursts.staying(last_erased),
            },
            bursts,
            good_runs,
        }
    }
}

impl Erasures {
    /// Share of the slots that were erased.
    pub fn erasure_rate(&self) -> f64 {
        self.erased as f64 / self.slots as f64
    }
}

impl Runs {
    /// Number of runs.
    pub fn runs(&self) -> u64 {
        self.counts.iter().map(|&(_, runs)| runs).sum()
    }

    /// Number of slots in the runs.
    pub fn slots(&self) -> u64 {
        self.counts.iter().map(|&(length, runs)| u64::from(length) * runs).sum()
    }

    /// Mean length in slots; `None` without a run.
    pub fn mean(&self) -> Option<f64> {
        (self.runs() > 0).then(|| self.slots() as f64 / self.runs() as f64)
    }

    /// Share of transitions that stay in the state. Every run leaves once, except one that ends the
    /// trace.
    fn staying(&self, ends_the_trace: bool) -> Option<f64> {
        let transitions = self.slots() - u64::from(ends_the_trace);
        let leaving = self.runs() - u64::from(ends_the_trace);
        (transitions > 0).then(|| 1.0 - leaving as f64 / transitions as f64)
    }
}

/// Histograms of the runs of zeros and of non-zeros.
fn runs(d: &[i64]) -> (Runs, Runs) {
    let (mut bursts, mut good) = (BTreeMap::new(), BTreeMap::new());
    for run in d.chunk_by(|a, b| (*a == 0) == (*b == 0)) {
        let histogram = if run[0] == 0 { &mut bursts } else { &mut good };
        *histogram.entry(run.len() as u32).or_insert(0) += 1;
    }
    let sorted = |histogram: BTreeMap<_, _>| Runs { counts: histogram.into_iter().collect() };
    (sorted(bursts), sorted(good))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    fn erasures(d: Vec<i64>) -> Erasures {
        let t: Vec<i64> = (0..d.len() as i64).map(|i| i * 10).collect();
        PhyTrace::new(t.into(), d.into(), Bytes(33)).unwrap().erasures()
    }

    #[test]
    fn the_fit_counts_transitions() {
        // Seven transitions: good to good 2, good to bad 2, bad to bad 1, bad to good 2.
        let fit = erasures(vec![1, 0, 0, 1, 1, 0, 1, 1]).gilbert;
        assert!((fit.alpha.unwrap() - 2.0 / 4.0).abs() < 1e-15);
        assert!((fit.beta.unwrap() - 1.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn a_trace_in_one_state_does_not_fit_the_other() {
        let clean = erasures(vec![1; 4]);
        assert_eq!(clean.gilbert, GilbertFit { alpha: Some(1.0), beta: None });
        assert_eq!((clean.erased, clean.bursts.mean()), (0, None));
        let dead = erasures(vec![0; 4]);
        assert_eq!(dead.gilbert, GilbertFit { alpha: None, beta: Some(1.0) });
        assert_eq!(dead.erasure_rate(), 1.0);
        assert_eq!(dead.good_runs, Runs::default());
    }

    #[test]
    fn a_single_slot_has_no_rate() {
        let single = erasures(vec![1]);
        assert_eq!((single.rate, single.longest_gap), (None, Duration::ZERO));
        assert_eq!(single.gilbert, GilbertFit { alpha: None, beta: None });
    }

    #[test]
    fn the_longest_gap_is_found() {
        let phy = PhyTrace::new(vec![0, 1, 9, 12].into(), vec![1; 4].into(), Bytes(1)).unwrap();
        assert_eq!(phy.erasures().longest_gap, Duration::from_nanos(8));
        assert_eq!(phy.erasures().median_gap, Duration::from_nanos(3));
    }
}
