//! Python binding of CLIFT: conversion only, no logic. The public API is the package `clift`.
use pyo3::prelude::*;

mod channel;
mod columns;
mod delays;
mod errors;
mod information;
mod link;
mod lms;
mod memory;
mod model;
mod outcome;
mod run;
mod scenario;
mod scheme;
mod series;
mod simulation;
mod trace;
mod tree;

/// The compiled part of `clift`; import `clift` instead.
#[pymodule(gil_used = false)]
mod _clift {
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use super::channel::{bernoulli, gilbert_elliott};

    #[pymodule_export]
    use super::delays::PyDelaySeries;

    #[pymodule_export]
    use super::information::PyMiTrace;

    #[pymodule_export]
    use super::link::deliver;

    #[pymodule_export]
    use super::lms::{PyLandMobile, lms_names};

    #[pymodule_export]
    use super::model::{
        model_chain, model_erasures, model_hybrid, model_predict, model_printed,
        model_recovery_delays,
    };

    #[pymodule_export]
    use super::outcome::Outcome;

    #[pymodule_export]
    use super::scenario::{PyScenario, ntn_presets, scenario_schema};

    #[pymodule_export]
    use super::scheme::{LinkTrace, apply, printed_delay_ms};

    #[pymodule_export]
    use super::series::{events, series, units};

    #[pymodule_export]
    use super::run::{run, run_many};

    #[pymodule_export]
    use super::simulation::Setup;

    #[pymodule_export]
    use super::trace::{
        PyPhyTrace, format_of, parse_rate, parse_time, read_described, read_trace, replace_file,
        trace_formats,
    };
}
