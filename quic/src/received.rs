//! Tracks the received bytes of a stream.

use std::collections::VecDeque;
use std::ops::Range;

/// All bytes before a position, and ranges ahead of it.
#[derive(Debug, Default)]
pub(crate) struct Received {
    before: u64,
    /// Ascending and disjoint; none touches the bytes before.
    ahead: VecDeque<Range<u64>>,
}

impl Received {
    /// Adds a range; returns whether it contains new bytes.
    pub(crate) fn insert(&mut self, range: &Range<u64>) -> bool {
        let (mut start, mut end) = (range.start.max(self.before), range.end);
        if start >= end {
            return false;
        }
        // Ranges usually arrive at an end, so the search is short.
        let first = self.ahead.partition_point(|held| held.end < start);
        if self.ahead.get(first).is_some_and(|held| held.start <= start && end <= held.end) {
            return false;
        }
        let mut last = first;
        while let Some(held) = self.ahead.get(last)
            && held.start <= end
        {
            start = start.min(held.start);
            end = end.max(held.end);
            last += 1;
        }
        if start == self.before {
            self.before = end;
            self.ahead.drain(..last);
            return true;
        }
        match last - first {
            0 => self.ahead.insert(first, start..end),
            _ => {
                self.ahead[first] = start..end;
                self.ahead.drain(first + 1..last);
            }
        }
        true
    }

    /// Number of bytes received without a gap.
    #[cfg(test)]
    fn in_order(&self) -> u64 {
        self.before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with a table of bytes, for all orders of some overlapping ranges.
    #[test]
    fn insert_reports_whether_bytes_are_new() {
        let ranges = [0..3u64, 2..5, 7..9, 5..7, 8..12, 10..11];
        for order in 0..720usize {
            let mut left = ranges.to_vec();
            let mut code = order;
            let (mut received, mut table) = (Received::default(), [false; 12]);
            while !left.is_empty() {
                let range = left.remove(code % left.len());
                code /= left.len() + 1;
                let bytes = &mut table[range.start as usize..range.end as usize];
                assert_eq!(received.insert(&range), bytes.contains(&false), "{order}");
                bytes.fill(true);
                let in_order = table.iter().take_while(|&&there| there).count() as u64;
                assert_eq!(received.in_order(), in_order, "{order}");
            }
        }
    }
}
