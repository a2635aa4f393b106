//! Parts written in Python: schemes, congestion controls, path schedulers, carrier schedulers,
//! queues and applications.
//!
//! The engine runs without holding the interpreter and attaches to it for each call. An exception
//! ends the run: it is kept ([`raised`]) until the engine has ended, and is then raised unchanged.

mod application;
mod carrier_scheduler;
pub(crate) mod congestion;
mod given;
pub(crate) mod path_scheduler;
pub(crate) mod queue;
pub(crate) mod raised;
mod scheme;
pub(crate) mod slots;

use std::sync::{LazyLock, Mutex};

use clift::Registry;
use clift::config::{Parameter, Row};
use clift::scheme::Scheme;
use clift::seed::Seed;
use clift::sync::lock;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use rand_chacha::ChaCha8Rng;

use self::given::Signature;
use crate::errors::{own_error, scenario_error};

/// The kinds that scenarios of this process may name: those of the core, QUIC, and those written in
/// Python.
static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(|| {
    let registry = Registry::new();
    #[cfg(feature = "quic")]
    let registry = {
        let mut registry = registry;
        // The name is free: the core has no such transport.
        let _ = registry.add(clift_quic::KIND);
        registry
    };
    Mutex::new(registry)
});

/// The registry as of now.
pub(crate) fn registry() -> Registry {
    lock(&REGISTRY).clone()
}

/// Adds a part for the rest of the process.
fn insert<R: Row>(row: R) -> PyResult<()> {
    lock(&REGISTRY).add(row).map(drop).map_err(scenario_error)
}

/// The scheme with this text.
pub(crate) fn scheme(text: &str) -> PyResult<Scheme> {
    registry().within(|| text.parse()).map_err(scenario_error)
}

/// Registers a part written in Python. What `make` takes depends on what the part is: see the `add`
/// of its module.
#[pyfunction]
pub(crate) fn register(
    what: &str,
    name: &str,
    summary: &str,
    parameters: Vec<(String, bool)>,
    make: Bound<'_, PyAny>,
) -> PyResult<()> {
    raised::expect_calls(make.py())?;
    let part = Kind::new(what, name, parameters, &make);
    let summary = leaked(summary);
    match what {
        "scheme" => scheme::add(part, summary, is_class(&make)?),
        "congestion control" => congestion::add(part, summary),
        "path scheduler" => path_scheduler::add(part, summary),
        "carrier scheduler" => carrier_scheduler::add(part, summary),
        "queue" => queue::add(part, summary),
        "application" => application::add(part, summary),
        _ => Err(scenario_error(format!("{what}: no such part"))),
    }
}

/// Whether the part in `make`, a `functools.partial`, is a class.
fn is_class(make: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(make.getattr("args")?.get_item(0)?.is_instance_of::<PyType>())
}

/// Properties of a registered part.
#[derive(Debug)]
pub(super) struct Kind {
    /// The type of part: "scheme", "queue".
    what: &'static str,
    name: &'static str,
    signature: Signature,
    /// Makes an instance from a seed and the given arguments.
    make: Py<PyAny>,
}

/// Given arguments of a part, by parameter.
type Given = Vec<(&'static str, Parameter)>;

impl Kind {
    fn new(
        what: &str,
        name: &str,
        parameters: Vec<(String, bool)>,
        make: &Bound<'_, PyAny>,
    ) -> &'static Self {
        let (what, name) = (leaked(what), leaked(name));
        let (signature, make) = (Signature::new(parameters), make.clone().unbind());
        Box::leak(Box::new(Self { what, name, signature, make }))
    }

    /// An example of its text form.
    fn text(&self) -> String {
        format!("{}{}", self.name, self.signature.shown())
    }

    /// The error for a fault of the part.
    fn wrong(&self, fault: impl std::fmt::Display) -> PyErr {
        own_error(format!("{} `{}`: {fault}", self.what, self.name))
    }

    /// A method of an instance, if it has it.
    fn method(&self, part: &Bound<'_, PyAny>, name: &'static str) -> PyResult<Option<Py<PyAny>>> {
        Ok(part.getattr_opt(name)?.map(Bound::unbind))
    }

    /// A required method.
    fn needed(&self, part: &Bound<'_, PyAny>, name: &'static str) -> PyResult<Py<PyAny>> {
        let found = self.method(part, name)?;
        found.ok_or_else(|| self.wrong(format!("the method {name} is missing")))
    }
}

/// A text that lives as long as the process.
fn leaked(text: &str) -> &'static str {
    Box::leak(Box::<str>::from(text))
}

/// The given arguments, for Python.
fn dict<'py>(py: Python<'py>, given: &Given) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in given {
        match value {
            Parameter::Bool(on) => dict.set_item(name, on)?,
            Parameter::Integer(number) => dict.set_item(name, number)?,
            Parameter::Float(number) => dict.set_item(name, number)?,
            Parameter::Text(text) => dict.set_item(name, text)?,
        }
    }
    Ok(dict)
}

/// A seed for the part's random draws.
fn seed(rng: ChaCha8Rng) -> u64 {
    Seed::drawn(rng).0
}
