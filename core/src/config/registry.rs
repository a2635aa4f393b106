//! The registry: the kinds of parts that configurations choose by name, those of the core and those
//! that a program adds.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use thiserror::Error;

use crate::config::unknown_value;

/// A kind of a part: a row of a [`Registry`].
pub trait Row: Any + Sized + Sync {
    /// What the row is, with its article: "a scheme".
    const PART: &'static str;

    /// The kinds of the core.
    const BUILT_IN: &'static [Self] = &[];

    /// Further names that no added kind may have.
    const RESERVED: &'static [&'static str] = &[];

    /// The name that chooses it. Upper and lower case do not matter.
    fn name(&self) -> &'static str;

    /// Other names for it.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }
}

/// A row whose name alone chooses it, and so is a type of the schema.
pub trait ChosenRow: Row {
    /// Name of the choice in the schema.
    const SCHEMA: &'static str;

    /// Names that other crates of this project add, with the crate of each.
    const ELSEWHERE: &'static [(&'static str, &'static str)] = &[];

    /// Where alone the row can be chosen ("over QUIC"); `None` for a row without such a limit.
    fn only(&self) -> Option<&'static str> {
        None
    }
}

/// The kinds of all parts that a configuration can choose by name: schemes, congestion controls,
/// path schedulers, carrier schedulers, transports, queues and applications.
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
            R::RESERVED.iter().any(|known| known.eq_ignore_ascii_case(name))
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
        R::BUILT_IN.iter().chain(added)
    }

    /// The kind with this name or alias.
    pub fn named<R: Row>(&self, name: &str) -> Option<&'static R> {
        self.all().find(|row| is_called(*row, name))
    }

    /// Names of every kind of a part: reserved ones, then those of [`Registry::all`].
    pub fn names<R: Row>(&self) -> Vec<&'static str> {
        R::RESERVED.iter().copied().chain(self.all::<R>().map(Row::name)).collect()
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
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

/// A kind that a configuration chooses by its name or an alias. The default is the first of the core.
///
/// ```
/// use clift::transport::{Choice, tcp::CongestionAlgorithm};
/// assert_eq!("reno".parse(), Ok(CongestionAlgorithm::NEWRENO));
/// assert_eq!(Choice::default().name(), "tcp");
/// let error = "upd".parse::<Choice>().unwrap_err().to_string();
/// assert_eq!(error, "unknown value `upd`, one of tcp, udp (did you mean udp?)");
/// ```
pub struct Chosen<R: 'static>(pub(crate) &'static R);

impl<R: ChosenRow> Chosen<R> {
    /// All kinds that can be named where this is called: those of the core, then those of
    /// [`Registry::within`], oldest first.
    pub fn all() -> Vec<Self> {
        Registry::current().all().map(Self).collect()
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0.name()
    }
}

impl<R> Clone for Chosen<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Chosen<R> {}

impl<R: ChosenRow> Default for Chosen<R> {
    fn default() -> Self {
        Self(&R::BUILT_IN[0])
    }
}

impl<R: ChosenRow> PartialEq for Chosen<R> {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl<R: ChosenRow> Eq for Chosen<R> {}

impl<R: ChosenRow> fmt::Debug for Chosen<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(R::SCHEMA).field(&self.name()).finish()
    }
}

impl<R: ChosenRow> fmt::Display for Chosen<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl<R: ChosenRow> FromStr for Chosen<R> {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        let current = Registry::current();
        current.named(name).map(Self).ok_or_else(|| {
            let known = current.names::<R>();
            let only = |name: &str| current.named::<R>(name).and_then(ChosenRow::only);
            UnknownKind(match R::ELSEWHERE.iter().find(|(other, _)| *other == name) {
                Some((_, its)) => format!(
                    "`{name}` comes with the crate {its}, which this program does not include; \
                     give {}",
                    known.join(" or ")
                ),
                None => unknown_value(name, &known, only),
            })
        })
    }
}

impl<'de, R: ChosenRow> Deserialize<'de> for Chosen<R> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

impl<R: ChosenRow> Serialize for Chosen<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<R: ChosenRow> JsonSchema for Chosen<R> {
    fn schema_name() -> Cow<'static, str> {
        R::SCHEMA.into()
    }

    /// Lists the project's names only: an editor does not know what a program adds.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let own = R::BUILT_IN.iter().map(Row::name);
        let names: Vec<_> = own.chain(R::ELSEWHERE.iter().map(|(name, _)| *name)).collect();
        let part = R::PART.trim_start_matches("a ");
        let about = format!("A {part}.");
        json_schema!({ "description": about, "type": "string", "enum": names })
    }
}

/// Error: no kind has this name. The message lists the names that exist.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("{0}")]
pub struct UnknownKind(String);
