//! `PhyTrace`, and trace files other than Parquet.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use clift::trace::file::{self, FileError, Format, ReadAs, WriteAs};
use clift::trace::loss_string::Pattern;
use clift::trace::netem::Model;
use clift::trace::probes::{Direction, Sampling};
use clift::trace::{Header, PhyTrace, Runs, TimeUnit, mahimahi, text};
use clift::units::{BitRate, Bytes, Duration};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::{column, view};
use crate::errors::{scenario_error, trace_error};

/// A PHY trace; `clift.PhyTrace` wraps it.
#[pyclass(frozen, name = "PhyTrace", module = "clift._clift")]
pub(crate) struct PyPhyTrace(pub(crate) PhyTrace);

#[pymethods]
impl PyPhyTrace {
    #[new]
    #[pyo3(signature = (t_ns, d_ns, lldu_bytes, decode_ns=None, period_ns=None, rtt_ns=None,
                        description=None, source=None))]
    #[allow(clippy::too_many_arguments)] // they are keywords in Python
    fn new(
        t_ns: &Bound<'_, PyAny>,
        d_ns: &Bound<'_, PyAny>,
        lldu_bytes: u32,
        decode_ns: Option<u64>,
        period_ns: Option<u64>,
        rtt_ns: Option<u64>,
        description: Option<String>,
        source: Option<String>,
    ) -> PyResult<Self> {
        let (t, d) = (column("t_ns", t_ns)?, column("d_ns", d_ns)?);
        let header = Header {
            decode: decode_ns.map(Duration::from_nanos),
            description,
            source,
            period: period_ns.map(Duration::from_nanos),
            rtt: rtt_ns.map(Duration::from_nanos),
        };
        let trace = t_ns.py().detach(|| PhyTrace::with_header(t, d, Bytes(lldu_bytes), header));
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
    fn description(&self) -> Option<&str> {
        self.0.header().description.as_deref()
    }

    #[getter]
    fn source(&self) -> Option<&str> {
        self.0.header().source.as_deref()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// `d_nom` of the trace in nanoseconds.
    fn nominal_decoding_ns(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.0.nominal_decoding().as_nanos())
    }

    /// Every `n`-th slot.
    fn share(&self, py: Python<'_>, n: NonZeroU32) -> Self {
        py.detach(|| Self(self.0.share(n)))
    }

    /// What follows `start_ns`, which becomes time 0.
    fn offset(&self, py: Python<'_>, start_ns: u64) -> PyResult<Self> {
        let part = py.detach(|| self.0.offset(Duration::from_nanos(start_ns)));
        part.map(Self).map_err(trace_error)
    }

    /// Statistics of erasures as a dict.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let erasures = py.detach(|| self.0.erasures());
        let dict = PyDict::new(py);
        dict.set_item("slots", erasures.slots)?;
        dict.set_item("erased", erasures.erased)?;
        dict.set_item("erasure_rate", erasures.erasure_rate())?;
        dict.set_item("duration_ns", erasures.duration.as_nanos())?;
        dict.set_item("rate_bps", erasures.rate)?;
        dict.set_item("median_gap_ns", erasures.median_gap.as_nanos())?;
        dict.set_item("longest_gap_ns", erasures.longest_gap.as_nanos())?;
        dict.set_item("bursts", runs_dict(py, &erasures.bursts)?)?;
        dict.set_item("good_runs", runs_dict(py, &erasures.good_runs)?)?;
        dict.set_item("alpha", erasures.gilbert.alpha)?;
        dict.set_item("beta", erasures.gilbert.beta)?;
        Ok(dict)
    }

    /// Writes every format but Parquet.
    #[pyo3(signature = (path, format, unit=None, opportunity_bytes=None, model=None))]
    fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        format: &str,
        unit: Option<&str>,
        opportunity_bytes: Option<u32>,
        model: Option<&str>,
    ) -> PyResult<()> {
        let place = |fault: String| trace_error(format!("{}: {fault}", path.display()));
        let how = match format.parse::<Format>().map_err(trace_error)? {
            Format::Text => WriteAs::Text,
            Format::Columns => WriteAs::Columns(parse_unit(unit).map_err(place)?),
            Format::Mahimahi => {
                WriteAs::Mahimahi(opportunity_bytes.map_or_else(|| self.opportunity(), Bytes))
            }
            Format::LossString => WriteAs::LossString,
            Format::Runs => WriteAs::Runs,
            Format::Netem => WriteAs::Netem(parse_model(model).map_err(place)?),
            other => {
                return Err(place(format!("clift cannot write the format {}", other.name())));
            }
        };
        let signals = Signals::default();
        let written = py.detach(|| file::write_while(&self.0, &path, how, &|| signals.none()));
        signals.or(written)
    }
}

impl PyPhyTrace {
    /// A trace that was read from a mahimahi file keeps its opportunities.
    fn opportunity(&self) -> Bytes {
        match self.0.lldu() {
            size @ Bytes(1504) => size,
            _ => mahimahi::OPPORTUNITY,
        }
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

/// The name of the format that a path's suffix stands for.
#[pyfunction]
pub(crate) fn format_of(path: PathBuf) -> PyResult<&'static str> {
    let format = Format::of(&path);
    let fault = |error| trace_error(format!("{}: {error}", path.display()));
    format.map(Format::name).map_err(fault)
}

/// Reads every format but Parquet.
#[pyfunction]
#[pyo3(signature = (path, format, unit=None, lldu_bytes=None, direction=None, losses=None,
                    interval_ns=None, rate_bps=None, slot_ns=None, decode_ns=None))]
#[allow(clippy::too_many_arguments)] // they are keywords in Python
pub(crate) fn read_trace(
    py: Python<'_>,
    path: PathBuf,
    format: &str,
    unit: Option<&str>,
    lldu_bytes: Option<u32>,
    direction: Option<&str>,
    losses: Option<PathBuf>,
    interval_ns: Option<u64>,
    rate_bps: Option<u64>,
    slot_ns: Option<u64>,
    decode_ns: Option<u64>,
) -> PyResult<PyPhyTrace> {
    let format = format.parse::<Format>().map_err(trace_error)?;
    let lldu = lldu_bytes.map(Bytes);
    let packet = lldu.unwrap_or(mahimahi::OPPORTUNITY);
    let sampling =
        Sampling { lldu: packet, rate: rate_bps.and_then(BitRate::from_bits_per_second) };
    let pattern = || -> Result<Pattern, String> {
        let slot = slot_ns.ok_or("a loss pattern has no times; give slot_ns")?;
        let decode = decode_ns.ok_or("a loss pattern has no times; give decode_ns")?;
        Ok(Pattern {
            slot: Duration::from_nanos(slot),
            decode: Duration::from_nanos(decode),
            lldu: lldu.unwrap_or(text::DEFAULT_LLDU),
        })
    };
    let how = match format {
        Format::Text => Ok(ReadAs::Text { lldu }),
        Format::Columns => parse_unit(unit)
            .map(|unit| ReadAs::Columns { unit, lldu: lldu.unwrap_or(text::DEFAULT_LLDU) }),
        Format::Mahimahi => Ok(ReadAs::Mahimahi { size: packet }),
        Format::Probes => {
            parse_direction(direction).map(|direction| ReadAs::Probes { direction, sampling })
        }
        Format::DelayLoss => losses
            .zip(interval_ns)
            .map(|(losses, interval)| {
                let interval = Duration::from_nanos(interval);
                ReadAs::DelayLoss { losses, interval, sampling }
            })
            .ok_or_else(|| {
                "a file of delays needs the file of loss flags (losses) and the time between probes (interval_ms)".to_owned()
            }),
        Format::LossString => pattern().map(ReadAs::LossString),
        Format::Runs => pattern().map(ReadAs::Runs),
        other => Err(format!("clift cannot read the format {}", other.name())),
    };
    let how = how.map_err(|fault| trace_error(format!("{}: {fault}", path.display())))?;
    let signals = Signals::default();
    let trace = py.detach(|| file::read_while(&path, &how, &|| signals.none()));
    signals.or(trace).map(PyPhyTrace)
}

/// What Python's signal handlers raised (Ctrl-C) while the core was at work.
#[derive(Default)]
struct Signals(Mutex<Option<PyErr>>);

impl Signals {
    /// Lets the handlers run; false if one raised.
    fn none(&self) -> bool {
        match Python::attach(|py| py.check_signals()) {
            Ok(()) => true,
            Err(raised) => {
                *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(raised);
                false
            }
        }
    }

    /// The outcome of the work, unless a handler raised.
    fn or<T>(self, outcome: Result<T, FileError>) -> PyResult<T> {
        match self.0.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(raised) => Err(raised),
            None => outcome.map_err(trace_error),
        }
    }
}

fn parse_unit(unit: Option<&str>) -> Result<TimeUnit, String> {
    let unit = unit.ok_or("two bare columns need a unit: s, ms, us or ns")?;
    unit.parse().map_err(|error: clift::trace::UnknownUnit| error.to_string())
}

fn parse_direction(direction: Option<&str>) -> Result<Direction, String> {
    match direction {
        Some("up") => Ok(Direction::Up),
        Some("down") => Ok(Direction::Down),
        Some(other) => Err(format!("`{other}` is no direction; give up or down")),
        None => Err("probes have two directions; give up or down".to_owned()),
    }
}

fn parse_model(model: Option<&str>) -> Result<Model, String> {
    match model {
        Some("bandwidth") => Ok(Model::Bandwidth),
        Some("delay") => Ok(Model::Delay),
        Some("loss") => Ok(Model::Loss),
        Some(other) => Err(format!("`{other}` is no model; give bandwidth, delay or loss")),
        None => Err("a netem-trace file holds one model; give bandwidth, delay or loss".to_owned()),
    }
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
