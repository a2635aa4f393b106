//! Scenario files: checked in the core, handed to Python cell by cell.

use std::collections::BTreeMap;
use std::sync::Arc;

use clift::scenario::{self as core, Cell, DelayFiles, LinkInput, LinkSpec};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::adaptive_harq::PyMiTrace;
use crate::delays::PyDelaySeries;
use crate::errors::scenario_error;
use crate::scheme::LinkTrace;
use crate::simulation::Setup;
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

    /// The files of delays that a cell names, relative to its folder.
    fn delay_files(&self, cell: usize) -> PyResult<Vec<&str>> {
        Ok(self.cell(cell)?.delay_files().into_iter().collect())
    }

    /// What the engine runs, given what the specs of `links` ask for, in their order, and what is in
    /// the files of `delay_files`.
    fn setup(
        &self,
        cell: usize,
        replication: u32,
        inputs: Vec<Option<Input<'_>>>,
        delays: BTreeMap<String, PyRef<'_, PyDelaySeries>>,
    ) -> PyResult<Setup> {
        let cell = self.cell(cell)?;
        let inputs: Vec<_> = inputs.iter().map(Input::of).collect();
        let files: DelayFiles =
            delays.into_iter().map(|(file, delays)| (file, Arc::clone(delays.inner()))).collect();
        let specs = cell.links(replication);
        let fit = specs.len() == inputs.len() && specs.iter().zip(&inputs).all(fits);
        if !fit || !cell.delay_files().iter().all(|file| files.contains_key(*file)) {
            return Err(scenario_error("give what the spec of each link and each file asks for"));
        }
        let setup = cell.setup(replication, &inputs, &files);
        setup
            .map(Setup::new_inner)
            .map_err(|fault| scenario_error(format!("{}: {fault}", self.0.file())))
    }
}

fn fits((spec, input): (&LinkSpec, &LinkInput)) -> bool {
    matches!(
        (spec, input),
        (LinkSpec::LinkTrace { .. }, LinkInput::LinkTrace(_))
            | (LinkSpec::PhyTrace { .. }, LinkInput::PhyTrace(_))
            | (LinkSpec::PhyTraces { .. }, LinkInput::PhyTraces { .. })
            | (LinkSpec::Information { .. }, LinkInput::Information { .. })
            | (LinkSpec::Nothing, LinkInput::Nothing)
    )
}

/// What a link is made from; None: nothing.
#[derive(FromPyObject)]
enum Input<'py> {
    Link(PyRef<'py, LinkTrace>),
    Phy(PyRef<'py, PyPhyTrace>),
    /// That of the link and that of the way back.
    Phys((PyRef<'py, PyPhyTrace>, PyRef<'py, PyPhyTrace>)),
    /// Mutual information and its mean in closed form.
    Information((PyRef<'py, PyMiTrace>, f64)),
}

impl Input<'_> {
    fn of(input: &Option<Self>) -> LinkInput {
        match input {
            None => LinkInput::Nothing,
            Some(Self::Link(trace)) => LinkInput::LinkTrace(Arc::clone(trace.inner())),
            Some(Self::Phy(trace)) => LinkInput::PhyTrace(trace.0.clone()),
            Some(Self::Phys((phy, back))) => {
                LinkInput::PhyTraces { phy: phy.0.clone(), back: back.0.clone() }
            }
            Some(Self::Information((trace, mean))) => {
                LinkInput::Information { trace: Arc::clone(trace.inner()), mean: *mean }
            }
        }
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
