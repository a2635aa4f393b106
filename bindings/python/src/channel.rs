//! Channel models.

use clift::budget::Budget;
use clift::channel::ChannelConfig;
use clift::config::read;
use clift::seed::Seed;
use pyo3::prelude::*;

use crate::errors::{described_error, scenario_error};
use crate::trace::PyPhyTrace;
use crate::tree::{self, Objects};
use crate::work::work;

/// The channel that a dictionary with the keys of `[channel]` describes.
pub(crate) fn config(described: &Bound<'_, PyAny>) -> PyResult<ChannelConfig> {
    let tree = tree::value(described, &mut Objects::new())?;
    read(&tree).map_err(|fault| described_error(described.py(), fault.within("channel")))
}

/// Makes the trace of a channel: with a number of `slots`, or `on` top of a trace.
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
    let on = on.map(|phy| phy.0.clone());
    if slots.is_some() == on.is_some() {
        return Err(scenario_error("give either `slots` or `on`"));
    }
    let make = move |budget: &Budget<'_>| match (on, slots) {
        // A channel on top of a trace uses another random stream than a channel that may have made
        // the trace.
        (Some(phy), _) => channel.on_within(&phy, seed, 1, budget),
        (None, slots) => channel.trace_within(slots.unwrap_or_default(), seed, 0, budget),
    };
    work(py, make, |fault| described_error(py, fault.within("channel"))).map(PyPhyTrace)
}
