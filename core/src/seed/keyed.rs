use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// A random number per key, independent of the order of the calls: output `key` of the SplitMix64
/// sequence (Steele, Lea and Flood 2014) that starts at a state drawn from a stream.
///
/// A seekable cipher (ChaCha) would compute a whole block per key, which doubles the cost of a
/// link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyedRandom {
    first: u64,
}

impl KeyedRandom {
    pub(crate) fn of(mut rng: ChaCha8Rng) -> Self {
        Self { first: rng.next_u64() }
    }

    /// The number of `key`, in [0, 1).
    #[inline]
    pub(crate) fn uniform(self, key: u64) -> f64 {
        let mut z = self.first.wrapping_add(key.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};

    /// Keys at regular distances, as the starts of frames: the mean and the covariance of
    /// neighbours are those of independent numbers.
    #[test]
    fn numbers_of_regular_keys_are_uniform_and_independent() {
        let keyed = KeyedRandom::of(Seed(1).rng(Stream::Link(0)));
        for step in [1, 1000, 7_200_000] {
            let numbers: Vec<f64> = (0..100_000).map(|n| keyed.uniform(n * step)).collect();
            let count = numbers.len() as f64;
            let mean = numbers.iter().sum::<f64>() / count;
            let pairs = numbers.windows(2).map(|pair| (pair[0] - 0.5) * (pair[1] - 0.5));
            let covariance = pairs.sum::<f64>() / count;
            // Four standard errors: a uniform number has variance 1/12, a product of two 1/144.
            assert!((mean - 0.5).abs() < 4.0 * (1.0 / 12.0 / count).sqrt(), "{step}: {mean}");
            assert!(covariance.abs() < 4.0 / 12.0 / count.sqrt(), "{step}: {covariance}");
        }
    }
}
