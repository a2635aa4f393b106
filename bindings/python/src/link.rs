//! A link without an engine: fates of packets that arrive at given times, or that another host
//! logged.

use clift::budget::Budget;
use clift::config::{Fault, Value};
use clift::link::{self as core, Admission, Link, LinkEvent, Packet, PacketId, StreamRange};
use clift::scenario::Change;
use clift::seed::Seed;
use clift::simulation::{Hop, Way};
use clift::units::{Bytes, Instant};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::columns::column;
use crate::errors::scenario_error;
use crate::own::raised;
use crate::scenario::PyScenario;
use crate::simulation::Setup;
use crate::work::work;

/// Delivery time of each packet, and its fate.
type Deliveries<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u8>>);

/// Delivery time (-1 if not delivered) and fate of each packet that arrives at the first link of a
/// scenario: 0 delivered, 1 lost, 2 queue full, 3 pending.
#[pyfunction]
pub(crate) fn deliver<'py>(
    py: Python<'py>,
    scenario: &PyScenario,
    arrivals_ns: &Bound<'py, PyAny>,
    packet_bytes: u32,
    seed: u64,
) -> PyResult<Deliveries<'py>> {
    let arrivals = column("arrivals_ns", arrivals_ns)?;
    // A generated channel lasts one minute longer than the last arrival.
    let last = arrivals.iter().max().map_or(1, |&last| last.clamp(1, 1 << 61));
    let lasting =
        scenario.with([("duration".to_owned(), Change::Value(Value::text(format!("{last} ns"))))]);
    let setup = lasting.prepared_watched(py, 0, 0)?;
    let [forward, _] = setup.chain().map_err(scenario_error)?;
    let Some(Hop::Link(config)) = forward.first() else {
        return Err(scenario_error("ll: give a link"));
    };
    config.check_packet(Bytes(packet_bytes)).map_err(scenario_error)?;
    let link = config.build(Seed(seed), 0, None);
    raised::check()?;
    let mut link = link.map_err(scenario_error)?;
    let deliver = move |_: &Budget<'_>| {
        let packets = core::deliver(&mut *link, &arrivals, Bytes(packet_bytes))?;
        let fate: Vec<u8> = packets.fate.iter().map(|&fate| fate as u8).collect();
        Ok::<_, Fault>((packets.delivered, fate))
    };
    let (delivered, fate) = work(py, deliver, scenario_error)?;
    Ok((PyArray1::from_vec(py, delivered), PyArray1::from_vec(py, fate)))
}

/// An arrival in another host's log: time in ns, bytes, flow, and first and end byte of the stream
/// data in the packet.
type Arrival = (u64, u32, u32, u64, u64);
/// An event of a packet: kind, number, time in ns.
type Happened = (String, u64, u64);

/// Sends these arrivals, in order, over the forward (0) or return (1) path of a setup and returns
/// the events of the packets, which are numbered from 0.
#[pyfunction]
pub(crate) fn replay(
    py: Python<'_>,
    setup: &Setup,
    direction: u32,
    arrivals: Vec<Arrival>,
) -> PyResult<Vec<Happened>> {
    let setup = &setup.0;
    let [forward, backward] = setup.chain().map_err(scenario_error)?;
    let (hops, first) = match direction {
        0 => (forward, 0),
        _ => (backward, forward.len() as u32),
    };
    let mut way = Way::new(hops, setup.seed, first).map_err(scenario_error)?;
    raised::check()?;
    way.notify_departures();
    let happened = py.detach(|| {
        let mut happened = Vec::new();
        for (number, &(now, size, flow, start, end)) in (0..).zip(&arrivals) {
            while let Some(due) = way.poll_timeout().filter(|due| due.as_nanos() <= now) {
                poll(&mut way, due, &mut happened);
            }
            let packet = Packet::new(PacketId(number), Bytes(size));
            let range = StreamRange { flow, start, end };
            let packet = if start < end { packet.carrying(range) } else { packet };
            if let Admission::Dropped(_) = way.enqueue(Instant::from_nanos(now), packet) {
                happened.push(("dropped".to_owned(), number, now));
            }
        }
        while let Some(due) = way.poll_timeout() {
            poll(&mut way, due, &mut happened);
        }
        happened
    });
    raised::check()?;
    Ok(happened)
}

fn poll(way: &mut Way, now: Instant, happened: &mut Vec<Happened>) {
    while let Some(event) = way.poll(now) {
        let (kind, packet) = match event {
            LinkEvent::Delivered(transit) => ("delivered", transit.packet),
            LinkEvent::Lost(transit) => ("lost", transit.packet),
            LinkEvent::Departed { packet, .. } => ("departed", packet),
            LinkEvent::TraceEnded { packet, .. } => ("ended", packet),
            _ => continue,
        };
        happened.push((kind.to_owned(), packet.0, event.at().as_nanos()));
    }
}
