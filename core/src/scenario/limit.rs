//! Small quantities of their own: starts and burst lengths.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::units::{Duration, QuantityError, quantity};

/// The trace time at which a run starts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Start {
    /// At this time of the trace.
    At(Duration),
    /// At a time drawn anew for each run, the same in every cell.
    Random,
}

impl Default for Start {
    fn default() -> Self {
        Self::At(Duration::ZERO)
    }
}

impl FromStr for Start {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        if text.trim() == "random" { Ok(Self::Random) } else { text.parse().map(Self::At) }
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(time) => time.fmt(f),
            Self::Random => f.write_str("random"),
        }
    }
}

quantity!(
    Start,
    "Start",
    r"^\s*(random|[0-9]+(\.[0-9]+)?\s*(ns|us|µs|ms|s|min|h))\s*$",
    "a time of the trace, e.g. \"30 s\", or \"random\""
);

/// How long a channel stays bad: a number of slots, or a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Burst {
    /// So many slots, at least one.
    Slots(f64),
    /// So long.
    Time(Duration),
}

impl<'de> Deserialize<'de> for Burst {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BurstVisitor)
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

impl JsonSchema for Burst {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Burst".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "a number of slots (at least 1), or a time such as \"200 ms\"",
            "anyOf": [
                { "type": "number", "minimum": 1 },
                { "type": "string", "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*(ns|us|µs|ms|s|min|h)\s*$" }
            ]
        })
    }
}

struct BurstVisitor;

impl Visitor<'_> for BurstVisitor {
    type Value = Burst;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of slots such as 2.5, or a time such as \"200 ms\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Burst, E> {
        text.parse().map(Burst::Time).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, slots: i64) -> Result<Burst, E> {
        self.visit_f64(slots as f64)
    }

    fn visit_u64<E: de::Error>(self, slots: u64) -> Result<Burst, E> {
        self.visit_f64(slots as f64)
    }

    fn visit_f64<E: de::Error>(self, slots: f64) -> Result<Burst, E> {
        if slots.is_finite() && slots >= 1.0 {
            return Ok(Burst::Slots(slots));
        }
        Err(E::custom(format!("a burst of {slots} slots; give 1 slot or more, or a time")))
    }
}
