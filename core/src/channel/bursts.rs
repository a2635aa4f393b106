//! Configuration of erasures in bursts.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::Deserializer;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use super::GilbertElliott;
use crate::config::Fault;
use crate::units::{Duration, Probability, QuantityError, Text, number_with};

/// A chain of a good and a bad state, given by the share of erasures and the mean burst length, or
/// by its transition probabilities.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
#[schemars(extend(
    "dependentRequired" = { "alpha": ["beta"], "beta": ["alpha"] },
    "dependentSchemas" = { "alpha": { "properties": { "erasures": false, "burst": false } } }
))]
pub struct Bursts {
    /// Share of slots that are erased.
    pub erasures: Option<Probability>,
    /// Mean time in the bad state, in slots (2.5) or as a time ("200 ms"). With `p_bad = 1` this is
    /// the mean length of a burst of erasures.
    pub burst: Option<Burst>,
    /// Probability of staying in the good state from one slot to the next; with `beta`, an
    /// alternative to
    /// `erasures` and `burst`.
    pub alpha: Option<Probability>,
    /// Probability of staying in the bad state from one slot to the next.
    pub beta: Option<Probability>,
    /// Erasure probability in the good state.
    pub p_good: Probability,
    /// Erasure probability in the bad state.
    pub p_bad: Probability,
}

impl Default for Bursts {
    fn default() -> Self {
        let (p_good, p_bad) = (Probability::ZERO, Probability::ONE);
        Self { erasures: None, burst: None, alpha: None, beta: None, p_good, p_bad }
    }
}

impl Bursts {
    /// The chain for slots that start every `slot`; `None` on a trace, whose slots are not known
    /// yet.
    ///
    /// # Errors
    /// If keys are missing, contradict each other, or do not give a valid chain.
    pub fn chain(&self, slot: Option<Duration>) -> Result<GilbertElliott, Fault> {
        let (p_good, p_bad) = (self.p_good.get(), self.p_bad.get());
        let missing = |name, cure| Err(Fault::at(format!("missing key `{name}`: {cure}")));
        match (self.erasures, self.burst, self.alpha, self.beta) {
            (None, None, Some(alpha), Some(beta)) => {
                GilbertElliott::new(alpha.get(), beta.get(), p_good, p_bad)
            }
            (Some(erasures), Some(burst), None, None) => {
                GilbertElliott::from_mean(erasures.get(), burst.slots(slot)?, p_good, p_bad)
            }
            (None, None, None, None) => missing(
                "erasures",
                "give `erasures` and `burst`, e.g. erasures = 0.02, burst = 2, or `alpha` and `beta`",
            ),
            (Some(_), None, None, None) => {
                missing("burst", "give the mean burst in slots or as a time, e.g. burst = 2")
            }
            (None, Some(_), None, None) => {
                missing("erasures", "give the share of slots erased, e.g. erasures = 0.02")
            }
            (None, None, Some(_), None) => missing("beta", "alpha requires beta"),
            (None, None, None, Some(_)) => missing("alpha", "beta requires alpha"),
            (_, _, alpha, _) => {
                let name = if alpha.is_some() { "alpha" } else { "beta" };
                let cure = "give either `erasures` and `burst`, or `alpha` and `beta`, not both";
                Err(Fault::new(name, cure))
            }
        }
    }
}

/// Mean time in the bad state: a number of slots, or a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Burst {
    /// Number of slots, at least 1.
    Slots(f64),
    /// A time.
    Time(Duration),
}

impl Burst {
    fn slots(self, slot: Option<Duration>) -> Result<f64, Fault> {
        match (self, slot) {
            (Self::Slots(slots), _) => Ok(slots),
            (Self::Time(time), Some(slot)) => Ok(time.as_nanos() as f64 / slot.as_nanos() as f64),
            (Self::Time(_), None) => {
                let cure = "on a trace, give the burst in slots, e.g. burst = 2.5";
                Err(Fault::new("burst", cure))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Burst {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::new("a number of slots such as 2.5, or a time such as \"200 ms\"");
        deserializer.deserialize_any(text.or_number(|slots| {
            if slots.is_finite() && slots >= 1.0 {
                return Ok(Self::Slots(slots));
            }
            Err(format!("a burst of {slots} slots is too short; give 1 slot or more, or a time"))
        }))
    }
}

impl Serialize for Burst {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Slots(slots) => serializer.serialize_f64(*slots),
            Self::Time(time) => serializer.collect_str(time),
        }
    }
}

crate::units::schema!(Burst, "Burst", {
    "description": "a number of slots (at least 1), or a time such as \"200 ms\"",
    "anyOf": [
        { "type": "number", "minimum": 1 },
        { "type": "string", "pattern": number_with!("ns|us|µs|ms|s|min|h") }
    ]
});

impl FromStr for Burst {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        text.parse().map(Self::Time)
    }
}
