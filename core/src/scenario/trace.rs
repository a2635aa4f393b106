//! `[trace]`: a PHY trace from a file.

use super::error::Problem;
pub use crate::trace::TraceFile as Trace;

/// That it can be read and leaves something; `key` is the section that it stands in.
pub(super) fn check(trace: &Trace, key: &str) -> Result<(), Problem> {
    trace.check().map_err(|(field, cure)| Problem::new(key, field, cure))
}
