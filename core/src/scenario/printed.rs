//! `[[printed]]`: values that a paper prints, shown next to the measured ones.

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
    /// The cells that the value belongs to: axis = label. An axis that is left out matches any
    /// label.
    #[serde(default, rename = "where")]
    pub cell: BTreeMap<String, String>,
    /// Where it is printed, e.g. "table 3".
    #[serde(default)]
    pub source: Option<String>,
}
