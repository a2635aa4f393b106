//! `[trace]`: a PHY trace from a file.

use crate::config::Fault;
pub use crate::trace::TraceFile as Trace;

/// That it can be read and leaves something; `key` is the section that it stands in.
pub(super) fn check(trace: &Trace, key: &str) -> Result<(), Fault> {
    trace.check().map_err(|(field, cure)| Fault::of(key, field, cure))
}
