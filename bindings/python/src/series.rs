//! Time series and event logs: a run done again with an observer that writes columns.

use clift::link::Transmission;
use clift::simulation::{self as engine, Event, Observer, Sample};
use clift::units::{Duration, Instant};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::run_error;
use crate::simulation::Setup;

/// Runs `setup` again and samples it every `interval_ns`; columns as numpy arrays, one row for
/// each flow and instant. The queue and what was put on the air are those of the first forward
/// hop; dropped packets are summed over the forward hops.
#[pyfunction]
pub(crate) fn series<'py>(
    py: Python<'py>,
    setup: &Setup,
    interval_ns: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let interval = Duration::from_nanos(interval_ns.max(1));
    let forward = setup.inner().forward.len();
    let mut columns = Columns { interval, forward, ..Columns::default() };
    py.detach(|| engine::run(setup.inner(), &mut columns)).map_err(run_error)?;
    let dict = PyDict::new(py);
    dict.set_item("time_s", PyArray1::from_vec(py, columns.time))?;
    dict.set_item("flow", PyArray1::from_vec(py, columns.flow))?;
    dict.set_item("cwnd_packets", PyArray1::from_vec(py, columns.cwnd))?;
    dict.set_item("ssthresh_packets", PyArray1::from_vec(py, columns.ssthresh))?;
    dict.set_item("srtt_ms", PyArray1::from_vec(py, columns.srtt))?;
    dict.set_item("in_flight_packets", PyArray1::from_vec(py, columns.in_flight))?;
    dict.set_item("goodput_kbps", PyArray1::from_vec(py, columns.goodput))?;
    dict.set_item("bytes_in_order", PyArray1::from_vec(py, columns.bytes))?;
    dict.set_item("segments_sent", PyArray1::from_vec(py, columns.sent))?;
    dict.set_item("retransmissions", PyArray1::from_vec(py, columns.retransmissions))?;
    dict.set_item("timeouts", PyArray1::from_vec(py, columns.timeouts))?;
    dict.set_item("queue_packets", PyArray1::from_vec(py, columns.queue))?;
    dict.set_item("dropped_packets", PyArray1::from_vec(py, columns.dropped))?;
    dict.set_item("bits_on_air", PyArray1::from_vec(py, columns.on_air))?;
    Ok(dict)
}

#[derive(Default)]
struct Columns {
    interval: Duration,
    forward: usize,
    time: Vec<f64>,
    flow: Vec<u32>,
    cwnd: Vec<f64>,
    ssthresh: Vec<f64>,
    srtt: Vec<f64>,
    in_flight: Vec<u64>,
    goodput: Vec<f64>,
    bytes: Vec<u64>,
    sent: Vec<u64>,
    retransmissions: Vec<u64>,
    timeouts: Vec<u64>,
    queue: Vec<u64>,
    dropped: Vec<u64>,
    on_air: Vec<f64>,
    bytes_before: Vec<u64>,
}

impl Observer for Columns {
    fn sample_interval(&self) -> Option<Duration> {
        Some(self.interval)
    }

    fn sample(&mut self, sample: &Sample) {
        self.bytes_before.resize(sample.flows.len(), 0);
        let hops = &sample.hops[..self.forward];
        for (number, flow) in sample.flows.iter().enumerate() {
            let new = flow.bytes_in_order - self.bytes_before[number];
            self.bytes_before[number] = flow.bytes_in_order;
            self.time.push(sample.at.as_secs_f64());
            self.flow.push(number as u32);
            self.cwnd.push(flow.cwnd);
            self.ssthresh.push(flow.ssthresh);
            self.srtt.push(flow.srtt.map_or(f64::NAN, |srtt| srtt.as_secs_f64() * 1e3));
            self.in_flight.push(flow.in_flight);
            self.goodput.push(new as f64 * 8e-3 / self.interval.as_secs_f64());
            self.bytes.push(flow.bytes_in_order);
            self.sent.push(flow.sent);
            self.retransmissions.push(flow.retransmissions);
            self.timeouts.push(flow.timeouts);
            self.queue.push(hops.first().map_or(0, |hop| hop.queue));
            self.dropped.push(hops.iter().map(|hop| hop.dropped).sum());
            self.on_air.push(hops.first().map_or(0.0, |hop| hop.bits_on_air));
        }
    }
}

/// Runs `setup` again and logs what happened to every segment; columns as numpy arrays: `time_ns`,
/// `flow`, `kind` ([`clift::simulation::EventKind`]), `seq` (of an acknowledgement: the next byte
/// expected) and `len`.
#[pyfunction]
pub(crate) fn events<'py>(py: Python<'py>, setup: &Setup) -> PyResult<Bound<'py, PyDict>> {
    let mut log = Log::default();
    py.detach(|| engine::run(setup.inner(), &mut log)).map_err(run_error)?;
    let dict = PyDict::new(py);
    dict.set_item("time_ns", PyArray1::from_vec(py, log.time))?;
    dict.set_item("flow", PyArray1::from_vec(py, log.flow))?;
    dict.set_item("kind", PyArray1::from_vec(py, log.kind))?;
    dict.set_item("seq", PyArray1::from_vec(py, log.seq))?;
    dict.set_item("len", PyArray1::from_vec(py, log.len))?;
    Ok(dict)
}

#[derive(Default)]
struct Log {
    time: Vec<i64>,
    flow: Vec<u32>,
    kind: Vec<u8>,
    seq: Vec<u64>,
    len: Vec<u32>,
}

impl Observer for Log {
    const EVENTS: bool = true;

    fn event(&mut self, at: Instant, event: &Event) {
        let (flow, seq, len) = match *event {
            Event::Sent { flow, seq, len, .. }
            | Event::Received { flow, seq, len, .. }
            | Event::Gone { flow, seq, len } => (flow, seq, len),
            Event::Acked { flow, ack } => (flow, ack, 0),
            _ => return,
        };
        self.time.push(at.as_nanos() as i64);
        self.flow.push(flow);
        self.kind.push(event.kind() as u8);
        self.seq.push(seq);
        self.len.push(len);
    }
}

/// Runs `setup` again and logs every unit that its live links sent; columns as numpy arrays:
/// `time_ns`, `link` (number of the shared hop), `kind` ([`clift::link::TransmissionKind`]), `unit`
/// (a repair's: its block), `attempt`, `arrival_ns` (-1: erased), `first_packet`, `last_packet`, and
/// of the first packet's stream `flow` (-1: none), `seq` and `len`. Nothing later than `until_ns`.
#[pyfunction]
#[pyo3(signature = (setup, until_ns=None))]
pub(crate) fn units<'py>(
    py: Python<'py>,
    setup: &Setup,
    until_ns: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let until = until_ns.map_or(Instant::MAX, Instant::from_nanos);
    let mut log = Units { until, ..Units::default() };
    py.detach(|| engine::run(setup.inner(), &mut log)).map_err(run_error)?;
    let dict = PyDict::new(py);
    dict.set_item("time_ns", PyArray1::from_vec(py, log.time))?;
    dict.set_item("link", PyArray1::from_vec(py, log.link))?;
    dict.set_item("kind", PyArray1::from_vec(py, log.kind))?;
    dict.set_item("unit", PyArray1::from_vec(py, log.unit))?;
    dict.set_item("attempt", PyArray1::from_vec(py, log.attempt))?;
    dict.set_item("arrival_ns", PyArray1::from_vec(py, log.arrival))?;
    dict.set_item("first_packet", PyArray1::from_vec(py, log.first))?;
    dict.set_item("last_packet", PyArray1::from_vec(py, log.last))?;
    dict.set_item("flow", PyArray1::from_vec(py, log.flow))?;
    dict.set_item("seq", PyArray1::from_vec(py, log.seq))?;
    dict.set_item("len", PyArray1::from_vec(py, log.len))?;
    Ok(dict)
}

#[derive(Default)]
struct Units {
    until: Instant,
    time: Vec<i64>,
    link: Vec<u32>,
    kind: Vec<u8>,
    unit: Vec<u64>,
    attempt: Vec<u32>,
    arrival: Vec<i64>,
    first: Vec<u64>,
    last: Vec<u64>,
    flow: Vec<i64>,
    seq: Vec<u64>,
    len: Vec<u32>,
}

impl Observer for Units {
    const UNITS: bool = true;

    fn units(&mut self, hop: usize, sent: Vec<Transmission>) {
        for unit in sent.into_iter().take_while(|unit| unit.at <= self.until) {
            self.time.push(unit.at.as_nanos() as i64);
            self.link.push(hop as u32);
            self.kind.push(unit.kind as u8);
            self.unit.push(unit.unit);
            self.attempt.push(unit.attempt);
            self.arrival.push(unit.arrival.map_or(-1, |at| at.as_nanos() as i64));
            self.first.push(unit.packets.0);
            self.last.push(unit.packets.1);
            self.flow.push(unit.carries.map_or(-1, |range| i64::from(range.flow)));
            self.seq.push(unit.carries.map_or(0, |range| range.start));
            self.len.push(unit.carries.map_or(0, |range| (range.end - range.start) as u32));
        }
    }
}
