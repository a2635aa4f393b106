//! Configuration of delays: `delay`, `delays` and `keep_order`.

use std::fmt;

use serde::Serialize;
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

use super::DelayTable;
use crate::config::Fault;
use crate::units::Duration;

/// Varying delays: the name of a CSV file with columns `time_s` and `delay_ms`, or rows of these.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Delays {
    /// A file, relative to the folder of the scenario.
    File(String),
    /// Rows of (time_s, delay_ms); each holds until the next.
    Rows(Vec<(f64, f64)>),
}

impl<'de> Deserialize<'de> for Delays {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Delays;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text in quotes that names a CSV file, or rows of [time_s, delay_ms]")
            }

            fn visit_str<E: de::Error>(self, file: &str) -> Result<Delays, E> {
                if file.is_empty() {
                    return Err(E::custom("is empty; name a CSV file of delays"));
                }
                Ok(Delays::File(file.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Delays, A::Error> {
                let mut table = DelayTable::default();
                while let Some((time, delay)) = list.next_element::<(f64, f64)>()? {
                    table.push(time, delay).map_err(de::Error::custom)?;
                }
                if table.time_s.is_empty() {
                    return Err(de::Error::custom("no rows; give at least one, e.g. [[0, 80.0]]"));
                }
                Ok(Delays::Rows(table.time_s.into_iter().zip(table.delay_ms).collect()))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

crate::units::schema!(Delays, "Delays", {
    "description": "the name of a CSV file with columns time_s and delay_ms, or rows of [time_s, delay_ms]",
    "anyOf": [
        { "type": "string", "minLength": 1 },
        {
            "type": "array",
            "minItems": 1,
            "items": { "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 }
        }
    ]
});

/// Checks that `delay`, `delays` and `keep_order` of a section do not contradict each other.
pub(crate) fn check_delays(
    fixed: Option<Duration>,
    varying: Option<&Delays>,
    keep_order: bool,
) -> Result<(), Fault> {
    if fixed.is_some() && varying.is_some() {
        return Err(Fault::new(
            "delays",
            "`delay` and `delays` are alternatives; give one of them",
        ));
    }
    if keep_order && varying.is_none() {
        let cure = "needs varying `delays`; give those, or remove it";
        return Err(Fault::new("keep_order", cure));
    }
    Ok(())
}
