//! The texts of a scenario, and errors that point to a place in them.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::cure;
use super::error::{Origin, ScenarioError};
use crate::config::{Fault, Node, Table, Value};

/// The value that a change from outside sets for a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Text of a value, as on a command line: TOML, or text without quotes.
    Text(String),
    /// A value.
    Value(Value),
    /// No value: the key is removed.
    Nothing,
}

/// A change from outside: its key and its value. Positions in a value given as text are counted
/// from the end of the file. A change without a value removes the key.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) path: Vec<String>,
    pub(super) value: Option<Value>,
}

impl Set {
    /// Whether the change ends the variation of the dotted key.
    pub(super) fn covers(&self, key: &str) -> bool {
        let rest = key.strip_prefix(&self.path.join("."));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// Whether the change concerns the campaign rather than its cells.
    pub(super) fn is_of_campaign(&self) -> bool {
        matches!(self.path[0].as_str(), "vary" | "printed")
    }

    /// Whether the change selects points of this axis.
    pub(super) fn chooses_of(&self, axis: &str) -> bool {
        let is_list = matches!(self.value, Some(Value { node: Node::List(_), .. }));
        is_list && self.path.len() == 1 && self.path[0] == axis
    }
}

/// The texts that values come from, and how errors refer to them.
#[derive(Debug)]
pub(super) struct Source {
    file: String,
    text: String,
    changes: Vec<(String, Change)>,
    /// Offset of each change, as if it stood after the file.
    begins: Vec<usize>,
    /// Offsets of the ends of the text's lines.
    ends: Vec<usize>,
}

impl Change {
    fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Value(_) | Self::Nothing => "",
        }
    }
}

impl Source {
    pub(super) fn new(file: &str, text: &str, changes: &[(String, Change)]) -> Self {
        let mut begin = text.len() + 1;
        let begins = changes
            .iter()
            .map(|(_, change)| {
                let here = begin;
                begin += change.text().len() + 1;
                here
            })
            .collect();
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        Self {
            file: file.to_owned(),
            text: text.to_owned(),
            changes: changes.to_vec(),
            begins,
            ends: ends.map(|(place, _)| place).collect(),
        }
    }

    pub(super) fn parse(&self) -> Result<Table, ScenarioError> {
        let root = DeTable::parse(&self.text).map_err(|error| {
            let place = error.span().map_or(Origin::File, |span| self.place(&span));
            // The parser limits depth; its own words are about recursion.
            let why = match error.message() {
                deep if deep.contains("recurs") => "brackets or dotted keys are nested too deeply",
                other => other,
            };
            self.error(place, "", format!("not TOML: {why}"))
        })?;
        table(root.into_inner(), 0)
            .map_err(|(span, fault)| self.error(self.place(&span), &fault.path(), fault.message()))
    }

    pub(super) fn changes(&self) -> Result<Vec<Set>, ScenarioError> {
        let set = |((key, change), &begin): (&(String, Change), &usize)| {
            let path: Vec<String> = key.split('.').map(str::to_owned).collect();
            let text = match change {
                Change::Text(text) => text,
                Change::Value(value) => return Ok(Set { path, value: Some(value.clone()) }),
                Change::Nothing => return Ok(Set { path, value: None }),
            };
            let place = || Origin::Set(format!("{key} = {text}"));
            if path.iter().any(String::is_empty) || path[0] == "printed" {
                let message = "cannot be changed; give a dotted key, e.g. link.rtt";
                return Err(self.error(place(), key, message));
            }
            let value = parsed(text, begin).map_err(|(_, fault)| {
                let fault = fault.within(key);
                self.error(place(), &fault.path(), fault.message())
            })?;
            Ok(Set { path, value: Some(value) })
        };
        self.changes.iter().zip(&self.begins).map(set).collect()
    }

    /// Applies changes to a table.
    pub(super) fn apply<'s>(
        &self,
        table: &mut Table,
        sets: impl Iterator<Item = &'s Set>,
    ) -> Result<(), ScenarioError> {
        for set in sets {
            self.put(table, &set.path, set.value.as_ref())?;
        }
        Ok(())
    }

    /// Sets a key of a table, or removes it.
    pub(super) fn put(
        &self,
        table: &mut Table,
        path: &[String],
        value: Option<&Value>,
    ) -> Result<(), ScenarioError> {
        let Some(value) = value else {
            table.take(path);
            return Ok(());
        };
        table.set(path, value.clone()).map_err(|part| {
            let message = format!("`{part}` is not a section or an entry; check the dotted key");
            let fault = Fault::new(&path.join("."), message);
            match &value.place {
                place if place.is_empty() => {
                    self.error(Origin::File, &fault.path(), fault.message())
                }
                place => self.error(self.place(place), &fault.path(), fault.message()),
            }
        })
    }

    pub(super) fn file(&self) -> &str {
        &self.file
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn place(&self, span: &Range<usize>) -> Origin {
        if let Some(change) = self.begins.iter().rposition(|&begin| begin <= span.start) {
            let (key, value) = &self.changes[change];
            return Origin::Set(format!("{key} = {}", value.text()));
        }
        Origin::Line(self.ends.partition_point(|&end| end < span.start) + 1)
    }

    /// A plain value as a label. A number is printed as written in the file; a float from Python is
    /// rounded (0.30000000000000004 becomes 0.3).
    pub(super) fn label(&self, value: &Value) -> Option<String> {
        let Node::Float(_) = value.node else { return value.plain() };
        let (text, begin) = match self.begins.iter().rposition(|&begin| begin <= value.place.start)
        {
            Some(change) => (self.changes[change].1.text(), self.begins[change]),
            None => (self.text.as_str(), 0),
        };
        let written = text.get(value.place.start - begin..value.place.end - begin);
        written
            .filter(|text| !text.is_empty())
            .map(|text| text.replace('_', ""))
            .or_else(|| short(value))
    }

    /// The error for a fault in `table`.
    pub(super) fn fault(&self, table: &Table, fault: &Fault) -> ScenarioError {
        let place = table.place_of(&fault.path()).filter(|span| !span.is_empty());
        let place = place.map_or(Origin::File, |span| self.place(&span));
        let missing =
            fault.message().strip_prefix("missing key `").and_then(|it| it.strip_suffix('`'));
        let cure = missing.and_then(|key| cure::of_missing(&fault.path(), key));
        let cure = cure.map(|cure| format!(": give {cure}")).unwrap_or_default();
        self.error(place, &fault.path(), format!("{}{cure}", fault.message()))
    }

    pub(super) fn error(
        &self,
        place: Origin,
        key: &str,
        message: impl Into<String>,
    ) -> ScenarioError {
        ScenarioError {
            file: self.file.clone(),
            place,
            key: key.to_owned(),
            message: message.into(),
        }
    }
}

/// Formats a plain value. A float is rounded to drop the digits that come from binary arithmetic.
fn short(value: &Value) -> Option<String> {
    let Node::Float(number) = value.node else { return value.plain() };
    let whole = number.to_string();
    let rounded =
        format!("{number:.14e}").parse::<f64>().map_or_else(|_| whole.clone(), |it| it.to_string());
    Some(if rounded.len() + 4 <= whole.len() { rounded } else { whole })
}

/// A range of the text and the fault found there.
type Misfit = (Range<usize>, Fault);

/// Parses a value. Text that is not TOML is a string whose quotes the shell removed.
fn parsed(text: &str, begin: usize) -> Result<Value, Misfit> {
    match DeValue::parse(text) {
        Ok(parsed) => value(parsed, begin),
        Err(_) => Ok(Value { node: Node::Text(text.to_owned()), place: begin..begin + text.len() }),
    }
}

/// A TOML table as a tree, with its positions moved by `by` bytes.
fn table(toml: DeTable<'_>, by: usize) -> Result<Table, Misfit> {
    let mut table = Table::default();
    for (key, toml) in toml {
        let place = key.span().start + by..key.span().end + by;
        let value = value(toml, by).map_err(|(at, fault)| (at, fault.within(key.get_ref())))?;
        table.insert_at(key.get_ref(), place, value);
    }
    Ok(table)
}

fn value(toml: Spanned<DeValue<'_>>, by: usize) -> Result<Value, Misfit> {
    let place = toml.span().start + by..toml.span().end + by;
    let node = match toml.into_inner() {
        DeValue::String(text) => Node::Text(text.into_owned()),
        DeValue::Integer(number) => {
            match i128::from_str_radix(&number.as_str().replace('_', ""), number.radix()) {
                Ok(number) => Node::Integer(number),
                Err(_) => {
                    return Err((place, Fault::at("the number is too large; give a smaller one")));
                }
            }
        }
        DeValue::Float(number) => {
            let text = number.as_str().replace('_', "");
            Node::Float(text.parse().unwrap_or(f64::NAN))
        }
        DeValue::Boolean(on) => Node::Bool(on),
        DeValue::Datetime(date) => {
            return Err((
                place,
                Fault::at(format!("{date} is a date, which no key takes; write text in quotes")),
            ));
        }
        DeValue::Array(array) => {
            let list = array.into_iter().enumerate().map(|(index, toml)| {
                value(toml, by).map_err(|(at, fault)| (at, fault.within(&index.to_string())))
            });
            Node::List(list.collect::<Result<_, _>>()?)
        }
        DeValue::Table(toml) => Node::Table(table(toml, by)?),
    };
    Ok(Value { node, place })
}
