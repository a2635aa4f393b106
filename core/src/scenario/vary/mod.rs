//! `[vary]`: the axes of a campaign and the changes of each point.

mod choose;
mod point;
mod range;
mod sample;
mod sobol;
mod units;
mod zip;

pub(super) use choose::Ended;
pub(super) use point::{Changes, MOST_CELLS, Path, Point};

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use self::point::{Label, Values, gather, is_reserved, path_of};
use super::error::ScenarioError;
use super::source::{Set, Source};
use crate::config::{Fault, Node, Table, Value, nearest};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny};
use serde::{Serialize, Serializer};
use serde_json::json;

/// The keys that vary from cell to cell; every combination is a cell.
///
/// A key with a list of plain values (`scheme = ["ARQ", "HARQ(10/12)"]`) or with a range (`link.rtt
/// = { from = "100 ms", to = "600 ms", step = "50 ms" }`) is an axis. A name of your choice is an
/// axis whose points are tables of keys (`[vary.condition.bad]`). The keys of `[vary.zip.NAME]`
/// vary together. `[vary.sample]` draws points in the space of its keys.
#[derive(Clone, Debug, Default)]
pub struct Vary(());

/// One axis of a campaign.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Axis {
    /// Name of the axis: the last part of the key that varies, or the name given in the file.
    pub name: String,
    /// The labels of the points, in the order of the file.
    pub labels: Vec<String>,
}

/// Takes the axes out of a scenario, without those that changes have ended. `keys` are the keys of
/// a scenario.
pub(super) fn take(
    source: &Source,
    root: &mut Table,
    sets: &mut Vec<Set>,
    keys: &[&str],
) -> Result<(Vec<Changes>, Ended), ScenarioError> {
    let Some(value) = root.get("vary") else { return Ok(Default::default()) };
    let label = |value: &Value| source.label(value);
    let axes = axes(&label, value, keys);
    let mut axes = axes.map_err(|fault| source.fault(root, &fault.within("vary")))?;
    let ended = choose::choose(source, &label, &mut axes, sets, keys)?;
    let count = axes.iter().try_fold(1usize, |count, axis| count.checked_mul(axis.points.len()));
    if count.is_none_or(|count| count > MOST_CELLS) {
        let message = format!("more than {MOST_CELLS} cells; vary less, or split the campaign");
        return Err(source.fault(root, &Fault::new("vary", message)));
    }
    root.remove("vary");
    Ok((axes, ended))
}

/// The keys whose value in the file no cell has, as each point of an axis sets them. What changes
/// from outside vary is left out: they are there to replace what the file says.
pub(super) fn overridden<'a>(axes: &'a [Changes], root: &Table, sets: &[Set]) -> Vec<&'a Path> {
    if sets.iter().any(Set::is_of_campaign) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for axis in axes {
        let Some((first, others)) = axis.points.split_first() else { continue };
        let keys = first.changes.iter().map(|(path, _)| path);
        found.extend(keys.filter(|path| {
            let sets = |point: &Point| point.changes.iter().any(|(own, _)| own == *path);
            root.has(path) && others.iter().all(sets)
        }));
    }
    found
}

/// The axes of a `[vary]` section, in the order of the file.
fn axes(label: Label<'_>, vary: &Value, keys: &[&str]) -> Result<Vec<Changes>, Fault> {
    let Node::Table(table) = &vary.node else {
        return Err(Fault::at("is not a section; write [vary] and lists of values below"));
    };
    let mut axes = Vec::new();
    for (key, value) in table.iter() {
        let first = key.split('.').next().unwrap_or(key);
        if keys.contains(&first) {
            axes.extend(listed(label, key, value)?);
        } else if let ("zip", Some(table)) = (key, value.as_table()) {
            for (name, value) in table.iter() {
                let axis = zip::zipped(label, name, value);
                axes.push(axis.map_err(|fault| fault.within(name).within(key))?);
            }
        } else if let ("sample", Some(table)) = (key, value.as_table()) {
            axes.push(sample::sampled(label, table).map_err(|fault| fault.within(key))?);
        } else {
            axes.push(named(key, value, keys).map_err(|fault| fault.within(key))?);
        }
    }
    shorten_names(&mut axes);
    let mut names = BTreeSet::new();
    for axis in &axes {
        let mut known = BTreeSet::new();
        if let Some(point) = axis.points.iter().find(|point| !known.insert(&point.label)) {
            let message = format!("`{}` is given twice; remove one", point.label);
            return Err(Fault::new(
                if axis.key.is_empty() { &axis.name } else { &axis.key },
                message,
            ));
        }
        if !names.insert(&axis.name) {
            let message = format!("two axes have the name `{}`; rename one", axis.name);
            return Err(Fault::at(message));
        }
    }
    Ok(axes)
}

/// Axes under a key of the scenario, at any depth.
fn listed(label: Label<'_>, key: &str, value: &Value) -> Result<Vec<Changes>, Fault> {
    let one = "one value does not vary; give a list of values, e.g. scheme = [\"ARQ\", \"HARQ(10/12)\"], or a range, e.g. { from = 5, to = 12, step = 0.5 }";
    let mut found = Vec::new();
    gather(label, key, value, (one, None), &mut found)?;
    let axis = |(key, values): (String, Values)| {
        let path = path_of(&key);
        let point = |(label, value)| Point { label, changes: vec![(Arc::clone(&path), value)] };
        let points = values.points(&key, None)?.into_iter().map(point).collect();
        Ok(Changes { name: key.clone(), key, points })
    };
    found.into_iter().map(axis).collect()
}

/// A named axis: a table of labels, each a table of keys.
fn named(name: &str, value: &Value, keys: &[&str]) -> Result<Changes, Fault> {
    let unknown = || {
        let hint = nearest(name, keys.iter().copied())
            .map(|near| format!(" (did you mean {near}?)"))
            .unwrap_or_default();
        Fault::at(format!(
            "unknown key{hint}; a list varies a key of the scenario, and an axis with a new name is a table of points: [vary.{name}.my_label]"
        ))
    };
    let mut points = Vec::new();
    for (label, value) in value.as_table().ok_or_else(unknown)?.iter() {
        let changes = value.as_table().ok_or_else(unknown)?;
        let mut point = Point { label: label.to_owned(), changes: Vec::new() };
        flatten(changes, &[], &mut point.changes);
        if let Some((path, _)) = point.changes.iter().find(|(path, _)| is_reserved(&path[0])) {
            let message = "must not vary; leave it out";
            return Err(Fault::new(&path.join("."), message).within(label));
        }
        points.push(point);
    }
    if points.is_empty() {
        return Err(Fault::at("no points; give at least one, e.g. [vary.condition.bad]"));
    }
    Ok(Changes { key: String::new(), name: name.to_owned(), points })
}

/// The leaves of a table of keys, as dotted paths.
fn flatten(table: &Table, prefix: &[String], leaves: &mut Vec<(Path, Value)>) {
    for (key, value) in table.iter() {
        let mut path = prefix.to_vec();
        path.extend(key.split('.').map(str::to_owned));
        match &value.node {
            Node::Table(table) if table.iter().next().is_some() => flatten(table, &path, leaves),
            _ => leaves.push((path.into(), value.clone())),
        }
    }
}

/// Shortens each name to the last part of its key, unless another axis would have the same name.
fn shorten_names(axes: &mut [Changes]) {
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

/// `[vary]` is applied to the parsed file and removed before structs are deserialised.
impl<'de> Deserialize<'de> for Vary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer)?;
        Err(D::Error::custom("is not valid here; [vary] is a top-level section"))
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
        let number = json!({ "type": ["number", "string"] });
        let range = json!({
            "type": "object",
            "description": "The numbers between two ends, with the unit of the key: evenly spaced by `step` or `points`, or logarithmically by `points`.",
            "properties": {
                "from": number, "to": number, "step": number,
                "points": { "type": "integer", "minimum": 2 },
                "scale": { "enum": ["linear", "log"] },
                "whole": { "type": "boolean", "description": "Round to whole numbers." }
            },
            "required": ["from", "to"],
            "additionalProperties": false
        });
        let list = json!({ "type": "array", "minItems": 1, "items": { "type": ["string", "number", "boolean"] } });
        json_schema!({
            "description": "The keys that vary from cell to cell; every combination is a cell. A dotted key of the scenario with a list of plain values, or with a range (`{ from = 5, to = 12, step = 0.5 }`), is an axis. So is a name of your choice with a table of points, each a table of the keys that it sets. The keys of `[vary.zip.NAME]` vary together; `[vary.sample]` draws points in the space of its keys.",
            "type": ["object", "null"],
            "properties": {
                "zip": {
                    "description": "Axes of several keys that vary together: lists of equal length, and ranges.",
                    "type": "object",
                    "additionalProperties": { "type": "object", "minProperties": 1 }
                },
                "sample": {
                    "description": "One axis: points drawn in the space of several keys. Each key has a list, or a range without `step` and `points`.",
                    "type": "object",
                    "properties": {
                        "method": { "enum": ["sobol", "lhs"], "default": "sobol", "description": "\"sobol\": Sobol's sequence, shifted by the seed; \"lhs\": a Latin hypercube." },
                        "points": { "type": "integer", "minimum": 1, "description": "Number of points. With \"sobol\", powers of two cover the space most evenly." },
                        "seed": { "type": "integer", "minimum": 0, "default": sample::SEED, "description": "Seed of the sample; independent of the scenario's seed." }
                    },
                    "required": ["points"]
                }
            },
            "additionalProperties": {
                "anyOf": [list, range, { "type": "object", "minProperties": 1 }]
            }
        })
    }
}
