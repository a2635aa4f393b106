//! Configuration of a channel: a model with its own keys, and the slots that it generates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lms::{LandMobile, Options};
use super::{Bernoulli, Bursts, ErasureChannel, RegularSlots};
use crate::budget::Budget;
use crate::config::{Fault, parts, tagged};
use crate::seed::Seed;
use crate::trace::{LATEST, PhyTrace};
use crate::units::{BitRate, Bytes, Duration};

/// A channel: with its own slots, or with erasures on top of a trace.
///
/// ```
/// use clift::budget::Budget;
/// use clift::channel::ChannelConfig;
/// use clift::config::{Node, Value, read};
/// use clift::seed::Seed;
/// let mut tree = Value::table([
///     ("model", Value::text("gilbert-elliott")),
///     ("erasures", Value::text("2 %")),
///     ("burst", Value::text("4 ms")),
///     ("slot", Value::text("1 ms")),
/// ]);
/// let channel: ChannelConfig = read(&tree)?;
/// let phy = channel.trace_within(200_000, Seed(1), 0, &Budget::unlimited())?;
/// assert!((phy.erasures().bursts.mean().unwrap() - 4.0).abs() < 0.3);
/// if let Some(table) = tree.as_table_mut() {
///     table.insert("speed", Value::text("60 km/h"));
/// }
/// let fault = read::<ChannelConfig>(&tree).unwrap_err().to_string();
/// assert_eq!(fault, "speed: belongs to model = \"lms\"; remove it, or change `model`");
/// # Ok::<(), clift::config::Fault>(())
/// ```
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct ChannelConfig {
    /// The model with its keys.
    #[serde(flatten)]
    pub model: Model,
    /// The slots, if the channel stands alone.
    #[serde(flatten)]
    pub slots: SlotOptions,
}

parts!(ChannelConfig { model, slots });

/// A channel model.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "model", rename_all = "kebab-case")]
pub enum Model {
    /// Slots are erased independently.
    Bernoulli(Bernoulli),
    /// A two-state Markov chain erases slots in bursts.
    GilbertElliott(Bursts),
    /// A vehicle terminal with a land mobile satellite channel: fading, interleaver and code.
    Lms(Box<Options>),
}

tagged!(Model by "model" {
    "bernoulli" => Bernoulli(Bernoulli),
    "gilbert-elliott" => GilbertElliott(Bursts),
    "lms" => Lms(Box<Options>),
});

/// The slots of a channel that stands alone.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct SlotOptions {
    /// Time from one slot to the next; alternative to `rate`. Default for "lms": that of the
    /// preset.
    pub slot: Option<Duration>,
    /// Rate of the link, at one LLDU per slot; alternative to `slot`.
    pub rate: Option<BitRate>,
    /// Payload of an LLDU. Default: 1500 bytes; for "lms" that of the preset.
    #[schemars(extend("not" = { "type": "string", "pattern": r"^\s*0+(\.0+)?([eE][+-]?[0-9]+)?\s*[A-Za-z]+\s*$" }))]
    pub lldu: Option<Bytes>,
    /// Time from the start of a slot until its LLDU is decoded. Default: one slot; for "lms" the
    /// depth of the interleaver.
    pub decoding: Option<Duration>,
}

impl ChannelConfig {
    /// Checks a channel that stands alone.
    ///
    /// # Errors
    /// The fault in the configuration.
    ///
    /// # Returns
    /// Time from one slot to the next.
    pub fn slot(&self) -> Result<Duration, Fault> {
        if let Model::Lms(options) = &self.model {
            return Ok(self.slots.of_land_mobile(options)?.slot);
        }
        let slots = self.slots.regular(1)?;
        self.erasing(Some(slots.every))?;
        Ok(slots.every)
    }

    /// The trace of `count` slots, within a budget; `channel` is the number of the random stream.
    ///
    /// # Errors
    /// The fault in the channel, or in its slots, or if the budget refuses.
    pub fn trace_within(
        &self,
        count: u64,
        seed: Seed,
        channel: u32,
        budget: &Budget<'_>,
    ) -> Result<PhyTrace, Fault> {
        if let Model::Lms(options) = &self.model {
            let made = self.slots.of_land_mobile(options)?;
            let length = Duration::from_nanos(made.slot.as_nanos().saturating_mul(count));
            return made.trace_within(options.esn0_db(), length, (seed, channel), budget);
        }
        let slots = self.slots.regular(count)?;
        self.erasing(Some(slots.every))?.trace_within(&slots, seed, channel, budget)
    }

    /// Checks a channel on top of a trace.
    ///
    /// # Errors
    /// The fault, or a key that the trace already determines.
    pub fn check_on_trace(&self) -> Result<(), Fault> {
        let SlotOptions { slot, rate, lldu, decoding } = self.slots;
        let given = slot.map(|_| "slot").or(rate.map(|_| "rate"));
        let given = given.or(decoding.map(|_| "decoding")).or(lldu.map(|_| "lldu"));
        match given {
            Some(name) => Err(Fault::new(name, Self::SLOTS_OF_TRACE)),
            None => self.erasing(None).map(drop),
        }
    }

    /// The message for a key of slots if a trace provides the slots.
    pub(crate) const SLOTS_OF_TRACE: &str = "the slots come from [trace], and this channel only erases them; remove it, or remove [trace]";

    /// `phy` with further slots erased; as [`ErasureChannel::on`].
    ///
    /// # Errors
    /// As [`Self::check_on_trace`].
    pub fn on(&self, phy: &PhyTrace, seed: Seed, channel: u32) -> Result<PhyTrace, Fault> {
        self.check_on_trace()?;
        Ok(self.erasing(None)?.on(phy, seed, channel))
    }

    /// As [`Self::on`], within a budget.
    ///
    /// # Errors
    /// As [`Self::on`], and if the budget refuses.
    pub fn on_within(
        &self,
        phy: &PhyTrace,
        seed: Seed,
        channel: u32,
        budget: &Budget<'_>,
    ) -> Result<PhyTrace, Fault> {
        budget.take(8 * phy.len() as u64, format_args!("{} slots", phy.len()))?;
        self.on(phy, seed, channel)
    }

    /// The land mobile satellite channel of this configuration, and its Es/N0 in dB.
    ///
    /// # Errors
    /// If the model is a different one, or a parameter is not valid.
    pub fn land_mobile(&self) -> Result<(LandMobile, f64), Fault> {
        let Model::Lms(options) = &self.model else {
            let cure = "is not a land mobile satellite channel; give model = \"lms\"";
            return Err(Fault::new("model", cure));
        };
        Ok((self.slots.of_land_mobile(options)?, options.esn0_db()))
    }

    /// LLDU size and decoding time of a channel that stands alone; for a land mobile channel those
    /// of its preset.
    pub(crate) fn lldu_and_decoding(&self) -> Option<(Bytes, Duration)> {
        let alone = !matches!(self.model, Model::Lms(_));
        let slots = alone.then(|| self.slots.regular(1).ok()).flatten()?;
        Some((slots.lldu, slots.decode))
    }

    /// The erasure model for slots that start every `slot`; `None` on a trace.
    fn erasing(&self, slot: Option<Duration>) -> Result<Box<dyn ErasureChannel>, Fault> {
        match &self.model {
            Model::Bernoulli(channel) => Ok(Box::new(*channel)),
            Model::GilbertElliott(bursts) => Ok(Box::new(bursts.chain(slot)?)),
            Model::Lms(_) => {
                let cure = "\"lms\" generates its own slots; remove [trace], or use another model to erase its slots";
                Err(Fault::new("model", cure))
            }
        }
    }
}

impl SlotOptions {
    // The size of an Ethernet packet, not of any particular satellite system.
    const LLDU: Bytes = Bytes(1500);

    fn regular(&self, count: u64) -> Result<RegularSlots, Fault> {
        let lldu = self.lldu.unwrap_or(Self::LLDU);
        let Some(every) = self.every(lldu)? else {
            let cure = "missing key `slot`: give the time from slot to slot, e.g. slot = \"1003802 ns\", or the rate, e.g. rate = \"263 kbit/s\", or a [trace] to erase on";
            return Err(Fault::at(cure));
        };
        // Default decoding time: the LLDU is decoded when the next slot starts.
        let decode = self.decoding.unwrap_or(every);
        if decode == Duration::ZERO {
            return Err(Fault::new("decoding", "0 would mean erased; give 1 ns or more"));
        }
        Ok(RegularSlots { count, every, decode, lldu })
    }

    /// The land mobile channel with these slots, where they are given.
    fn of_land_mobile(&self, options: &Options) -> Result<LandMobile, Fault> {
        if self.decoding.is_some() {
            let cure = "with \"lms\" it is the interleaver's depth; give `interleaving` instead";
            return Err(Fault::new("decoding", cure));
        }
        let mut channel = options.channel()?;
        channel.lldu = self.lldu.unwrap_or(channel.lldu);
        channel.slot = self.every(channel.lldu)?.unwrap_or(channel.slot);
        Ok(channel)
    }

    /// Time from one slot to the next for LLDUs of `lldu`, if the keys give it.
    fn every(&self, lldu: Bytes) -> Result<Option<Duration>, Fault> {
        let every = self.slot.or(self.rate.map(|rate| rate.time_to_send(lldu)));
        if self.slot.is_some() && self.rate.is_some() {
            return Err(Fault::new("rate", "`slot` and `rate` are alternatives; give one of them"));
        }
        if lldu.0 == 0 {
            let cure = "must be 1 B or more";
            return Err(Fault::new("lldu", cure));
        }
        if every == Some(Duration::ZERO) {
            let given = self.slot.map_or("rate", |_| "slot");
            let cure = "the slot duration is 0 ns; give more time or a lower rate";
            return Err(Fault::new(given, cure));
        }
        if every.is_some_and(|every| every.as_nanos() > LATEST as u64) {
            let given = self.slot.map(|_| "slot").or(self.lldu.map(|_| "lldu"));
            let cure = "a slot takes over 2^61 ns (73 years); give less time or a higher rate";
            return Err(Fault::new(given.unwrap_or("rate"), cure));
        }
        Ok(every)
    }
}
