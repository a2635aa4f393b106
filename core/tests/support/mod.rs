//! Slow references, and what makes the cases of several subjects.

pub(crate) mod adaptive_harq_reference;
pub(crate) mod band;
pub(crate) mod byte_reference;
pub(crate) mod consecutive;
pub(crate) mod hybrid_reference;
pub(crate) mod link_reference;
pub(crate) mod link_strategies;
pub(crate) mod live_reference;
pub(crate) mod ntn_links;
pub(crate) mod ntn_reference;
pub(crate) mod ntn_strategies;
pub(crate) mod plain_path;
pub(crate) mod tmt_reference;
pub(crate) mod tmt_strategies;
