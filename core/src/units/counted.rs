//! Numbers of things as people write them.

use std::fmt::Display;

/// A number with what it counts, one of them or more; a verb may follow.
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
