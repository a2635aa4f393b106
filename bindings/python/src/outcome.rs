//! What a run measured, as Python's objects, and the catalogue of metrics.

use std::collections::BTreeMap;

use clift::metrics::{Better, CATALOG, Metric, Place, Value};
use clift::simulation as engine;
use clift::units::Duration;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString};

/// The outcome of a run.
#[pyclass(frozen, module = "clift._clift")]
pub(crate) struct Outcome(engine::Outcome);

impl Outcome {
    pub(crate) fn new(outcome: engine::Outcome) -> Self {
        Self(outcome)
    }
}

#[pymethods]
impl Outcome {
    #[getter]
    fn goodput_kbps(&self) -> f64 {
        self.0.goodput() / 1e3
    }

    #[getter]
    fn completion_s(&self) -> Option<f64> {
        self.0.completion().map(Duration::as_secs_f64)
    }

    /// Everything, as a dict that JSON can hold.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object(py, &self.0.summary())
    }
}

fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Missing => py.None().into_bound(py),
        Value::Count(count) => count.into_pyobject(py)?.into_any(),
        Value::Number(number) => number.into_pyobject(py)?.into_any(),
        Value::Text(text) => text.into_pyobject(py)?.into_any(),
        Value::List(values) => {
            let objects: PyResult<Vec<_>> = values.iter().map(|value| object(py, value)).collect();
            PyList::new(py, objects?)?.into_any()
        }
        Value::Table(values) => {
            let dict = PyDict::new(py);
            let names = names(py);
            for (name, value) in values {
                match names.get(&(name.as_ptr().addr(), name.len())) {
                    Some(name) => dict.set_item(name, object(py, value)?)?,
                    None => dict.set_item(name, object(py, value)?)?,
                }
            }
            dict.into_any()
        }
    })
}

/// The catalogue's names as Python's strings, by where they stand: to make one each time would take
/// longer than most values.
fn names(py: Python<'_>) -> &BTreeMap<(usize, usize), Py<PyString>> {
    static NAMES: PyOnceLock<BTreeMap<(usize, usize), Py<PyString>>> = PyOnceLock::new();
    NAMES.get_or_init(py, || {
        let named = |metric: &Metric| {
            let name = metric.name;
            ((name.as_ptr().addr(), name.len()), PyString::new(py, name).unbind())
        };
        CATALOG.iter().map(named).collect()
    })
}

/// The catalogue, a row each: places, name, title, unit, "less", "more" or None, meaning.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub(crate) fn metrics() -> Vec<(
    Vec<&'static str>,
    &'static str,
    &'static str,
    &'static str,
    Option<&'static str>,
    &'static str,
)> {
    let row = |metric: &Metric| {
        let better = metric.better.map(|better| match better {
            Better::Less => "less",
            Better::More => "more",
        });
        let places = metric.places().map(Place::name).collect();
        (places, metric.name, metric.title, metric.unit, better, metric.meaning)
    };
    CATALOG.iter().map(row).collect()
}
