//! Adaptive HARQ of seed 004: a packet is a code word, sent bit by bit until it is decoded.
//!
//! In the order in which a packet meets them: [`Sizing`] says how many coded bits an
//! [attempt](attempts) sends, the [channel] what comes through, [`Threshold`] how much of it decodes,
//! [`CodeWord`](code_word) adds up. The transmitter is [`beside`] or [`compete`], as [`Repairs`]
//! says; the [far end](far_end) gets what is decoded.

mod air;
mod arrivals;
mod attempts;
mod beside;
mod channel;
mod code_word;
mod compete;
mod config;
mod far_end;
mod planned_log;
mod sizing;
mod threshold;

pub use config::{AdaptiveHarqConfig, AdaptiveHarqError, Repairs};
pub use sizing::Sizing;
pub use threshold::Threshold;

use crate::link::HORIZON;
use crate::units::Instant;

fn instant(nanos: i64) -> Instant {
    Instant::from_nanos(nanos.clamp(0, HORIZON) as u64)
}
