//! `PhyTrace` and trace files.

use std::fmt::Display;
use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clift::budget::Budget;
use clift::config;
use clift::trace::{
    FileError, Folder, Format, Header, Loading, Packing, PhyTrace, Runs, Sizes, TraceFile, WriteAs,
    WriteError, series, write_file,
};
use clift::units::{BitRate, Bytes, Duration};
use numpy::PyArray1;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;

use crate::columns::{column, view};
use crate::errors::{scenario_error, trace_error};
use crate::tree::{self, Objects, value};
use crate::work::work;

/// A PHY trace; `clift.PhyTrace` wraps it.
#[pyclass(frozen, name = "PhyTrace", module = "clift._clift")]
pub(crate) struct PyPhyTrace(pub(crate) PhyTrace);

/// The pickled form of a trace: a function and its arguments, namely the columns of times, the
/// bytes of slots (as [`sizes`] accepts them) and everything else as JSON.
pub(crate) type Pickled<'py> = (
    Bound<'py, PyAny>,
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyAny>, String),
);

#[pymethods]
impl PyPhyTrace {
    #[new]
    #[pyo3(signature = (t_ns, d_ns, lldu_bytes, decode_ns=None, period_ns=None, rtt_ns=None,
                        description=None, source=None, packing=None))]
    #[allow(clippy::too_many_arguments)] // they are keywords in Python
    fn new(
        t_ns: &Bound<'_, PyAny>,
        d_ns: &Bound<'_, PyAny>,
        lldu_bytes: &Bound<'_, PyAny>,
        decode_ns: Option<u64>,
        period_ns: Option<u64>,
        rtt_ns: Option<u64>,
        description: Option<String>,
        source: Option<String>,
        packing: Option<&str>,
    ) -> PyResult<Self> {
        let (t, d) = (column("t_ns", t_ns)?, column("d_ns", d_ns)?);
        let header = Header {
            decode: decode_ns.map(Duration::from_nanos),
            description,
            source,
            period: period_ns.map(Duration::from_nanos),
            rtt: rtt_ns.map(Duration::from_nanos),
            loading: packed_as(packing)?,
            ..Header::default()
        };
        let sizes = sizes(lldu_bytes)?;
        let trace = t_ns.py().detach(|| PhyTrace::with_header(t, d, sizes, header));
        trace.map(Self).map_err(trace_error)
    }

    #[getter]
    fn t_ns<'py>(this: &Bound<'py, Self>) -> Bound<'py, PyArray1<i64>> {
        view(this.get().0.t(), this.clone().into_any())
    }

    #[getter]
    fn d_ns<'py>(this: &Bound<'py, Self>) -> Bound<'py, PyArray1<i64>> {
        view(this.get().0.d(), this.clone().into_any())
    }

    #[getter]
    fn lldu_bytes(&self) -> u32 {
        self.0.lldu().0
    }

    #[getter]
    fn slot_bytes<'py>(this: &Bound<'py, Self>) -> Option<Bound<'py, PyArray1<i64>>> {
        let column = this.get().0.sizes().column()?;
        Some(view(column, this.clone().into_any()))
    }

    #[getter]
    fn decode_ns(&self) -> Option<u64> {
        self.0.header().decode.map(Duration::as_nanos)
    }

    #[getter]
    fn period_ns(&self) -> Option<u64> {
        self.0.header().period.map(Duration::as_nanos)
    }

    #[getter]
    fn rtt_ns(&self) -> Option<u64> {
        self.0.header().rtt.map(Duration::as_nanos)
    }

    #[getter]
    fn packing(&self) -> Option<&'static str> {
        self.0.header().loading.packing.map(Packing::name)
    }

    #[getter]
    fn description(&self) -> Option<&str> {
        self.0.header().description.as_deref()
    }

    #[getter]
    fn source(&self) -> Option<&str> {
        self.0.header().source.as_deref()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    fn __hash__(&self) -> u64 {
        self.0.len() as u64
    }

    /// Notes of the import (understood, assumed, warnings) and of the trace itself.
    fn notes(&self, py: Python<'_>) -> (Vec<String>, Vec<String>, Vec<String>) {
        let notes = &self.0.header().notes;
        let warnings = py.detach(|| self.0.warnings());
        (notes.understood.clone(), notes.assumed.clone(), warnings)
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        let make = this.py().import("clift._clift")?.getattr("phy_trace")?;
        let header = tree::json(this.get().0.header())?;
        let name =
            if this.get().0.sizes().column().is_some() { "slot_bytes" } else { "lldu_bytes" };
        Ok((make, (Self::t_ns(this), Self::d_ns(this), this.getattr(name)?, header)))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Nominal decoding time `d_nom` of the trace in nanoseconds.
    fn nominal_decoding_ns(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.0.nominal_decoding().as_nanos())
    }

    /// Keeps every `n`-th slot.
    fn share(&self, py: Python<'_>, n: NonZeroU32) -> Self {
        py.detach(|| Self(self.0.share(n)))
    }

    /// Keeps the part from `start_ns`, which becomes time 0.
    fn offset(&self, py: Python<'_>, start_ns: u64) -> PyResult<Self> {
        let part = py.detach(|| self.0.offset(Duration::from_nanos(start_ns)));
        part.map(Self).map_err(trace_error)
    }

    /// Statistics of erasures, as a dict.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let erasures = py.detach(|| self.0.erasures());
        let dict = PyDict::new(py);
        dict.set_item("slots", erasures.slots)?;
        dict.set_item("erased", erasures.erased)?;
        dict.set_item("erasure_rate", erasures.erasure_rate())?;
        dict.set_item("duration_ns", erasures.duration.as_nanos())?;
        dict.set_item("rate_bps", erasures.rate)?;
        let sizes = self.0.sizes();
        let slots = self.0.len() as f64;
        if sizes.column().is_some() {
            dict.set_item("least_bytes", sizes.least().0)?;
            dict.set_item("mean_bytes", self.0.bytes() as f64 / slots)?;
            dict.set_item("received_rate_bps", self.0.received_rate())?;
        }
        dict.set_item("median_gap_ns", erasures.median_gap.as_nanos())?;
        dict.set_item("longest_gap_ns", erasures.longest_gap.as_nanos())?;
        dict.set_item("bursts", runs_dict(py, &erasures.bursts)?)?;
        dict.set_item("good_runs", runs_dict(py, &erasures.good_runs)?)?;
        dict.set_item("alpha", erasures.gilbert.alpha)?;
        dict.set_item("beta", erasures.gilbert.beta)?;
        Ok(dict)
    }

    /// Writes the trace; `format` defaults to that of the suffix.
    #[pyo3(signature = (path, format=None, unit=None, opportunity_bytes=None, model=None))]
    fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        unit: Option<&str>,
        opportunity_bytes: Option<u32>,
        model: Option<&str>,
    ) -> PyResult<()> {
        let how = WriteAs {
            format: parsed(&path, format)?,
            unit: parsed(&path, unit)?,
            opportunity: opportunity_bytes.map(Bytes),
            model: parsed(&path, model)?,
        };
        let phy = self.0.clone();
        files(py, move |budget| how.write_while(&phy, &path, &|| budget.ask().is_ok()))
    }
}

/// Rebuilds the trace that `PhyTrace.__reduce__` pickled.
#[pyfunction]
pub(crate) fn phy_trace(
    t_ns: &Bound<'_, PyAny>,
    d_ns: &Bound<'_, PyAny>,
    lldu_bytes: &Bound<'_, PyAny>,
    header: &str,
) -> PyResult<PyPhyTrace> {
    let (t, d) = (column("t_ns", t_ns)?, column("d_ns", d_ns)?);
    let trace = PhyTrace::with_header(t, d, sizes(lldu_bytes)?, tree::of_json(header)?);
    trace.map(PyPhyTrace).map_err(trace_error)
}

/// How packets are put onto slots, by the name of a packing.
pub(crate) fn packed_as(name: Option<&str>) -> PyResult<Loading> {
    let packing = name.map(|name| {
        let fault = || trace_error(format!("packing = {name}: give packet or bytes"));
        Packing::of(name).ok_or_else(fault)
    });
    Ok(Loading { packing: packing.transpose()?, ..Loading::default() })
}

/// Bytes of slots: one integer, or one value per slot.
pub(crate) fn sizes(values: &Bound<'_, PyAny>) -> PyResult<Sizes> {
    match values.extract::<u32>() {
        Ok(size) => Ok(Bytes(size).into()),
        Err(_) => Sizes::each(column("lldu_bytes", values)?).map_err(trace_error),
    }
}

fn runs_dict<'py>(py: Python<'py>, runs: &Runs) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("runs", runs.runs())?;
    dict.set_item("mean", runs.mean())?;
    dict.set_item("longest", runs.counts.last().map_or(0, |&(length, _)| length))?;
    dict.set_item("counts", runs.counts.clone())?;
    Ok(dict)
}

/// The name of a file's format, by its suffix or its content.
#[pyfunction]
pub(crate) fn format_of(path: PathBuf) -> PyResult<&'static str> {
    let format = TraceFile::new(path).known_format(&Folder::default());
    format.map(Format::name).map_err(trace_error)
}

/// The formats of trace files: name, suffixes, one-line description, and whether it can be read,
/// written, and told by the content of a file.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub(crate) fn trace_formats()
-> Vec<(&'static str, Vec<&'static str>, &'static str, bool, bool, bool)> {
    let row = |format: Format| {
        let is = [format.is_read(), format.is_written(), format.is_known_by_content()];
        (format.name(), format.suffixes().to_vec(), format.doc(), is[0], is[1], is[2])
    };
    Format::all().map(row).collect()
}

/// Reads the trace that a dictionary with the keys of `[trace]` describes; with `most`, a series
/// without its pauses, and of more slots only parts that are spread over it.
#[pyfunction]
#[pyo3(signature = (described, most=None))]
pub(crate) fn import_trace(
    described: &Bound<'_, PyDict>,
    most: Option<u64>,
) -> PyResult<PyPhyTrace> {
    let tree = value(described.as_any(), &mut Objects::new())?;
    let file: TraceFile = config::read(&tree).map_err(trace_error)?;
    let read = move |budget: &Budget<'_>| file.excerpt_within(&Folder::default(), budget, most);
    files(described.py(), read).map(PyPhyTrace)
}

/// Parts of a log of this many slots, spread over it, that hold `most` slots together: the first slot of
/// each, and the one behind it.
#[pyfunction]
pub(crate) fn spread(slots: u64, length_ns: u64, most: u64) -> Vec<(u64, u64)> {
    series::spread(slots, Duration::from_nanos(length_ns), most).collect()
}

/// Replaces the content of a file atomically.
#[pyfunction]
pub(crate) fn replace_file(py: Python<'_>, path: PathBuf, content: PyBackedBytes) -> PyResult<()> {
    let write = move |budget: &Budget<'_>| {
        write_file(&path, &|| budget.ask().is_ok(), |out| Ok(out.write_all(&content)?))
    };
    work(py, write, |error| match error {
        FileError::Write { error: WriteError::Io(error), .. } => os_error(&error),
        error => trace_error(error),
    })
}

/// `OSError` with the system's number and message.
fn os_error(error: &io::Error) -> PyErr {
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or_default().to_owned();
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, words)),
        None => PyOSError::new_err(words),
    }
}

/// Runs work on files and converts its errors.
pub(crate) fn files<T: Send + 'static>(
    py: Python<'_>,
    job: impl FnOnce(&Budget<'_>) -> Result<T, FileError> + Send + 'static,
) -> PyResult<T> {
    work(py, job, trace_error)
}

/// Parses the text of a keyword argument; `path` is for messages.
fn parsed<T: FromStr<Err: Display>>(path: &Path, text: Option<&str>) -> PyResult<Option<T>> {
    let fault = |error| trace_error(format!("{}: {error}", path.display()));
    text.map(|text| text.parse().map_err(fault)).transpose()
}

/// Nanoseconds of a time such as `36 ms`.
#[pyfunction]
pub(crate) fn parse_time(text: &str) -> PyResult<u64> {
    text.parse::<Duration>().map(Duration::as_nanos).map_err(scenario_error)
}

/// Bits per second of a rate such as `2.3 Mbit/s`.
#[pyfunction]
pub(crate) fn parse_rate(text: &str) -> PyResult<u64> {
    text.parse::<BitRate>().map(BitRate::bits_per_second).map_err(scenario_error)
}
