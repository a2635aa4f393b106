//! Delays that vary: `delays` and `keep_order`, wherever a delay stands.

use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::store::MakeError;
use super::traces::Traces;
use crate::config::Fault;
use crate::link::{DelaySeries, DelayTable, Propagation};
use crate::units::Duration;

/// Delays over time: the name of a CSV file with columns `time_s` and `delay_ms`, or rows of these.
#[derive(Clone, Debug, PartialEq)]
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

impl Serialize for Delays {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::File(file) => serializer.serialize_str(file),
            Self::Rows(rows) => rows.serialize(serializer),
        }
    }
}

impl JsonSchema for Delays {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Delays".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "the name of a CSV file with columns time_s and delay_ms, or rows of [time_s, delay_ms]",
            "anyOf": [
                { "type": "string", "minLength": 1 },
                {
                    "type": "array",
                    "minItems": 1,
                    "items": { "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 }
                }
            ]
        })
    }
}

/// That the keys of the section `key` do not contradict one another; `fixed` is its `delay`.
pub(super) fn check(
    key: &str,
    fixed: Option<Duration>,
    varying: Option<&Delays>,
    keep_order: bool,
) -> Result<(), Fault> {
    if fixed.is_some() && varying.is_some() {
        return Err(Fault::of(key, "delays", "`delay` and `delays` say the same; give one"));
    }
    check_order(key, varying, keep_order)
}

/// That an order is only asked for where delays vary.
pub(super) fn check_order(
    key: &str,
    varying: Option<&Delays>,
    keep_order: bool,
) -> Result<(), Fault> {
    if keep_order && varying.is_none() {
        let cure = "is for `delays` that vary; give those, or leave it out";
        return Err(Fault::of(key, "keep_order", cure));
    }
    Ok(())
}

/// The delay that varies, if there is one. A single row is a fixed delay.
pub(super) fn propagation(
    delays: Option<&Delays>,
    keep_order: bool,
    traces: &dyn Traces,
) -> Result<Option<Propagation>, MakeError> {
    let series = match delays {
        None => return Ok(None),
        Some(Delays::File(file)) => traces.delays(file)?,
        Some(Delays::Rows(rows)) => {
            let (time_s, delay_ms): (Vec<f64>, Vec<f64>) = rows.iter().copied().unzip();
            let series = DelayTable { time_s, delay_ms, ..DelayTable::default() }.series();
            let place = || "delays".to_owned();
            Arc::new(series.map_err(|error| MakeError::Delays { place: place(), error })?)
        }
    };
    Ok(Some(of_series(series, keep_order)))
}

/// A series of one step is a fixed delay.
fn of_series(series: Arc<DelaySeries>, keep_order: bool) -> Propagation {
    match series.only() {
        Some(delay) => Propagation::Fixed(delay),
        None => Propagation::Varying { series, keep_order },
    }
}
