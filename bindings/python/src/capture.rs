//! Captures of runs.

use std::path::PathBuf;

use clift::budget::Budget;
use clift::capture::{CaptureError, Options, record};
use pyo3::prelude::*;

use crate::errors::{run_error, scenario_error};
use crate::simulation::Setup;
use crate::trace::file_error;
use crate::work::watched;

/// Runs `setup` again and writes what was seen of it as pcapng, `snap` bytes of each packet; the number
/// of packets written.
#[pyfunction]
pub(crate) fn capture(py: Python<'_>, setup: &Setup, path: PathBuf, snap: u32) -> PyResult<u64> {
    let (setup, options) = (setup.inner().clone(), Options { snap });
    let job = move |budget: &Budget<'_>| record(&setup, &path, &options, &|| budget.ask().is_ok());
    match watched(py, job)?.0 {
        Ok(summary) => Ok(summary.packets),
        Err(CaptureError::Run(error)) => Err(run_error(error)),
        Err(CaptureError::File(error)) => Err(file_error(error)),
        Err(error) => Err(scenario_error(error)),
    }
}
