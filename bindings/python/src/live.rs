//! Links in real time.

use std::path::PathBuf;

use pyo3::prelude::*;

use crate::errors::scenario_error;
use crate::simulation::Setup;

/// Reasons why this machine cannot run live links, one line each.
#[pyfunction]
pub(crate) fn live_hindrances(py: Python<'_>) -> Vec<String> {
    #[cfg(target_os = "linux")]
    return py.detach(clift_live::hindrances);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = py;
        vec!["live links need Linux".to_owned()]
    }
}

/// Runs commands on two hosts connected by the paths of a setup, in real time, as a given user and
/// group. Returns the report as JSON. `capture`: a file, the bytes kept of each packet, and the
/// maximum number of packets.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // the options of the command line
pub(crate) fn live(
    py: Python<'_>,
    setup: &Setup,
    command: Vec<String>,
    serve: Option<Vec<String>>,
    user: (u32, u32),
    congestion: Option<String>,
    log: Option<PathBuf>,
    capture: Option<(PathBuf, u32, usize)>,
) -> PyResult<String> {
    #[cfg(target_os = "linux")]
    {
        let commands =
            clift_live::Commands { command, serve, user: user.0, group: user.1, congestion };
        let capture = capture.map(|(path, snap, most)| clift_live::CaptureTo { path, snap, most });
        let ran =
            py.detach(|| clift_live::run(&setup.0, &commands, log.as_deref(), capture.as_ref()));
        let report = ran.map_err(scenario_error)?;
        let lateness = &report.lateness;
        let directions = report.directions.map(|direction| {
            let counters = direction.counters;
            serde_json::json!({
                "offered": counters.offered,
                "dropped": counters.dropped,
                "delivered": counters.delivered,
                "lost": counters.lost,
                "bytes_delivered": counters.bytes_delivered,
                "refused": direction.refused,
            })
        });
        let report = serde_json::json!({
            "code": report.code,
            "seconds": report.seconds,
            "began_ns": report.began,
            "first_ns": {"there": report.directions[0].first, "back": report.directions[1].first},
            "processor_s": report.processor,
            "real_time": report.real_time,
            "trace_ended_s": report.trace_ended,
            "captured": report.captured.map(|captured| captured.packets),
            "left_out": report.captured.map_or(0, |captured| captured.left_out),
            "packets": lateness.packets(),
            "late_ns": {
                "p50": lateness.quantile(0.5),
                "p99": lateness.quantile(0.99),
                "p999": lateness.quantile(0.999),
                "max": lateness.max(),
            },
            "late_steps": lateness.steps(),
            "there": directions[0],
            "back": directions[1],
        });
        Ok(report.to_string())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (py, setup, command, serve, user, congestion, log, capture);
        Err(scenario_error("live links need Linux"))
    }
}
