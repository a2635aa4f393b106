//! The registry: the kinds of parts that configurations choose by name, those of the core and those
//! that a program adds.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer};
use thiserror::Error;

use crate::config::unknown_value;

/// A kind of a part: a row of a [`Registry`].
pub trait Row: Any + Sized + Sync {
    /// What the row is, with its article: "a scheme".
    const PART: &'static str;

    /// The kinds of the core.
    fn built_in() -> &'static [Self] {
        &[]
    }

    /// Further names that no added kind may have.
    fn reserved() -> Vec<&'static str> {
        Vec::new()
    }

    /// The name that chooses it. Upper and lower case do not matter.
    fn name(&self) -> &'static str;

    /// Other names for it.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }
}

/// The kinds of all parts that a configuration can choose by name: schemes, congestion controls,
/// path schedulers, transports, queues and applications.
///
/// A new registry holds what is built in. A program adds its own kinds and passes the registry to
/// [`Scenario::parse`](crate::scenario::Scenario::parse).
#[derive(Clone, Default)]
pub struct Registry(Arc<Vec<Added>>);

/// A kind that a program added.
#[derive(Clone, Copy)]
struct Added {
    part: TypeId,
    row: &'static (dyn Any + Sync),
    /// The names of this kind and of all kinds of the part before it.
    names: &'static [&'static str],
}

thread_local! {
    /// The registry from which this thread reads a configuration. Serde passes no context to the
    /// types that it reads.
    static CURRENT: RefCell<Registry> = RefCell::default();
}

impl Registry {
    /// A registry with what is built in.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a kind. Configurations refer to it for as long as the process lives.
    ///
    /// # Errors
    /// [`NameTaken`] if its name or an alias is in use.
    pub fn add<R: Row>(&mut self, row: R) -> Result<&'static R, NameTaken> {
        let is_taken = |name: &&str| {
            R::reserved().iter().any(|known| known.eq_ignore_ascii_case(name))
                || self.all::<R>().any(|known| is_called(known, name))
        };
        let mut own = std::iter::once(row.name()).chain(row.aliases().iter().copied());
        if let Some(name) = own.find(is_taken) {
            return Err(NameTaken { part: R::PART, name });
        }
        let names = self.names::<R>().into_iter().chain([row.name()]).collect();
        let row: &'static R = Box::leak(Box::new(row));
        let added = Added { part: TypeId::of::<R>(), row, names: Box::leak(names) };
        Arc::make_mut(&mut self.0).push(added);
        Ok(row)
    }

    /// Every kind of a part: those of the core, then the added ones, oldest first.
    pub fn all<R: Row>(&self) -> impl Iterator<Item = &'static R> {
        let added = self.0.iter().filter_map(|added| (added.row as &dyn Any).downcast_ref());
        R::built_in().iter().chain(added)
    }

    /// The kind with this name or alias.
    pub fn named<R: Row>(&self, name: &str) -> Option<&'static R> {
        self.all().find(|row| is_called(*row, name))
    }

    /// Names of every kind of a part: reserved ones, then those of [`Registry::all`].
    pub fn names<R: Row>(&self) -> Vec<&'static str> {
        R::reserved().into_iter().chain(self.all::<R>().map(Row::name)).collect()
    }

    /// As [`Registry::names`], if a kind was added.
    pub(crate) fn names_with_added<R: Row>(&self) -> Option<&'static [&'static str]> {
        let last = self.0.iter().rfind(|added| added.part == TypeId::of::<R>());
        last.map(|added| added.names)
    }

    /// Runs `work`, in which texts and configurations may name the kinds of this registry.
    ///
    /// ```
    /// use clift::scheme::Scheme;
    /// let read = clift::Registry::new().within(|| "ARQ(max 2)".parse::<Scheme>());
    /// assert_eq!(read.unwrap().to_string(), "ARQ(max 2)");
    /// ```
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Restores the registry of the thread, after a panic too.
        struct Scope(Registry);
        impl Drop for Scope {
            fn drop(&mut self) {
                CURRENT.with_borrow_mut(|current| std::mem::swap(current, &mut self.0));
            }
        }
        let _scope = Scope(CURRENT.replace(self.clone()));
        work()
    }

    /// The registry from which this thread reads.
    pub(crate) fn current() -> Self {
        CURRENT.with_borrow(Self::clone)
    }

    /// The kind whose name or alias a configuration gives.
    pub(crate) fn read<'de, R: Row, D: Deserializer<'de>>(from: D) -> Result<&'static R, D::Error> {
        let (name, current) = (String::deserialize(from)?, Self::current());
        let known = || unknown_value(&name, &current.names::<R>());
        current.named(&name).ok_or_else(|| de::Error::custom(known()))
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().flat_map(|added| added.names.last())).finish()
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
