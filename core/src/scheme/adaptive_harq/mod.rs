//! Adaptive HARQ (Tauran 2017): a packet is a code word, sent bit by bit until it is decoded.
//!
//! In the order in which a packet meets them: [`Sizing`] says how many coded bits an attempt sends,
//! the channel what comes through, a threshold how much of it decodes, the code word adds up. The
//! transmitter is that of `beside` or of `compete`, as [`Repairs`] says; `far_end` gets what is
//! decoded.

mod attempt;
mod beside;
mod compete;
mod config;
mod far_end;

pub use config::{AdaptiveHarqConfig, AdaptiveHarqOptions, Repairs, Sizing};
