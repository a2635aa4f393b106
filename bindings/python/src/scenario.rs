//! Scenarios from Python values or from the text of a file, checked by the core on first use.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use clift::budget::Budget;
use clift::config::{Node, Value};
use clift::scenario::{
    self as core, Cell, Change, Content, MakeError, Memory, SetupFault, Store, Traces,
};
use clift::scheme::ntn::PRESETS;
use clift::simulation as engine;
use clift::trace::Folder;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::{fault_error, memory_error, trace_error};
use crate::own::{self, raised};
use crate::simulation::Setup;
use crate::trace::PyPhyTrace;
use crate::tree::{self, Objects};
use crate::work::watched;

/// A scenario and its changes, checked on first use; see `clift.Scenario`.
#[pyclass(frozen, name = "Scenario", module = "clift._clift")]
pub(crate) struct PyScenario {
    /// Name in messages; empty if it has none.
    file: String,
    content: Content,
    changes: Vec<(String, Change)>,
    memory: Memory,
    made: OnceLock<Result<core::Scenario, Wrong>>,
    store: OnceLock<Store<'static>>,
}

/// A dotted key and its value; `None` removes the key.
type Given<'py> = (String, Option<Bound<'py, PyAny>>);

/// An error of a scenario.
#[derive(Clone, Debug)]
pub(crate) enum Wrong {
    /// A key: the whole line, the dotted key, and the fault.
    Key(String, String, String),
    /// A trace that cannot be made.
    Trace(String),
    /// More memory needed than allowed.
    Memory(String),
    /// An exception in a part written in Python.
    Raised(Arc<PyErr>),
}

impl From<core::ScenarioError> for Wrong {
    fn from(error: core::ScenarioError) -> Self {
        Self::Key(error.to_string(), error.key, error.message)
    }
}

impl Wrong {
    /// Classifies a fault: one in a file is an error of the trace; one of a channel is an error of
    /// the scenario named `file`.
    fn of(file: &str, cell: &Cell, fault: &SetupFault) -> Self {
        match fault {
            SetupFault::Trace(MakeError::Trace { .. }) => {
                Self::Trace(cell.error(file, fault).to_string())
            }
            SetupFault::Trace(error @ MakeError::File(_)) => Self::Trace(error.to_string()),
            _ => cell.error(file, fault).into(),
        }
    }

    /// Reports the error as lack of memory if the budget refused a request.
    fn within(self, budget: &Budget<'_>) -> Self {
        match self {
            Self::Key(line, ..) | Self::Trace(line) if budget.is_short() => Self::Memory(line),
            other => other,
        }
    }

    pub(crate) fn error(&self, py: Python<'_>) -> PyErr {
        match self {
            Self::Key(line, key, reason) => fault_error(py, line, key, reason),
            Self::Trace(line) => trace_error(line),
            Self::Memory(line) => memory_error(line),
            Self::Raised(error) => error.clone_ref(py),
        }
    }
}

#[pymethods]
impl PyScenario {
    /// `content` is the text of a file or a dict; `sets` are dotted keys and texts; `changes` are
    /// dotted keys and values, where `None` removes the key.
    #[new]
    fn new(
        file: String,
        content: &Bound<'_, PyAny>,
        sets: Vec<(String, String)>,
        changes: Vec<Given<'_>>,
    ) -> PyResult<Self> {
        let mut objects = Objects::new();
        let content = match content.cast::<PyString>() {
            Ok(text) => Content::Text(text.to_str()?.to_owned()),
            Err(_) => Content::Tree(tree::value(content, &mut objects)?),
        };
        let given = given(changes, &content, &mut objects)?;
        let sets = sets.into_iter().map(|(key, text)| (key, Change::Text(text)));
        let changes = sets.chain(given).collect();
        Ok(Self {
            file,
            content,
            changes,
            memory: Memory::new(objects),
            made: OnceLock::new(),
            store: OnceLock::new(),
        })
    }

    /// Returns the scenario with more changes.
    fn changed(&self, changes: Vec<Given<'_>>) -> PyResult<Self> {
        let mut objects = Objects::new();
        let more = given(changes, &self.content, &mut objects)?;
        Ok(Self { memory: self.memory.with(objects), ..self.with(more) })
    }

    /// Checks the scenario.
    fn read(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.made().map(drop)).map_err(|wrong| wrong.error(py))
    }

    /// Checks a link and the input of a run over it, except the length of a generated channel.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let short = [
            ("duration".to_owned(), Change::Value(Value::text("1 ms"))),
            ("adaptive_harq.length".to_owned(), Change::Nothing),
        ];
        py.detach(|| self.made().map(drop)).map_err(|wrong| wrong.error(py))?;
        self.with(short).prepared_watched(py, 0, 0).map(drop)
    }

    /// Number of cells.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.asked(py)?.count())
    }

    /// Names and labels of the axes.
    fn axes(&self, py: Python<'_>) -> PyResult<Vec<(String, Vec<String>)>> {
        let axes = self.asked(py)?.axes().iter();
        Ok(axes.map(|axis| (axis.name.clone(), axis.labels.clone())).collect())
    }

    /// Values that a paper prints, as JSON.
    fn printed(&self, py: Python<'_>) -> PyResult<String> {
        tree::json(&self.asked(py)?.printed())
    }

    /// Axis and label of a cell, for each axis.
    fn labels(&self, py: Python<'_>, cell: usize) -> PyResult<Vec<(String, String)>> {
        Ok(self.of(py, cell)?.labels(cell))
    }

    /// The configuration with every default filled in, as JSON.
    fn config(&self, py: Python<'_>, cell: usize) -> PyResult<String> {
        tree::json(self.cell(py, cell)?.config())
    }

    /// The configuration with the values that depend on other keys filled in.
    fn settled(&self, py: Python<'_>, cell: usize) -> PyResult<String> {
        tree::json(&self.cell(py, cell)?.settled())
    }

    /// Number of replications of a cell.
    fn runs(&self, py: Python<'_>, cell: usize) -> PyResult<u32> {
        let runs = self.asked(py)?.runs(cell);
        runs.map_err(|error| Wrong::from(error).error(py))
    }

    /// Number of replications of every cell.
    fn all_runs(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        let scenario = self.asked(py)?;
        let runs: Result<Vec<u32>, core::ScenarioError> =
            py.detach(|| (0..scenario.count()).map(|cell| scenario.runs(cell)).collect());
        runs.map_err(|error| Wrong::from(error).error(py))
    }

    /// True if every flow of a cell ends before the duration does.
    fn is_transfer(&self, py: Python<'_>, cell: usize) -> PyResult<bool> {
        Ok(self.cell(py, cell)?.plan().flows.iter().all(core::Flow::is_transfer))
    }

    /// The seed of a replication.
    fn seed(&self, py: Python<'_>, cell: usize, replication: u32) -> PyResult<u64> {
        Ok(self.cell(py, cell)?.seed(replication).0)
    }

    /// The engine's input for one replication; makes its traces.
    fn setup(this: &Bound<'_, Self>, cell: usize, replication: u32) -> PyResult<Setup> {
        let setup = Self::of_cell(this, cell, move |cell, traces| cell.setup(replication, traces));
        setup.map(Setup::from)
    }

    /// Bursts of erased slots of the first link that pass during a run: first slot, number of slots,
    /// and run times of the first and of the last slot in ns.
    fn bursts(
        this: &Bound<'_, Self>,
        cell: usize,
        replication: u32,
    ) -> PyResult<Vec<(u64, u64, u64, u64)>> {
        let bursts =
            Self::of_cell(this, cell, move |cell, traces| cell.bursts(replication, traces))?;
        Ok(bursts
            .iter()
            .map(|it| (it.first, it.count, it.at.as_nanos(), it.last.as_nanos()))
            .collect())
    }

    /// Received slots of the first link that pass during a run, with their run time in ns.
    fn received_slots(
        this: &Bound<'_, Self>,
        cell: usize,
        replication: u32,
    ) -> PyResult<Vec<(u64, u64)>> {
        let slots = Self::of_cell(this, cell, move |cell, traces| {
            cell.received_slots(replication, traces)
        })?;
        Ok(slots.iter().map(|(slot, at)| (*slot, at.as_nanos())).collect())
    }

    /// Input of the engine for one run, with slots of the first link received (first slot, number
    /// of slots) or erased that were not.
    fn edited(
        this: &Bound<'_, Self>,
        cell: usize,
        replication: u32,
        received: Vec<(u64, u64)>,
        erased: Vec<u64>,
    ) -> PyResult<Setup> {
        let ranges = received.iter().map(|&(first, count)| first..first.saturating_add(count));
        let edits = core::Edits { received: ranges.collect(), erased };
        let setup =
            Self::of_cell(this, cell, move |cell, traces| cell.edited(replication, traces, &edits));
        setup.map(Setup::from)
    }

    /// Input that all runs of a cell share: `trace`, `channel` or `None`.
    fn shared(&self, py: Python<'_>, cell: usize) -> PyResult<Option<&'static str>> {
        Ok(self.cell(py, cell)?.shared().map(|shared| match shared {
            core::Shared::Trace => "trace",
            core::Shared::Channel => "channel",
        }))
    }

    /// The part of the shared trace that a run covers: start and length in ns, and whether it
    /// repeats; `None` unless runs start at random times.
    fn window(
        this: &Bound<'_, Self>,
        cell: usize,
        replication: u32,
    ) -> PyResult<Option<(u64, u64, bool)>> {
        let window =
            Self::of_cell(this, cell, move |cell, traces| cell.window(replication, traces))?;
        Ok(window.map(|own| (own.start.as_nanos(), own.length.as_nanos(), own.wraps)))
    }

    /// Keys with a value that no cell has, one line each.
    fn overridden(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.asked(py)?.overridden())
    }

    /// Notes on values that links took from their traces, one line each.
    fn taken(this: &Bound<'_, Self>, cell: usize) -> PyResult<Vec<String>> {
        Self::of_cell(this, cell, |cell, traces| cell.taken(traces))
    }

    /// Round-trip time, queue, LLDU size and decoding time of the links of a cell: key, value and
    /// origin.
    fn in_effect(this: &Bound<'_, Self>, cell: usize) -> PyResult<Vec<(String, String, String)>> {
        let found = Self::of_cell(this, cell, |cell, traces| cell.in_effect(traces))?;
        Ok(found.into_iter().map(|own| (own.key, own.value, own.from)).collect())
    }

    /// Dotted keys that the scenario gives, and their origins.
    fn origins(&self, py: Python<'_>, cell: usize) -> PyResult<Vec<(String, String)>> {
        let cell = self.cell(py, cell)?;
        Ok(cell.origins().iter().map(|(key, place)| (key.clone(), place.to_string())).collect())
    }

    /// The PHY trace under the first link that has one.
    fn phy_trace(
        this: &Bound<'_, Self>,
        cell: usize,
        replication: u32,
    ) -> PyResult<Option<PyPhyTrace>> {
        let phy = Self::of_cell(this, cell, move |cell, traces| {
            let spec = cell.phy_traces(replication).into_iter().flatten().next();
            Ok(spec.map(|spec| traces.phy(&spec)).transpose()?)
        })?;
        Ok(phy.map(PyPhyTrace))
    }
}

impl PyScenario {
    /// The scenario with more changes; a later change of a key replaces an earlier one.
    pub(crate) fn with(&self, more: impl IntoIterator<Item = (String, Change)>) -> Self {
        let more: Vec<_> = more.into_iter().collect();
        let kept = self.changes.iter().filter(|(key, _)| more.iter().all(|(own, _)| own != key));
        Self {
            file: self.file.clone(),
            content: self.content.clone(),
            changes: kept.cloned().chain(more.iter().cloned()).collect(),
            memory: self.memory.clone(),
            made: OnceLock::new(),
            store: OnceLock::new(),
        }
    }

    /// The engine's input for one replication.
    pub(crate) fn prepared(
        &self,
        cell: usize,
        replication: u32,
        budget: &Budget<'_>,
    ) -> Result<engine::Setup, Wrong> {
        self.prepared_of(self.made().map_err(Clone::clone)?, cell, replication, budget)
    }

    /// As `prepared`, for one of many scenarios. A scenario that was not used before is read for
    /// this run only: keeping all of them in memory would need more space than their results.
    pub(crate) fn prepared_once(
        &self,
        cell: usize,
        replication: u32,
        budget: &Budget<'_>,
    ) -> Result<engine::Setup, Wrong> {
        match self.made.get() {
            Some(_) => self.prepared(cell, replication, budget),
            None => self.prepared_of(&self.make()?, cell, replication, budget),
        }
    }

    fn prepared_of(
        &self,
        scenario: &core::Scenario,
        cell: usize,
        replication: u32,
        budget: &Budget<'_>,
    ) -> Result<engine::Setup, Wrong> {
        let cell = scenario.cell(cell)?;
        let setup = cell.setup(replication, &self.store().within(budget));
        setup.map_err(|fault| match raised::take() {
            Some(error) => Wrong::Raised(Arc::new(error)),
            None => Wrong::of(&self.file, &cell, &fault).within(budget),
        })
    }

    /// As `prepared`, for a scenario that no other thread uses, while Python checks for signals.
    pub(crate) fn prepared_watched(
        self,
        py: Python<'_>,
        cell: usize,
        replication: u32,
    ) -> PyResult<engine::Setup> {
        let (setup, _) = watched(py, move |budget| self.prepared(cell, replication, budget))?;
        setup.map_err(|wrong| wrong.error(py))
    }

    /// Calls `make` with a cell and its traces, while Python checks for signals.
    fn of_cell<T: Send + 'static>(
        this: &Bound<'_, Self>,
        cell: usize,
        make: impl Fn(&Cell, &dyn Traces) -> Result<T, SetupFault> + Send + Sync + 'static,
    ) -> PyResult<T> {
        let (own, py) = (this.get(), this.py());
        own.of(py, cell)?;
        // If all objects are in memory, no extra thread is needed; starting one costs more than a
        // short run.
        let at_hand = || make(&*own.made().ok()?.cell(cell).ok()?, own.store().memory()).ok();
        if let Some(made) = py.detach(at_hand) {
            return Ok(made);
        }
        let own = this.clone().unbind();
        let (made, _) = watched(py, move |budget| {
            let own = own.get();
            let cell = own.made().map_err(Clone::clone)?.cell(cell)?;
            let made = make(&cell, &own.store().within(budget));
            made.map_err(|fault| Wrong::of(&own.file, &cell, &fault).within(budget))
        })?;
        made.map_err(|wrong: Wrong| wrong.error(py))
    }

    fn asked(&self, py: Python<'_>) -> PyResult<&core::Scenario> {
        // Another thread that is making the scenario may be waiting for Python's lock.
        py.detach(|| self.made()).map_err(|wrong| wrong.error(py))
    }

    /// The scenario, checked to have a cell with this index.
    fn of(&self, py: Python<'_>, cell: usize) -> PyResult<&core::Scenario> {
        let scenario = self.asked(py)?;
        let is_there = cell < scenario.count();
        is_there.then_some(scenario).ok_or_else(|| PyIndexError::new_err("no such cell"))
    }

    fn cell(&self, py: Python<'_>, index: usize) -> PyResult<Cow<'_, Cell>> {
        self.of(py, index)?.cell(index).map_err(|error| Wrong::from(error).error(py))
    }

    fn store(&self) -> &Store<'static> {
        let folder = Path::new(&self.file).parent().unwrap_or(Path::new(""));
        self.store.get_or_init(|| Store::with_memory(Folder::new(folder), self.memory.clone()))
    }

    fn made(&self) -> Result<&core::Scenario, &Wrong> {
        self.made.get_or_init(|| self.make()).as_ref()
    }

    fn make(&self) -> Result<core::Scenario, Wrong> {
        let made = core::Scenario::read(&self.file, &self.content, &self.changes, &own::registry());
        made.map_err(Wrong::from)
    }
}

fn given(
    changes: Vec<Given<'_>>,
    content: &Content,
    objects: &mut Objects,
) -> PyResult<Vec<(String, Change)>> {
    let changes = changes.into_iter().map(|(key, any)| {
        let value = any.map(|any| tree::value(&any, objects)).transpose()?;
        let change = match (content, value) {
            (_, None) => Change::Nothing,
            // A text given for a scenario's key is parsed like a value in a file.
            (Content::Text(_), Some(Value { node: Node::Text(text), .. })) => Change::Text(text),
            (_, Some(value)) => Change::Value(value),
        };
        Ok((key, change))
    });
    changes.collect()
}

/// The JSON Schema of scenario files.
#[pyfunction]
pub(crate) fn scenario_schema() -> String {
    own::registry().within(core::json_schema)
}

/// The names of the presets of 3GPP links.
#[pyfunction]
pub(crate) fn ntn_presets() -> Vec<&'static str> {
    PRESETS.map(|preset| preset.name).to_vec()
}
