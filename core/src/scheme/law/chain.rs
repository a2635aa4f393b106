//! The Gilbert-Elliott channel as a Markov chain.

use crate::config::Fault;

/// A chain that is in a good or a bad state for each slot, moves between slots, and erases a slot
/// with a probability of its state; in its stationary law (Kuhn 2014, section 3.3).
///
/// It keeps the probabilities of *leaving* a state, so that chains that hardly ever move lose no
/// digits. Index 0 is the good state, 1 the bad one, throughout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chain {
    leaving: [f64; 2],
    erasing: [f64; 2],
}

impl Chain {
    /// A chain that stays good with probability `alpha` and bad with `beta` (DESIGN section 6) and
    /// erases with probability `p_good` and `p_bad`.
    ///
    /// ```
    /// use clift::scheme::law::Chain;
    /// let chain = Chain::new(0.98, 0.8, 0.0, 1.0).unwrap();
    /// assert!((chain.erasure_probability() - 1.0 / 11.0).abs() < 1e-15);
    /// assert!(Chain::new(1.0, 1.0, 0.0, 1.0).unwrap_err().to_string().contains("never changes"));
    /// ```
    ///
    /// # Errors
    /// If one of them is not from 0 to 1, or `alpha` and `beta` are both 1: such a chain never
    /// moves, so it has no stationary law.
    pub fn new(alpha: f64, beta: f64, p_good: f64, p_bad: f64) -> Result<Self, Fault> {
        let named = [("alpha", alpha), ("beta", beta), ("p_good", p_good), ("p_bad", p_bad)];
        for (name, value) in named {
            check_probability(name, value)?;
        }
        if alpha == 1.0 && beta == 1.0 {
            return Err(Fault::at(
                "alpha = beta = 1 never changes state; give one of them below 1",
            ));
        }
        Ok(Self { leaving: [1.0 - alpha, 1.0 - beta], erasing: [p_good, p_bad] })
    }

    /// Independent erasures with probability `p`: the chain without memory.
    ///
    /// # Errors
    /// If `p` is not from 0 to 1.
    pub fn bernoulli(p: f64) -> Result<Self, Fault> {
        check_probability("p", p)?;
        Ok(Self { leaving: [p, 1.0 - p], erasing: [0.0, 1.0] })
    }

    /// The chain that erases the share `p` of the slots in bursts of `mean_burst` slots, every slot
    /// in its bad state and none in its good one: equation (3) of Kuhn 2014 for alpha.
    ///
    /// ```
    /// use clift::scheme::law::Chain;
    /// let chain = Chain::from_erasures(0.02, 4.0).unwrap();
    /// assert!((chain.staying()[1] - 0.75).abs() < 1e-15);
    /// assert!((chain.erasure_probability() - 0.02).abs() < 1e-15);
    /// ```
    ///
    /// # Errors
    /// If `p` is not from 0 to 1, `mean_burst` below 1, or the gaps would be below one slot.
    pub fn from_erasures(p: f64, mean_burst: f64) -> Result<Self, Fault> {
        check_probability("p", p)?;
        if !(mean_burst >= 1.0 && mean_burst.is_finite()) {
            let cure = "is out of range; give a number of at least 1";
            return Err(Fault::at(format!("a mean burst of {mean_burst} slots {cure}")));
        }
        let becoming_bad = p / ((1.0 - p) * mean_burst); // infinite for p = 1
        if becoming_bad > 1.0 {
            return Err(Fault::at(format!(
                "erasing {p} of the slots in bursts of {mean_burst} leaves gaps below one slot; \
                 give longer bursts (at least p / (1 - p)) and p below 1"
            )));
        }
        Ok(Self { leaving: [becoming_bad, 1.0 / mean_burst], erasing: [0.0, 1.0] })
    }

    /// Probabilities of staying: [alpha, beta].
    pub fn staying(&self) -> [f64; 2] {
        self.leaving.map(|leaving| 1.0 - leaving)
    }

    /// Erasure probabilities: [P_G, P_B].
    pub fn erasing(&self) -> [f64; 2] {
        self.erasing
    }

    /// Shares of the slots in the good and the bad state.
    pub fn stationary(&self) -> [f64; 2] {
        let [to_bad, to_good] = self.leaving;
        [to_good / (to_bad + to_good), to_bad / (to_bad + to_good)]
    }

    /// Global erasure probability.
    pub fn erasure_probability(&self) -> f64 {
        let [good, bad] = self.stationary();
        good * self.erasing[0] + bad * self.erasing[1]
    }

    /// 1 - [`Self::erasure_probability`], without losing digits where it is small.
    pub fn arrival_probability(&self) -> f64 {
        let [good, bad] = self.stationary();
        good * (1.0 - self.erasing[0]) + bad * (1.0 - self.erasing[1])
    }

    /// Correlation of the states of neighbouring slots, alpha + beta - 1: rho of equation (3).
    pub fn correlation(&self) -> f64 {
        1.0 - self.leaving[0] - self.leaving[1]
    }

    /// The chain that every `steps`-th slot sees: what a code word of interleaved FEC is sent over
    /// (equations (3) and (4) of Kuhn 2014, which prints alpha_I and beta_I exchanged). 0 slots on
    /// it stays where it is.
    ///
    /// ```
    /// use clift::scheme::law::Chain;
    /// let two = Chain::new(0.9, 0.6, 0.0, 1.0).unwrap().every(2);
    /// assert!((two.staying()[0] - (0.9 * 0.9 + 0.1 * 0.4)).abs() < 1e-15);
    /// ```
    pub fn every(&self, steps: u64) -> Self {
        self.forgetting(self.forgotten_after(steps))
    }

    /// The chain with the same stationary law whose correlation is 1 - `forgotten`.
    pub(crate) fn forgetting(&self, forgotten: f64) -> Self {
        let [good, bad] = self.stationary();
        Self { leaving: [bad * forgotten, good * forgotten], erasing: self.erasing }
    }

    /// 1 - rho^`steps`, exact where rho is close to 1.
    pub(crate) fn forgotten_after(&self, steps: u64) -> f64 {
        let moved = self.leaving[0] + self.leaving[1];
        if moved < 1.0 {
            return -libm::expm1(steps as f64 * libm::log1p(-moved));
        }
        // rho = 1 - moved is not positive: its power has the sign that `steps` gives it.
        let power = libm::pow(moved - 1.0, steps as f64);
        if steps.is_multiple_of(2) { 1.0 - power } else { 1.0 + power }
    }

    /// transition[from][to] from one slot to the next.
    pub(crate) fn transition(&self) -> [[f64; 2]; 2] {
        let [to_bad, to_good] = self.leaving;
        [[1.0 - to_bad, to_bad], [to_good, 1.0 - to_good]]
    }

    /// transition[from][to] over `steps` slots; `None`: after which all is forgotten.
    pub(crate) fn transition_over(&self, steps: Option<u64>) -> [[f64; 2]; 2] {
        self.forgetting(steps.map_or(1.0, |steps| self.forgotten_after(steps))).transition()
    }
}

fn check_probability(name: &str, value: f64) -> Result<(), Fault> {
    let cure = "is not a probability; give a number from 0 to 1";
    match (0.0..=1.0).contains(&value) {
        true => Ok(()),
        false => Err(Fault::at(format!("{name} = {value} {cure}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_multiplies_transitions(alpha in 0.0..1.0, beta in 0.0..1.0, steps in 0u64..12) {
            let chain = Chain::new(alpha, beta, 0.1, 0.7).unwrap();
            let mut product = [[1.0, 0.0], [0.0, 1.0]];
            let one = chain.transition();
            for _ in 0..steps {
                product = product.map(|row| {
                    [0, 1].map(|to| row[0] * one[0][to] + row[1] * one[1][to])
                });
            }
            let many = chain.transition_over(Some(steps));
            for (a, b) in product.iter().flatten().zip(many.iter().flatten()) {
                prop_assert!((a - b).abs() < 1e-14, "{product:?} {many:?}");
            }
            let law = chain.every(steps.max(1)).stationary();
            prop_assert!((law[1] - chain.stationary()[1]).abs() < 1e-14);
        }
    }

    #[test]
    fn chains_that_hardly_move_lose_no_digits() {
        let chain = Chain { leaving: [1e-18, 3e-18], erasing: [0.0, 1.0] };
        assert!((chain.erasure_probability() - 0.25).abs() < 1e-15);
        let leaving = chain.every(1000).leaving[0];
        assert!((leaving / 1e-15 - 1.0).abs() < 1e-12, "{leaving}");
    }

    #[test]
    fn without_memory_every_slot_is_alike() {
        let chain = Chain::bernoulli(0.3).unwrap();
        assert!(chain.correlation().abs() < 1e-15);
        assert!((chain.every(5).staying()[0] - 0.7).abs() < 1e-15);
        assert_eq!(Chain::bernoulli(0.0).unwrap().erasure_probability(), 0.0);
        assert_eq!(Chain::bernoulli(1.0).unwrap().arrival_probability(), 0.0);
    }

    #[test]
    fn what_is_no_chain_is_refused() {
        let fault = |result: Result<Chain, Fault>| result.unwrap_err().to_string();
        assert!(fault(Chain::new(1.1, 0.0, 0.0, 1.0)).starts_with("alpha = 1.1"));
        assert!(fault(Chain::new(0.1, f64::NAN, 0.0, 1.0)).starts_with("beta = NaN"));
        assert!(fault(Chain::new(0.1, 0.1, -1.0, 1.0)).starts_with("p_good = -1"));
        assert!(fault(Chain::new(0.1, 0.1, 0.0, 2.0)).starts_with("p_bad = 2"));
        assert!(fault(Chain::bernoulli(-0.1)).starts_with("p = -0.1"));
        assert!(fault(Chain::from_erasures(0.1, 0.5)).contains("at least 1"));
        assert!(fault(Chain::from_erasures(0.9, 2.0)).contains("longer bursts"));
        assert!(fault(Chain::from_erasures(1.0, 2.0)).contains("p below 1"));
    }
}
