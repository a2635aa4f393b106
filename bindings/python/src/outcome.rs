//! What a run measured, as dictionaries.

use clift::metrics::{DelaySummary, FlowMetrics, HopMetrics, LegMetrics, LinkMetrics};
use clift::simulation as engine;
use clift::units::Duration;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

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
    /// Goodput of all flows, kbit/s.
    #[getter]
    fn goodput_kbps(&self) -> f64 {
        self.0.goodput() / 1e3
    }

    /// Seconds from the first segment sent to the last byte received, of the flow that took
    /// longest; None unless every flow had a file and got it through.
    #[getter]
    fn completion_s(&self) -> Option<f64> {
        longest(&self.0.flows, FlowMetrics::completion)
    }

    /// Everything, as a dict that JSON can hold.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let outcome = &self.0;
        let flows = &outcome.flows;
        let total = |of: fn(&FlowMetrics) -> u64| flows.iter().map(of).sum::<u64>();
        let rate = |bytes: u64| {
            let seconds = outcome.ended.as_secs_f64();
            if seconds > 0.0 { bytes as f64 * 8e-3 / seconds } else { 0.0 }
        };
        let dict = PyDict::new(py);
        dict.set_item("duration_s", outcome.ended.as_secs_f64())?;
        dict.set_item("goodput_kbps", outcome.goodput() / 1e3)?;
        dict.set_item("throughput_kbps", rate(total(|f| f.ip_bytes_sent)))?;
        dict.set_item("ip_throughput_kbps", rate(total(|f| f.ip_bytes_received)))?;
        dict.set_item("completion_s", longest(flows, FlowMetrics::completion))?;
        dict.set_item("completion_acked_s", longest(flows, FlowMetrics::completion_acknowledged))?;
        dict.set_item("fairness", outcome.fairness())?;
        counts(&dict, &total)?;
        dict.set_item("flows", list(py, flows, flow)?)?;
        dict.set_item("links", list(py, &outcome.forward, hop)?)?;
        dict.set_item("return_links", list(py, &outcome.backward, hop)?)?;
        dict.set_item("events", outcome.events)?;
        Ok(dict)
    }
}

/// The longest of what every flow has; `None` if one has it not.
fn longest(flows: &[FlowMetrics], of: impl Fn(&FlowMetrics) -> Option<Duration>) -> Option<f64> {
    let all: Option<Vec<Duration>> = flows.iter().map(of).collect();
    all?.into_iter().max().map(Duration::as_secs_f64)
}

fn list<'py, T>(
    py: Python<'py>,
    items: &[T],
    to_dict: impl Fn(Python<'py>, &T) -> PyResult<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyList>> {
    let dicts: PyResult<Vec<_>> = items.iter().map(|item| to_dict(py, item)).collect();
    PyList::new(py, dicts?)
}

/// The counts that flows and their sum share.
fn counts(dict: &Bound<'_, PyDict>, of: &dyn Fn(fn(&FlowMetrics) -> u64) -> u64) -> PyResult<()> {
    dict.set_item("bytes_in_order", of(|f| f.bytes_in_order))?;
    dict.set_item("ip_bytes_sent", of(|f| f.ip_bytes_sent))?;
    dict.set_item("ip_bytes_received", of(|f| f.ip_bytes_received))?;
    dict.set_item("segments_sent", of(|f| f.segments_sent))?;
    dict.set_item("retransmissions", of(|f| f.retransmissions))?;
    dict.set_item("spurious_retransmissions", of(|f| f.spurious_retransmissions))?;
    dict.set_item("stale_segments", of(|f| f.stale_segments))?;
    dict.set_item("timeouts", of(|f| f.timeouts))?;
    dict.set_item("fast_retransmits", of(|f| f.fast_retransmits))?;
    dict.set_item("recovery_entries", of(|f| f.recovery_entries))?;
    dict.set_item("duplicate_acks", of(|f| f.duplicate_acks))?;
    dict.set_item("window_reductions", of(|f| f.window_reductions))?;
    dict.set_item("undo_events", of(|f| f.undo_events))
}

fn flow<'py>(py: Python<'py>, flow: &FlowMetrics) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("start_s", flow.start.as_secs_f64())?;
    dict.set_item("goodput_kbps", flow.goodput() / 1e3)?;
    dict.set_item("throughput_kbps", flow.throughput() / 1e3)?;
    dict.set_item("ip_throughput_kbps", flow.ip_throughput() / 1e3)?;
    dict.set_item("completion_s", flow.completion().map(Duration::as_secs_f64))?;
    dict.set_item("completion_acked_s", flow.completion_acknowledged().map(Duration::as_secs_f64))?;
    counts(&dict, &|of| of(flow))?;
    dict.set_item("segments_by_retransmissions", flow.segments_by_retransmissions.to_vec())?;
    dict.set_item("reordering_degree", flow.reordering_degree)?;
    dict.set_item("segment_delay_ms", delay(py, flow.segment_delay)?)?;
    dict.set_item("in_order_delay_ms", delay(py, flow.in_order_delay)?)?;
    if let Some(messages) = flow.messages {
        let dict_of = PyDict::new(py);
        dict_of.set_item("sent", messages.sent)?;
        dict_of.set_item("received", messages.received)?;
        dict_of.set_item("in_time", messages.in_time)?;
        let share = (messages.sent > 0).then(|| messages.in_time as f64 / messages.sent as f64);
        dict_of.set_item("share_in_time", share)?;
        dict_of.set_item("delay_ms", delay(py, messages.delay)?)?;
        dict.set_item("messages", dict_of)?;
    }
    Ok(dict)
}

fn hop<'py>(py: Python<'py>, hop: &HopMetrics) -> PyResult<Bound<'py, PyDict>> {
    match hop {
        HopMetrics::Leg(leg) => leg_dict(py, leg),
        HopMetrics::Link(link) => link_dict(py, link),
        other => unreachable!("a hop that the binding does not know: {other:?}"),
    }
}

fn leg_dict<'py>(py: Python<'py>, leg: &LegMetrics) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("kind", "leg")?;
    dict.set_item("packets_offered", leg.counters.offered)?;
    dict.set_item("packets_dropped", leg.counters.dropped)?;
    dict.set_item("packets_lost", leg.counters.lost)?;
    dict.set_item("packets_pending", leg.pending)?;
    dict.set_item("bytes_sent", leg.counters.bytes_sent)?;
    dict.set_item("longest_queue", leg.counters.longest_queue)?;
    Ok(dict)
}

fn link_dict<'py>(py: Python<'py>, link: &LinkMetrics) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("kind", "link")?;
    dict.set_item("packets_offered", link.counters.offered)?;
    dict.set_item("packets_delivered", link.counters.delivered)?;
    dict.set_item("packets_dropped", link.counters.dropped)?;
    dict.set_item("packets_lost", link.counters.lost)?;
    dict.set_item("packets_pending", link.pending)?;
    dict.set_item("packets_overtaken", link.counters.overtaken)?;
    dict.set_item("packets_held", link.counters.held)?;
    dict.set_item("reorder_flushes", link.counters.flushes)?;
    dict.set_item("lldus_taken", link.counters.lldus_taken)?;
    dict.set_item("bytes_delivered", link.counters.bytes_delivered)?;
    dict.set_item("share_used", link.share_used)?;
    dict.set_item("mean_coding_ratio", link.mean_coding_ratio)?;
    dict.set_item("longest_queue", link.counters.longest_queue)?;
    dict.set_item("packet_delay_ms", delay(py, link.delay)?)?;
    dict.set_item("queueing_delay_ms", delay(py, link.queueing_delay)?)?;
    for &(name, count) in &link.details {
        dict.set_item(name, count)?;
    }
    Ok(dict)
}

fn delay<'py>(
    py: Python<'py>,
    delay: Option<DelaySummary>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(delay) = delay else { return Ok(None) };
    let ms = |delay: Duration| delay.as_secs_f64() * 1e3;
    let dict = PyDict::new(py);
    dict.set_item("count", delay.count)?;
    dict.set_item("min", ms(delay.min))?;
    dict.set_item("mean", delay.mean_ns / 1e6)?;
    dict.set_item("p50", ms(delay.p50))?;
    dict.set_item("p85", ms(delay.p85))?;
    dict.set_item("p95", ms(delay.p95))?;
    dict.set_item("p99", ms(delay.p99))?;
    dict.set_item("max", ms(delay.max))?;
    Ok(Some(dict))
}
