//! The lower median of a column that may fill half of the memory: no copy, no sort.

/// Number of value ranges that one pass distinguishes.
const BUCKETS: usize = 1024;

/// The lower median of `values`, each from 0 to 2^62; `None` if there are none.
///
/// Every pass narrows the range of values that holds the median by a factor of 1024, so a column
/// that varies by a thousand values takes three passes, the widest nine.
pub(crate) fn lower_median<I>(values: impl Fn() -> I) -> Option<i64>
where
    I: Iterator<Item = i64>,
{
    let first = values().next()?;
    // The usual case, a constant column, in a pass that vectorises everywhere.
    if values().fold(0, |differing, value| differing | (value ^ first)) == 0 {
        return Some(first);
    }
    let (mut low, mut high, mut count) = (i64::MAX, 0, 0u64);
    for value in values() {
        low = low.min(value);
        high = high.max(value);
        count += 1;
    }
    // Rank of the lower median within the range.
    let mut rank = count.div_ceil(2);
    while low < high {
        let bits = (high - low).ilog2() + 1;
        let shift = bits.saturating_sub(BUCKETS.ilog2());
        let mut counts = [0u64; BUCKETS];
        for value in values() {
            // A value below `low` wraps to far beyond the last bucket.
            let bucket = (value.wrapping_sub(low) as u64 >> shift) as usize;
            if let Some(count) = counts.get_mut(bucket) {
                *count += 1;
            }
        }
        let mut bucket = 0;
        while counts[bucket] < rank {
            rank -= counts[bucket];
            bucket += 1;
        }
        low += (bucket as i64) << shift;
        high = high.min(low + (1 << shift) - 1);
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_median_is_the_middle_of_the_sorted_values(
            values in proptest::collection::vec(
                prop_oneof![0..4i64, 0..5000i64, 0..1i64 << 61, Just(7)], 1..40)
        ) {
            let mut sorted = values.clone();
            sorted.sort_unstable();
            prop_assert_eq!(
                lower_median(|| values.iter().copied()),
                Some(sorted[(sorted.len() - 1) / 2])
            );
        }
    }

    #[test]
    fn an_empty_column_has_no_median() {
        assert_eq!(lower_median(std::iter::empty), None);
    }
}
