//! What a carrier is made of, and what makes it possible.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::link::CarrierLink;
use super::scheduler::SchedulerConfig;
use crate::config::Fault;
use crate::link::{BuiltLink, HORIZON, Propagation};
use crate::queue::Aqm;
use crate::scheme::{Building, Medium};
use crate::units::{BitRate, Bytes, Duration, Probability};

/// A carrier that terminals share: its slots follow one another, a scheduler assigns each to a
/// terminal, and each terminal has its own queue (`queue` of `[link]`) and its own channel.
///
/// Flow number i of an entry of `[[flow]]` belongs to terminal number i; after the last terminal the
/// first one follows. Packets share slots: each begins after the last byte of the one before it. In
/// a `[network]`, the node at one end of a carrier stands for all its terminals.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Carrier")]
pub struct CarrierOptions {
    /// Number of terminals.
    #[serde(default = "one")]
    pub terminals: u32,
    /// Rate of all slots together.
    pub rate: BitRate,
    /// Bytes of packets that a slot carries.
    #[serde(default = "packet")]
    pub slot: Bytes,
    /// Propagation delay, one way.
    #[serde(default)]
    pub delay: Duration,
    /// The scheduler, e.g. `{ type = "proportional fair" }`. Default: round robin.
    #[serde(default)]
    pub scheduler: SchedulerConfig,
    /// Probability that a slot is lost, drawn for each terminal and slot.
    #[serde(default)]
    pub loss: Probability,
    /// How often the bytes of a lost slot are sent again. The sender learns of a loss one round
    /// trip after the end of the slot, and sends these bytes before others of the terminal. Without
    /// it the packets in the slot are lost. A packet is delivered when all its bytes have arrived;
    /// later ones may overtake it.
    #[serde(default)]
    pub retransmissions: u32,
    /// Fades of the terminals, independent of one another. Default: none.
    #[serde(default)]
    pub fades: Option<Fades>,
}

/// Fades of a terminal: the durations of fades and of the times between them are exponentially
/// distributed.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CarrierFades")]
pub struct Fades {
    /// Share of the time in which a terminal is in a fade.
    pub share: Probability,
    /// Mean duration of a fade.
    pub mean: Duration,
    /// Bytes of a slot in a fade, as a share of `slot`: adaptive coding and modulation. Default: all.
    /// Give it, or `loss`, or both.
    #[serde(default)]
    pub bytes: Option<Probability>,
    /// Probability that a slot is lost in a fade. Default: as outside of fades.
    #[serde(default)]
    pub loss: Option<Probability>,
}

fn one() -> u32 {
    1
}

fn packet() -> Bytes {
    Bytes(1500)
}

/// Bounds of the number of terminals, of repetitions, and of the bytes of a slot.
const MOST_TERMINALS: u32 = 100_000;
const MOST: u32 = 65_535;

impl CarrierOptions {
    /// Duration of a slot.
    pub fn slot_time(&self) -> Duration {
        self.rate.time_to_send(self.slot)
    }

    /// Validates the options.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub fn check(&self) -> Result<(), Fault> {
        let wrong = |name: &str, message: String| Err(Fault::new(name, message));
        if self.terminals == 0 || self.terminals > MOST_TERMINALS {
            let message = format!("{} terminals; give 1 to {MOST_TERMINALS}", self.terminals);
            return wrong("terminals", message);
        }
        if self.slot.0 == 0 || self.slot.0 > MOST {
            return wrong("slot", format!("{} bytes; give 1 to {MOST}", self.slot.0));
        }
        if self.slot_time() == Duration::ZERO {
            return wrong("rate", "a slot takes less than a nanosecond; give a lower rate".into());
        }
        if self.slot_time().max(self.delay).as_nanos() > HORIZON as u64 / 4 {
            let name = if self.slot_time() > self.delay { "rate" } else { "delay" };
            return wrong(name, "a slot or the delay takes over 2^59 ns (18 years)".into());
        }
        if self.loss == Probability::ONE {
            return wrong("loss", "all slots are lost; give less than 1".into());
        }
        if self.retransmissions > MOST {
            return wrong("retransmissions", format!("give at most {MOST}"));
        }
        if let Some(fades) = &self.fades {
            fades.check(self.slot).map_err(|fault| fault.within("fades"))?;
        }
        let scheduler = self.scheduler.parameters().check(self);
        scheduler.map_err(|fault| fault.within("scheduler"))
    }
}

impl Fades {
    fn check(&self, slot: Bytes) -> Result<(), Fault> {
        if self.share == Probability::ONE {
            return Err(Fault::new("share", "the fade never ends; give less than 1"));
        }
        if self.mean == Duration::ZERO {
            return Err(Fault::new("mean", "is zero; give a time above zero"));
        }
        let Some(bytes) = self.bytes.or(self.loss.map(|_| Probability::ONE)) else {
            return Err(Fault::new("bytes", "a fade changes nothing; give `bytes`, or `loss`"));
        };
        if f64::from(slot.0) * bytes.get() < 1.0 {
            return Err(Fault::new("bytes", "leaves no byte of a slot; give more, or use `loss`"));
        }
        Ok(())
    }
}

/// A carrier to be built.
#[derive(Clone, Debug)]
pub struct CarrierConfig {
    /// The carrier.
    pub options: CarrierOptions,
    /// The terminal of each flow of the run, by the flow's number. Other flows belong to the terminal
    /// of their number modulo the number of terminals.
    pub terminals: Arc<[u32]>,
}

impl Medium for CarrierConfig {
    fn build(self: Arc<Self>, with: Building<'_>) -> Result<BuiltLink, Fault> {
        let Building { link, usage, seed, number } = with;
        link.check_own(false)?;
        let queues = "a carrier has a queue for each terminal; leave `aqm` and `reorder` out";
        if link.aqm != Aqm::None || link.reorder.is_some() {
            return Err(Fault::at(queues));
        }
        self.options.check()?;
        Ok(Box::new(CarrierLink::new(&self, usage, seed, number)))
    }

    fn way_back(&self) -> Propagation {
        Propagation::Fixed(self.options.delay)
    }
}
