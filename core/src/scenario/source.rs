//! The texts that a scenario comes from, and errors that name a place in them.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Place, Problem, ScenarioError};
use super::message::reworded;
use super::tree::{self, Table, Value};

/// A change from outside: where it goes and its value, placed behind the end of the file.
pub(super) struct Set<'i> {
    pub(super) path: Vec<String>,
    pub(super) value: Value<'i>,
}

/// The texts that values come from, and how errors speak of them.
pub(super) struct Source<'i> {
    file: &'i str,
    pub(super) text: &'i str,
    changes: &'i [(String, String)],
    /// Where each change would begin if it stood behind the file.
    begins: Vec<usize>,
}

impl<'i> Source<'i> {
    pub(super) fn new(file: &'i str, text: &'i str, changes: &'i [(String, String)]) -> Self {
        let mut begin = text.len() + 1;
        let begins = changes
            .iter()
            .map(|(_, value)| {
                let here = begin;
                begin += value.len() + 1;
                here
            })
            .collect();
        Self { file, text, changes, begins }
    }

    pub(super) fn parse(&self) -> Result<Table<'i>, ScenarioError> {
        let root = DeTable::parse(self.text).map_err(|error| {
            let place = error.span().map_or(Place::File, |span| self.place(&span));
            self.error(place, "", format!("not TOML: {}", error.message()))
        })?;
        Ok(root.into_inner())
    }

    pub(super) fn changes(&self) -> Result<Vec<Set<'i>>, ScenarioError> {
        let set = |((key, value), &begin): (&'i (String, String), &usize)| {
            let path: Vec<String> = key.split('.').map(str::to_owned).collect();
            if path.iter().any(String::is_empty) || path[0] == "printed" {
                let message = "is no key to change; give a dotted key, e.g. link.rtt";
                let place = Place::Set(format!("{key} = {value}"));
                return Err(self.error(place, key, message));
            }
            // What is no TOML value is text whose quotes the shell took away.
            let parsed = DeValue::parse(value).unwrap_or_else(|_| {
                Spanned::new(0..value.len(), DeValue::String(value.as_str().into()))
            });
            Ok(Set { path, value: tree::shifted(parsed, begin) })
        };
        self.changes.iter().zip(&self.begins).map(set).collect()
    }

    pub(super) fn place(&self, span: &Range<usize>) -> Place {
        if let Some(change) = self.begins.iter().rposition(|&begin| begin <= span.start) {
            let (key, value) = &self.changes[change];
            return Place::Set(format!("{key} = {value}"));
        }
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        Place::Line(before.iter().filter(|&&byte| byte == b'\n').count() + 1)
    }

    pub(super) fn serde(&self, table: &Table<'_>, error: &toml::de::Error) -> ScenarioError {
        let message = reworded(error.message());
        match error.span() {
            Some(span) => self.error(self.place(&span), &tree::key_at(table, &span), message),
            None => self.error(Place::File, "", message),
        }
    }

    pub(super) fn problem(&self, table: &Table<'_>, problem: Problem) -> ScenarioError {
        let place = tree::place_of(table, &problem.key).filter(|span| !span.is_empty());
        let place = place.map_or(Place::File, |span| self.place(&span));
        self.error(place, &problem.key, problem.message)
    }

    pub(super) fn error(
        &self,
        place: Place,
        key: &str,
        message: impl Into<String>,
    ) -> ScenarioError {
        ScenarioError {
            file: self.file.to_owned(),
            place,
            key: key.to_owned(),
            message: message.into(),
        }
    }
}
