//! What a hybrid FEC/ARQ-SR link is made of, and what makes it possible.

use std::sync::Arc;

use thiserror::Error;

use crate::link::HORIZON;
use crate::seed::Seed;
use crate::trace::PhyTrace;
use crate::units::{BitRate, Bytes, Duration, Probability};

/// Parameters of a [`HybridLink`](super::HybridLink), by their letters in Al Fawal 2003.
#[derive(Clone, Debug)]
pub struct HybridConfig {
    /// K: data units of a frame, at least 1.
    pub data: u32,
    /// N: all units of a frame, K to 65535.
    pub total: u32,
    /// X: frames of the largest packet, at least 1. A packet of B bytes takes `ceil(B / (K units))`
    /// frames, the last one padded; one that takes more than X is not admitted.
    pub frames: u32,
    /// delta: how often a frame is sent again before its packet is given up, at most 65535.
    pub persistency: u32,
    /// Size of a unit.
    pub unit: Bytes,
    /// B: rate of the link.
    pub rate: BitRate,
    /// D: one-way propagation delay.
    pub delay: Duration,
    /// Which units are lost.
    pub losses: UnitLosses,
    /// Whether packets are released in the order in which the link took them.
    pub in_order: bool,
    /// Tells links with the same seed of the run apart.
    pub seed: Seed,
}

/// Which units of a [`HybridLink`](super::HybridLink) are lost on the air.
#[derive(Clone, Debug)]
pub enum UnitLosses {
    /// Each with the same probability, independently: a frame's fate is one draw from the binomial
    /// law.
    Bernoulli(Probability),
    /// A unit meets the fate of the last slot of a trace that began by the time the unit begins.
    /// Decoding takes no time: of `d` only whether it is 0 counts. No frame starts before the first
    /// slot, and none ends after the last one.
    Trace(Arc<PhyTrace>),
}

/// A parameter out of its range.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("hybrid link: {cure}")]
pub struct HybridError {
    /// The parameter: its key in scenario files.
    pub name: &'static str,
    /// What is wrong with it.
    pub cure: &'static str,
}

impl HybridConfig {
    /// Time to send a frame: its N units at the link's rate, rounded to the nearest nanosecond.
    pub fn frame_time(&self) -> Duration {
        self.rate.time_to_send(Bytes(self.unit.0.saturating_mul(self.total)))
    }

    /// The largest packet that X frames can carry.
    pub fn largest_packet(&self) -> Bytes {
        Bytes(self.frames.saturating_mul(self.data).saturating_mul(self.unit.0))
    }

    /// Frames that `bytes` take.
    #[inline]
    pub(super) fn frames_for(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.data) * u64::from(self.unit.0)).max(1)
    }

    /// That there can be such a link.
    ///
    /// # Errors
    /// Unless 1 <= K <= N <= 65535, a packet has a frame, a unit a byte, and times are in reach.
    pub fn check(&self) -> Result<(), HybridError> {
        let wrong = |name, cure| HybridError { name, cure };
        if self.data == 0 || self.data > self.total || self.total > MOST {
            return Err(wrong("k", "a frame carries K of N units; 1 <= K <= N <= 65535"));
        }
        if self.frames == 0 {
            return Err(wrong("frames", "a packet has at least one frame"));
        }
        if self.persistency > MOST {
            return Err(wrong("persistency", "a frame is sent again at most 65535 times"));
        }
        if self.unit.0 == 0 || self.unit.0 > MOST {
            return Err(wrong("unit", "a unit has from 1 to 65535 bytes"));
        }
        if u64::from(self.total) * u64::from(self.unit.0) > MOST_BYTES {
            return Err(wrong("n", "a frame has at most 2^30 bytes; give less units"));
        }
        let frame = self.frame_time();
        if frame == Duration::ZERO {
            return Err(wrong("rate", "a frame takes less than a nanosecond; give a lower rate"));
        }
        if frame.max(self.delay).as_nanos() > HORIZON as u64 / 4 {
            let name = if frame > self.delay { "rate" } else { "delay" };
            return Err(wrong(name, "a frame or the delay takes over 2^59 ns (18 years)"));
        }
        Ok(())
    }
}

/// Bounds of N, delta and the bytes of a unit, and of the bytes of a frame: products of them fit.
const MOST: u32 = 65_535;
const MOST_BYTES: u64 = 1 << 30;
