//! The loss threshold: more than 2 % of the segments in flight when a segment was sent
//! (draft-ietf-ccwg-bbr-04 section 5.5.10.2).

use super::UNIT;

/// The threshold in 1/256: the tree's integer arithmetic makes 5/256 of 2 %.
const THRESHOLD: u64 = UNIT * 2 / 100;

/// True if `lost` of `in_flight` segments exceed the threshold (`bbr_is_inflight_too_high`).
pub(super) fn is_too_high(lost: u64, in_flight: u64) -> bool {
    in_flight > 0 && u128::from(lost) > (u128::from(in_flight) * u128::from(THRESHOLD)) >> 8
}

/// The inflight at which the threshold was crossed (`bbr_inflight_hi_from_lost_skb`). A segment was
/// lost with `in_flight` in flight, itself included, and with it `lost` in total. Finds the
/// smallest `x` such that `x` more lost segments reach the threshold, rounded as in the tree.
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
        /// Compared with the equation (lost + x) / (in flight + x) = threshold in floating point:
        /// rounding up the budget adds at most one segment, and rounding the result removes at most
        /// one.
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
        fn two_percent_losses_exceed_the_threshold(in_flight in 52u64..100_000) {
            let lost = in_flight * 5 / 256;
            prop_assert!(!is_too_high(lost, in_flight));
            prop_assert!(is_too_high(lost + 1, in_flight));
            prop_assert!(!is_too_high(lost, 0));
        }
    }
}
