//! serde and JSON Schema for quantities: text with a unit, never a bare number, except for
//! probabilities.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::units::{BitRate, Bytes, Duration, Probabilities, Probability, Size};

/// A regular expression for an unsigned number, which may have an exponent.
macro_rules! number {
    () => {
        r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?"
    };
}
pub(crate) use number;

/// A regular expression for a number, with the sign that is allowed, and one of some units.
macro_rules! number_with {
    ($sign:literal, $units:literal) => {
        concat!(r"^\s*", $sign, $crate::units::number!(), r"\s*(", $units, r")\s*$")
    };
    ($units:literal) => {
        $crate::units::number_with!("", $units)
    };
}
pub(crate) use number_with;

/// Implements serde and JSON Schema for a type with `FromStr` and `Display`.
macro_rules! quantity {
    ($type:ty, $name:literal, $pattern:expr, $description:expr) => {
        impl<'de> serde::de::Deserialize<'de> for $type {
            fn deserialize<D: serde::de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any($crate::units::Text::<$type>::new($description))
            }
        }

        impl serde::ser::Serialize for $type {
            fn serialize<S: serde::ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        $crate::units::schema!($type, $name, {
            "type": "string", "pattern": $pattern, "description": $description
        });
    };
}
pub(crate) use quantity;

/// Implements JSON Schema for a type: its name and schema.
macro_rules! schema {
    ($type:ty, $name:literal, $schema:tt) => {
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    };
}
pub(crate) use schema;

quantity!(
    Duration,
    "Time",
    number_with!("ns|us|µs|ms|s|min|h"),
    "a time with its unit (ns, us, ms, s, min, h), e.g. \"500 ms\""
);
quantity!(
    BitRate,
    "Rate",
    number_with!("bit/s|kbit/s|Mbit/s|Gbit/s"),
    "a rate with its unit (bit/s, kbit/s, Mbit/s, Gbit/s), e.g. \"2.3 Mbit/s\""
);
quantity!(
    Size,
    "Size",
    number_with!("B|kB|KiB|MB|MiB|GB|GiB"),
    "a size with its unit (B, kB, KiB, MB, MiB, GB, GiB; 1 kB = 1000 B), e.g. \"100 kB\""
);
quantity!(
    Bytes,
    "Bytes",
    number_with!("B|kB|KiB|MB|MiB|GB|GiB"),
    "a size with its unit (B, kB, KiB, MB, MiB), e.g. \"1500 B\""
);

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(probability())
    }
}

impl Serialize for Probability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.get())
    }
}

schema!(Probability, "Probability", {
    "description": "a probability: a number from 0 to 1, or text such as \"2 %\"",
    "anyOf": [
        { "type": "number", "minimum": 0, "maximum": 1 },
        { "type": "string", "pattern": r"^\s*(0*((100(\.0+)?|[0-9]{1,2}(\.[0-9]+)?)\s*%|1(\.0+)?|0(\.[0-9]+)?)|[0-9]+(\.[0-9]+)?[eE][+-]?[0-9]+\s*%?)\s*$" }
    ]
});

impl Serialize for Probabilities {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Probabilities {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ProbabilitiesVisitor)
    }
}

impl JsonSchema for Probabilities {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Probabilities".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<Probability>();
        json_schema!({
            "description": "a probability, or a list of them",
            "anyOf": [one, { "type": "array", "items": one }]
        })
    }
}

/// Visitor that parses text with `FromStr`. A bare number gets the error for a number without a
/// unit, unless the type takes numbers too.
pub(crate) struct Text<T> {
    expecting: Cow<'static, str>,
    number: Option<fn(f64) -> Result<T, String>>,
}

impl<T> Text<T> {
    pub(crate) fn new(expecting: impl Into<Cow<'static, str>>) -> Self {
        Self { expecting: expecting.into(), number: None }
    }

    /// The same for a type that is written as text or as a number.
    pub(crate) fn or_number(self, read: fn(f64) -> Result<T, String>) -> Self {
        Self { number: Some(read), ..self }
    }
}

impl<T: std::str::FromStr<Err: fmt::Display>> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.expecting)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        self.visit_number(number as f64, &number)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        self.visit_number(number as f64, &number)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        self.visit_number(number, &number)
    }
}

impl<T: std::str::FromStr<Err: fmt::Display>> Text<T> {
    fn visit_number<E: de::Error>(self, number: f64, written: &dyn fmt::Display) -> Result<T, E> {
        match self.number {
            Some(read) => read(number).map_err(E::custom),
            None => self.visit_str(&written.to_string()),
        }
    }
}

/// Reads a probability.
fn probability() -> Text<Probability> {
    Text::new("a probability, e.g. 0.02 or \"2 %\"").or_number(|number| {
        Probability::new(number).map_err(|error| format!("{error}, or e.g. \"2 %\""))
    })
}

struct ProbabilitiesVisitor;

impl<'de> Visitor<'de> for ProbabilitiesVisitor {
    type Value = Probabilities;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a probability, e.g. 0.02 or \"2 %\", or a list of them")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Probabilities, E> {
        probability().visit_str(text).map(|one| Probabilities(vec![one]))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Probabilities, E> {
        self.visit_f64(number as f64)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Probabilities, E> {
        self.visit_f64(number as f64)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Probabilities, E> {
        probability().visit_f64(number).map(|one| Probabilities(vec![one]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Probabilities, A::Error> {
        let mut rates = Vec::new();
        while let Some(rate) = list.next_element()? {
            rates.push(rate);
        }
        Ok(Probabilities(rates))
    }
}
