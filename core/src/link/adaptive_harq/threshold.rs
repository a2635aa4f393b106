//! How much mutual information decoding takes.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::config::{AdaptiveHarqConfig, AdaptiveHarqError};

/// How much mutual information decoding takes, per information bit: 1 on average, the physical
/// limit.
///
/// A spread stands for what the channel's resolution hides: code words that meet different samples
/// of the fading within it, all attempts alike or each for itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Standard deviation from packet to packet, the same for all attempts at one.
    pub packet_sigma: f64,
    /// Standard deviation from attempt to attempt.
    pub attempt_sigma: f64,
}

impl Threshold {
    /// Exactly 1: no spread.
    pub const PHYSICAL: Self = Self { packet_sigma: 0.0, attempt_sigma: 0.0 };

    pub(super) fn check(self) -> Result<(), AdaptiveHarqError> {
        let spreads = [("packet_sigma", self.packet_sigma), ("attempt_sigma", self.attempt_sigma)];
        match spreads.iter().find(|(_, sigma)| !(0.0..=10.0).contains(sigma)) {
            Some(&(name, _)) => Err(AdaptiveHarqError::Sigma { name }),
            None => Ok(()),
        }
    }
}

/// The thresholds of one packet after the other.
///
/// A packet draws a normal number, and one for each attempt that may be made if those differ, so
/// that what a packet draws does not depend on how those before it fared.
#[derive(Clone, Debug)]
pub(super) struct Thresholds {
    threshold: Threshold,
    attempts: usize,
    rng: ChaCha8Rng,
}

/// Those of one packet, attempt by attempt.
#[derive(Clone, Debug)]
pub(super) struct OfPacket {
    bits: f64,
    common: f64,
    sigma: f64,
    draws: [(f64, f64); AdaptiveHarqConfig::MOST_RETRANSMISSIONS as usize + 1],
}

impl Thresholds {
    pub(super) fn new(threshold: Threshold, attempts: usize, rng: ChaCha8Rng) -> Self {
        Self { threshold, attempts, rng }
    }

    /// Those of the next packet, which has so many bits.
    #[inline]
    pub(super) fn draw(&mut self, bits: f64) -> OfPacket {
        let Threshold { packet_sigma, attempt_sigma } = self.threshold;
        let common = 1.0 + packet_sigma * normal(self.uniforms());
        let mut draws = [(0.0, 0.0); AdaptiveHarqConfig::MOST_RETRANSMISSIONS as usize + 1];
        if attempt_sigma > 0.0 {
            draws[..self.attempts].fill_with(|| self.uniforms());
        }
        OfPacket { bits, common, sigma: attempt_sigma, draws }
    }

    #[inline]
    fn uniforms(&mut self) -> (f64, f64) {
        let mut uniform = || (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        (uniform(), uniform())
    }
}

impl OfPacket {
    /// Bits of mutual information with which this attempt decodes.
    #[inline]
    pub(super) fn at(&self, attempt: usize) -> f64 {
        if self.sigma == 0.0 {
            return self.bits * self.common;
        }
        self.bits * (self.common + self.sigma * normal(self.draws[attempt]))
    }
}

/// A standard normal number, by Box and Muller; logarithm and cosine are `libm`'s, so that its bits
/// are the same on every platform.
#[inline]
fn normal((u, v): (f64, f64)) -> f64 {
    libm::sqrt(-2.0 * libm::log(1.0 - u)) * libm::cos(std::f64::consts::TAU * v)
}
