//! A TCP connection from keyword arguments.

use std::collections::BTreeMap;

use clift::transport::tcp::{LinuxOptions, Profile, TcpConfig};
use clift::units::Bytes;
use pyo3::prelude::*;

use crate::errors::scenario_error;
use crate::simulation::time;

#[allow(clippy::too_many_arguments)]
pub(crate) fn tcp(
    congestion: &str,
    profile: &str,
    packet_bytes: u32,
    timestamps: bool,
    sack: bool,
    linux: Option<BTreeMap<String, Bound<'_, PyAny>>>,
    initial_window: Option<u32>,
    delayed_ack_ns: Option<u64>,
    cwnd_max_packets: Option<u32>,
    receive_window_bytes: Option<u32>,
) -> PyResult<TcpConfig> {
    let congestion = congestion.parse().map_err(scenario_error)?;
    let mut config = match profile {
        "papers" => TcpConfig::papers(congestion),
        "linux" => TcpConfig::linux(congestion),
        _ => {
            let message = format!("profile `{profile}` is not there; give `papers` or `linux`");
            return Err(scenario_error(message));
        }
    };
    config.packet = Bytes(packet_bytes);
    config.timestamps = timestamps;
    config.sack = sack;
    if let Some(parts) = linux {
        if config.profile != Profile::Linux {
            return Err(scenario_error("linux: its parts belong to profile=\"linux\""));
        }
        config.linux = linux_options(&parts)?;
    }
    if let Some(window) = initial_window {
        config.initial_window = window;
    }
    match delayed_ack_ns {
        None => {}
        Some(0) => config.delayed_ack = None,
        Some(nanos) => config.delayed_ack = Some(time(nanos)?),
    }
    config.cwnd_max = cwnd_max_packets;
    config.receive_window = receive_window_bytes.map(Bytes);
    config.check().map_err(scenario_error)?;
    Ok(config)
}

/// The parts of profile `linux` by name, the others as they are by default.
fn linux_options(parts: &BTreeMap<String, Bound<'_, PyAny>>) -> PyResult<LinuxOptions> {
    let mut options = LinuxOptions::default();
    for (name, value) in parts {
        let wants = if name == "max_reordering" {
            options.max_reordering = value.extract().unwrap_or(0);
            (options.max_reordering == 0).then_some("a number of segments, 3 or more")
        } else if let Some(switch) = options.switch(name) {
            value.extract().map(|on| *switch = on).err().map(|_| "True or False")
        } else {
            let known = LinuxOptions::NAMES.join(", ");
            return Err(scenario_error(format!("linux: no part `{name}`; one of {known}")));
        };
        if let Some(wants) = wants {
            return Err(scenario_error(format!("linux: {name} = {value}: give {wants}")));
        }
    }
    Ok(options)
}
