//! Channel models.

use clift::channel::ChannelConfig;
use clift::config::read;
use clift::seed::Seed;
use pyo3::prelude::*;

use crate::errors::{described_error, scenario_error};
use crate::trace::PyPhyTrace;
use crate::tree::{self, Objects};

/// The channel that a dictionary with the keys of `[channel]` describes.
pub(crate) fn config(described: &Bound<'_, PyAny>) -> PyResult<ChannelConfig> {
    let tree = tree::value(described, &mut Objects::new())?;
    read(&tree).map_err(|fault| described_error(described.py(), fault.within("channel")))
}

/// The trace of a channel: of so many `slots`, or `on` a trace.
#[pyfunction]
#[pyo3(signature = (described, seed, slots=None, on=None))]
pub(crate) fn channel(
    py: Python<'_>,
    described: &Bound<'_, PyAny>,
    seed: u64,
    slots: Option<u64>,
    on: Option<&PyPhyTrace>,
) -> PyResult<PyPhyTrace> {
    let (channel, seed) = (config(described)?, Seed(seed));
    // A channel on top of a trace draws from another stream than one that may have made it.
    let trace = match (slots, on) {
        (None, Some(phy)) => py.detach(|| channel.on(&phy.0, seed, 1)),
        (Some(slots), None) => py.detach(|| channel.trace(slots, seed, 0)),
        _ => return Err(scenario_error("give either `slots` or `on`")),
    };
    trace.map(PyPhyTrace).map_err(|fault| described_error(py, fault.within("channel")))
}
