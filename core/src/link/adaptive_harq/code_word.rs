//! One packet's mutual information, attempt by attempt.

use super::sizing::Sizing;
use super::threshold::OfPacket;

/// A packet that is sent until it is decoded.
#[derive(Clone, Debug)]
pub(super) struct CodeWord {
    bits: f64,
    threshold: OfPacket,
    /// Attempts made.
    attempts: usize,
    received: f64,
    /// What is still missing, as far as is known.
    missing: f64,
}

impl CodeWord {
    #[inline]
    pub(super) fn new(bits: f64, threshold: OfPacket) -> Self {
        // Before the first attempt nobody knows more than the nominal need.
        Self { bits, threshold, attempts: 0, received: 0.0, missing: bits }
    }

    /// Attempts made so far.
    #[inline]
    pub(super) fn attempts(&self) -> usize {
        self.attempts
    }

    /// Coded bits of the next attempt.
    #[inline]
    pub(super) fn coded_bits(&self, sizing: &Sizing) -> u64 {
        sizing.coded_bits(self.attempts, self.bits, self.missing)
    }

    /// Makes an attempt: so many coded bits, each with this mutual information. Whether it decodes.
    #[inline]
    pub(super) fn receive(&mut self, coded: u64, information: f64) -> bool {
        let needed = self.threshold.at(self.attempts);
        self.attempts += 1;
        self.received += coded as f64 * information;
        self.missing = needed - self.received;
        self.missing <= 0.0
    }
}
