//! Erasures in bursts: a two-state Markov chain.

use rand_chacha::ChaCha8Rng;

use super::{ErasureChannel, bernoulli, probability};
use crate::config::Fault;
use crate::seed::{Geometric, uniform};

/// The Gilbert-Elliott channel: a chain that is in a good or a bad state in each slot, stays in it
/// with probability alpha or beta from one slot to the next, and erases the slot with a probability
/// that depends on the state (Kuhn 2014, section 3.3; alpha and beta follow the paper's numbers,
/// which contradict its text: DESIGN section 6). The initial state has the stationary distribution.
///
/// ```
/// use clift::channel::{ErasureChannel, GilbertElliott, RegularSlots};
/// use clift::seed::Seed;
/// use clift::units::{Bytes, Duration};
/// let slots = RegularSlots {
///     count: 200_000,
///     every: Duration::from_nanos(1_003_802),
///     decode: Duration::from_millis(36),
///     lldu: Bytes(33),
/// };
/// let channel = GilbertElliott::from_mean(0.02, 2.0, 0.0, 1.0).unwrap();
/// let erasures = channel.trace(&slots, Seed(1), 0).unwrap().erasures();
/// assert!((erasures.erasure_rate() - 0.02).abs() < 0.003);
/// assert!((erasures.bursts.mean().unwrap() - 2.0).abs() < 0.15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    alpha: f64,
    beta: f64,
    p_good: f64,
    p_bad: f64,
}

impl GilbertElliott {
    /// A chain that stays good with probability `alpha` and bad with `beta`, and erases with
    /// probability `p_good` and `p_bad`.
    ///
    /// # Errors
    /// If a probability is not from 0 to 1, or `alpha` and `beta` are both 1: that chain never
    /// changes its state and has no unique stationary distribution.
    pub fn new(alpha: f64, beta: f64, p_good: f64, p_bad: f64) -> Result<Self, Fault> {
        let channel = Self {
            alpha: probability("alpha", alpha)?.get(),
            beta: probability("beta", beta)?.get(),
            p_good: probability("p_good", p_good)?.get(),
            p_bad: probability("p_bad", p_bad)?.get(),
        };
        if alpha == 1.0 && beta == 1.0 {
            let cure = "a chain with alpha = beta = 1 never changes its state; give less than 1 for one of them";
            return Err(Fault::new("alpha", cure));
        }
        Ok(channel)
    }

    /// The chain that erases the share `p` of the slots and stays bad for `burst` slots on average.
    /// With pi the share of bad slots, `p` = pi `p_bad` + (1 - pi) `p_good`, and the mean stay is
    /// 1 / (1 - beta).
    ///
    /// ```
    /// use clift::channel::GilbertElliott;
    /// let channel = GilbertElliott::from_mean(0.02, 4.0, 0.0, 1.0)?;
    /// assert_eq!(channel.beta(), 0.75);
    /// assert!((channel.bad_share() - 0.02).abs() < 1e-12);
    /// # Ok::<(), clift::config::Fault>(())
    /// ```
    ///
    /// # Errors
    /// If `p`, `p_good` or `p_bad` is not a probability, `burst` is below 1, `p` is not between
    /// `p_good` and `p_bad`, or the mean gap would be below one slot.
    pub fn from_mean(p: f64, burst: f64, p_good: f64, p_bad: f64) -> Result<Self, Fault> {
        probability("erasures", p)?;
        probability("p_good", p_good)?;
        probability("p_bad", p_bad)?;
        if !(burst >= 1.0 && burst.is_finite()) {
            let cure = format!("{burst} is shorter than a slot; give at least 1 slot");
            return Err(Fault::new("burst", cure));
        }
        let share = (p - p_good) / (p_bad - p_good);
        if !(0.0..1.0).contains(&share) {
            let cure = format!(
                "{p} is not between p_good = {p_good} and p_bad = {p_bad}; give a value between them"
            );
            return Err(Fault::new("erasures", cure));
        }
        let leave_bad = 1.0 / burst;
        let leave_good = share / (1.0 - share) * leave_bad;
        if leave_good > 1.0 {
            let least = share / (1.0 - share);
            let cure = format!("this share of erasures needs bursts of at least {least} slots");
            return Err(Fault::new("burst", cure));
        }
        Self::new(1.0 - leave_good, 1.0 - leave_bad, p_good, p_bad)
    }

    /// Probability of staying good from one slot to the next.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Probability of staying bad from one slot to the next.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// Share of slots in the bad state: (1 - alpha) / (2 - alpha - beta).
    pub fn bad_share(&self) -> f64 {
        // Two differences, because 2 - alpha - beta loses digits when both are close to 1.
        (1.0 - self.alpha) / ((1.0 - self.alpha) + (1.0 - self.beta))
    }
}

impl ErasureChannel for GilbertElliott {
    /// Draws the length of each stay in a state, and the erasures within it. The distributions are
    /// memoryless, so that truncation at a change of state has no effect.
    fn erase(&self, d: &mut [i64], rng: &mut ChaCha8Rng) {
        let staying =
            [Geometric::with_continuation(self.alpha), Geometric::with_continuation(self.beta)];
        let erasing = [self.p_good, self.p_bad];
        let mut state = usize::from(uniform(rng) < self.bad_share());
        let mut rest = d;
        while !rest.is_empty() {
            let sojourn = staying[state].draw_length(rng).saturating_add(1).min(rest.len());
            let (here, after) = rest.split_at_mut(sojourn);
            bernoulli::erase(erasing[state], here, rng);
            rest = after;
            state = 1 - state;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};

    fn erased(channel: GilbertElliott, seed: u64, slots: usize) -> Vec<bool> {
        let mut d = vec![1; slots];
        channel.erase(&mut d, &mut Seed(seed).rng(Stream::Channel(0)));
        d.iter().map(|&d| d == 0).collect()
    }

    #[test]
    fn the_chain_stays_with_the_given_probabilities() {
        for (alpha, beta) in [(0.98, 0.8), (0.3, 0.1), (0.0, 0.5), (0.999, 0.0)] {
            let channel = GilbertElliott::new(alpha, beta, 0.0, 1.0).unwrap();
            let erased = erased(channel, 21, 1_000_000);
            for (state, staying) in [(false, alpha), (true, beta)] {
                let from = erased.windows(2).filter(|pair| pair[0] == state);
                let count = from.clone().count() as f64;
                let stayed = from.filter(|pair| pair[1] == state).count() as f64 / count;
                let error = (staying * (1.0 - staying) / count).sqrt();
                assert!((stayed - staying).abs() <= 4.5 * error, "{alpha} {beta}: {stayed}");
            }
        }
    }

    #[test]
    fn the_initial_state_is_stationary() {
        let channel = GilbertElliott::new(0.9, 0.6, 0.0, 1.0).unwrap();
        let starts = 20_000;
        let bad = (0..starts).filter(|&seed| erased(channel, seed, 1)[0]).count() as f64;
        let error = (0.2 * 0.8 / starts as f64).sqrt();
        assert!((channel.bad_share() - 0.2).abs() < 1e-12);
        assert!((bad / starts as f64 - 0.2).abs() < 4.5 * error);
    }

    #[test]
    fn both_states_may_erase_a_share_of_slots() {
        // A chain without memory (alpha + beta = 1): erasures are independent.
        let channel = GilbertElliott::new(0.7, 0.3, 0.1, 0.6).unwrap();
        let erased = erased(channel, 2, 1_000_000);
        let rate = erased.iter().filter(|&&e| e).count() as f64 / 1e6;
        let (bad, p) = (channel.bad_share(), 0.25);
        assert!((bad * 0.6 + (1.0 - bad) * 0.1 - p).abs() < 1e-12);
        assert!((rate - p).abs() < 4.5 * (p * (1.0 - p) / 1e6).sqrt(), "{rate}");
        let pairs = erased.windows(2).filter(|w| w[0] && w[1]).count() as f64 / 1e6;
        assert!((pairs - p * p).abs() < 0.0015, "{pairs}");
    }

    #[test]
    fn erasure_rate_and_burst_length_determine_the_chain() {
        let channel = GilbertElliott::from_mean(0.02, 2.0, 0.0, 1.0).unwrap();
        assert!((channel.bad_share() - 0.02).abs() < 1e-12);
        assert_eq!(channel.beta, 0.5);
        let none = GilbertElliott::from_mean(0.0, 1.0, 0.0, 1.0).unwrap();
        assert!(erased(none, 1, 1000).iter().all(|&e| !e));
        let alternating = GilbertElliott::from_mean(0.5, 1.0, 0.0, 1.0).unwrap();
        assert!(erased(alternating, 1, 1000).windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn a_state_with_probability_1_is_never_left() {
        let good = GilbertElliott::new(1.0, 0.5, 0.0, 1.0).unwrap();
        assert!(erased(good, 1, 1000).iter().all(|&e| !e));
        let bad = GilbertElliott::new(0.5, 1.0, 0.0, 1.0).unwrap();
        assert!(erased(bad, 1, 1000).iter().all(|&e| e));
    }

    #[test]
    fn invalid_parameters_are_refused() {
        let fault = |result: Result<GilbertElliott, Fault>| result.unwrap_err().to_string();
        assert!(fault(GilbertElliott::new(1.1, 0.0, 0.0, 1.0)).starts_with("alpha: 1.1"));
        assert!(fault(GilbertElliott::new(0.1, f64::NAN, 0.0, 1.0)).starts_with("beta: NaN"));
        assert!(fault(GilbertElliott::new(0.1, 0.1, -1.0, 1.0)).starts_with("p_good: -1"));
        assert!(fault(GilbertElliott::new(0.1, 0.1, 0.0, 2.0)).starts_with("p_bad: 2"));
        assert!(fault(GilbertElliott::new(1.0, 1.0, 0.0, 1.0)).contains("never changes"));
        let of_bursts = |p, burst| fault(GilbertElliott::from_mean(p, burst, 0.0, 1.0));
        assert!(of_bursts(0.1, 0.5).contains("at least 1"));
        assert!(of_bursts(0.1, f64::INFINITY).contains("at least 1"));
        assert!(of_bursts(0.9, 2.0).contains("bursts of at least 9"));
        assert!(of_bursts(1.0, 2.0).contains("not between"));
    }
}
