//! `[vary.zip.NAME]`: several keys that vary together as one axis.

use super::range::{self, Range, is_range};
use super::{Changes, Point, is_reserved};
use crate::config::{Fault, Node, Value};
use crate::scenario::Scenario;
use crate::scenario::source::Source;

/// Labels and values of a key.
type Column = Vec<(String, Value)>;

/// The axis of keys that vary together.
pub(super) fn zipped(source: &Source, name: &str, value: &Value) -> Result<Changes, Fault> {
    let mut leaves = Vec::new();
    gather("", value, &mut leaves)?;
    let mut columns: Vec<(&str, Option<Column>)> = Vec::new();
    for (key, value) in &leaves {
        let column = match value.as_table() {
            Some(table) => {
                let range = Range::of(value, table).map_err(|fault| fault.within(key))?;
                match range.count() {
                    Some(_) => Some(spread(key, &range, None)?),
                    None => None,
                }
            }
            None => Some(super::plain_list(source, key, value)?),
        };
        columns.push((key, column));
    }
    let lengths = || columns.iter().filter_map(|(_, column)| column.as_ref().map(Vec::len));
    let Some(count) = lengths().next() else {
        return Err(Fault::at(
            "the number of points is missing; give a list, or a range with points",
        ));
    };
    if let Some((key, other)) = columns.iter().find_map(|(key, column)| {
        column.as_ref().filter(|column| column.len() != count).map(|column| (key, column.len()))
    }) {
        let message = format!(
            "has {other} values, and `{}` has {count}; keys that vary together need as many values",
            columns.iter().find(|(_, column)| column.is_some()).map_or("", |(key, _)| key)
        );
        return Err(Fault::new(key, message));
    }
    let mut points = vec![Point::default(); count];
    for ((key, column), (_, value)) in columns.into_iter().zip(&leaves) {
        let column = match (column, value.as_table()) {
            (None, Some(table)) => {
                let range = Range::of(value, table).map_err(|fault| fault.within(key))?;
                spread(key, &range, Some(count))?
            }
            (column, _) => column.unwrap_or_default(),
        };
        let path = super::path_of(key);
        for (point, own) in points.iter_mut().zip(column) {
            point.add(&path, own);
        }
    }
    Ok(Changes { key: String::new(), name: name.to_owned(), points })
}

fn spread(key: &str, range: &Range, count: Option<usize>) -> Result<Column, Fault> {
    let values = range.values(count, Scenario::MOST_CELLS).map_err(|fault| fault.within(key))?;
    Ok(values.into_iter().map(|value| (range::label_of(&value), value)).collect())
}

/// Lists and ranges below a table, by their dotted keys.
fn gather<'v>(
    key: &str,
    value: &'v Value,
    leaves: &mut Vec<(String, &'v Value)>,
) -> Result<(), Fault> {
    let fault = |message: &str| match key {
        "" => Fault::at(message),
        key => Fault::new(key, message),
    };
    match &value.node {
        Node::Table(table) if key.is_empty() || !is_range(table) => {
            if table.iter().next().is_none() {
                return Err(fault("no key varies; give lists of equal length"));
            }
            for (name, value) in table.iter() {
                if key.is_empty() && is_reserved(name.split('.').next().unwrap_or(name)) {
                    return Err(Fault::new(name, "must not vary; leave it out"));
                }
                let below = crate::config::join(key, name);
                gather(&below, value, leaves)?;
            }
            Ok(())
        }
        Node::Table(_) | Node::List(_) if !key.is_empty() => {
            leaves.push((key.to_owned(), value));
            Ok(())
        }
        _ if key.is_empty() => {
            Err(fault("is not a section; write [vary.zip.my_axis] and lists of equal length below"))
        }
        _ => Err(fault("one value does not vary; give a list or a range")),
    }
}
