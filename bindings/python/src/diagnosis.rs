//! Causes of a run, and runs over a trace with changed erasures.

use std::sync::Arc;

use clift::budget::Budget;
use clift::diagnosis::{NoDiagnosis, diagnose};
use clift::units::Instant;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{run_error, scenario_error};
use crate::outcome::object;
use crate::own::raised;
use crate::simulation::Setup;
use crate::work::watched;

/// Runs `setup` and finds the causes: the budget of the hop that limits the path, the costliest
/// cuts, and with `at_ns` what kept the senders from sending at that time. With `line` also the
/// capacity and the idle capacity over time, as columns `time_s`, `capacity_kbit` and `idle_kbit`
/// from the start on.
#[pyfunction]
#[pyo3(signature = (setup, at_ns, line))]
pub(crate) fn why<'py>(
    py: Python<'py>,
    setup: &Setup,
    at_ns: Option<u64>,
    line: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let setup = Arc::clone(&setup.0);
    let job = move |budget: &Budget<'_>| {
        diagnose(&setup, &|| budget.ask().is_ok() && !raised::is_raised())
    };
    let (_, diagnosis) = watched(py, job)?.0.map_err(|error| match error {
        NoDiagnosis::Run(error) => run_error(error),
        error => scenario_error(error),
    })?;
    let found = object(py, &diagnosis.explain(at_ns.map(Instant::from_nanos)))?;
    if line {
        let points: Vec<_> = diagnosis.time_line().collect();
        let columns = PyDict::new(py);
        let of = |value: fn(&(Instant, u64, u64)) -> f64| {
            PyArray1::from_iter(py, points.iter().map(value))
        };
        columns.set_item("time_s", of(|point| point.0.as_secs_f64()))?;
        columns.set_item("capacity_kbit", of(|point| point.1 as f64 / 1e3))?;
        columns.set_item("idle_kbit", of(|point| point.2 as f64 / 1e3))?;
        found.set_item("line", columns)?;
    }
    Ok(found)
}
