//! Adaptive HARQ (Tauran 2017): a packet is a code word, sent bit by bit until it is decoded.
//!
//! In the order in which a packet meets them: [`Sizing`] says how many coded bits an [attempt] sends,
//! the channel what comes through, [`Threshold`] how much of it decodes, the code word adds up. The
//! transmitter is [`beside`] or [`compete`], as [`Repairs`] says; the [far end](far_end) gets what is
//! decoded.

mod attempt;
mod beside;
mod compete;
mod config;
mod far_end;

pub use config::{AdaptiveHarqConfig, AdaptiveHarqError, Repairs, Sizing, Threshold};

use crate::link::reordering::behind;
use crate::link::{Link, LinkError, Resequencing, TraceLinkConfig};
use crate::seed::Seed;

/// The link, empty at time zero, with the buffer `outer` or its own behind it.
pub(super) fn build(
    config: &AdaptiveHarqConfig,
    usage: TraceLinkConfig,
    outer: Option<Resequencing>,
    seed: Seed,
    number: u32,
) -> Result<Box<dyn Link + Send>, LinkError> {
    config.check().map_err(|fault| LinkError::Scheme(fault.to_string()))?;
    let rule = outer.or(config.reorder);
    Ok(match config.repairs {
        Repairs::Beside => behind(beside::BesideLink::new(config, &usage, seed, number)?, rule),
        Repairs::Compete => {
            behind(compete::CompetingLink::new(config, &usage, seed, number)?, rule)
        }
    })
}
