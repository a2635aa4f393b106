//! Numbers with a singular or plural noun.

use std::fmt::Display;

/// Formats a number with the noun it counts, singular or plural; a verb may follow the noun.
///
/// ```
/// use clift::units::counted;
/// assert_eq!(counted(1, "row", "rows"), "1 row");
/// assert_eq!(counted(0u64, "row is an outage", "rows are outages"), "0 rows are outages");
/// ```
pub fn counted(number: impl Copy + Display + TryInto<u8>, one: &str, more: &str) -> String {
    let what = if number.try_into().is_ok_and(|number| number == 1) { one } else { more };
    format!("{number} {what}")
}
