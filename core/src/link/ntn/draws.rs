//! Random numbers by place.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// One uniform number for each place, whether it is used or not: what a link does never shifts what
/// it meets, so that variants are compared in pairs.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    rng: ChaCha8Rng,
    /// The place whose number comes next.
    next: u64,
}

impl Draws {
    pub(super) fn new(rng: ChaCha8Rng) -> Self {
        Self { rng, next: 0 }
    }

    /// The number of a place, from 0 to below 1.
    pub(super) fn uniform(&mut self, place: u64) -> f64 {
        if place != self.next {
            // A number is two words of the stream.
            self.rng.set_word_pos(2 * u128::from(place));
        }
        self.next = place + 1;
        (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};

    #[test]
    fn a_place_has_its_number_whichever_were_used_before_it() {
        let draws = || Draws::new(Seed(3).rng(Stream::Link(0)));
        let mut all = draws();
        let every: Vec<f64> = (0..300).map(|place| all.uniform(place)).collect();
        let mut some = draws();
        for place in [0, 1, 5, 6, 7, 130, 131, 299, 4] {
            assert_eq!(some.uniform(place).to_bits(), every[place as usize].to_bits());
        }
    }
}
