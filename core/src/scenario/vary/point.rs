//! The points of an axis: labels and the values of keys.

use std::sync::Arc;

use super::range::{self, Range, is_range};
use crate::config::{Fault, Node, Value};

/// See [`Scenario::MOST_CELLS`](crate::scenario::Scenario::MOST_CELLS).
pub(in crate::scenario) const MOST_CELLS: usize = 1_000_000;

/// An axis with the changes of its points.
#[derive(Debug)]
pub(in crate::scenario) struct Changes {
    /// The dotted key that varies; empty for a named axis.
    pub(in crate::scenario) key: String,
    pub(in crate::scenario) name: String,
    pub(in crate::scenario) points: Vec<Point>,
}

#[derive(Clone, Debug, Default)]
pub(in crate::scenario) struct Point {
    pub(in crate::scenario) label: String,
    pub(in crate::scenario) changes: Vec<(Path, Value)>,
}

/// The parts of a dotted key.
pub(in crate::scenario) type Path = Arc<[String]>;

impl Point {
    /// Adds a key to the point. Its label follows those of the others.
    pub(super) fn add(&mut self, path: &Path, (label, value): (String, Value)) {
        if self.changes.is_empty() {
            self.label = label;
        } else {
            self.label = format!("{}, {label}", self.label);
        }
        self.changes.push((Arc::clone(path), value));
    }
}

pub(super) fn path_of(key: &str) -> Path {
    key.split('.').map(str::to_owned).collect()
}

/// The label of a plain value; `None` for another.
pub(super) type Label<'a> = &'a dyn Fn(&Value) -> Option<String>;

/// Labels and values.
pub(in crate::scenario) type Labelled = Vec<(String, Value)>;

/// The values that a key can take.
pub(super) enum Values {
    List(Labelled),
    Range(Range),
}

impl Values {
    /// All of them; `others` says how many if a range doesn't.
    pub(super) fn points(&self, key: &str, others: Option<usize>) -> Result<Labelled, Fault> {
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
pub(super) fn gather(
    label: Label<'_>,
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
                gather(label, &format!("{key}.{name}"), value, (one, empty), found)
            });
        }
        Node::List(_) => Values::List(plain_list(label, key, value)?),
        _ => return Err(Fault::new(key, one)),
    };
    found.push((key.to_owned(), values));
    Ok(())
}

/// Labels and values of a list of plain values.
pub(super) fn plain_list(label: Label<'_>, key: &str, value: &Value) -> Result<Labelled, Fault> {
    let Node::List(list) = &value.node else { return Ok(Vec::new()) };
    if list.is_empty() {
        return Err(Fault::new(key, "the list is empty; give at least one value"));
    }
    let labelled = list.iter().enumerate().map(|(index, value)| {
        let label = label(value).ok_or_else(|| {
            let message = "only plain values are labels; name the points: [vary.my_axis.my_label] with the keys that it sets";
            Fault::at(message).within(&index.to_string()).within(key)
        })?;
        Ok((label, value.clone()))
    });
    labelled.collect()
}

pub(super) fn is_reserved(key: &str) -> bool {
    matches!(key, "vary" | "printed")
}
