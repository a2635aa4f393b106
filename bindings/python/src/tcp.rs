//! A TCP connection from keyword arguments.

use std::collections::BTreeMap;

use clift::config::{self, Node, Value};
use clift::transport::tcp::{DelayedAck, LinuxOptions, Profile, TcpConfig};
use clift::units::{Bytes, Packets, Size};
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
        config.linux = Some(linux_options(&parts)?);
    }
    let packets = |count: u32| {
        Packets::new(count.into()).ok_or_else(|| {
            scenario_error(
                "a window of 0 packets never sends; give an initial and a maximal window of at \
                 least 1",
            )
        })
    };
    config.initial_window = initial_window.map(packets).transpose()?;
    config.delayed_ack = match delayed_ack_ns {
        None => None,
        Some(0) => Some(DelayedAck::Off),
        Some(nanos) => Some(DelayedAck::After(time(nanos)?)),
    };
    config.cwnd_max = cwnd_max_packets.map(packets).transpose()?;
    config.receive_window = receive_window_bytes.map(|bytes| Size(bytes.into()));
    config.check().map_err(|fault| scenario_error(fault.message()))?;
    Ok(config)
}

/// The parts of profile `linux` by name, the others as they are by default.
fn linux_options(parts: &BTreeMap<String, Bound<'_, PyAny>>) -> PyResult<LinuxOptions> {
    let known = config::fields_of::<LinuxOptions>();
    let mut entries = Vec::new();
    for (name, value) in parts {
        if !known.contains(&name.as_str()) {
            let known = known.join(", ");
            return Err(scenario_error(format!("linux: no part `{name}`; one of {known}")));
        }
        let node = match (value.extract::<bool>(), value.extract::<i64>()) {
            (Ok(on), _) => Node::Bool(on),
            (_, Ok(number)) => Node::Integer(number.into()),
            _ => Node::Text(value.to_string()),
        };
        entries.push((name.as_str(), Value::from(node)));
    }
    config::read(&Value::table(entries)).map_err(|fault| {
        let name = fault.path();
        let number = name == "max_reordering";
        let wants = if number { "a number of segments, 3 or more" } else { "True or False" };
        let value = parts.get(&name).map(ToString::to_string).unwrap_or_default();
        scenario_error(format!("linux: {name} = {value}: give {wants}"))
    })
}
