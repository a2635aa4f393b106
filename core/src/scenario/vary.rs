//! `[vary]`: the axes of a campaign, and what each point of an axis changes.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny};
use serde::{Serialize, Serializer};
use toml::de::DeValue;

use super::error::Problem;
use super::tree::{Table, Value, join};
use crate::config::nearest;

/// What varies from cell to cell; every combination is a cell.
///
/// A key with a list of plain values is an axis (`scheme = ["ARQ", "HARQ(10/12)"]`); a name of
/// one's own is an axis whose points are tables of keys (`[vary.condition.bad]`).
#[derive(Clone, Debug, Default)]
pub struct Vary(());

/// One axis of a campaign.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Axis {
    /// Its name: the last part of the key that varies, or the name that the file gives.
    pub name: String,
    /// The labels of its points, in the order of the file.
    pub labels: Vec<String>,
}

/// An axis with what its points change.
pub(super) struct Changes<'i> {
    /// The dotted key that varies; empty for a named axis.
    pub(super) key: String,
    pub(super) name: String,
    pub(super) points: Vec<Point<'i>>,
}

pub(super) struct Point<'i> {
    pub(super) label: String,
    pub(super) changes: Vec<(Vec<String>, Value<'i>)>,
}

/// The axes of a `[vary]` table, in the order of the file.
pub(super) fn axes<'i>(vary: &Table<'i>, keys: &[&str]) -> Result<Vec<Changes<'i>>, Problem> {
    let mut axes = Vec::new();
    for (key, value) in vary {
        let key = key.get_ref().as_ref();
        let first = key.split('.').next().unwrap_or(key);
        if keys.contains(&first) {
            listed(key, value, &mut axes)?;
        } else {
            axes.push(named(key, value, keys)?);
        }
    }
    shorten_names(&mut axes);
    for axis in &axes {
        let twice = |i: usize| axis.points[..i].iter().any(|p| p.label == axis.points[i].label);
        if let Some(i) = (0..axis.points.len()).find(|&i| twice(i)) {
            let message = format!("`{}` is there twice; leave one out", axis.points[i].label);
            return Err(Problem::new("vary", &axis.key, message));
        }
    }
    Ok(axes)
}

/// Axes under a key of the scenario: lists of plain values, at any depth.
fn listed<'i>(key: &str, value: &Value<'i>, axes: &mut Vec<Changes<'i>>) -> Result<(), Problem> {
    let array = match value.get_ref() {
        DeValue::Table(table) => {
            for (name, value) in table {
                listed(&join(key, name.get_ref()), value, axes)?;
            }
            return Ok(());
        }
        DeValue::Array(array) => array,
        _ => {
            let message = "one value does not vary; give a list of values, e.g. scheme = [\"ARQ\", \"HARQ(10/12)\"]";
            return Err(Problem::new("vary", key, message));
        }
    };
    if array.is_empty() {
        return Err(Problem::new("vary", key, "the list is empty; give at least one value"));
    }
    let path: Vec<String> = key.split('.').map(str::to_owned).collect();
    let mut points = Vec::new();
    for (index, value) in array.iter().enumerate() {
        let label = plain(value).ok_or_else(|| {
            let message = "only plain values have a label of their own; name the points: [vary.my_axis.my_label] with the keys that it sets";
            Problem::new("vary", &join(key, &index.to_string()), message)
        })?;
        points.push(Point { label, changes: vec![(path.clone(), value.clone())] });
    }
    axes.push(Changes { key: key.to_owned(), name: key.to_owned(), points });
    Ok(())
}

/// An axis with a name of its own: a table of labels, each a table of keys.
fn named<'i>(name: &str, value: &Value<'i>, keys: &[&str]) -> Result<Changes<'i>, Problem> {
    let unknown = || {
        let hint = nearest(name, keys.iter().copied())
            .map(|near| format!(" (did you mean {near}?)"))
            .unwrap_or_default();
        let message = format!(
            "unknown key{hint}; a list varies a key of the scenario, and an axis of your own is a table of points: [vary.{name}.my_label]"
        );
        Problem::new("vary", name, message)
    };
    let DeValue::Table(table) = value.get_ref() else { return Err(unknown()) };
    let mut points = Vec::new();
    for (label, value) in table {
        let DeValue::Table(changes) = value.get_ref() else { return Err(unknown()) };
        let mut point = Point { label: label.get_ref().to_string(), changes: Vec::new() };
        flatten(changes, &[], &mut point.changes);
        if let Some((path, _)) = point.changes.iter().find(|(path, _)| is_reserved(&path[0])) {
            let key = format!("{name}.{}.{}", point.label, path.join("."));
            return Err(Problem::new("vary", &key, "cannot vary; leave it out"));
        }
        points.push(point);
    }
    if points.is_empty() {
        return Err(Problem::new(
            "vary",
            name,
            "no points; give at least one, e.g. [vary.condition.bad]",
        ));
    }
    Ok(Changes { key: String::new(), name: name.to_owned(), points })
}

fn is_reserved(key: &str) -> bool {
    matches!(key, "vary" | "printed")
}

/// The leaves of a table of keys, as dotted paths.
fn flatten<'i>(table: &Table<'i>, prefix: &[String], leaves: &mut Vec<(Vec<String>, Value<'i>)>) {
    for (key, value) in table {
        let mut path = prefix.to_vec();
        path.extend(key.get_ref().split('.').map(str::to_owned));
        match value.get_ref() {
            DeValue::Table(table) if !table.is_empty() => flatten(table, &path, leaves),
            _ => leaves.push((path, value.clone())),
        }
    }
}

/// The last part of each key, where no other axis ends in the same.
fn shorten_names(axes: &mut [Changes<'_>]) {
    let short: Vec<String> = axes
        .iter()
        .map(|axis| axis.name.rsplit('.').next().unwrap_or(&axis.name).to_owned())
        .collect();
    for (index, axis) in axes.iter_mut().enumerate() {
        if short.iter().filter(|name| **name == short[index]).count() == 1 {
            axis.name.clone_from(&short[index]);
        }
    }
}

/// A plain value as a label.
pub(super) fn plain(value: &Value<'_>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(on) => Some(on.to_string()),
        _ => None,
    }
}

/// The cells are made from the parsed file, before anything is read into structs.
impl<'de> Deserialize<'de> for Vary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer)?;
        Err(D::Error::custom("cannot stand here; [vary] is a section of its own"))
    }
}

impl Serialize for Vary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_none()
    }
}

impl JsonSchema for Vary {
    fn schema_name() -> Cow<'static, str> {
        "Vary".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "What varies from cell to cell; every combination is a cell. A dotted key of the scenario with a list of plain values is an axis; a name of your own with a table of points, each a table of the keys that it sets, is one too.",
            "type": ["object", "null"],
            "additionalProperties": {
                "anyOf": [
                    { "type": "array", "minItems": 1, "items": { "type": ["string", "number", "boolean"] } },
                    { "type": "object", "minProperties": 1 }
                ]
            }
        })
    }
}
