//! The geometric distribution, for lengths of runs.

use rand::Rng;

use crate::seed::uniform;

/// Number of consecutive successes when each trial succeeds with probability q:
/// P(at least k) = q^k.
///
/// Drawn by inversion from 53 random bits, with one logarithm per draw; `libm` gives the same bits
/// on every platform.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometric {
    /// ln q, at most 0.
    log: f64,
}

impl Geometric {
    /// Each step continues with probability `q`.
    pub(crate) fn with_continuation(q: f64) -> Self {
        Self { log: libm::log(q) }
    }

    /// Each step ends with probability `p`; also exact for small `p`, where 1 - `p` rounds to 1.
    pub(crate) fn with_end(p: f64) -> Self {
        Self { log: libm::log1p(-p) }
    }

    /// Draws one value as a `usize`, saturating.
    pub(crate) fn draw_length(&self, rng: &mut impl Rng) -> usize {
        usize::try_from(self.draw(rng)).unwrap_or(usize::MAX)
    }

    /// Draws one value; `u64::MAX` means at least that many.
    pub(crate) fn draw(&self, rng: &mut impl Rng) -> u64 {
        let uniform = uniform(rng);
        if self.log == 0.0 {
            return u64::MAX;
        }
        // P(log1p(-u) / log >= k) = P(1 - u <= q^k) = q^k; the cast rounds down and saturates.
        (libm::log1p(-uniform) / self.log) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};

    fn draws(law: Geometric) -> Vec<u64> {
        let mut rng = Seed(5).rng(Stream::Channel(0));
        (0..200_000).map(|_| law.draw(&mut rng)).collect()
    }

    #[test]
    fn the_law_is_geometric() {
        for p in [0.9, 0.5, 0.03] {
            let draws = draws(Geometric::with_end(p));
            let count = draws.len() as f64;
            for k in 0..5 {
                let expected = (1.0 - p).powi(k);
                let share = draws.iter().filter(|&&n| n >= k as u64).count() as f64 / count;
                let error = (expected * (1.0 - expected) / count).sqrt();
                assert!((share - expected).abs() <= 4.5 * error, "{p} {k}: {share} {expected}");
            }
        }
    }

    #[test]
    fn tiny_probabilities_keep_their_mean() {
        let p = 1e-18; // 1 - p is 1 in double precision
        let draws = draws(Geometric::with_end(p));
        let mean = draws.iter().map(|&n| n as f64).sum::<f64>() / draws.len() as f64;
        assert!((mean * p - 1.0).abs() < 4.5 / (draws.len() as f64).sqrt(), "{mean}");
    }

    #[test]
    fn certainties_are_certain() {
        assert!(draws(Geometric::with_end(1.0)).iter().all(|&n| n == 0));
        assert!(draws(Geometric::with_continuation(0.0)).iter().all(|&n| n == 0));
        assert!(draws(Geometric::with_end(0.0)).iter().all(|&n| n == u64::MAX));
        assert!(draws(Geometric::with_continuation(1.0)).iter().all(|&n| n == u64::MAX));
    }
}
