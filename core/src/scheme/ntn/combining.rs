//! Soft combining: what a receiver has of a transport block after several transmissions.

use std::fmt::Debug;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::trace::MiTrace;

/// What a receiver gains from a further transmission of a transport block.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Combining {
    /// The same coded bits again: signal-to-noise ratios add.
    Chase,
    /// Other coded bits: mutual information adds. An upper bound, for a code has no new bits for
    /// every transmission.
    Incremental,
}

/// A modulation and a code.
pub trait Decoder: Debug + Send + Sync {
    /// Mutual information per coded bit at an Es/N0 (linear).
    fn information(&self, esn0: f64) -> f64;

    /// The Es/N0 (linear) with a mutual information per coded bit.
    fn esn0(&self, information: f64) -> f64;

    /// Block error rate at a mutual information per coded bit; above 1 if transmissions add up to
    /// more than the coded bits of one.
    fn bler(&self, information: f64) -> f64;
}

/// Soft combining over a trace: mutual information decides, not the fate of the slots.
#[derive(Clone, Debug)]
pub struct SoftCombining {
    /// The rule.
    pub rule: Combining,
    /// Mutual information per coded bit in each slot of the trace.
    pub information: Arc<MiTrace>,
    /// Modulation and code.
    pub decoder: Arc<dyn Decoder>,
}

impl SoftCombining {
    /// What the receiver has after a transmission with `information` per coded bit, if it had
    /// `received` before; 0 before the first.
    pub fn add(&self, received: f64, information: f64) -> f64 {
        received
            + match self.rule {
                Combining::Chase => self.decoder.esn0(information),
                Combining::Incremental => information,
            }
    }

    /// Block error rate with what the receiver has.
    pub fn bler(&self, received: f64) -> f64 {
        self.decoder.bler(match self.rule {
            Combining::Chase => self.decoder.information(received),
            Combining::Incremental => received,
        })
    }

    /// Mutual information of a slot; the trace repeats.
    pub(super) fn at(&self, slot: u64) -> f64 {
        let values = self.information.values();
        f64::from(values[(slot % values.len() as u64) as usize])
    }

    /// Whether not even the best slot, `times` times, lets a block through.
    pub(super) fn is_dead(&self, times: usize) -> bool {
        let best = self.information.values().iter().copied().fold(0.0, f32::max);
        let received = (0..times).fold(0.0, |received, _| self.add(received, f64::from(best)));
        self.bler(received) > 1.0 - 1e-9
    }
}
