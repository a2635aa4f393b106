//! Mutual information, the input of adaptive HARQ.

use std::sync::Arc;

use clift::trace::MiTrace;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::errors::scenario_error;
use crate::simulation::time;

/// Mutual information per coded bit over time, shared by the links that use it.
#[pyclass(frozen, name = "MiTrace", module = "clift._clift")]
pub(crate) struct PyMiTrace(pub(crate) Arc<MiTrace>);

#[pymethods]
impl PyMiTrace {
    /// One value from 0 to 1 every `every_ns`.
    #[new]
    fn new(every_ns: u64, values: PyReadonlyArray1<'_, f32>) -> PyResult<Self> {
        let trace = MiTrace::new(time(every_ns)?, values.as_array().to_vec());
        trace.map(|trace| Self(Arc::new(trace))).map_err(scenario_error)
    }

    /// Mean over the trace.
    fn mean(&self) -> f64 {
        self.0.mean()
    }

    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, self.0.values())
    }

    fn __len__(&self) -> usize {
        self.0.values().len()
    }
}
