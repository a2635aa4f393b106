//! Adaptive HARQ, and the mutual information that it lives on.

use std::sync::Arc;

use clift::scheme::{AdaptiveHarqConfig, Medium as CoreMedium, Repairs, Sizing, Threshold};
use clift::seed::Seed;
use clift::trace::MiTrace;
use clift::units::{Duration, Probability};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::delays::propagation;
use crate::errors::scenario_error;
use crate::link::Reorder;
use crate::lms::PyLandMobile;
use crate::medium::Medium;
use crate::simulation::{bit_rate, time};

/// Mutual information per coded bit over time, shared by the links over it.
#[pyclass(frozen, name = "MiTrace", module = "clift._clift")]
pub(crate) struct PyMiTrace(Arc<MiTrace>);

#[pymethods]
impl PyMiTrace {
    /// One value from 0 to 1 every `every_ns`.
    #[new]
    fn new(every_ns: u64, values: PyReadonlyArray1<'_, f32>) -> PyResult<Self> {
        let trace = MiTrace::new(time(every_ns)?, values.as_array().to_vec());
        trace.map(|trace| Self(Arc::new(trace))).map_err(scenario_error)
    }

    /// That of a channel's slots.
    #[staticmethod]
    fn of(py: Python<'_>, channel: &PyLandMobile, duration_ns: u64, seed: u64) -> PyResult<Self> {
        let duration = time(duration_ns)?;
        let trace = py.detach(|| channel.information(duration, Seed(seed)));
        trace.map(|trace| Self(Arc::new(trace))).map_err(scenario_error)
    }

    #[getter]
    fn every_ns(&self) -> u64 {
        self.0.every().as_nanos()
    }

    /// The mean over the trace.
    fn mean(&self) -> f64 {
        self.0.mean()
    }

    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, self.0.values())
    }

    fn __len__(&self) -> usize {
        self.0.values().len()
    }
}

/// An adaptive-HARQ link. `delay` is `(from_ns, delay_ns)` in steps, of which one is a fixed delay.
/// `first` and `increment` are coded bits per information bit; `targets` take their place.
#[pyfunction]
#[pyo3(signature = (information, *, rate_bps, delay, keep_order, first, increment, targets,
                    max_retransmissions, step_ns, packet_sigma, attempt_sigma, compete, reorder))]
#[allow(clippy::too_many_arguments)] // keyword-only on the Python side
pub(crate) fn adaptive_harq(
    information: &PyMiTrace,
    rate_bps: u64,
    delay: Vec<(u64, u64)>,
    keep_order: bool,
    first: f64,
    increment: f64,
    targets: Option<Vec<f64>>,
    max_retransmissions: u32,
    step_ns: u64,
    packet_sigma: f64,
    attempt_sigma: f64,
    compete: bool,
    reorder: Option<&Reorder>,
) -> PyResult<Medium> {
    let sizing = match targets {
        None => Sizing::Fixed { first, increment },
        Some(targets) => {
            let targets: Result<Vec<_>, _> = targets.into_iter().map(Probability::new).collect();
            Sizing::for_targets(&information.0, &targets.map_err(scenario_error)?)
                .map_err(scenario_error)?
        }
    };
    let config = AdaptiveHarqConfig {
        information: Arc::clone(&information.0),
        rate: bit_rate(rate_bps)?,
        delay: propagation(&delay, keep_order)?,
        sizing,
        max_retransmissions,
        step: Duration::from_nanos(step_ns),
        threshold: Threshold { packet_sigma, attempt_sigma },
        repairs: if compete { Repairs::Compete } else { Repairs::Beside },
        reorder: reorder.map(Reorder::rule),
    };
    config.check().map_err(scenario_error)?;
    Ok(Medium(CoreMedium::AdaptiveHarq(Arc::new(config))))
}
