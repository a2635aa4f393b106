//! Objects in memory that stand where a scenario names a file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::traces::Information;
use crate::link::DelaySeries;
use crate::trace::{LinkTrace, PhyTrace};

/// Objects by the names that a scenario gives them in the place of files.
///
/// Equal names must mean equal objects for as long as a [`super::Store`] keeps what was made of them.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<BTreeMap<PathBuf, Held>>);

/// An object in memory.
#[derive(Clone, Debug)]
pub enum Held {
    /// A PHY trace.
    Phy(Box<PhyTrace>),
    /// A link trace.
    Link(Arc<LinkTrace>),
    /// What adaptive HARQ lives on.
    Information(Information),
    /// Delays over time.
    Delays(Arc<DelaySeries>),
}

impl Memory {
    /// Objects with their names.
    pub fn new(objects: impl IntoIterator<Item = (PathBuf, Held)>) -> Self {
        Self(Arc::new(objects.into_iter().collect()))
    }

    /// The same with more objects.
    #[must_use]
    pub fn with(&self, more: Vec<(PathBuf, Held)>) -> Self {
        if more.is_empty() {
            return self.clone();
        }
        let mut all = (*self.0).clone();
        all.extend(more);
        Self(Arc::new(all))
    }

    pub(super) fn get(&self, name: &Path) -> Option<&Held> {
        self.0.get(name)
    }
}

impl Held {
    /// The kind of object, in words.
    pub(super) fn what(&self) -> &'static str {
        match self {
            Self::Phy(_) => "a PHY trace",
            Self::Link(_) => "a link trace",
            Self::Information(_) => "mutual information",
            Self::Delays(_) => "delays",
        }
    }
}
