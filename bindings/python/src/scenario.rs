//! Scenario files: checked in the core, handed to Python cell by cell.

use std::sync::Arc;

use clift::scenario::{self as core, Cell, LinkInput, LinkSpec};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::adaptive_harq::PyMiTrace;
use crate::errors::scenario_error;
use crate::scheme::LinkTrace;
use crate::simulation::{Setup, delay_series};
use crate::trace::PyPhyTrace;

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

    /// What the links of a replication are made from: a JSON text for each, equal if that is.
    fn links(&self, cell: usize, replication: u32) -> PyResult<Vec<String>> {
        self.cell(cell)?.links(replication).iter().map(json).collect()
    }

    /// What the engine runs, given what the specs of `links` ask for, in their order.
    fn setup(
        &self,
        cell: usize,
        replication: u32,
        inputs: Vec<Option<Input<'_>>>,
    ) -> PyResult<Setup> {
        let cell = self.cell(cell)?;
        let inputs = inputs.iter().map(Input::of).collect::<PyResult<Vec<_>>>()?;
        let specs = cell.links(replication);
        let fits = |(spec, input): (&LinkSpec, &LinkInput)| {
            matches!(
                (spec, input),
                (LinkSpec::LinkTrace { .. }, LinkInput::LinkTrace(_))
                    | (LinkSpec::PhyTrace { .. }, LinkInput::PhyTrace(_))
                    | (LinkSpec::Nothing, LinkInput::Nothing)
            ) || matches!(
                (spec, input),
                (LinkSpec::Information { delays: wanted, .. }, LinkInput::Information { delays, .. })
                    if wanted.is_some() == delays.is_some()
            )
        };
        if specs.len() != inputs.len() || !specs.iter().zip(&inputs).all(fits) {
            return Err(scenario_error("give what the spec of each link asks for"));
        }
        let setup = cell.setup(replication, &inputs);
        setup.map(Setup::new_inner).map_err(|(key, message)| {
            scenario_error(format!("{}: {key}: {message}", self.0.file()))
        })
    }
}

/// Delays in steps of (from, delay), ns.
type Steps = Vec<(u64, u64)>;

/// What a link is made from; None: nothing.
#[derive(FromPyObject)]
enum Input<'py> {
    Link(PyRef<'py, LinkTrace>),
    Phy(PyRef<'py, PyPhyTrace>),
    /// Mutual information, its mean in closed form, and delays.
    Information((PyRef<'py, PyMiTrace>, f64, Option<Steps>)),
}

impl Input<'_> {
    fn of(input: &Option<Self>) -> PyResult<LinkInput> {
        Ok(match input {
            None => LinkInput::Nothing,
            Some(Self::Link(trace)) => LinkInput::LinkTrace(Arc::clone(trace.inner())),
            Some(Self::Phy(trace)) => LinkInput::PhyTrace(trace.0.clone()),
            Some(Self::Information((trace, mean, delays))) => {
                let series = delays.as_deref().map(delay_series).transpose()?;
                let trace = Arc::clone(trace.inner());
                LinkInput::Information { trace, mean: *mean, delays: series.map(Arc::new) }
            }
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
