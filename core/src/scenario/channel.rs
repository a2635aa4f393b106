//! The `[channel]` section: a channel, and what a scenario says of its length and its draws.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::channel::lms::LandMobile;
use crate::channel::{ChannelConfig, Model};
use crate::config::{Fault, parts};
use crate::units::Duration;

/// A channel of a model: slots of its own, or erasures on top of a trace.
#[derive(Clone, Debug, JsonSchema, Serialize)]
// Of a choice only what is chosen is looked into, which `additionalProperties` cannot say.
#[schemars(extend("unevaluatedProperties" = false, "not" = { "required": ["slot", "rate"] }))]
pub struct Channel {
    /// The channel itself.
    #[serde(flatten)]
    pub config: ChannelConfig,
    /// How long it is, and when it is drawn.
    #[serde(flatten)]
    pub draw: Draw,
}

parts!(Channel { config, draw });

/// Length and draws of a channel that is made for runs.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Draw {
    /// Length of the trace that is made; the duration of a run plus a minute unless set.
    pub length: Option<Duration>,
    /// Seed of the channel where it is to stay while `seed` changes.
    pub seed: Option<u64>,
    /// Draw the channel anew in each run, as is done unless this is false; otherwise all runs share
    /// it, and their interval allows for that.
    pub redraw: Option<bool>,
}

impl Channel {
    /// How many slots to make for runs of `duration`, unless a trace has them. `key` is the section
    /// that this one is.
    pub(super) fn slots(
        &self,
        key: &str,
        on_trace: bool,
        duration: Duration,
    ) -> Result<Option<u64>, Fault> {
        let within = |fault: Fault| fault.within(key);
        if on_trace {
            self.config.check_on_trace().map_err(within)?;
            return match self.draw.length {
                Some(_) => Err(Fault::of(key, "length", ChannelConfig::SLOTS_OF_TRACE)),
                None => Ok(None),
            };
        }
        let slot = self.config.slot().map_err(within)?;
        let length = length(key, self.draw.length, duration, slot)?;
        Ok(Some(length.as_nanos() / slot.as_nanos()))
    }

    /// The channel with its Es/N0 in dB where no slots are made of it.
    pub(super) fn land_mobile(&self, key: &str) -> Result<(LandMobile, f64), Fault> {
        if !matches!(self.config.model, Model::Lms(_)) {
            let cure = "adaptive HARQ lives on a land mobile channel; give model = \"lms\"";
            return Err(Fault::of(key, "model", cure));
        }
        self.config.land_mobile().map_err(|fault| fault.within(key))
    }
}

/// Slots that a trace can have; what memory allows is for whoever makes it to say.
const MOST_SLOTS: u64 = u32::MAX as u64;

/// Length of what is made for runs of `duration`, if it is not `given`; it holds some slots and not
/// too many. `key` is the section that `length` stands in.
pub(super) fn length(
    key: &str,
    given: Option<Duration>,
    duration: Duration,
    slot: Duration,
) -> Result<Duration, Fault> {
    let length = given.unwrap_or(duration + Duration::from_secs(60));
    let slots = length.as_nanos() / slot.as_nanos();
    if slots == 0 || slots > MOST_SLOTS {
        let message = format!(
            "{length} hold {slots} slots of {slot}; give a length of 1 to {MOST_SLOTS} slots"
        );
        return Err(Fault::of(key, "length", message));
    }
    Ok(length)
}
