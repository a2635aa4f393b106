//! The core's errors as the package's exceptions: the only place that raises them.

use std::fmt::Display;

use clift::simulation::RunError;
use pyo3::PyErr;

mod exceptions {
    #![allow(missing_docs, unreachable_pub)] // what the macro makes is not public
    pyo3::import_exception!(clift.errors, TraceError);
    pyo3::import_exception!(clift.errors, ScenarioError);
    pyo3::import_exception!(clift.errors, SimulationError);
    pyo3::import_exception!(clift.errors, Interrupted);
}

/// `clift.TraceError` with the error's message.
pub fn trace_error(error: impl Display) -> PyErr {
    exceptions::TraceError::new_err(error.to_string())
}

/// `clift.ScenarioError` with the error's message.
pub fn scenario_error(error: impl Display) -> PyErr {
    exceptions::ScenarioError::new_err(error.to_string())
}

/// What a run's errors become.
pub struct SimulationError;

impl SimulationError {
    /// A setup that cannot be run is the scenario's fault, the rest the run's.
    #[allow(dead_code)] // until runs are bound
    pub fn from_run(error: RunError) -> PyErr {
        let message = error.to_string();
        match error {
            RunError::Setup(_) => exceptions::ScenarioError::new_err(message),
            RunError::Interrupted { .. } => exceptions::Interrupted::new_err(message),
            _ => exceptions::SimulationError::new_err(message),
        }
    }
}
