//! Adaptive HARQ of seed 004: a packet is a code word, sent bit by bit until it is decoded.
//!
//! In the order in which a packet meets them: [`Sizing`] says how many coded bits an attempt
//! sends, [`Threshold`] how much of it decodes, [`CodeWord`](code_word) adds up what the channel lets
//! through, [`Air`](air) counts it, [`Arrivals`](arrivals) takes what is decoded to the far end.

mod air;
mod arrivals;
mod code_word;
mod config;
mod link;
mod sizing;
mod threshold;

pub use config::{AdaptiveHarqConfig, AdaptiveHarqError};
pub use link::AdaptiveHarqLink;
pub use sizing::Sizing;
pub use threshold::Threshold;
