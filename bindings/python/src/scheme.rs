//! Schemes and link traces.

use std::path::PathBuf;
use std::sync::Arc;

use clift::budget::Budget;
use clift::scheme as core;
use clift::trace::LinkColumns;
use clift::units::Duration;
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::columns::{column, view};
use crate::errors::{scenario_error, trace_error};
use crate::own;
use crate::trace::{Pickled, PyPhyTrace, files, packed_as, sizes};
use crate::tree;
use crate::work::work;

/// Applies a scheme to a PHY trace. `scheme` is its text, e.g. `HARQ(10/12)`.
#[pyfunction]
pub(crate) fn apply(
    py: Python<'_>,
    phy: &PyPhyTrace,
    scheme: &str,
    rtt_ns: u64,
    feedback_ns: Option<u64>,
) -> PyResult<LinkTrace> {
    let scheme = own::scheme(scheme)?;
    let timing = core::Timing {
        rtt: Duration::from_nanos(rtt_ns),
        feedback: feedback_ns.map(Duration::from_nanos),
    };
    let phy = phy.0.clone();
    let apply = move |budget: &Budget<'_>| scheme.apply_within(&phy, timing, budget);
    work(py, apply, scenario_error).map(|link| LinkTrace(Arc::new(link)))
}

/// The fate of every data LLDU; see `clift.LinkTrace`.
#[pyclass(frozen, module = "clift._clift")]
pub(crate) struct LinkTrace(pub(crate) Arc<core::LinkTrace>);

#[pymethods]
impl LinkTrace {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    #[getter]
    fn t_ns<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<i64>> {
        view(&slf.get().0.parts().t, slf.clone().into_any())
    }

    #[getter]
    fn d_ns<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<i64>> {
        view(&slf.get().0.parts().d, slf.clone().into_any())
    }

    #[getter]
    fn lost_ns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        read_only(PyArray1::from_vec(py, self.0.lost_column()))
    }

    #[getter]
    fn transmissions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        read_only(PyArray1::from_vec(py, self.0.transmissions_column()))
    }

    #[getter]
    fn rtt_ns(&self) -> u64 {
        self.0.parts().rtt.as_nanos()
    }

    #[getter]
    fn lldu_bytes(&self) -> u32 {
        self.0.parts().lldu.0
    }

    #[getter]
    fn slot_bytes<'py>(slf: &Bound<'py, Self>) -> Option<Bound<'py, PyArray1<i64>>> {
        let sizes = slf.get().0.parts().sizes.as_ref()?;
        Some(view(sizes.lldus.column()?, slf.clone().into_any()))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        let make = slf.py().import("clift._clift")?.getattr("link_trace")?;
        let parts = slf.get().0.parts();
        let each = parts.sizes.as_ref().and_then(|sizes| sizes.lldus.column());
        let name = if each.is_some() { "slot_bytes" } else { "lldu_bytes" };
        let json = tree::json(&(parts, slf.get().0.slot_marks()))?;
        Ok((make, (Self::t_ns(slf), Self::d_ns(slf), slf.getattr(name)?, json)))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    fn __hash__(&self) -> u64 {
        self.0.parts().slots
    }

    /// Writes the link trace as CSV or Parquet.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let link = Arc::clone(&self.0);
        files(py, move |budget| link.write(&path, &|| budget.ask().is_ok()))
    }

    /// Link-level statistics, as JSON.
    fn stats(&self, py: Python<'_>) -> PyResult<String> {
        let stats = py.detach(|| self.0.stats());
        let mut told = serde_json::to_value(&stats).map_err(scenario_error)?;
        let shares =
            stats.retransmission_shares().map(|(times, of)| (times.to_string(), of.into()));
        told["retransmissions"] = serde_json::Value::Object(shares.collect());
        Ok(told.to_string())
    }
}

/// Rebuilds the link trace that `LinkTrace.__reduce__` pickled.
#[pyfunction]
pub(crate) fn link_trace(
    t_ns: &Bound<'_, PyAny>,
    d_ns: &Bound<'_, PyAny>,
    lldu_bytes: &Bound<'_, PyAny>,
    parts: &str,
) -> PyResult<LinkTrace> {
    let (mut parts, marks): (core::Parts, Vec<u32>) = tree::of_json(parts)?;
    (parts.t, parts.d) = (column("t_ns", t_ns)?, column("d_ns", d_ns)?);
    if let Some(own) = &mut parts.sizes {
        own.lldus = sizes(lldu_bytes)?;
    }
    Ok(LinkTrace(Arc::new(core::LinkTrace::from_parts(parts).with_slot_marks(marks))))
}

/// The link trace of these columns; see `clift.LinkTrace`.
#[pyfunction]
#[pyo3(signature = (t_ns, d_ns, lost_ns, transmissions, rtt_ns, lldu_bytes, period_ns=None,
                    slots=None, packing=None))]
#[allow(clippy::too_many_arguments)] // they are keywords in Python
pub(crate) fn link_of_columns(
    t_ns: &Bound<'_, PyAny>,
    d_ns: &Bound<'_, PyAny>,
    lost_ns: &Bound<'_, PyAny>,
    transmissions: &Bound<'_, PyAny>,
    rtt_ns: u64,
    lldu_bytes: &Bound<'_, PyAny>,
    period_ns: Option<u64>,
    slots: Option<u64>,
    packing: Option<&str>,
) -> PyResult<LinkTrace> {
    let columns = LinkColumns {
        t: column("t_ns", t_ns)?,
        d: column("d_ns", d_ns)?,
        lost: column("lost_ns", lost_ns)?.to_vec(),
        transmissions: column("transmissions", transmissions)?.to_vec(),
        sizes: sizes(lldu_bytes)?,
        rtt: Duration::from_nanos(rtt_ns),
        period: period_ns.map(Duration::from_nanos),
        slots,
        loading: packed_as(packing)?,
    };
    let trace = columns.trace().map_err(trace_error)?;
    Ok(LinkTrace(Arc::new(trace)))
}

/// The delay in ms by the formula that Kuhn 2014 prints for a scheme, evaluated on its link trace.
#[pyfunction]
pub(crate) fn printed_delay_ms(link: &LinkTrace, scheme: &str) -> PyResult<Option<f64>> {
    let scheme = own::scheme(scheme)?;
    Ok(scheme.printed_delay_ms(&link.0))
}

fn read_only<'py, T: numpy::Element>(
    array: Bound<'py, PyArray1<T>>,
) -> PyResult<Bound<'py, PyArray1<T>>> {
    array.getattr("flags")?.setattr("writeable", false)?;
    Ok(array)
}
