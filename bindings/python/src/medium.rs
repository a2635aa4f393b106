//! What carries packets: a link trace, or a link that runs with its traffic.

use std::sync::Arc;

use clift::link as core;
use clift::seed::Seed;
use clift::units::{Bytes, Probability};
use pyo3::prelude::*;

use crate::errors::scenario_error;
use crate::scheme::LinkTrace;
use crate::simulation::{bit_rate, time};
use crate::trace::PyPhyTrace;

/// A live link before it is built; see `clift.LiveLink` and its like.
#[pyclass(frozen, module = "clift._clift")]
pub(crate) struct Medium(pub(crate) core::Medium);

#[pymethods]
impl Medium {
    /// Hybrid FEC/ARQ-SR: `k` of `n` units decode a frame. `losses` takes the place of `p`.
    #[staticmethod]
    #[pyo3(signature = (*, k, n, frames, persistency, unit_bytes, rate_bps, delay_ns, p, losses, in_order, seed))]
    #[allow(clippy::too_many_arguments)] // keyword-only on the Python side
    fn hybrid(
        k: u32,
        n: u32,
        frames: u32,
        persistency: u32,
        unit_bytes: u32,
        rate_bps: u64,
        delay_ns: u64,
        p: f64,
        losses: Option<PyRef<'_, PyPhyTrace>>,
        in_order: bool,
        seed: u64,
    ) -> PyResult<Self> {
        let losses = match losses {
            Some(trace) => core::UnitLosses::Trace(Arc::new(trace.0.clone())),
            None => core::UnitLosses::Bernoulli(Probability::new(p).map_err(scenario_error)?),
        };
        let config = core::HybridConfig {
            data: k,
            total: n,
            frames,
            persistency,
            unit: Bytes(unit_bytes),
            rate: bit_rate(rate_bps)?,
            delay: time(delay_ns)?,
            losses,
            in_order,
            seed: Seed(seed),
        };
        config.check().map_err(scenario_error)?;
        Ok(Self(core::Medium::Hybrid(Box::new(config))))
    }

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
