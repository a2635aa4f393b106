//! What carries packets: a link trace, or a link that runs with its traffic.

use std::sync::Arc;

use clift::link as core;
use pyo3::prelude::*;

use crate::scheme::LinkTrace;

/// A live link before it is built; see `clift.LiveLink` and its like.
#[pyclass(frozen, module = "clift._clift")]
pub(crate) struct Medium(pub(crate) core::Medium);

#[pymethods]
impl Medium {
    /// The hop of the way back, if nothing else is known of it.
    fn way_back(&self) -> crate::simulation::Hop {
        crate::simulation::Hop::of_delay(self.0.way_back())
    }
}

/// Whatever a link can be made of.
#[derive(FromPyObject)]
pub(crate) enum AnyMedium<'py> {
    Trace(PyRef<'py, LinkTrace>),
    Live(PyRef<'py, Medium>),
}

impl AnyMedium<'_> {
    pub(crate) fn medium(&self) -> core::Medium {
        match self {
            Self::Trace(trace) => core::Medium::Trace(Arc::clone(trace.inner())),
            Self::Live(medium) => medium.0.clone(),
        }
    }
}
