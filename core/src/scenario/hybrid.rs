//! Hybrid FEC/ARQ-SR links in scenario files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::link::Link;
use crate::config::{Fault, join};
use crate::scheme::Scheme;
use crate::scheme::{HybridConfig, HybridError, UnitLosses};
use crate::seed::Seed;
use crate::units::{BitRate, Bytes, Duration, Probability};

/// A link that runs hybrid FEC/ARQ-SR with its traffic (Al Fawal 2003): packets of frames, frames
/// of units, decoded if `k` of `n` arrive, else sent again.
///
/// It takes the place of a scheme over a trace. A `[trace]` or `[channel]` beside it says which
/// units are lost, in the place of `loss`: each meets the fate of the last slot that began by then.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hybrid {
    /// K: data units of a frame.
    pub k: u32,
    /// N: all units of a frame.
    pub n: u32,
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

impl Default for Hybrid {
    fn default() -> Self {
        Self {
            k: 10,
            n: 12,
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

impl Hybrid {
    /// The link with losses from elsewhere, or independent ones.
    pub(super) fn config(&self, losses: Option<UnitLosses>) -> HybridConfig {
        // What a unit of Al Fawal 2003 is lost with at most.
        let usual = || Probability::new(0.01).unwrap_or_default();
        HybridConfig {
            data: self.k,
            total: self.n,
            frames: self.frames,
            persistency: self.persistency,
            unit: self.unit,
            rate: self.rate,
            delay: self.delay,
            losses: losses
                .unwrap_or_else(|| UnitLosses::Bernoulli(self.loss.unwrap_or_else(usual))),
            in_order: self.in_order,
            seed: Seed(self.seed),
        }
    }

    /// That there can be such a link, and nothing beside it contradicts it. `key` is the section it
    /// stands in, `traced` whether a trace says which units are lost.
    pub(super) fn check(
        &self,
        key: &str,
        scheme: Option<&Scheme>,
        link: &Link,
        traced: bool,
    ) -> Result<(), Fault> {
        if let Err(error) = self.config(None).check() {
            return Err(self.problem(&join(key, "hybrid"), error));
        }
        if traced && self.loss.is_some() {
            let cure = "the trace or channel beside it says which units are lost; leave it out";
            return Err(Fault::of(&join(key, "hybrid"), "loss", cure));
        }
        if scheme.is_some_and(|scheme| *scheme != Scheme::None) {
            return Err(Fault::of(key, "scheme", "[hybrid] is the scheme; leave one of them out"));
        }
        if let Some(name) = link.of_slots().next() {
            let cure = "is not for [hybrid], which has units and a delay of its own; leave it out";
            return Err(Fault::of(&join(key, "link"), name, cure));
        }
        Ok(())
    }

    /// The words of a scenario file for what the link says.
    fn problem(&self, own: &str, error: HybridError) -> Fault {
        let HybridError { name, cure } = error;
        // Of two numbers that do not go together, the one that is not the usual one.
        let usual = Self::default();
        let name = match name {
            "k" if self.k == usual.k && self.n != usual.n => "n",
            other => other,
        };
        Fault::of(own, name, cure)
    }
}
