//! Objects in memory that stand where a scenario names a file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::store::MakeError;
use super::traces::{Information, Traces};
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

/// What is there; nothing is read or made.
impl Traces for Memory {
    fn held_link(&self, name: &Path) -> Result<Arc<LinkTrace>, MakeError> {
        match self.get(name) {
            Some(Held::Link(trace)) => Ok(Arc::clone(trace)),
            other => Err(Held::fault(other, name, "a link trace")),
        }
    }

    fn held_information(&self, name: &Path) -> Result<Information, MakeError> {
        match self.get(name) {
            Some(Held::Information(information)) => Ok(information.clone()),
            other => Err(Held::fault(other, name, "mutual information")),
        }
    }
}

impl Held {
    /// What is wrong with what was found under a name in the place of what is `wanted`.
    pub(super) fn fault(found: Option<&Self>, name: &Path, wanted: &str) -> MakeError {
        let found = match found {
            None => {
                let kind = wanted.trim_start_matches("a ");
                return MakeError::held(name, format!("there is no {kind} of this name"));
            }
            Some(Self::Phy(_)) => "a PHY trace",
            Some(Self::Link(_)) => "a link trace",
            Some(Self::Information(_)) => "mutual information",
            Some(Self::Delays(_)) => "delays",
        };
        MakeError::held(name, format!("is {found}, not {wanted}"))
    }
}
