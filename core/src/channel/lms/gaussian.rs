//! Standard normal draws with the same bits on every platform.

use rand_chacha::ChaCha8Rng;

use crate::seed::uniform;

/// Standard normal draws by Marsaglia's polar method, with the logarithm and root of `libm`.
#[derive(Clone, Debug)]
pub(super) struct Normals {
    rng: ChaCha8Rng,
    spare: Option<f64>,
}

impl Normals {
    pub(super) fn new(rng: ChaCha8Rng) -> Self {
        Self { rng, spare: None }
    }

    /// Draws one number.
    #[inline]
    pub(super) fn draw(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (2.0 * uniform(&mut self.rng) - 1.0, 2.0 * uniform(&mut self.rng) - 1.0);
            let square = x * x + y * y;
            if square < 1.0 && square > 0.0 {
                let factor = libm::sqrt(-2.0 * libm::log(square) / square);
                self.spare = Some(y * factor);
                return x * factor;
            }
        }
    }
}

/// The standard normal distribution function.
pub(super) fn phi(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// The standard normal quantile, by bisection; exact to 1e-12.
pub(super) fn quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if phi(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};

    #[test]
    fn draws_are_normally_distributed() {
        let mut normals = Normals::new(Seed(3).rng(Stream::Channel(0)));
        let mut draws: Vec<f64> = (0..200_000).map(|_| normals.draw()).collect();
        draws.sort_by(f64::total_cmp);
        let count = draws.len() as f64;
        let largest = draws
            .iter()
            .enumerate()
            .map(|(rank, &x)| ((rank as f64 + 0.5) / count - phi(x)).abs())
            .fold(0.0, f64::max);
        // Kolmogorov's bound at a significance level of 1e-5.
        assert!(largest * count.sqrt() < 2.47, "{largest}");
    }

    #[test]
    fn the_quantile_inverts_the_distribution() {
        for p in [1e-9, 0.05, 0.5, 0.9] {
            assert!((phi(quantile(p)) / p - 1.0).abs() < 1e-9);
        }
    }
}
