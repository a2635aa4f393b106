//! Schemes and the link traces they make.

use std::path::PathBuf;
use std::sync::Arc;

use clift::budget::Budget;
use clift::scheme as core;
use clift::trace::{LinkColumns, LinkSizes, Loading, Packing};
use clift::units::{Bytes, Duration};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::{column, view};
use crate::errors::{scenario_error, trace_error};
use crate::trace::{Packed, PyPhyTrace, files, packed, sizes, unpacked};
use crate::work::work;

/// Applies a scheme to a PHY trace. `scheme` as its text, e.g. `HARQ(10/12)`.
#[pyfunction]
pub(crate) fn apply(
    py: Python<'_>,
    phy: &PyPhyTrace,
    scheme: &str,
    rtt_ns: u64,
    feedback_ns: Option<u64>,
) -> PyResult<LinkTrace> {
    let scheme: core::Scheme = scheme.parse().map_err(scenario_error)?;
    let timing = core::Timing {
        rtt: Duration::from_nanos(rtt_ns),
        feedback: feedback_ns.map(Duration::from_nanos),
    };
    let phy = phy.0.clone();
    let apply = move |budget: &Budget<'_>| scheme.apply_within(&phy, timing, budget);
    work(py, apply, scenario_error).map(|link| LinkTrace(Arc::new(link)))
}

/// What became of every data LLDU; see `clift.LinkTrace`.
#[pyclass(frozen, module = "clift._clift")]
pub(crate) struct LinkTrace(Arc<core::LinkTrace>);

impl LinkTrace {
    pub(crate) fn new_inner(trace: Arc<core::LinkTrace>) -> Self {
        Self(trace)
    }

    pub(crate) fn inner(&self) -> &Arc<core::LinkTrace> {
        &self.0
    }
}

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

    /// Function and arguments that make it anew, for `pickle`.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Made<'py>)> {
        let make = slf.py().import("clift._clift")?.getattr("link_trace")?;
        let parts = slf.get().0.parts();
        let numbers = (parts.rtt.as_nanos(), parts.lldu.0, parts.slots, parts.slots_used);
        let bytes = parts.sizes.as_ref().map(|sizes| (sizes.all, sizes.used));
        let numbers = (numbers, bytes);
        let exceptions = (parts.lost.clone(), parts.transmissions.clone());
        let columns = (Self::t_ns(slf), Self::d_ns(slf), Self::slot_bytes(slf));
        let loading = packed(parts.loading);
        Ok((make, (columns, exceptions, numbers, parts.recovered, parts.span, parts.gap, loading)))
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

    /// Link-level statistics as a dict.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = py.detach(|| self.0.stats());
        stats_dict(py, &stats)
    }
}

/// Units that were lost, and those sent more than once.
type Exceptions = (Vec<(u32, i64)>, Vec<(u32, u32)>);

/// Round-trip time, size, slots and slots used; bytes of those where sizes differ.
type Numbers = ((u64, u32, u64, u64), Option<(u64, u64)>);

/// Columns, exceptions, and all else that a link trace is made of.
type Made<'py> = (
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Option<Bound<'py, PyArray1<i64>>>),
    Exceptions,
    Numbers,
    (u64, u128),
    (i64, i64),
    i64,
    Packed,
);

/// The link trace that `LinkTrace.__reduce__` takes apart.
#[pyfunction]
pub(crate) fn link_trace(
    columns: (Bound<'_, PyAny>, Bound<'_, PyAny>, Option<Bound<'_, PyAny>>),
    exceptions: Exceptions,
    numbers: Numbers,
    recovered: (u64, u128),
    span: (i64, i64),
    gap: i64,
    loading: Packed,
) -> PyResult<LinkTrace> {
    let (lost, transmissions) = exceptions;
    let ((rtt, lldu, slots, slots_used), bytes) = numbers;
    let lldus = match &columns.2 {
        Some(bytes) => sizes(bytes)?,
        None => Bytes(lldu).into(),
    };
    Ok(LinkTrace(Arc::new(core::LinkTrace::from_parts(core::Parts {
        t: column("t_ns", &columns.0)?,
        d: column("d_ns", &columns.1)?,
        lost,
        transmissions,
        recovered,
        slots_used,
        rtt: Duration::from_nanos(rtt),
        back: Duration::from_nanos(rtt).half(),
        lldu: Bytes(lldu),
        sizes: bytes.map(|(all, used)| LinkSizes { lldus, all, used }),
        slots,
        span,
        gap,
        loading: unpacked(loading),
    }))))
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
    let packing = packing.map(|name| {
        let fault = || trace_error(format!("packing = {name}: give packet or bytes"));
        Packing::of(name).ok_or_else(fault)
    });
    let columns = LinkColumns {
        t: column("t_ns", t_ns)?,
        d: column("d_ns", d_ns)?,
        lost: column("lost_ns", lost_ns)?.to_vec(),
        transmissions: column("transmissions", transmissions)?.to_vec(),
        sizes: sizes(lldu_bytes)?,
        rtt: Duration::from_nanos(rtt_ns),
        period: period_ns.map(Duration::from_nanos),
        slots,
        loading: Loading { packing: packing.transpose()?, ..Loading::default() },
    };
    let trace = columns.trace().map_err(trace_error)?;
    Ok(LinkTrace(Arc::new(trace)))
}

/// The delay that Kuhn 2014 prints for a scheme, evaluated on its link trace; ms.
#[pyfunction]
pub(crate) fn printed_delay_ms(link: &LinkTrace, scheme: &str) -> PyResult<Option<f64>> {
    let scheme: core::Scheme = scheme.parse().map_err(scenario_error)?;
    Ok(scheme.printed_delay_ms(&link.0))
}

fn stats_dict<'py>(py: Python<'py>, stats: &core::LinkStats) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("data_units", stats.data_units)?;
    dict.set_item("delivered", stats.delivered)?;
    dict.set_item("lost", stats.lost)?;
    dict.set_item("censored", stats.censored)?;
    dict.set_item("slots", stats.slots)?;
    dict.set_item("slots_used", stats.slots_used)?;
    dict.set_item("efficiency", stats.efficiency)?;
    dict.set_item("residual_loss", stats.residual_loss)?;
    dict.set_item("recovered", stats.recovered)?;
    dict.set_item("recovery_delay_ms", stats.recovery_delay_ms)?;
    dict.set_item("mean_delay_ms", stats.mean_delay_ms)?;
    dict.set_item("min_delay_ms", stats.min_delay_ms)?;
    dict.set_item("max_delay_ms", stats.max_delay_ms)?;
    let shares = PyDict::new(py);
    for (retransmissions, share) in stats.retransmission_shares() {
        shares.set_item(retransmissions.to_string(), share)?;
    }
    dict.set_item("retransmissions", shares)?;
    Ok(dict)
}

fn read_only<'py, T: numpy::Element>(
    array: Bound<'py, PyArray1<T>>,
) -> PyResult<Bound<'py, PyArray1<T>>> {
    array.getattr("flags")?.setattr("writeable", false)?;
    Ok(array)
}
