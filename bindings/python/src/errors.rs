//! Converts the core's errors to the package's exceptions; no other module raises them.

use std::fmt::Display;

use clift::config::Fault;
use clift::simulation::RunError;
use pyo3::prelude::*;

mod exceptions {
    #![allow(missing_docs, unreachable_pub)] // the macro's items are not public
    pyo3::import_exception!(clift.errors, OutOfMemory);
    pyo3::import_exception!(clift.errors, ScenarioError);
    pyo3::import_exception!(clift.errors, SimulationError);
    pyo3::import_exception!(clift.errors, TraceError);
}

/// `clift.TraceError` with the error's message.
pub(crate) fn trace_error(error: impl Display) -> PyErr {
    exceptions::TraceError::new_err(error.to_string())
}

/// `clift.OutOfMemory` with the core's message, whose hint is rewritten for Python.
pub(crate) fn memory_error(error: impl Display) -> PyErr {
    let message = error.to_string();
    let spelled = message.rsplit_once("memory = \"").and_then(|(what, size)| {
        size.strip_suffix('"').map(|size| format!("{what}clift.memory_limit(\"{size}\")"))
    });
    exceptions::OutOfMemory::new_err(spelled.unwrap_or(message))
}

/// `clift.ScenarioError` with the error's message.
pub(crate) fn scenario_error(error: impl Display) -> PyErr {
    exceptions::ScenarioError::new_err(error.to_string())
}

/// `clift.SimulationError`: an error in a part written in Python.
pub(crate) fn own_error(error: impl Display) -> PyErr {
    exceptions::SimulationError::new_err(error.to_string())
}

/// `clift.ScenarioError` of a dotted key: the whole line, and the fault of the key.
pub(crate) fn fault_error(py: Python<'_>, line: &str, key: &str, reason: &str) -> PyErr {
    let error = scenario_error(line);
    for (name, text) in [("key", key), ("reason", reason)] {
        if let Err(other) = error.value(py).setattr(name, text) {
            return other;
        }
    }
    error
}

/// `clift.ScenarioError` of a fault in a value from Python.
pub(crate) fn described_error(py: Python<'_>, fault: Fault) -> PyErr {
    fault_error(py, &fault.to_string(), &fault.path(), fault.message())
}

/// `clift.ScenarioError` for a setup that cannot be run; `clift.SimulationError` for an error
/// during the run.
pub(crate) fn run_error(error: RunError) -> PyErr {
    match error {
        RunError::Setup(error) => scenario_error(error),
        RunError::Change(what) => scenario_error(what),
        other => exceptions::SimulationError::new_err(other.to_string()),
    }
}
