//! Objects in memory that replace files of a scenario.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::traces::{Information, MakeError, Traces};
use crate::link::DelaySeries;
use crate::trace::{LinkTrace, PhyTrace};

/// Objects in memory, by the names that a scenario uses for them instead of file names.
///
/// A name must refer to the same object for as long as a [`super::Store`] keeps results made from
/// it.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<BTreeMap<PathBuf, MemoryObject>>);

/// An object in memory.
#[derive(Clone, Debug)]
pub enum MemoryObject {
    /// A PHY trace.
    Phy(Box<PhyTrace>),
    /// A link trace.
    Link(Arc<LinkTrace>),
    /// Mutual information for adaptive HARQ.
    Information(Information),
    /// Delays over time.
    Delays(Arc<DelaySeries>),
}

impl Memory {
    /// Builds the table from names and objects.
    pub fn new(objects: impl IntoIterator<Item = (PathBuf, MemoryObject)>) -> Self {
        Self(Arc::new(objects.into_iter().collect()))
    }

    /// The same with more objects.
    #[must_use]
    pub fn with(&self, more: Vec<(PathBuf, MemoryObject)>) -> Self {
        if more.is_empty() {
            return self.clone();
        }
        let mut all = (*self.0).clone();
        all.extend(more);
        Self(Arc::new(all))
    }

    pub(super) fn get(&self, name: &Path) -> Option<&MemoryObject> {
        self.0.get(name)
    }
}

/// Returns the objects in memory. Nothing is read or made.
impl Traces for Memory {
    fn held_link(&self, name: &Path) -> Result<Arc<LinkTrace>, MakeError> {
        match self.get(name) {
            Some(MemoryObject::Link(trace)) => Ok(Arc::clone(trace)),
            other => Err(MemoryObject::fault(other, name, "a link trace")),
        }
    }

    fn held_information(&self, name: &Path) -> Result<Information, MakeError> {
        match self.get(name) {
            Some(MemoryObject::Information(information)) => Ok(information.clone()),
            other => Err(MemoryObject::fault(other, name, "mutual information")),
        }
    }
}

impl MemoryObject {
    /// The error if `found`, the object under `name`, is not the type that is `wanted`.
    pub(super) fn fault(found: Option<&Self>, name: &Path, wanted: &str) -> MakeError {
        let found = match found {
            None => return MakeError::not_held(name, wanted),
            Some(Self::Phy(_)) => "a PHY trace",
            Some(Self::Link(_)) => "a link trace",
            Some(Self::Information(_)) => "mutual information",
            Some(Self::Delays(_)) => "delays",
        };
        MakeError::held(name, format!("is {found}, not {wanted}"))
    }
}
