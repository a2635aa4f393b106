//! How many of n slots are erased: P(m, n).

use crate::scheme::law::Chain;

/// Below this, probabilities at either end of P(., n) count as 0.
const NEGLIGIBLE: f64 = 1e-290;

impl Chain {
    /// P(m, n) for m = 0..=n: the probability that `m` of `n` slots in a row are erased, by
    /// induction over n (Kuhn 2014, section 3.4). Only sums of products of probabilities, so no
    /// digit is cancelled: the relative error of each is some n times 1e-16. O(n^2) time, O(n)
    /// memory.
    ///
    /// ```
    /// use clift::scheme::law::Chain;
    /// let two = Chain::new(0.9, 0.6, 0.0, 1.0).unwrap().erasures(2);
    /// // good and good, good to bad or back, bad and bad
    /// assert!((two[0] - 0.8 * 0.9).abs() < 1e-15);
    /// assert!((two[1] - (0.8 * 0.1 + 0.2 * 0.4)).abs() < 1e-15);
    /// assert!((two[2] - 0.2 * 0.6).abs() < 1e-15);
    /// ```
    pub fn erasures(&self, n: usize) -> Vec<f64> {
        if n == 0 {
            return vec![1.0];
        }
        let mut count = ErasureCount::new(self, self.stationary(), n);
        (1..n).for_each(|_| count.step());
        count.good.iter().zip(&count.bad).map(|(good, bad)| good + bad).collect()
    }
}

/// Joint law of the erasures among the slots so far and the state of the last one.
pub(crate) struct ErasureCount {
    transition: [[f64; 2]; 2],
    erasing: [f64; 2],
    /// By erasures m.
    pub(crate) good: Vec<f64>,
    pub(crate) bad: Vec<f64>,
    /// The m between which all that is not negligible lies.
    from: usize,
    to: usize,
}

impl ErasureCount {
    /// After one slot, which was in a state of law `first`; room for `slots` of them.
    pub(crate) fn new(chain: &Chain, first: [f64; 2], slots: usize) -> Self {
        let erasing = chain.erasing();
        let law = |state: usize| {
            let mut law = vec![0.0; slots + 1];
            law[0] = first[state] * (1.0 - erasing[state]);
            law[1] = first[state] * erasing[state];
            law
        };
        let (good, bad) = (law(0), law(1));
        Self { transition: chain.transition(), erasing, good, bad, from: 0, to: 1 }
    }

    /// One slot more.
    pub(crate) fn step(&mut self) {
        let [[stay_good, to_bad], [to_good, stay_bad]] = self.transition;
        let [p_good, p_bad] = self.erasing;
        let (mut good_before, mut bad_before) = (0.0, 0.0); // at m - 1, before the slot's erasure
        self.to += 1;
        let cells = self.good[self.from..=self.to].iter_mut();
        for (good, bad) in cells.zip(&mut self.bad[self.from..=self.to]) {
            let good_now = *good * stay_good + *bad * to_good;
            let bad_now = *good * to_bad + *bad * stay_bad;
            *good = good_now * (1.0 - p_good) + good_before * p_good;
            *bad = bad_now * (1.0 - p_bad) + bad_before * p_bad;
            (good_before, bad_before) = (good_now, bad_now);
        }
        while self.from < self.to && self.negligible(self.from) {
            self.from += 1;
        }
        while self.from < self.to && self.negligible(self.to) {
            self.to -= 1;
        }
    }

    /// Probability of `erased` so far and that the next slot arrives.
    pub(crate) fn arriving_next(&self, erased: usize) -> f64 {
        let [[stay_good, to_bad], [to_good, stay_bad]] = self.transition;
        let [p_good, p_bad] = self.erasing;
        let (good, bad) = (self.good[erased], self.bad[erased]);
        (good * stay_good + bad * to_good) * (1.0 - p_good)
            + (good * to_bad + bad * stay_bad) * (1.0 - p_bad)
    }

    /// Drops an end of the law: it could only fall further, and would be slow to compute with.
    fn negligible(&mut self, m: usize) -> bool {
        let small = self.good[m] + self.bad[m] < NEGLIGIBLE;
        if small {
            (self.good[m], self.bad[m]) = (0.0, 0.0);
        }
        small
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_slots_are_counted_to_full_precision() {
        // Without memory: the binomial law, by its ratio of neighbours from the mode outwards.
        let (n, p) = (10_000usize, 0.3);
        let law = Chain::bernoulli(p).unwrap().erasures(n);
        let mode = (n as f64 * p) as usize;
        for m in [mode - 400, mode - 1, mode, mode + 500] {
            let ratio = (n - m) as f64 / (m + 1) as f64 * p / (1.0 - p);
            assert!((law[m + 1] / law[m] / ratio - 1.0).abs() < 1e-9, "{m}");
        }
        assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-11);
    }

    #[test]
    fn the_mean_is_n_p_whatever_the_memory() {
        for (alpha, beta) in [(0.999, 0.99), (0.3, 0.1), (0.0, 0.0), (1.0, 0.5), (0.99999, 0.9999)]
        {
            let chain = Chain::new(alpha, beta, 0.01, 0.9).unwrap();
            for n in [0, 1, 2, 700] {
                let law = chain.erasures(n);
                assert_eq!(law.len(), n + 1);
                assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                let mean: f64 = law.iter().enumerate().map(|(m, p)| m as f64 * p).sum();
                assert!((mean - n as f64 * chain.erasure_probability()).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn a_law_with_two_humps_keeps_both() {
        // Hardly ever moving: all slots good or all bad.
        let law = Chain::new(1.0 - 1e-9, 1.0 - 1e-9, 0.0, 1.0).unwrap().erasures(3000);
        assert!((law[0] - 0.5).abs() < 1e-5 && (law[3000] - 0.5).abs() < 1e-5);
        assert!(law[1500] > 1e-12);
    }
}
