//! What carries packets: a link trace, or a link that runs with its traffic.

use std::num::NonZeroU32;
use std::sync::Arc;

use clift::scheme as core;
use clift::scheme::{Scheme, Timing};
use clift::seed::Seed;
use clift::units::{Bytes, Duration, Probability};
use pyo3::prelude::*;

use crate::errors::scenario_error;
use crate::link::Reorder;
use crate::scheme::LinkTrace;
use crate::simulation::{bit_rate, time};
use crate::trace::PyPhyTrace;

/// A live link before it is built; see `clift.LiveLink` and its like.
#[pyclass(frozen, module = "clift._clift")]
pub(crate) struct Medium(pub(crate) core::Medium);

#[pymethods]
impl Medium {
    /// A scheme (as its text) that runs with the traffic over a PHY trace. Reports are lost with
    /// the probability `feedback_loss`, or as `feedback_trace` says.
    #[staticmethod]
    #[pyo3(signature = (phy, scheme, *, rtt_ns, feedback_ns=None, flush_ns=0, feedback_loss=0.0, feedback_trace=None, feedback_repeat_ns=None, send_buffer=None, receive_buffer=None, reorder=None))]
    #[allow(clippy::too_many_arguments)] // keyword-only on the Python side
    fn live(
        phy: &PyPhyTrace,
        scheme: &str,
        rtt_ns: u64,
        feedback_ns: Option<u64>,
        flush_ns: u64,
        feedback_loss: f64,
        feedback_trace: Option<&PyPhyTrace>,
        feedback_repeat_ns: Option<u64>,
        send_buffer: Option<NonZeroU32>,
        receive_buffer: Option<NonZeroU32>,
        reorder: Option<&Reorder>,
    ) -> PyResult<Self> {
        let scheme: Scheme = scheme.parse().map_err(scenario_error)?;
        let timing = Timing {
            rtt: Duration::from_nanos(rtt_ns),
            feedback: feedback_ns.map(Duration::from_nanos),
        };
        let loss = Probability::new(feedback_loss).map_err(scenario_error)?;
        let feedback_loss = match feedback_trace {
            Some(trace) => core::FeedbackLoss::Trace(trace.0.clone()),
            None if loss == Probability::ZERO => core::FeedbackLoss::None,
            None => core::FeedbackLoss::Random(loss),
        };
        let config = core::LiveConfig {
            flush: Duration::from_nanos(flush_ns),
            feedback_loss,
            feedback_repeat: feedback_repeat_ns.map(Duration::from_nanos),
            send_buffer,
            receive_buffer,
            reorder: reorder.map(Reorder::rule),
            ..core::LiveConfig::new(phy.0.clone(), scheme, timing)
        };
        let medium = core::Medium::Live(Arc::new(config));
        // What is wrong with it is said here, not in the first run.
        core::LinkConfig::new(medium.clone()).build(Seed(0), 0, None).map_err(scenario_error)?;
        Ok(Self(medium))
    }

    /// Hybrid FEC/ARQ-SR: `k` of `n` units decode a frame. `losses` takes the place of `p`.
    #[staticmethod]
    #[pyo3(signature = (*, k, n, frames, persistency, unit_bytes, rate_bps, delay_ns, p, losses, in_order, seed))]
    #[allow(clippy::too_many_arguments)] // keyword-only on the Python side
    fn hybrid(
        k: u32,
        n: u32,
        frames: u32,
        persistency: u32,
        unit_bytes: u32,
        rate_bps: u64,
        delay_ns: u64,
        p: f64,
        losses: Option<PyRef<'_, PyPhyTrace>>,
        in_order: bool,
        seed: u64,
    ) -> PyResult<Self> {
        let losses = match losses {
            Some(trace) => core::UnitLosses::Trace(Arc::new(trace.0.clone())),
            None => core::UnitLosses::Bernoulli(Probability::new(p).map_err(scenario_error)?),
        };
        let config = core::HybridConfig {
            data: k,
            total: n,
            frames,
            persistency,
            unit: Bytes(unit_bytes),
            rate: bit_rate(rate_bps)?,
            delay: time(delay_ns)?,
            losses,
            in_order,
            seed: Seed(seed),
        };
        config.check().map_err(scenario_error)?;
        Ok(Self(core::Medium::Hybrid(Box::new(config))))
    }
}

/// Whatever a link can be made of.
#[derive(FromPyObject)]
pub(crate) enum AnyMedium<'py> {
    Trace(PyRef<'py, LinkTrace>),
    Live(PyRef<'py, Medium>),
}

impl AnyMedium<'_> {
    pub(crate) fn medium(&self) -> core::Medium {
        match self {
            Self::Trace(trace) => core::Medium::Trace(Arc::clone(trace.inner())),
            Self::Live(medium) => medium.0.clone(),
        }
    }
}
