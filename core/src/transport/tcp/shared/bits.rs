//! A set of consecutive numbers as bits in a ring: find the next member 64 at a time.

/// Numbers of a sliding range of at most `capacity` consecutive numbers.
///
/// Bits outside the range must be clear; the code that moves the range clears them.
#[derive(Clone, Debug, Default)]
pub(crate) struct RingBits {
    words: Box<[u64]>,
}

impl RingBits {
    /// An empty set over ranges of up to `capacity` numbers, a power of two of at least 64.
    pub(crate) fn new(capacity: usize) -> Self {
        assert!(capacity.is_power_of_two() && capacity >= 64);
        Self { words: vec![0; capacity / 64].into_boxed_slice() }
    }

    fn word(&self, number: u64) -> usize {
        (number / 64) as usize & (self.words.len() - 1)
    }

    /// Makes `number` a member.
    pub(crate) fn insert(&mut self, number: u64) {
        self.words[self.word(number)] |= 1 << (number % 64);
    }

    /// Makes `number` a member no longer.
    pub(crate) fn remove(&mut self, number: u64) {
        self.words[self.word(number)] &= !(1 << (number % 64));
    }

    /// Removes every member.
    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// The lowest member in `from..to`.
    pub(crate) fn next_member(&self, from: u64, to: u64) -> Option<u64> {
        self.find(from, to, |word| word)
    }

    /// The lowest number in `from..to` that is not a member.
    pub(crate) fn next_gap(&self, from: u64, to: u64) -> Option<u64> {
        self.find(from, to, |word| !word)
    }

    /// The member of `from..to` that has `count - 1` members of it above, `count` at least 1.
    pub(crate) fn member_from_end(&self, from: u64, to: u64, mut count: u64) -> Option<u64> {
        let mut end = to;
        while end > from {
            let base = (end - 1) / 64 * 64;
            let mut word = self.words[self.word(base)] & (u64::MAX >> (63 - (end - 1) % 64));
            if base < from {
                word &= u64::MAX << (from - base);
            }
            if u64::from(word.count_ones()) >= count {
                // Bits are taken from the top until the one asked for is the highest.
                while count > 1 {
                    word &= !(1 << (63 - word.leading_zeros()));
                    count -= 1;
                }
                return Some(base + u64::from(63 - word.leading_zeros()));
            }
            count -= u64::from(word.count_ones());
            end = base;
        }
        None
    }

    #[inline]
    fn find(&self, from: u64, to: u64, of: impl Fn(u64) -> u64) -> Option<u64> {
        let mut number = from;
        while number < to {
            let rest = of(self.words[self.word(number)]) >> (number % 64);
            if rest != 0 {
                let found = number + u64::from(rest.trailing_zeros());
                return (found < to).then_some(found);
            }
            number = (number / 64 + 1) * 64;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_an_ordered_set(
            base in 0u64..1000,
            members in proptest::collection::btree_set(0u64..256, 0..200),
            queries in proptest::collection::vec((0u64..256, 0u64..=256), 1..50),
        ) {
            let members: BTreeSet<u64> = members.iter().map(|n| n + base).collect();
            let mut bits = RingBits::new(256);
            (base..base + 256).for_each(|n| bits.insert(n));
            (base..base + 256).filter(|n| !members.contains(n)).for_each(|n| bits.remove(n));
            for (count, member) in members.iter().rev().enumerate() {
                let found = bits.member_from_end(base, base + 256, count as u64 + 1);
                prop_assert_eq!(found, Some(*member));
            }
            let beyond = members.len() as u64 + 1;
            prop_assert_eq!(bits.member_from_end(base, base + 256, beyond), None);
            for (from, to) in queries {
                let range = from + base..to.max(from) + base;
                let member = members.range(range.clone()).next().copied();
                prop_assert_eq!(bits.next_member(range.start, range.end), member);
                let gap = range.clone().find(|n| !members.contains(n));
                prop_assert_eq!(bits.next_gap(range.start, range.end), gap);
            }
        }
    }
}
