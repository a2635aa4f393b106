//! `[[printed]]`: values that a paper prints, shown next to the measured ones.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ScenarioError;
use super::source::Source;
use super::vary::{Changes, Ended};
use crate::config::{self, Fault, Table};

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

/// Takes the printed values out of a scenario; those that no cell has are left out.
pub(super) fn take(
    source: &Source,
    root: &mut Table,
    axes: &[Changes],
    ended: &Ended,
) -> Result<Vec<Printed>, ScenarioError> {
    let Some(value) = root.get("printed") else { return Ok(Vec::new()) };
    let mut printed: Vec<Printed> =
        config::read(value).map_err(|fault| source.fault(root, &fault.within("printed")))?;
    // Entries with other labels of an ended axis have no cell; drop them, and the axis from the
    // others.
    let mut numbers: Vec<usize> = (0..printed.len()).collect();
    let points = &ended.points;
    numbers.retain(|&number| {
        !points.iter().any(|(axis, label)| printed[number].cell.get(axis) == Some(label))
    });
    for (name, label) in &ended.axes {
        let keep = |value: &Printed| value.cell.get(name).is_none_or(|l| Some(l) == label.as_ref());
        numbers.retain(|&number| keep(&printed[number]));
        for value in &mut printed {
            value.cell.remove(name);
        }
    }
    let printed: Vec<(usize, Printed)> =
        numbers.into_iter().map(|number| (number, printed[number].clone())).collect();
    for (index, value) in &printed {
        check_printed(value, axes)
            .map_err(|fault| source.fault(root, &fault.within(&format!("printed.{index}"))))?;
    }
    root.remove("printed");
    Ok(printed.into_iter().map(|(_, value)| value).collect())
}

fn check_printed(printed: &Printed, axes: &[Changes]) -> Result<(), Fault> {
    if !printed.value.is_finite() {
        return Err(Fault::new("value", "is not a number; give one"));
    }
    for (name, label) in &printed.cell {
        let fault = |message: String| Fault::at(message).within(name).within("where");
        let Some(axis) = axes.iter().find(|axis| axis.name == *name) else {
            let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
            return Err(fault(format!("no such axis; [vary] has {}", or_none(&names))));
        };
        if !axis.points.iter().any(|point| point.label == *label) {
            let labels: Vec<&str> = axis.points.iter().map(|point| point.label.as_str()).collect();
            return Err(fault(format!("no label `{label}`; the axis has {}", or_none(&labels))));
        }
    }
    Ok(())
}

fn or_none(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
