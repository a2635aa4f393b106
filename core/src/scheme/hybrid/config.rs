//! What a hybrid FEC/ARQ-SR link is made of, and what makes it possible.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::Fault;
use crate::link::reordering::behind;
use crate::link::{BuiltLink, HORIZON, Propagation, Resequencing};
use crate::scheme::hybrid::HybridLink;
use crate::scheme::medium::span_of;
use crate::scheme::{Building, Medium};
use crate::trace::PhyTrace;
use crate::units::{BitRate, Bytes, Duration, Probability};

/// A link that runs hybrid FEC/ARQ-SR with its traffic (Al Fawal 2003): packets of frames, frames
/// of units, decoded if `k` of `n` arrive, else sent again.
///
/// It takes the place of a scheme over a trace. A `[trace]` or `[channel]` beside it says which
/// units are lost, instead of by `loss`: each meets the fate of the last slot that began by then.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Hybrid")]
pub struct HybridOptions {
    /// K: data units of a frame.
    pub k: u32,
    /// N: all units of a frame.
    pub n: u32,
    /// All units of a frame when it is sent for the first time, from K to N; N unless set. With K,
    /// only repeated frames carry redundancy.
    pub n_first: Option<u32>,
    /// X: frames of the largest packet.
    pub frames: u32,
    /// delta: how often a frame is sent again before its packet is given up.
    pub persistency: u32,
    /// Size of a unit.
    pub unit: Bytes,
    /// Rate of the link.
    pub rate: BitRate,
    /// D: propagation delay, one way.
    pub delay: Duration,
    /// Probability that a unit is lost; 1 % unless set.
    pub loss: Option<Probability>,
    /// Whether packets are released in the order in which the link took them.
    pub in_order: bool,
    /// Seed of the losses, beside that of the run.
    pub seed: u64,
}

impl Default for HybridOptions {
    /// The link of Al Fawal 2003.
    fn default() -> Self {
        Self {
            k: 10,
            n: 12,
            n_first: None,
            frames: 6,
            persistency: 5,
            unit: Bytes(25),
            rate: BitRate::from_bits_per_second(2_000_000).expect("above zero"),
            delay: Duration::from_millis(200),
            loss: None,
            in_order: true,
            seed: 1,
        }
    }
}

/// A [`HybridLink`] to be built.
#[derive(Clone, Debug, Default)]
pub struct HybridConfig {
    /// The link.
    pub options: HybridOptions,
    /// Trace of lost units, instead of [`HybridOptions::loss`]: a unit meets the fate of the
    /// last slot that began by the time the unit begins. Decoding takes no time: of `d` only
    /// whether it is 0 counts. No frame starts before the first slot, and none ends after the last
    /// one.
    pub losses: Option<Arc<PhyTrace>>,
}

impl HybridOptions {
    /// Time to send a frame: its N units at the link's rate, rounded to the nearest nanosecond.
    pub fn frame_time(&self) -> Duration {
        self.time_of(self.n)
    }

    /// Units of a frame when it is sent for the first time.
    pub fn first_units(&self) -> u32 {
        self.n_first.unwrap_or(self.n)
    }

    /// Time to send `units`, rounded to the nearest nanosecond.
    pub(super) fn time_of(&self, units: u32) -> Duration {
        self.rate.time_to_send(Bytes(self.unit.0.saturating_mul(units)))
    }

    /// The largest packet that X frames can carry. A packet of B bytes takes `ceil(B / (K units))`
    /// frames, the last one padded.
    pub fn largest_packet(&self) -> Bytes {
        Bytes(self.frames.saturating_mul(self.k).saturating_mul(self.unit.0))
    }

    /// Probability that a unit is lost, without a trace.
    pub fn unit_loss(&self) -> Probability {
        // The largest loss probability in Al Fawal 2003.
        self.loss.unwrap_or_else(|| Probability::new(0.01).unwrap_or_default())
    }

    /// Frames that `bytes` take.
    #[inline]
    pub(super) fn frames_for(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.k) * u64::from(self.unit.0)).max(1)
    }

    /// Validates the options.
    ///
    /// # Errors
    /// Unless 1 <= K <= N <= 65535, a packet has a frame, a unit a byte, and times are in reach.
    pub fn check(&self) -> Result<(), Fault> {
        let wrong = |name, cure| Err(Fault::new(name, cure));
        if self.k == 0 || self.k > self.n || self.n > MOST {
            // Of two numbers that do not go together, the one that is not the usual one.
            let usual = Self::default();
            let name = if self.k == usual.k && self.n != usual.n { "n" } else { "k" };
            return wrong(name, "a frame carries K of N units; 1 <= K <= N <= 65535");
        }
        if self.n_first.is_some_and(|first| !(self.k..=self.n).contains(&first)) {
            return wrong("n_first", "the first transmission of a frame has from K to N units");
        }
        if self.frames == 0 {
            return wrong("frames", "a packet has at least one frame");
        }
        if self.persistency > MOST {
            return wrong("persistency", "a frame is sent again at most 65535 times");
        }
        if self.unit.0 == 0 || self.unit.0 > MOST {
            return wrong("unit", "a unit has from 1 to 65535 bytes");
        }
        if u64::from(self.n) * u64::from(self.unit.0) > MOST_BYTES {
            return wrong("n", "a frame has at most 2^30 bytes; give less units");
        }
        let frame = self.frame_time();
        if self.time_of(self.first_units()) == Duration::ZERO {
            return wrong("rate", "a frame takes less than a nanosecond; give a lower rate");
        }
        if frame.max(self.delay).as_nanos() > HORIZON as u64 / 4 {
            let name = if frame > self.delay { "rate" } else { "delay" };
            return wrong(name, "a frame or the delay takes over 2^59 ns (18 years)");
        }
        Ok(())
    }
}

/// Bounds of N, delta and the bytes of a unit, and of the bytes of a frame: products of them fit.
const MOST: u32 = 65_535;
const MOST_BYTES: u64 = 1 << 30;

impl Medium for HybridConfig {
    fn build(self: Arc<Self>, with: Building<'_>) -> Result<BuiltLink, Fault> {
        let Building { link, usage, seed, number } = with;
        link.check_own(false)?;
        Ok(behind(HybridLink::new(&self, usage, seed, number)?, self.buffer().or(link.reorder)))
    }

    fn way_back(&self) -> Propagation {
        Propagation::Fixed(self.options.delay)
    }

    fn span(&self) -> Option<(u64, u64)> {
        self.losses.as_deref().map(span_of)
    }

    fn buffer(&self) -> Option<Resequencing> {
        self.options.in_order.then_some(Resequencing::InOrder)
    }

    fn largest_packet(&self) -> Option<Bytes> {
        Some(self.options.largest_packet())
    }
}
