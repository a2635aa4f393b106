//! Scenario files: checked in the core, handed to Python cell by cell.

use std::sync::Arc;

use clift::scenario::{self as core, Cell};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::errors::scenario_error;
use crate::scheme::LinkTrace;
use crate::simulation::Setup;

/// A scenario file; see `clift.Scenario`.
#[pyclass(frozen, name = "ScenarioFile", module = "clift._clift")]
pub(crate) struct PyScenario(core::Scenario);

#[pymethods]
impl PyScenario {
    /// Checks `text`; `file` names it in errors, `changes` are dotted keys and values.
    #[new]
    fn new(file: &str, text: &str, changes: Vec<(String, String)>) -> PyResult<Self> {
        core::Scenario::parse(file, text, &changes).map(Self).map_err(scenario_error)
    }

    /// Number of cells.
    fn __len__(&self) -> usize {
        self.0.cells().len()
    }

    /// The axes: names and labels.
    fn axes(&self) -> Vec<(String, Vec<String>)> {
        self.0.axes().iter().map(|axis| (axis.name.clone(), axis.labels.clone())).collect()
    }

    /// Values that a paper prints, as JSON.
    fn printed(&self) -> PyResult<String> {
        json(&self.0.printed())
    }

    /// Axis and label, for each axis.
    fn labels(&self, cell: usize) -> PyResult<Vec<(String, String)>> {
        Ok(self.cell(cell)?.labels().to_vec())
    }

    /// The configuration with every default filled in, as JSON.
    fn config(&self, cell: usize) -> PyResult<String> {
        json(self.cell(cell)?.config())
    }

    /// Replications of a cell.
    fn runs(&self, cell: usize) -> PyResult<u32> {
        Ok(self.cell(cell)?.config().runs)
    }

    /// Whether every flow of a cell has a file to transfer.
    fn is_transfer(&self, cell: usize) -> PyResult<bool> {
        let flows = &self.cell(cell)?.plan().flows;
        Ok(flows.iter().all(|flow| flow.application.kind == core::ApplicationKind::File))
    }

    /// The seed of a replication.
    fn seed(&self, cell: usize, replication: u32) -> PyResult<u64> {
        Ok(self.cell(cell)?.seed(replication).0)
    }

    /// The link traces that a replication needs: a JSON text for each, equal if the traces are.
    fn links(&self, cell: usize, replication: u32) -> PyResult<Vec<String>> {
        self.cell(cell)?.links(replication).iter().map(json).collect()
    }

    /// What the engine runs, given the traces of `links`.
    fn setup(
        &self,
        cell: usize,
        replication: u32,
        traces: Vec<PyRef<'_, LinkTrace>>,
    ) -> PyResult<Setup> {
        let cell = self.cell(cell)?;
        let traces: Vec<_> = traces.iter().map(|trace| Arc::clone(trace.inner())).collect();
        if traces.len() != cell.plan().links().count() {
            return Err(scenario_error("give one link trace for each link"));
        }
        let setup = cell.setup(replication, &traces);
        setup.map(Setup::new_inner).map_err(|(key, message)| {
            scenario_error(format!("{}: {key}: {message}", self.0.file()))
        })
    }
}

impl PyScenario {
    fn cell(&self, index: usize) -> PyResult<&Cell> {
        self.0.cells().get(index).ok_or_else(|| PyIndexError::new_err("no such cell"))
    }
}

/// The JSON Schema of scenario files.
#[pyfunction]
pub(crate) fn scenario_schema() -> String {
    core::json_schema()
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(scenario_error)
}
