//! When losses are too many: more than 2 % of what was in flight when a segment left
//! (draft-ietf-ccwg-bbr-04 section 5.5.10.2).

use super::UNIT;

/// The share, in 1/256: 5/256 is what the tree's integers make of 2 %.
const THRESHOLD: u64 = UNIT * 2 / 100;

/// Whether `lost` segments are too many of `in_flight`.
pub(super) fn is_too_high(lost: u64, in_flight: u64) -> bool {
    in_flight > 0 && u128::from(lost) > (u128::from(in_flight) * u128::from(THRESHOLD)) >> 8
}

/// How much in flight was not too much: a segment was lost of `in_flight`, itself included, and
/// with it `lost`. The least `x` of which, with `x` more lost, the share is reached, rounded as the
/// tree does.
pub(super) fn bearable_inflight(lost: u64, in_flight: u64) -> u64 {
    let (before, lost_before) = (in_flight.saturating_sub(1), lost.saturating_sub(1));
    let budget = (u128::from(before) * u128::from(THRESHOLD)).div_ceil(u128::from(UNIT));
    let left = budget.saturating_sub(u128::from(lost_before));
    let more = (left << 8) / u128::from(UNIT - THRESHOLD);
    before.saturating_add(u64::try_from(more).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against the equation itself, (lost + x) / (in flight + x) = threshold, in floating point:
        /// rounding up the budget adds at most one segment, rounding the result takes at most one.
        #[test]
        fn bearable_is_where_the_threshold_is_crossed(in_flight in 1u64..100_000, lost in 1u64..3_000) {
            let share = THRESHOLD as f64 / UNIT as f64;
            let (before, lost_before) = ((in_flight - 1) as f64, (lost - 1) as f64);
            let exact = before + ((share * before - lost_before) / (1.0 - share)).max(0.0);
            let found = bearable_inflight(lost, in_flight) as f64;
            prop_assert!((exact - 1.0..=exact + 1.05).contains(&found), "{exact} {found}");
        }

        /// By hand: 5/256 is 1.95 %.
        #[test]
        fn two_percent_are_too_many(in_flight in 52u64..100_000) {
            let lost = in_flight * 5 / 256;
            prop_assert!(!is_too_high(lost, in_flight));
            prop_assert!(is_too_high(lost + 1, in_flight));
            prop_assert!(!is_too_high(lost, 0));
        }
    }
}
