//! What a receiver holds beyond the next byte expected.

use std::collections::VecDeque;

use crate::transport::SackBlock;

/// Bytes received ahead of a gap, as disjoint blocks that do not touch, in ascending order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    blocks: VecDeque<SackBlock>,
}

impl Reassembly {
    /// Whether nothing is held.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Adds bytes `start..end`; returns the block they are part of now, and whether any of them
    /// was new.
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> (SackBlock, bool) {
        // The usual case: the highest block grows.
        if let Some(last) = self.blocks.back_mut()
            && last.end == start
        {
            last.end = end;
            return (*last, true);
        }
        // Blocks from `low` on end at or after the start, those from `high` on begin after the
        // end: parts between them are touched.
        let low = self.blocks.partition_point(|block| block.end < start);
        let high = low + self.touched(low, end);
        if low == high {
            let block = SackBlock { start, end };
            self.blocks.insert(low, block);
            return (block, true);
        }
        let (first, last) = (self.blocks[low], self.blocks[high - 1]);
        let merged = SackBlock { start: first.start.min(start), end: last.end.max(end) };
        let new = high - low > 1 || merged != first;
        self.blocks[low] = merged;
        self.blocks.drain(low + 1..high);
        (merged, new)
    }

    /// Whether all of `start..end` is held.
    pub(crate) fn holds(&self, start: u64, end: u64) -> bool {
        let at = self.blocks.partition_point(|block| block.end < end);
        self.blocks.get(at).is_some_and(|block| block.start <= start)
    }

    /// How many bytes are held.
    pub(crate) fn bytes(&self) -> u64 {
        self.blocks.iter().map(|block| block.end - block.start).sum()
    }

    /// Takes out every block that `next`, the next byte expected, has reached; returns the next
    /// byte expected then.
    pub(crate) fn advance(&mut self, mut next: u64) -> u64 {
        while let Some(block) = self.blocks.front()
            && block.start <= next
        {
            next = next.max(block.end);
            self.blocks.pop_front();
        }
        next
    }

    /// How many blocks from `low` on begin at or before `end`. They are nearly always few.
    fn touched(&self, low: usize, end: u64) -> usize {
        self.blocks.range(low..).take_while(|block| block.start <= end).count()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a set of single bytes.
        #[test]
        fn agrees_with_a_set_of_bytes(
            pieces in proptest::collection::vec((1u64..60, 1u64..8), 1..40),
        ) {
            let mut held = Reassembly::default();
            let mut bytes = BTreeSet::new();
            let mut next = 0;
            for (start, len) in pieces {
                let (start, end) = (next.max(start), next.max(start) + len);
                if start == next {
                    // In order: extends what is expected.
                    next = held.advance(end);
                    bytes.extend(start..end);
                    prop_assert!(!bytes.contains(&next), "advance left byte {next}");
                    bytes = bytes.split_off(&next);
                    continue;
                }
                let new = (start..end).any(|byte| !bytes.contains(&byte));
                prop_assert_eq!(held.holds(start, end), !new);
                bytes.extend(start..end);
                let mut block = SackBlock { start, end };
                while bytes.contains(&(block.start - 1)) { block.start -= 1; }
                while bytes.contains(&block.end) { block.end += 1; }
                prop_assert_eq!(held.insert(start, end), (block, new));
            }
            let total: u64 = held.blocks.iter().map(|block| block.end - block.start).sum();
            prop_assert_eq!(total, bytes.len() as u64);
        }
    }
}
