//! The link alone.

use clift::config::Value;
use clift::link as core;
use clift::scenario::Change;
use clift::seed::Seed;
use clift::simulation::Hop;
use clift::units::Bytes;
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::columns::column;
use crate::errors::scenario_error;
use crate::scenario::PyScenario;

/// When each packet was delivered, and its fate.
type Deliveries<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u8>>);

/// When each of the packets that arrive at the first link of a scenario was delivered (-1: not), and
/// its fate: 0 delivered, 1 lost, 2 queue full, 3 pending.
#[pyfunction]
pub(crate) fn deliver<'py>(
    py: Python<'py>,
    scenario: &PyScenario,
    arrivals_ns: &Bound<'py, PyAny>,
    packet_bytes: u32,
    seed: u64,
) -> PyResult<Deliveries<'py>> {
    let arrivals = column("arrivals_ns", arrivals_ns)?;
    // A channel that is made lasts a minute beyond the last packet.
    let last = arrivals.iter().max().map_or(1, |&last| last.clamp(1, 1 << 61));
    let lasting =
        scenario.with([("duration".to_owned(), Change::Value(Value::text(format!("{last} ns"))))]);
    let setup = py.detach(|| lasting.prepared(0, 0)).map_err(|wrong| wrong.error(py))?;
    let Some(Hop::Link(config)) = setup.forward.first() else {
        return Err(scenario_error("ll: give a link"));
    };
    config.check_packet(Bytes(packet_bytes)).map_err(scenario_error)?;
    let mut link = config.build(Seed(seed), 0, None).map_err(scenario_error)?;
    let (delivered, fate) = py
        .detach(|| {
            let packets = core::deliver(&mut *link, &arrivals, Bytes(packet_bytes))?;
            let fate: Vec<u8> = packets.fate.iter().map(|&fate| fate as u8).collect();
            Ok::<_, core::DeliverError>((packets.delivered, fate))
        })
        .map_err(scenario_error)?;
    Ok((PyArray1::from_vec(py, delivered), PyArray1::from_vec(py, fate)))
}
