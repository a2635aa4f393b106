//! Delays that vary over time.

use std::path::PathBuf;
use std::sync::Arc;

use clift::budget::Budget;
use clift::link::{DelaySeries, DelayTable};
use clift::trace::Folder;
use clift::units::{Duration, Instant};
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::errors::{scenario_error, trace_error};
use crate::simulation::time;
use crate::work::work;

/// Columns of a table of delays: times in s, delays in ms, and other columns as text with their
/// names.
type Table = (Vec<f64>, Vec<f64>, Vec<(String, Vec<String>)>);

/// Reads a CSV file of delays.
#[pyfunction]
pub(crate) fn read_delay_table(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    let read =
        move |budget: &Budget<'_>| DelayTable::read_within(&path, &Folder::default(), budget);
    let table = work(py, read, trace_error)?;
    Ok((table.time_s, table.delay_ms, table.others))
}

/// Delays in steps, for links and legs in memory.
#[pyclass(frozen, name = "DelaySeries", module = "clift._clift")]
pub(crate) struct PyDelaySeries {
    pub(crate) series: Arc<DelaySeries>,
    steps: Vec<(u64, u64)>,
}

#[pymethods]
impl PyDelaySeries {
    /// Steps of `(from_ns, delay_ns)`; each holds until the next.
    #[new]
    fn new(steps: Vec<(u64, u64)>) -> PyResult<Self> {
        let step = |&(from, delay): &_| {
            Ok::<_, PyErr>((Instant::ZERO + time(from)?, Duration::from_nanos(delay)))
        };
        let read = steps.iter().map(step).collect::<PyResult<_>>()?;
        let series = Arc::new(DelaySeries::new(read).map_err(scenario_error)?);
        Ok(Self { series, steps })
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> (Bound<'py, PyType>, (Vec<(u64, u64)>,)) {
        (this.get_type(), (this.get().steps.clone(),))
    }
}
