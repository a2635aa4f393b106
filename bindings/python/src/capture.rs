//! Packet captures of runs, and logs of connections.

use std::path::PathBuf;
use std::sync::Arc;

use clift::budget::Budget;
use clift::capture::{CaptureError, record, record_log};
use pyo3::prelude::*;

use crate::errors::{run_error, scenario_error, trace_error};
use crate::simulation::Setup;
use crate::work::watched;

/// Runs `setup` again and writes a capture as pcapng, with `snap` bytes of each packet. Returns the
/// number of packets written.
#[pyfunction]
pub(crate) fn capture(py: Python<'_>, setup: &Setup, path: PathBuf, snap: u32) -> PyResult<u64> {
    let setup = Arc::clone(&setup.0);
    let job = move |budget: &Budget<'_>| record(&setup, &path, snap, &|| budget.ask().is_ok());
    told(watched(py, job)?.0.map(|summary| summary.packets))
}

/// Runs `setup` again and writes the sender's log of a flow. Returns the number of bytes written.
#[pyfunction]
pub(crate) fn connection_log(
    py: Python<'_>,
    setup: &Setup,
    flow: usize,
    path: PathBuf,
) -> PyResult<u64> {
    let setup = Arc::clone(&setup.0);
    let job = move |budget: &Budget<'_>| record_log(&setup, flow, &path, &|| budget.ask().is_ok());
    told(watched(py, job)?.0)
}

fn told(written: Result<u64, CaptureError>) -> PyResult<u64> {
    written.map_err(|error| match error {
        CaptureError::Run(error) => run_error(error),
        CaptureError::File(error) => trace_error(error),
        error => scenario_error(error),
    })
}
