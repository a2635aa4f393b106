//! A registry: the kinds of a part that configurations choose by name, those of the core and those
//! that a program adds.

use std::sync::{PoisonError, RwLock};

use serde::de::{self, Deserialize, Deserializer};
use thiserror::Error;

use crate::config::unknown_value;

/// A kind of a part: a row of a [`Registry`].
pub(crate) trait Row: Sync {
    /// What the row is, with its article: "a scheme".
    const PART: &'static str;

    /// The name that chooses it. Upper and lower case do not matter.
    fn name(&self) -> &'static str;

    /// Other names for it.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }
}

/// The kinds of one part.
pub(crate) struct Registry<R: 'static> {
    built_in: &'static [&'static R],
    added: RwLock<Vec<&'static R>>,
}

impl<R: Row> Registry<R> {
    /// A registry with the kinds of the core.
    pub(crate) const fn new(built_in: &'static [&'static R]) -> Self {
        Self { built_in, added: RwLock::new(Vec::new()) }
    }

    /// Every kind: those of the core, then the added ones, oldest first.
    pub(crate) fn all(&self) -> Vec<&'static R> {
        let added = self.added.read().unwrap_or_else(PoisonError::into_inner);
        self.built_in.iter().chain(added.iter()).copied().collect()
    }

    /// The kind with this name or alias.
    pub(crate) fn named(&self, name: &str) -> Option<&'static R> {
        self.all().into_iter().find(|row| is_called(*row, name))
    }

    /// The kind whose name or alias a configuration gives.
    pub(crate) fn read<'de, D: Deserializer<'de>>(&self, from: D) -> Result<&'static R, D::Error> {
        let name = String::deserialize(from)?;
        self.named(&name).ok_or_else(|| de::Error::custom(unknown_value(&name, &self.names())))
    }

    /// Names of every kind, in the order of [`Registry::all`].
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.all().iter().map(|row| row.name()).collect()
    }

    /// Adds a kind for the rest of this process. `is_reserved` tells the names that the core has
    /// besides the rows.
    pub(crate) fn add(
        &self,
        row: R,
        is_reserved: impl Fn(&str) -> bool,
    ) -> Result<&'static R, NameTaken> {
        let mut added = self.added.write().unwrap_or_else(PoisonError::into_inner);
        let is_taken = |name: &str| {
            let known = self.built_in.iter().chain(added.iter());
            is_reserved(name) || known.into_iter().any(|known| is_called(*known, name))
        };
        let names = std::iter::once(row.name()).chain(row.aliases().iter().copied());
        if let Some(name) = names.into_iter().find(|name| is_taken(name)) {
            return Err(NameTaken { part: R::PART, name });
        }
        // A configuration refers to a kind for as long as the process lives.
        let row: &'static R = Box::leak(Box::new(row));
        added.push(row);
        Ok(row)
    }
}

fn is_called(row: &impl Row, name: &str) -> bool {
    row.name().eq_ignore_ascii_case(name)
        || row.aliases().iter().any(|alias| alias.eq_ignore_ascii_case(name))
}

/// Error: another kind has the name.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("{part} named `{name}` is already registered; choose another name")]
pub struct NameTaken {
    /// What was to be added, with its article: "a scheme".
    pub part: &'static str,
    /// The name.
    pub name: &'static str,
}
