//! What several test binaries share.

pub(crate) mod tmt_reference;
#[allow(dead_code)] // not every binary needs all of it
pub(crate) mod tmt_strategies;
