//! Delays that vary.

use std::sync::Arc;

use clift::link::DelaySeries;
use clift::units::{Duration, Instant};
use pyo3::prelude::*;

use crate::errors::scenario_error;
use crate::simulation::time;

/// Delays in steps, shared by the legs and links that have them.
#[pyclass(frozen, name = "DelaySeries", module = "clift._clift")]
pub(crate) struct PyDelaySeries {
    series: Arc<DelaySeries>,
    steps: usize,
}

#[pymethods]
impl PyDelaySeries {
    /// Steps of `(from_ns, delay_ns)`, each of which holds until the next.
    #[new]
    fn new(steps: Vec<(u64, u64)>) -> PyResult<Self> {
        Ok(Self { series: Arc::new(delay_series(&steps)?), steps: steps.len() })
    }

    fn __len__(&self) -> usize {
        self.steps
    }
}

impl PyDelaySeries {
    pub(crate) fn inner(&self) -> &Arc<DelaySeries> {
        &self.series
    }
}

fn delay_series(steps: &[(u64, u64)]) -> PyResult<DelaySeries> {
    let steps = steps
        .iter()
        .map(|&(from, delay)| Ok((Instant::ZERO + time(from)?, Duration::from_nanos(delay))));
    DelaySeries::new(steps.collect::<PyResult<_>>()?).map_err(scenario_error)
}
