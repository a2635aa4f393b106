//! Captures of runs.

use std::path::PathBuf;

use clift::capture::{CaptureError, Options, record};
use pyo3::prelude::*;

use crate::errors::{run_error, scenario_error};
use crate::simulation::Setup;
use crate::trace::Signals;

/// Runs `setup` again and writes what was seen of it as pcapng, `snap` bytes of each packet; the number
/// of packets written.
#[pyfunction]
pub(crate) fn capture(py: Python<'_>, setup: &Setup, path: PathBuf, snap: u32) -> PyResult<u64> {
    let signals = Signals::default();
    let options = Options { snap };
    let recorded = py.detach(|| record(setup.inner(), &path, &options, &|| signals.none()));
    match recorded {
        Ok(summary) => Ok(summary.packets),
        Err(CaptureError::Run(error)) => Err(run_error(error)),
        Err(CaptureError::File(error)) => signals.or(Err(error)),
        Err(error) => Err(scenario_error(error)),
    }
}
