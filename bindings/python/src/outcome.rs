//! The outcome of a run as Python objects, and the catalogue of metrics.

use std::collections::BTreeMap;
use std::sync::Mutex;

use clift::metrics::{Better, CATALOG, Metric, SummaryPart, Value};
use clift::simulation as engine;
use clift::units::Duration;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString};

use crate::simulation::first_link;

/// The outcome of a run, and the shares of its first link's LLDUs by number of retransmissions.
#[pyclass(frozen, module = "clift._clift")]
pub(crate) struct Outcome(engine::Outcome, Option<Vec<(u32, f64)>>);

impl Outcome {
    pub(crate) fn new(outcome: engine::Outcome, setup: &engine::Setup) -> Self {
        let shares = first_link(setup).map(|link| link.retransmission_shares().collect());
        Self(outcome, shares)
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

    /// Shares of the LLDUs of the first link's trace by retransmissions; `None` if it has none.
    fn retransmission_shares(&self) -> Option<BTreeMap<u32, f64>> {
        self.1.as_ref().map(|shares| shares.iter().copied().collect())
    }

    /// All metrics, as a dict that JSON can represent.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object(py, &self.0.summary())
    }

    /// The course of a video: playing time of a segment, rates of the ladder and of the segments
    /// received (bit/s), start-up or None, interruptions as playing time before each and duration,
    /// and the playing time played. Times are in s. `None` if the flow has no video.
    #[allow(clippy::type_complexity)]
    fn video(
        &self,
        flow: usize,
    ) -> Option<(f64, Vec<u64>, Vec<u64>, Option<f64>, Vec<(f64, f64)>, f64)> {
        let video = self.0.flows.get(flow)?.video.as_ref()?;
        let seconds =
            |&(before, lasted): &(Duration, Duration)| (before.as_secs_f64(), lasted.as_secs_f64());
        let startup = video.startup.map(Duration::as_secs_f64);
        let interruptions = video.interruptions.iter().map(seconds).collect();
        let (segment, played) = (video.segment.as_secs_f64(), video.played.as_secs_f64());
        let (ladder, rates) = (video.ladder.clone(), video.rates.clone());
        Some((segment, ladder, rates, startup, interruptions, played))
    }

    /// All finite numbers of the summary by their dotted names. For more than a hundred flows, the
    /// least, the median and the most of each number.
    fn numbers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        let mut named = Names::of_the_last_run();
        self.0.numbers(|name, number| found.set_item(named.next(py, name), number))?;
        Ok(found)
    }
}

/// Dotted names as Python strings, cached from the last run because the next run usually has the
/// same names.
#[derive(Default)]
struct Names {
    known: Vec<(String, Py<PyString>)>,
    /// Number of names already requested.
    at: usize,
}

static NAMES: Mutex<Vec<(String, Py<PyString>)>> = Mutex::new(Vec::new());

impl Names {
    /// Another thread may hold the cache. This call does not wait for it, because it holds Python's
    /// lock.
    fn of_the_last_run() -> Self {
        let known = NAMES.try_lock().map(|mut names| std::mem::take(&mut *names));
        Self { known: known.unwrap_or_default(), at: 0 }
    }

    fn next<'py>(&mut self, py: Python<'py>, name: &str) -> &Bound<'py, PyString> {
        let at = self.at;
        self.at += 1;
        if self.known.get(at).is_none_or(|(known, _)| known != name) {
            self.known.truncate(at);
            self.known.push((name.to_owned(), PyString::new(py, name).unbind()));
        }
        self.known[at].1.bind(py)
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        if let Ok(mut names) = NAMES.try_lock() {
            *names = std::mem::take(&mut self.known);
        }
    }
}

pub(crate) fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Missing => py.None().into_bound(py),
        Value::Count(count) => count.into_pyobject(py)?.into_any(),
        Value::Number(number) => number.into_pyobject(py)?.into_any(),
        Value::Text(text) => PyString::new(py, text).into_any(),
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

/// Python strings of the catalogue's names, by address. Making a new string each time would take
/// longer than converting most values.
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

/// The catalogue, one row per metric: parts of the summary, name, title, unit, "less", "more" or
/// None, meaning.
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
        let places = metric.places().map(SummaryPart::name).collect();
        (places, metric.name, metric.title, metric.unit, better, metric.meaning)
    };
    CATALOG.iter().map(row).collect()
}
