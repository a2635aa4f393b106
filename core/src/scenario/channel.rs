//! The `[channel]` section: which model erases or makes slots, and its parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::erasures::Erasures;
use super::land_mobile::{self, LooState, Trees};
use super::limit::Burst;
use crate::channel::lms::{Code, Preset};
use crate::config::Fault;
use crate::units::{BitRate, Bytes, Duration, Probability};
use crate::units::{Decibels, Degrees, Gigahertz, KilometresPerHour};

/// Erasures from a model: slots of its own, or on top of a trace.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// The model: "bernoulli" (slots are erased independently), "gilbert-elliott" (in bursts) or
    /// "lms" (a terminal that drives under a satellite).
    pub model: Model,
    /// Share of slots that are erased.
    #[serde(default)]
    pub erasures: Option<Probability>,
    /// Gilbert-Elliott: mean stay in the bad state, in slots (2.5) or as a time ("200 ms"). With
    /// `p_bad = 1` this is the mean length of a burst of erasures.
    #[serde(default)]
    pub burst: Option<Burst>,
    /// Gilbert-Elliott: probability of staying in the good state from slot to slot; with `beta`,
    /// in place of `erasures` and `burst`.
    #[serde(default)]
    pub alpha: Option<Probability>,
    /// Gilbert-Elliott: probability of staying in the bad state from slot to slot.
    #[serde(default)]
    pub beta: Option<Probability>,
    /// Gilbert-Elliott: erasure probability in the good state; 0 unless set.
    #[serde(default)]
    pub p_good: Option<Probability>,
    /// Gilbert-Elliott: erasure probability in the bad state; 1 unless set.
    #[serde(default)]
    pub p_bad: Option<Probability>,
    /// Land mobile satellite: where every number that is not given comes from, a channel of the
    /// papers; "internet" unless set.
    #[serde(default)]
    #[schemars(extend("enum" = Preset::ALL.map(|(name, _)| name)))]
    pub preset: Option<String>,
    /// Land mobile satellite: Es/N0 of the level that `reference` names; the preset's unless set
    /// (internet 6 dB, distribution 14 dB, its 10 dB).
    #[serde(default)]
    pub esn0: Option<Decibels>,
    /// Land mobile satellite: depth of the interleaver, which is the decoding time; "0 ms" for none.
    /// The preset's unless set (36 ms; its 1 ms).
    #[serde(default)]
    pub interleaving: Option<Duration>,
    /// Land mobile satellite: the interleaver spreads a code word to so many instants over its
    /// depth; 0 for evenly.
    #[serde(default)]
    pub branches: Option<u32>,
    /// Land mobile satellite: the states along the road. Naming an environment drops the preset's
    /// calibration (no offset, even spreading).
    #[serde(default)]
    #[schemars(extend("enum" = land_mobile::all_environments()))]
    pub environment: Option<String>,
    /// Land mobile satellite: the model of the environment; unless set the one that has it, P.681 if
    /// both do.
    #[serde(default)]
    #[schemars(extend("enum" = ["p681", "perez-fontan"]))]
    pub propagation: Option<String>,
    /// Land mobile satellite: elevation of the satellite over the environment; 40 deg unless set.
    #[serde(default)]
    pub elevation: Option<Degrees>,
    /// Land mobile satellite: carrier; 2.2 GHz unless set.
    #[serde(default)]
    pub carrier: Option<Gigahertz>,
    /// Land mobile satellite: speed of the terminal; 60 km/h unless set.
    #[serde(default)]
    pub speed: Option<KilometresPerHour>,
    /// Land mobile satellite: one Loo state instead of an environment.
    #[serde(default)]
    pub loo: Option<LooState>,
    /// Land mobile satellite: a clear road past single trees instead of an environment.
    #[serde(default)]
    pub trees: Option<Trees>,
    /// Land mobile satellite: Es/N0 is that of the mean power over fading ("mean") or of the
    /// unshadowed line of sight ("los").
    #[serde(default)]
    #[schemars(extend("enum" = ["mean", "los"]))]
    pub reference: Option<String>,
    /// Land mobile satellite: modulation.
    #[serde(default)]
    #[schemars(extend("enum" = ["qpsk", "16qam"]))]
    pub modulation: Option<String>,
    /// Land mobile satellite: a code that comes with CLIFT: information bits and rate.
    #[serde(default)]
    #[schemars(extend("enum" = Code::NAMES))]
    pub code: Option<String>,
    /// Land mobile satellite: a code of your own, rows of [x, PER] with rising x.
    #[serde(default)]
    pub per_table: Option<Vec<(f64, f64)>>,
    /// What x is in `per_table`: "mi" (mutual information per coded bit) or "esn0" (Es/N0 in dB over
    /// the Gaussian channel); "mi" unless set.
    #[serde(default)]
    #[schemars(extend("enum" = ["mi", "esn0"]))]
    pub per_axis: Option<String>,
    /// Land mobile satellite: a hard decision instead of a code: decoded from this mutual
    /// information per coded bit on.
    #[serde(default)]
    pub threshold: Option<f64>,
    /// Land mobile satellite: added to Es/N0.
    #[serde(default)]
    pub offset: Option<Decibels>,
    /// Time from one slot to the next; or give `rate`. With "lms" the preset's unless set.
    #[serde(default)]
    pub slot: Option<Duration>,
    /// Rate of the link: one LLDU a slot; or give `slot`.
    #[serde(default)]
    pub rate: Option<BitRate>,
    /// Payload of an LLDU; 33 bytes, or the preset's, unless set.
    #[serde(default)]
    pub lldu: Option<Bytes>,
    /// From the start of a slot until its LLDU is decoded; 36 ms unless set (with "lms" it is the
    /// interleaver's depth).
    #[serde(default)]
    pub decoding: Option<Duration>,
    /// Length of the trace that is made; the duration of a run plus a minute unless set.
    #[serde(default)]
    pub length: Option<Duration>,
    /// Seed of the channel where it is to stay while `seed` changes.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Draw the channel anew in each run, as is done unless this is false; otherwise all runs share
    /// it, and their interval allows for that.
    #[serde(default)]
    pub redraw: Option<bool>,
}

/// A model of erasures.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Slots are erased independently.
    Bernoulli,
    /// A two-state Markov chain erases slots in bursts.
    GilbertElliott,
    /// A terminal that drives under a satellite: fading, interleaver and code.
    Lms,
}

/// The slots of a channel that stands alone.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Slots {
    /// How many.
    pub slots: u64,
    /// Time from one to the next, ns.
    pub slot_ns: u64,
    /// Decoding time, ns.
    pub decode_ns: u64,
    /// Payload of an LLDU.
    pub lldu_bytes: u32,
}

impl Channel {
    const LLDU: Bytes = Bytes(33);
    const DECODING: Duration = Duration::from_millis(36);

    /// The model with its parameters filled in, and the slots to make unless the model makes its own
    /// or a trace has them.
    pub(super) fn planned(
        &self,
        key: &str,
        on_trace: bool,
        duration: Duration,
    ) -> Result<(Erasures, Option<Slots>), Fault> {
        if self.model == Model::Lms {
            if on_trace {
                let cure = "\"lms\" makes slots of its own; leave out [trace], or erase on it with another model";
                return Err(Fault::of(key, "model", cure));
            }
            return Ok((Erasures::Lms(Box::new(self.land_mobile(key, duration)?)), None));
        }
        if let Some((name, _)) = self.land_mobile_keys().iter().find(|(_, given)| *given) {
            let cure = "belongs to model = \"lms\"; leave it out or change the model";
            return Err(Fault::of(key, name, cure));
        }
        let slots = if on_trace {
            self.check_on_trace(key)?;
            None
        } else {
            Some(self.slots(key, duration)?)
        };
        let slot_ns = slots.as_ref().map(|slots| slots.slot_ns);
        let erasures = match self.model {
            Model::Bernoulli => self.bernoulli(key)?,
            _ => self.gilbert_elliott(key, slot_ns)?,
        };
        Ok((erasures, slots))
    }

    /// The slots of this channel standing alone, for runs of `duration`.
    fn slots(&self, key: &str, duration: Duration) -> Result<Slots, Fault> {
        let lldu = self.lldu.unwrap_or(Self::LLDU);
        let Some(slot) = self.slot(key, lldu)? else {
            let cure = "missing key `slot`: give the time from slot to slot, e.g. slot = \"1003802 ns\", or the rate, e.g. rate = \"263 kbit/s\", or a [trace] to erase on";
            return Err(Fault::new(key, cure));
        };
        let decoding = self.decoding.unwrap_or(Self::DECODING);
        if decoding == Duration::ZERO {
            return Err(Fault::of(key, "decoding", "0 would mean erased; give 1 ns or more"));
        }
        let length = self.length(key, duration, slot)?;
        Ok(Slots {
            slots: length.as_nanos() / slot.as_nanos(),
            slot_ns: slot.as_nanos(),
            decode_ns: decoding.as_nanos(),
            lldu_bytes: lldu.0,
        })
    }

    /// From slot to slot, if the keys say so, with LLDUs of `lldu`.
    pub(super) fn slot(&self, key: &str, lldu: Bytes) -> Result<Option<Duration>, Fault> {
        let slot = match (self.slot, self.rate) {
            (Some(_), Some(_)) => {
                return Err(Fault::of(key, "rate", "`slot` and `rate` say the same; give one"));
            }
            (slot, rate) => slot.or(rate.map(|rate| rate.time_to_send(lldu))),
        };
        if lldu.0 == 0 {
            return Err(Fault::of(
                key,
                "lldu",
                "an LLDU of 0 bytes carries nothing; give 1 B or more",
            ));
        }
        if slot == Some(Duration::ZERO) {
            let given = if self.slot.is_some() { "slot" } else { "rate" };
            return Err(Fault::of(
                key,
                given,
                "slots follow one another in 0 ns; give more time or a lower rate",
            ));
        }
        Ok(slot)
    }

    /// Length of the trace that is made for runs of `duration`; it holds some slots and not too many.
    pub(super) fn length(
        &self,
        key: &str,
        duration: Duration,
        slot: Duration,
    ) -> Result<Duration, Fault> {
        length(key, self.length, duration, slot)
    }

    /// Complains of keys that say what a trace says already.
    fn check_on_trace(&self, key: &str) -> Result<(), Fault> {
        let given = [
            ("slot", self.slot.is_some()),
            ("rate", self.rate.is_some()),
            ("length", self.length.is_some()),
            ("decoding", self.decoding.is_some()),
            ("lldu", self.lldu.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(Fault::of(
                key,
                name,
                "the slots come from [trace], which this channel only erases; leave it out, or leave out [trace]",
            )),
            None => Ok(()),
        }
    }
}

/// Bounds the memory that a typing error can ask for: 16 GB of columns.
const MOST_SLOTS: u64 = 1_000_000_000;

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
