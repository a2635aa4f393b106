//! Slow references, and what makes the cases of several subjects.

pub mod adaptive_harq_reference;
pub mod band;
pub mod byte_reference;
pub mod consecutive;
pub mod fading;
pub mod hybrid_reference;
pub mod link_reference;
pub mod link_strategies;
pub mod live_reference;
pub mod ntn_links;
pub mod ntn_reference;
pub mod ntn_strategies;
pub mod plain_path;
pub mod proxied;
pub mod tmt_reference;
pub mod tmt_strategies;
