//! Mutual information, the input of adaptive HARQ.

use std::sync::Arc;

use clift::trace::MiTrace;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::errors::scenario_error;
use crate::simulation::time;

/// Mutual information per coded bit over time, shared by the links that use it.
#[pyclass(frozen, name = "MiTrace", module = "clift._clift")]
pub(crate) struct PyMiTrace(pub(crate) Arc<MiTrace>);

/// Time between values, and the values.
type Arguments<'py> = (u64, Bound<'py, PyArray1<f32>>);

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

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> (Bound<'py, PyType>, Arguments<'py>) {
        let trace = &this.get().0;
        let values = PyArray1::from_slice(this.py(), trace.values());
        (this.get_type(), (trace.every().as_nanos(), values))
    }
}
