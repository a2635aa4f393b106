//! What an adaptive-HARQ link is.

use std::sync::Arc;

use thiserror::Error;

use super::sizing::Sizing;
use super::threshold::Threshold;
use crate::link::{Propagation, Resequencing};
use crate::trace::MiTrace;
use crate::units::{BitRate, Duration};

/// Adaptive HARQ over a channel (seed 004 section 2.2; DESIGN section 5).
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptiveHarqConfig {
    /// Mutual information per coded bit over time.
    pub information: Arc<MiTrace>,
    /// Rate of coded bits.
    pub rate: BitRate,
    /// From the sender to the receiver, one way; taken when the last bit of the last attempt was
    /// sent.
    pub delay: Propagation,
    /// Coded bits of each attempt.
    pub sizing: Sizing,
    /// Retransmissions of a packet before it is given up, at most [`Self::MOST_RETRANSMISSIONS`].
    pub max_retransmissions: u32,
    /// From an attempt to the next.
    pub step: Duration,
    /// Mutual information that decoding takes.
    pub threshold: Threshold,
    /// A buffer at the far end; one of [`LinkConfig`](crate::link::LinkConfig) takes its place.
    pub reorder: Option<Resequencing>,
}

impl AdaptiveHarqConfig {
    /// The most that [`Self::max_retransmissions`] may be.
    pub const MOST_RETRANSMISSIONS: u32 = 7;

    /// Retransmissions of seed 004, and what its worst case of 70 ms to the far end of a last hop
    /// of 7 ms leaves for each.
    pub const PAPER: (u32, Duration) = (3, Duration::from_millis(21));

    /// Sizes and spread with which the tables of seed 004 come out, at a channel's mean mutual
    /// information per coded bit: the three numbers of the model that are fitted.
    pub fn fitted(mean_information: f64) -> (Sizing, Threshold) {
        let sizing =
            Sizing::Fixed { first: 1.0 / mean_information, increment: 0.47 / mean_information };
        (sizing, Threshold { packet_sigma: 0.25, attempt_sigma: 0.0 })
    }

    /// Attempts at a packet, the first included.
    pub(super) fn attempts(&self) -> usize {
        self.max_retransmissions as usize + 1
    }

    /// That there can be such a link.
    ///
    /// # Errors
    /// What is out of its range.
    pub fn check(&self) -> Result<(), AdaptiveHarqError> {
        if self.max_retransmissions > Self::MOST_RETRANSMISSIONS {
            return Err(AdaptiveHarqError::Retransmissions);
        }
        self.threshold.check()?;
        if self.step == Duration::ZERO || self.step > Duration::from_secs(1000) {
            return Err(AdaptiveHarqError::Step);
        }
        self.sizing.check(self.attempts())
    }
}

/// An adaptive-HARQ link that cannot be.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum AdaptiveHarqError {
    /// Coded bits per information bit that no code has.
    #[error("{name}: give coded bits per information bit above 0 and up to 1000")]
    Ratio {
        /// Which.
        name: &'static str,
    },
    /// Too many retransmissions.
    #[error(
        "max_retransmissions: give a number from 0 to {}",
        AdaptiveHarqConfig::MOST_RETRANSMISSIONS
    )]
    Retransmissions,
    /// A spread that is none.
    #[error("{name}: give a number from 0 to 10")]
    Sigma {
        /// Which.
        name: &'static str,
    },
    /// Retransmissions at the instant of what they repair.
    #[error("step_ms: give a time above 0 and up to 1000 s")]
    Step,
    /// Not a probability for each attempt.
    #[error("targets: {given} probabilities for {attempts} attempts; give one for each")]
    Targets {
        /// Those given.
        given: usize,
        /// Attempts, the first included.
        attempts: usize,
    },
    /// A probability that the channel never reaches.
    #[error(
        "targets: the channel lets next to nothing through that often; give lower probabilities"
    )]
    Hopeless,
}
