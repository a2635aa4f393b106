//! What several test binaries share.

pub(crate) mod tmt_reference;
