//! Parts written in Python: schemes, congestion controls, queues and applications.
//!
//! The engine runs without the interpreter and attaches to it for each call. An exception ends the
//! run: it is kept ([`raised`]) while the engine comes to its end, and handed on as it is.

pub(crate) mod application;
pub(crate) mod congestion;
mod given;
pub(crate) mod queue;
pub(crate) mod raised;
pub(crate) mod scheme;
pub(crate) mod slots;

use clift::application::Parameter;
use clift::seed::Seed;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rand_chacha::ChaCha8Rng;

use self::given::Signature;
use crate::errors::own_error;

/// What is known of a part.
#[derive(Debug)]
pub(super) struct Kind {
    /// What it is: "scheme", "queue".
    what: &'static str,
    name: &'static str,
    signature: Signature,
    /// Makes one, of a seed and of what is given.
    make: Py<PyAny>,
}

/// What is given of the parameters of a part.
type Given = Vec<(&'static str, Parameter)>;

impl Kind {
    fn new(
        what: &'static str,
        name: &str,
        parameters: Vec<(String, bool)>,
        make: Py<PyAny>,
    ) -> &'static Self {
        raised::expect_calls();
        let signature = Signature::new(parameters);
        Box::leak(Box::new(Self { what, name: leaked(name), signature, make }))
    }

    /// A text that shows its form.
    fn text(&self) -> String {
        format!("{}{}", self.name, self.signature.shown())
    }

    /// The error of what a part did wrong.
    fn wrong(&self, fault: impl std::fmt::Display) -> PyErr {
        own_error(format!("{} `{}`: {fault}", self.what, self.name))
    }

    /// A method of what a part is, if it has it.
    fn method(&self, part: &Bound<'_, PyAny>, name: &'static str) -> PyResult<Option<Py<PyAny>>> {
        Ok(part.getattr_opt(name)?.map(Bound::unbind))
    }

    /// A method that a part must have.
    fn needed(&self, part: &Bound<'_, PyAny>, name: &'static str) -> PyResult<Py<PyAny>> {
        let found = self.method(part, name)?;
        found.ok_or_else(|| self.wrong(format!("has no method {name}")))
    }
}

/// A text for as long as the process lasts.
fn leaked(text: &str) -> &'static str {
    Box::leak(Box::<str>::from(text))
}

/// What is given, for Python.
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

/// The seed of what a part draws.
fn seed(rng: ChaCha8Rng) -> u64 {
    Seed::drawn(rng).0
}
