//! The `[channel]` section: a channel, its length and its random draws.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::channel::lms::LandMobile;
use crate::channel::{ChannelConfig, Model};
use crate::config::{Fault, parts};
use crate::units::Duration;

/// A channel model: it makes its own slots, or adds erasures to a trace.
#[derive(Clone, Debug, JsonSchema, Serialize)]
// Serde reads only the keys of the model that is chosen; `additionalProperties` cannot express
// that.
#[schemars(extend("unevaluatedProperties" = false, "not" = { "required": ["slot", "rate"] }))]
pub struct Channel {
    /// The channel itself.
    #[serde(flatten)]
    pub config: ChannelConfig,
    /// Length of the channel, and when it is drawn.
    #[serde(flatten)]
    pub draw: Draw,
}

parts!(Channel { config, draw });

/// Length and random draws of a channel that is made for runs.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Draw {
    /// Length of the trace that is made. Default: the duration of a run plus one minute.
    pub length: Option<Duration>,
    /// Seed of the channel, to keep the channel fixed while `seed` changes.
    pub seed: Option<u64>,
    /// Draw a new channel in each run (default). If false, all runs share one draw, and their
    /// confidence interval accounts for it.
    pub redraw: Option<bool>,
}

impl Channel {
    /// Number of slots to make for runs of `duration`; `None` if a trace provides the slots. `key`
    /// is the section of this channel.
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

    /// Checks a channel of which only the fates of the slots count.
    pub(super) fn check_fates_only(&self) -> Result<(), Fault> {
        match self.config.slots.decoding {
            Some(_) => {
                Err(Fault::new("decoding", "only the fates of the slots count here; leave it out"))
            }
            None => Ok(()),
        }
    }

    /// The land mobile channel and its Es/N0 in dB, if no slots are made of it.
    pub(super) fn land_mobile(&self, key: &str) -> Result<(LandMobile, f64), Fault> {
        if !matches!(self.config.model, Model::Lms(_)) {
            let cure = "adaptive HARQ needs a land mobile channel; give model = \"lms\"";
            return Err(Fault::of(key, "model", cure));
        }
        self.config.land_mobile().map_err(|fault| fault.within(key))
    }
}

/// Maximum number of slots of a trace. The caller checks whether memory allows as many.
const MOST_SLOTS: u64 = u32::MAX as u64;

/// Returns the length of the trace for runs of `duration`: `given`, or the default. Fails unless it
/// holds at least one slot and at most [`MOST_SLOTS`]. `key` is the section with the key `length`.
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
            "{length} hold {slots} slots of {slot}; give a length of 1 to {MOST_SLOTS} slots, or \
             other slots (`lldu`, `rate`, `slot`)"
        );
        return Err(Fault::of(key, "length", message));
    }
    Ok(length)
}
