//! `[[printed]]`: values that a paper prints, to be shown beside the measured ones.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value that a paper prints.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Printed {
    /// The metric, by its name in the results, e.g. "completion_s".
    pub metric: String,
    /// The value as printed, in the metric's unit.
    pub value: f64,
    /// Which cells it belongs to: axis = label; axes left out may have any label.
    #[serde(default, rename = "where")]
    pub cell: BTreeMap<String, String>,
    /// Where it is printed, e.g. "table 3".
    #[serde(default)]
    pub source: Option<String>,
}
