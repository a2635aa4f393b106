//! Delays that vary, from files: `delays` and `keep_order`, wherever a delay stands.

use super::store::MakeError;
use super::traces::Traces;
use crate::config::Fault;
use crate::link::Propagation;
use crate::units::Duration;

/// That the keys of the section `key` do not contradict one another; `fixed` is its `delay`.
pub(super) fn check(
    key: &str,
    fixed: Option<Duration>,
    file: Option<&str>,
    keep_order: bool,
) -> Result<(), Fault> {
    if fixed.is_some() && file.is_some() {
        return Err(Fault::of(key, "delays", "`delay` and `delays` say the same; give one"));
    }
    if file.is_some_and(str::is_empty) {
        return Err(Fault::of(key, "delays", "is empty; name a CSV file of delays"));
    }
    if keep_order && file.is_none() {
        let cure = "is for `delays` that vary; give those, or leave it out";
        return Err(Fault::of(key, "keep_order", cure));
    }
    Ok(())
}

/// The delay that a file gives, if there is one.
pub(super) fn propagation(
    file: Option<&str>,
    keep_order: bool,
    traces: &dyn Traces,
) -> Result<Option<Propagation>, MakeError> {
    let Some(file) = file else { return Ok(None) };
    Ok(Some(Propagation::Varying { series: traces.delays(file)?, keep_order }))
}
