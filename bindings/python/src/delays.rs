//! Delays that vary.

use std::path::PathBuf;
use std::sync::Arc;

use clift::link::{DelaySeries, DelayTable, Propagation};
use clift::trace::Folder;
use clift::units::{Duration, Instant};
use pyo3::prelude::*;

use crate::errors::{scenario_error, trace_error};
use crate::simulation::time;

/// Columns of a table of delays: times in s, delays in ms, and others as text under their names.
type Table = (Vec<f64>, Vec<f64>, Vec<(String, Vec<String>)>);

/// Reads a CSV file of delays.
#[pyfunction]
pub(crate) fn read_delay_table(path: PathBuf) -> PyResult<Table> {
    let table = DelayTable::read(&path, &Folder::default()).map_err(trace_error)?;
    Ok((table.time_s, table.delay_ms, table.others))
}

/// Delays in steps of `(from_ns, delay_ns)`, of which one is a fixed delay.
pub(crate) fn propagation(steps: &[(u64, u64)], keep_order: bool) -> PyResult<Propagation> {
    match steps {
        [(_, delay)] => Ok(Propagation::Fixed(time(*delay)?)),
        _ => Ok(Propagation::Varying { series: Arc::new(delay_series(steps)?), keep_order }),
    }
}

fn delay_series(steps: &[(u64, u64)]) -> PyResult<DelaySeries> {
    let steps = steps
        .iter()
        .map(|&(from, delay)| Ok((Instant::ZERO + time(from)?, Duration::from_nanos(delay))));
    DelaySeries::new(steps.collect::<PyResult<_>>()?).map_err(scenario_error)
}
