//! Hybrid FEC/ARQ-SR (Al Fawal 2003): frames of K data and N - K redundant units, sent again when
//! fewer than K arrive.

mod config;
mod law;
mod link;
mod losses;
mod repair;

pub use config::{HybridConfig, HybridOptions};
pub use law::HybridFecArq;
pub use link::HybridLink;
