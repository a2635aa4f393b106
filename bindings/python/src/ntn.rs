//! 3GPP links.

use std::num::NonZeroU32;
use std::sync::Arc;

use clift::link::Propagation;
use clift::scheme::Medium as CoreMedium;
use clift::scheme::nr::{HarqMode, NtnConfig, NtnPhy, PRESETS, RlcConfig};
use clift::units::{Bytes, Duration, Probability};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::delays;
use crate::errors::scenario_error;
use crate::medium::Medium;
use crate::trace::PyPhyTrace;

/// The names of the presets.
#[pyfunction]
pub(crate) fn ntn_presets() -> Vec<&'static str> {
    PRESETS.iter().map(|(name, _)| *name).collect()
}

/// The link of a preset with some values changed; times in ns. A limit of 0 is none, a time of -1 is
/// infinity. What is not in `changes` is the preset's, timers those that suit the rest.
#[pyfunction]
pub(crate) fn ntn_medium(preset: &str, rlc: &str, changes: &Bound<'_, PyDict>) -> PyResult<Medium> {
    let config = NtnConfig::preset(preset).ok_or_else(|| {
        scenario_error(format!(
            "preset = {preset:?}: there is none of that name; one of {}",
            ntn_presets().join(", ")
        ))
    })?;
    let mut config = match rlc {
        "am" => config,
        "um" => config.unacknowledged(),
        _ => return Err(scenario_error(format!("rlc = {rlc:?}: give 'am' or 'um'"))),
    };
    let mut timers = Vec::new();
    for (name, value) in changes {
        let name: String = name.extract()?;
        if !change(&mut config, &name, &value)? {
            timers.push((name, value));
        }
    }
    config = config.with_fitting_timers();
    for (name, value) in timers {
        change_timer(&mut config, &name, &value)?;
    }
    config.check().map_err(scenario_error)?;
    Ok(Medium(CoreMedium::Ntn(Arc::new(config))))
}

/// Sets one value; `false`: it is a timer.
fn change(config: &mut NtnConfig, name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    match name {
        "phy" => {
            let trace = value.extract::<PyRef<'_, PyPhyTrace>>()?;
            config.phy = NtnPhy::Trace(Arc::new(trace.0.clone()));
        }
        "slot" | "tb" | "decode" | "bler" => {
            let NtnPhy::Random { slot, tb, decode, bler } = &mut config.phy else {
                return Err(scenario_error(format!(
                    "{name}: the PHY trace has its own; leave it out"
                )));
            };
            match name {
                "slot" => *slot = time(value)?,
                "tb" => *tb = Bytes(value.extract()?),
                "decode" => *decode = time(value)?,
                _ => *bler = probabilities(&value.extract::<Vec<f64>>()?)?,
            }
        }
        "delay" => config.propagation = propagation(value, true)?,
        "overtaking_delay" => config.propagation = propagation(value, false)?,
        "way_back" => config.way_back = propagation(value, true)?,
        "overtaking_way_back" => config.way_back = propagation(value, false)?,
        "harq_feedback" => {
            if !value.extract::<bool>()? {
                config.harq.mode = HarqMode::NoFeedback;
            }
        }
        "repetitions" => config.harq.repetitions = value.extract()?,
        "processes" | "max_transmissions" | "processing" => {
            // Without feedback there are none of them.
            if let HarqMode::Feedback { processes, max_transmissions, processing } =
                &mut config.harq.mode
            {
                match name {
                    "processes" => *processes = value.extract()?,
                    "max_transmissions" => *max_transmissions = value.extract()?,
                    _ => *processing = time(value)?,
                }
            }
        }
        "missed_grant" => config.control.missed_grant = probability(value)?,
        "missed_feedback" => config.control.missed_feedback = probability(value)?,
        "ack_to_nack" => config.control.ack_to_nack = probability(value)?,
        "nack_to_ack" => config.control.nack_to_ack = probability(value)?,
        "dtx_to_ack" => config.control.dtx_to_ack = probability(value)?,
        "window" => match &mut config.rlc {
            RlcConfig::Um(um) => um.window = value.extract()?,
            RlcConfig::Am(am) => am.window = value.extract()?,
        },
        "poll_pdu" | "poll_bytes" | "max_retx" | "status_delay" | "status_loss" => {
            let RlcConfig::Am(am) = &mut config.rlc else { return Err(only_am(name)) };
            match name {
                "poll_pdu" => am.poll_pdu = limit(value)?,
                "poll_bytes" => am.poll_byte = limit(value)?,
                "max_retx" => am.max_retx = limit(value)?,
                "status_delay" => am.status_delay = time(value)?,
                _ => am.status_loss = probability(value)?,
            }
        }
        "in_order" => config.pdcp.in_order = value.extract()?,
        "discard" => config.pdcp.discard = timer(value)?,
        "sdu_header" => config.headers.sdu = Bytes(value.extract()?),
        "pdu_header" => config.headers.pdu = Bytes(value.extract()?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn change_timer(config: &mut NtnConfig, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match (name, &mut config.rlc) {
        ("t_reordering", _) => config.pdcp.t_reordering = timer(value)?,
        ("t_reassembly", RlcConfig::Um(um)) => um.t_reassembly = time(value)?,
        ("t_reassembly", RlcConfig::Am(am)) => am.t_reassembly = time(value)?,
        ("t_status_prohibit", RlcConfig::Am(am)) => am.t_status_prohibit = time(value)?,
        ("t_poll_retransmit", RlcConfig::Am(am)) => am.t_poll_retransmit = time(value)?,
        ("t_status_prohibit" | "t_poll_retransmit", RlcConfig::Um(_)) => return Err(only_am(name)),
        _ => return Err(PyTypeError::new_err(format!("{name}: no such value"))),
    }
    Ok(())
}

fn only_am(name: &str) -> PyErr {
    scenario_error(format!("{name}: RLC UM has none; leave it out or give rlc=\"am\""))
}

fn time(value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    Ok(Duration::from_nanos(value.extract()?))
}

fn timer(value: &Bound<'_, PyAny>) -> PyResult<Option<Duration>> {
    let nanos: i64 = value.extract()?;
    Ok(u64::try_from(nanos).ok().map(Duration::from_nanos))
}

fn limit(value: &Bound<'_, PyAny>) -> PyResult<Option<NonZeroU32>> {
    Ok(NonZeroU32::new(value.extract()?))
}

fn probability(value: &Bound<'_, PyAny>) -> PyResult<Probability> {
    Probability::new(value.extract()?).map_err(scenario_error)
}

fn probabilities(values: &[f64]) -> PyResult<Arc<[Probability]>> {
    values.iter().map(|&p| Probability::new(p).map_err(scenario_error)).collect()
}

fn propagation(value: &Bound<'_, PyAny>, keep_order: bool) -> PyResult<Propagation> {
    delays::propagation(&value.extract::<Vec<_>>()?, keep_order)
}
