//! Independent erasures.

use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ErasureChannel, probability};
use crate::config::Fault;
use crate::seed::Geometric;
use crate::units::Probability;

/// A channel that erases every slot with the same probability, independently.
///
/// ```
/// use clift::channel::{Bernoulli, ErasureChannel, RegularSlots};
/// use clift::seed::Seed;
/// use clift::units::{Bytes, Duration};
/// let slots = RegularSlots {
///     count: 100_000,
///     every: Duration::from_nanos(114_783),
///     decode: Duration::from_millis(36),
///     lldu: Bytes(33),
/// };
/// let phy = Bernoulli::new(0.05).unwrap().trace(&slots, Seed(1), 0).unwrap();
/// assert!((phy.erasures().erasure_rate() - 0.05).abs() < 0.003);
/// ```
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Bernoulli {
    /// Share of erased slots.
    erasures: Probability,
}

impl Bernoulli {
    /// Erases with probability `p`.
    ///
    /// # Errors
    /// If `p` is not from 0 to 1.
    pub fn new(p: f64) -> Result<Self, Fault> {
        Ok(Self { erasures: probability("erasures", p)? })
    }
}

impl ErasureChannel for Bernoulli {
    fn erase(&self, d: &mut [i64], rng: &mut ChaCha8Rng) {
        erase(self.erasures.get(), d, rng);
    }
}

/// Sets each element of `d` to 0 with probability `p`, by drawing the gaps between erasures.
pub(super) fn erase(p: f64, d: &mut [i64], rng: &mut ChaCha8Rng) {
    if p == 0.0 {
        return;
    }
    if p == 1.0 {
        d.fill(0);
        return;
    }
    let gap = Geometric::with_end(p);
    let mut rest = d;
    while let Some((erased, after)) =
        rest.get_mut(gap.draw_length(rng)..).and_then(<[_]>::split_first_mut)
    {
        *erased = 0;
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};

    fn erased(p: f64, seed: u64) -> Vec<bool> {
        let mut d = vec![1; 400_000];
        Bernoulli::new(p).unwrap().erase(&mut d, &mut Seed(seed).rng(Stream::Channel(0)));
        d.iter().map(|&d| d == 0).collect()
    }

    #[test]
    fn erasures_have_the_given_rate_and_are_independent() {
        for p in [0.01, 0.3, 0.95] {
            let erased = erased(p, 11);
            let share = |count: usize, of: usize| count as f64 / of as f64;
            let error = |p: f64| (p * (1.0 - p) / erased.len() as f64).sqrt();
            let rate = share(erased.iter().filter(|&&e| e).count(), erased.len());
            assert!((rate - p).abs() < 4.5 * error(p), "{p}: {rate}");
            for distance in [1, 2, 7] {
                let pairs = erased.windows(distance + 1).filter(|w| w[0] && w[distance]).count();
                let rate = share(pairs, erased.len() - distance);
                // Overlapping pairs: a variance of up to p^2 (1 - p^2) + 2 p^3 (1 - p).
                let error = ((p * p * (1.0 - p * p) + 2.0 * p.powi(3) * (1.0 - p))
                    / erased.len() as f64)
                    .sqrt();
                assert!((rate - p * p).abs() < 4.5 * error, "{p} {distance}: {rate}");
            }
        }
    }

    #[test]
    fn probabilities_0_and_1_erase_nothing_and_everything() {
        assert!(erased(0.0, 1).iter().all(|&e| !e));
        assert!(erased(1.0, 1).iter().all(|&e| e));
    }

    #[test]
    fn the_seed_determines_the_erasures() {
        assert_eq!(erased(0.1, 1), erased(0.1, 1));
        assert_ne!(erased(0.1, 1), erased(0.1, 2));
    }

    #[test]
    fn an_invalid_probability_is_refused() {
        for p in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            let error = Bernoulli::new(p).unwrap_err().to_string();
            assert!(error.starts_with("erasures: ") && error.ends_with("from 0 to 1"), "{error}");
        }
    }
}
