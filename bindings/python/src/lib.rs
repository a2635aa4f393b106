//! Python binding of CLIFT: conversion only, no logic. The public API is the package `clift`.
use pyo3::prelude::*;

mod capture;
mod channel;
mod columns;
mod delays;
mod diagnosis;
mod errors;
mod information;
mod kept;
mod link;
mod live;
mod lms;
mod memory;
mod model;
mod outcome;
mod own;
mod run;
mod scenario;
mod scheme;
mod series;
mod simulation;
mod trace;
mod tree;
mod work;

/// The compiled part of `clift`; import `clift` instead.
#[pymodule(gil_used = false)]
mod _clift {
    use clift::link::TransmissionKind;
    use clift::simulation::EventKind;
    use pyo3::prelude::*;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    const SENT: u8 = EventKind::Sent as u8;
    #[pymodule_export]
    const SENT_AGAIN: u8 = EventKind::SentAgain as u8;
    #[pymodule_export]
    const RECEIVED: u8 = EventKind::Received as u8;
    #[pymodule_export]
    const RECEIVED_IN_VAIN: u8 = EventKind::ReceivedInVain as u8;
    #[pymodule_export]
    const GONE: u8 = EventKind::Gone as u8;
    #[pymodule_export]
    const ACKNOWLEDGED: u8 = EventKind::Acknowledged as u8;
    #[pymodule_export]
    const UNIT_NEW: u8 = TransmissionKind::New as u8;
    #[pymodule_export]
    const UNIT_AGAIN: u8 = TransmissionKind::Again as u8;
    #[pymodule_export]
    const UNIT_REPAIR: u8 = TransmissionKind::Repair as u8;

    /// Enables what a program of the core must ask for, once per process.
    #[pymodule_init]
    fn enable_parts(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        clift::trace::parquet::enable();
        Ok(())
    }

    #[pymodule_export]
    use super::{
        capture::{capture, connection_log},
        channel::channel,
        delays::{PyDelaySeries, read_delay_table},
        diagnosis::why,
        information::PyMiTrace,
        link::{deliver, replay},
        live::{live, live_hindrances},
        lms::PyLandMobile,
        model::{
            model_chain, model_erasures, model_hybrid, model_predict, model_printed,
            model_recovery_delays,
        },
        outcome::{Outcome, metrics},
        own::congestion::{PyAck, PyHandover, PyWindow},
        own::path_scheduler::PyPath,
        own::queue::PyQueuedPacket,
        own::register,
        own::slots::LiveSlot,
        run::{run, run_many},
        scenario::{PyScenario, ntn_presets, scenario_schema},
        scheme::{LinkTrace, apply, link_of_columns, link_trace, printed_delay_ms},
        series::{events, series, units},
        simulation::Setup,
        trace::{
            PyPhyTrace, format_of, import_trace, parse_rate, parse_time, phy_trace, replace_file,
            spread, trace_formats,
        },
        work::{free_memory, parse_size, set_memory_limit, set_teller},
    };
}
