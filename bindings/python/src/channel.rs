//! Channel models.

use clift::channel::{Bernoulli, ErasureChannel, GilbertElliott, RegularSlots};
use clift::seed::Seed;
use clift::units::{Bytes, Duration};
use pyo3::prelude::*;

use crate::errors::scenario_error;
use crate::trace::PyPhyTrace;

/// Slots at equal distances: count, gap in ns, decoding time in ns, bytes.
type Slots = (u64, u64, u64, u32);

/// A trace with independent erasures: over regular `slots`, or `on` a trace.
#[pyfunction]
#[pyo3(signature = (p, seed, slots=None, on=None))]
pub(crate) fn bernoulli(
    py: Python<'_>,
    p: f64,
    seed: u64,
    slots: Option<Slots>,
    on: Option<&PyPhyTrace>,
) -> PyResult<PyPhyTrace> {
    let channel = Bernoulli::new(p).map_err(scenario_error)?;
    make(py, channel, seed, slots, on)
}

/// A trace of a Gilbert-Elliott channel: over regular `slots`, or `on` a trace. The chain is given by
/// `alpha` and `beta`, or if `mean` by its erasure probability and mean burst.
#[pyfunction]
#[pyo3(signature = (mean, chain, p_good, p_bad, seed, slots=None, on=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn gilbert_elliott(
    py: Python<'_>,
    mean: bool,
    chain: (f64, f64),
    p_good: f64,
    p_bad: f64,
    seed: u64,
    slots: Option<Slots>,
    on: Option<&PyPhyTrace>,
) -> PyResult<PyPhyTrace> {
    let made = if mean { GilbertElliott::from_mean } else { GilbertElliott::new };
    let channel = made(chain.0, chain.1, p_good, p_bad).map_err(scenario_error)?;
    make(py, channel, seed, slots, on)
}

fn make(
    py: Python<'_>,
    channel: impl ErasureChannel + Send + Sync,
    seed: u64,
    slots: Option<Slots>,
    on: Option<&PyPhyTrace>,
) -> PyResult<PyPhyTrace> {
    // A channel on top of a trace draws from another stream than one that may have made it.
    let trace = match (slots, on) {
        (None, Some(phy)) => py.detach(|| channel.on(&phy.0, Seed(seed), 1)),
        (Some((count, every, decode, lldu)), None) => {
            let slots = RegularSlots {
                count,
                every: Duration::from_nanos(every),
                decode: Duration::from_nanos(decode),
                lldu: Bytes(lldu),
            };
            py.detach(|| channel.trace(&slots, Seed(seed), 0)).map_err(scenario_error)?
        }
        _ => return Err(scenario_error("give either `slots` or `on`")),
    };
    Ok(PyPhyTrace(trace))
}
