//! Scenario files: checked in the core, handed to Python cell by cell.

use std::path::{Path, PathBuf};

use clift::scenario::{self as core, Cell, DelayFiles, LinkInput, LinkSpec, MakeError, TraceStore};
use clift::trace::Folder;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::errors::{scenario_error, trace_error};
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

    /// What the engine runs, with traces from `store`.
    fn setup(
        &self,
        py: Python<'_>,
        cell: usize,
        replication: u32,
        store: &PyTraceStore,
    ) -> PyResult<Setup> {
        let cell = self.cell(cell)?;
        let specs = cell.links(replication);
        let (inputs, files) = py
            .detach(|| {
                let inputs = specs.iter().map(|spec| store.0.input(spec));
                let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
                let delays = cell
                    .delay_files()
                    .into_iter()
                    .map(|file| Ok((file.to_owned(), store.0.delays(Path::new(file))?)));
                Ok((inputs, delays.collect::<Result<DelayFiles, MakeError>>()?))
            })
            .map_err(make_error)?;
        let setup = cell.setup(replication, &inputs, &files);
        setup
            .map(Setup::new_inner)
            .map_err(|fault| scenario_error(format!("{}: {fault}", self.0.file())))
    }

    /// The link trace of the first link of a replication; None if that link has none.
    fn link_trace(
        &self,
        py: Python<'_>,
        cell: usize,
        replication: u32,
        store: &PyTraceStore,
    ) -> PyResult<Option<LinkTrace>> {
        let specs = self.cell(cell)?.links(replication);
        let Some(spec @ LinkSpec::LinkTrace { .. }) = specs.first() else { return Ok(None) };
        match py.detach(|| store.0.input(spec)).map_err(make_error)? {
            LinkInput::LinkTrace(trace) => Ok(Some(LinkTrace::new_inner(trace))),
            _ => Ok(None),
        }
    }

    /// The PHY trace under the first link of a replication; None if it needs none.
    fn phy(
        &self,
        py: Python<'_>,
        cell: usize,
        replication: u32,
        store: &PyTraceStore,
    ) -> PyResult<Option<PyPhyTrace>> {
        let specs = self.cell(cell)?.links(replication);
        let Some(spec) = specs.first().and_then(LinkSpec::phy) else { return Ok(None) };
        py.detach(|| store.0.phy(spec)).map(|phy| Some(PyPhyTrace(phy))).map_err(make_error)
    }
}

/// Traces that scenarios need, each made once and kept while there is room.
#[pyclass(frozen, name = "TraceStore", module = "clift._clift")]
pub(crate) struct PyTraceStore(TraceStore);

#[pymethods]
impl PyTraceStore {
    /// An empty store for descriptions that name files in `folder`.
    #[new]
    fn new(folder: PathBuf) -> Self {
        Self(TraceStore::new(Folder::new(folder)))
    }
}

/// `clift.TraceError` for what a file does not hold, `clift.ScenarioError` for what a channel cannot.
fn make_error(error: MakeError) -> PyErr {
    match error {
        MakeError::File(_) | MakeError::Delays { .. } => trace_error(error),
        error => scenario_error(error),
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
