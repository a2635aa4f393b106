//! `[vary]`: the axes of a campaign and the changes of each point.

mod range;
mod sample;
mod sobol;
mod units;
mod zip;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use self::range::{Range, is_range};
use super::error::{Origin, ScenarioError};
use super::source::{Set, Source};
use crate::config::{Fault, Node, Table, Value, nearest};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny};
use serde::{Serialize, Serializer};
use serde_json::json;

/// See [`Scenario::MOST_CELLS`](super::Scenario::MOST_CELLS).
pub(super) const MOST_CELLS: usize = 1_000_000;

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

/// An axis with the changes of its points.
#[derive(Debug)]
pub(super) struct Changes {
    /// The dotted key that varies; empty for a named axis.
    pub(super) key: String,
    pub(super) name: String,
    pub(super) points: Vec<Point>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    pub(super) label: String,
    pub(super) changes: Vec<(Path, Value)>,
}

/// The parts of a dotted key.
type Path = Arc<[String]>;

impl Point {
    /// Adds a key to the point. Its label follows those of the others.
    fn add(&mut self, path: &Path, (label, value): (String, Value)) {
        if self.changes.is_empty() {
            self.label = label;
        } else {
            self.label = format!("{}, {label}", self.label);
        }
        self.changes.push((Arc::clone(path), value));
    }
}

fn path_of(key: &str) -> Path {
    key.split('.').map(str::to_owned).collect()
}

/// The axes of a `[vary]` section, in the order of the file. `keys` are the keys of a scenario.
pub(super) fn axes(source: &Source, vary: &Value, keys: &[&str]) -> Result<Vec<Changes>, Fault> {
    let Node::Table(table) = &vary.node else {
        return Err(Fault::at("is not a section; write [vary] and lists of values below"));
    };
    let mut axes = Vec::new();
    for (key, value) in table.iter() {
        let first = key.split('.').next().unwrap_or(key);
        if keys.contains(&first) {
            listed(source, key, value, &mut axes)?;
        } else if let ("zip", Some(table)) = (key, value.as_table()) {
            for (name, value) in table.iter() {
                let axis = zip::zipped(source, name, value);
                axes.push(axis.map_err(|fault| fault.within(name).within(key))?);
            }
        } else if let ("sample", Some(table)) = (key, value.as_table()) {
            axes.push(sample::sampled(source, table).map_err(|fault| fault.within(key))?);
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
fn listed(source: &Source, key: &str, value: &Value, axes: &mut Vec<Changes>) -> Result<(), Fault> {
    let one = "one value does not vary; give a list of values, e.g. scheme = [\"ARQ\", \"HARQ(10/12)\"], or a range, e.g. { from = 5, to = 12, step = 0.5 }";
    let mut found = Vec::new();
    gather(source, key, value, (one, None), &mut found)?;
    for (key, values) in found {
        let path = path_of(&key);
        let point = |(label, value)| Point { label, changes: vec![(Arc::clone(&path), value)] };
        let points = values.points(&key, None)?.into_iter().map(point).collect();
        axes.push(Changes { name: key.clone(), key, points });
    }
    Ok(())
}

/// Labels and values.
type Labelled = Vec<(String, Value)>;

/// The values that a key can take.
enum Values {
    List(Labelled),
    Range(Range),
}

impl Values {
    /// All of them; `others` says how many if a range doesn't.
    fn points(&self, key: &str, others: Option<usize>) -> Result<Labelled, Fault> {
        let range = match self {
            Self::List(list) => return Ok(list.clone()),
            Self::Range(range) => range,
        };
        let values = range.values(others, MOST_CELLS);
        let values = values.map_err(|fault| fault.within(key))?.into_iter();
        Ok(values.map(|value| (range::label_of(&value), value)).collect())
    }
}

/// Lists of plain values and ranges under a key, at any depth, by their dotted keys. `one` and
/// `empty` say what is wrong with a single value, and with a table without keys.
fn gather(
    source: &Source,
    key: &str,
    value: &Value,
    (one, empty): (&str, Option<&str>),
    found: &mut Vec<(String, Values)>,
) -> Result<(), Fault> {
    if is_reserved(key.split('.').next().unwrap_or(key)) {
        return Err(Fault::new(key, "must not vary; leave it out"));
    }
    let values = match &value.node {
        Node::Table(table) if is_range(table) => {
            Values::Range(Range::of(value, table).map_err(|fault| fault.within(key))?)
        }
        Node::Table(table) => {
            if let (Some(empty), None) = (empty, table.iter().next()) {
                return Err(Fault::new(key, empty));
            }
            return table.iter().try_for_each(|(name, value)| {
                gather(source, &format!("{key}.{name}"), value, (one, empty), found)
            });
        }
        Node::List(_) => Values::List(plain_list(source, key, value)?),
        _ => return Err(Fault::new(key, one)),
    };
    found.push((key.to_owned(), values));
    Ok(())
}

/// Labels and values of a list of plain values.
fn plain_list(source: &Source, key: &str, value: &Value) -> Result<Labelled, Fault> {
    let Node::List(list) = &value.node else { return Ok(Vec::new()) };
    if list.is_empty() {
        return Err(Fault::new(key, "the list is empty; give at least one value"));
    }
    let labelled = list.iter().enumerate().map(|(index, value)| {
        let label = source.label(value).ok_or_else(|| {
            let message = "only plain values are labels; name the points: [vary.my_axis.my_label] with the keys that it sets";
            Fault::at(message).within(&index.to_string()).within(key)
        })?;
        Ok((label, value.clone()))
    });
    labelled.collect()
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

fn is_reserved(key: &str) -> bool {
    matches!(key, "vary" | "printed")
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

/// Maximum number of labels that a message lists.
const MOST_TOLD: usize = 20;

/// Axis and label of a point that is not selected.
pub(super) type LeftOut = (String, String);

/// Keeps the points that `sets` select (`--set buffer=none`), one or a list, and removes those
/// sets. If an axis has the same name as a key of the scenario, the name refers to the key.
pub(super) fn choose(
    source: &Source,
    axes: &mut [Changes],
    sets: &mut Vec<Set>,
    keys: &[&str],
) -> Result<Vec<LeftOut>, ScenarioError> {
    let mut left_out = Vec::new();
    let mut other = Vec::new();
    for set in sets.drain(..) {
        let name = set.path.join(".");
        let free = set.chooses_of(&name) || !keys.contains(&name.as_str());
        match axes.iter_mut().find(|axis| axis.name == name && free) {
            Some(axis) => left_out.extend(narrow(source, axis, set.value.as_ref())?),
            None => other.push(set),
        }
    }
    *sets = other;
    Ok(left_out)
}

fn narrow(
    source: &Source,
    axis: &mut Changes,
    value: Option<&Value>,
) -> Result<Vec<LeftOut>, ScenarioError> {
    let all: Vec<String> = axis.points.iter().map(|point| point.label.clone()).collect();
    let known: BTreeSet<&String> = all.iter().collect();
    let chosen: Option<BTreeSet<String>> = value.and_then(|value| match &value.node {
        Node::List(list) => list.iter().map(|value| source.label(value)).collect(),
        _ => source.label(value).map(|label| BTreeSet::from([label])),
    });
    let chosen = chosen
        .filter(|chosen| !chosen.is_empty() && chosen.iter().all(|label| known.contains(label)));
    let Some(chosen) = chosen else {
        let more = if all.len() > MOST_TOLD { ", ..." } else { "" };
        let told = all[..all.len().min(MOST_TOLD)].join(", ");
        let message = format!("is an axis of [vary]; choose one or a list of {told}{more}");
        return Err(source.error(
            value.map_or(Origin::File, |value| source.place(&value.place)),
            &axis.name,
            message,
        ));
    };
    axis.points.retain(|point| chosen.contains(&point.label));
    let left_out = all.into_iter().filter(|label| !chosen.contains(label));
    Ok(left_out.map(|label| (axis.name.clone(), label)).collect())
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
