//! Time series and event logs: repeats a run with an observer that records columns.

use std::ops::ControlFlow;
use std::sync::Arc;

use clift::budget::{Budget, Refusal};
use clift::link::Transmission;
use clift::simulation::{self as engine, Event, Observer, Sample, Wants};
use clift::units::{Duration, Instant};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{memory_error, run_error, scenario_error};
use crate::own::raised;
use crate::simulation::Setup;
use crate::work::watched;

/// A table stored by columns.
trait Table: Default + Send + 'static {
    type Row;

    /// Appends a row, if the budget allows it.
    fn push(&mut self, row: Self::Row, budget: &Budget<'_>) -> Result<(), Refusal>;

    fn dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>>;
}

/// A table with the names that Python sees, and its row type.
macro_rules! table {
    ($table:ident of $row:ident { $($column:ident: $kind:ty),+ $(,)? }) => {
        #[derive(Default)]
        struct $table {
            $($column: Vec<$kind>),+
        }

        struct $row {
            $($column: $kind),+
        }

        impl Table for $table {
            type Row = $row;

            fn push(&mut self, row: $row, budget: &Budget<'_>) -> Result<(), Refusal> {
                $(budget.grow(&mut self.$column, "rows of a log")?;)+
                $(self.$column.push(row.$column);)+
                Ok(())
            }

            fn dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
                let dict = PyDict::new(py);
                $(dict.set_item(stringify!($column), PyArray1::from_vec(py, self.$column))?;)+
                Ok(dict)
            }
        }
    };
}

/// Runs `setup` again and samples it every `interval_ns`. Returns columns as numpy arrays, with one
/// row per time for each of the first `flows` flows. The queue is the longest
/// one of the forward hops, and dropped packets are summed over them; the transmitted bits are those of
/// the first one.
#[pyfunction]
#[pyo3(signature = (setup, interval_ns, flows=None))]
pub(crate) fn series<'py>(
    py: Python<'py>,
    setup: &Setup,
    interval_ns: u64,
    flows: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let interval = Duration::from_nanos(interval_ns.max(1));
    logged(py, setup, move |setup, log| {
        let (forward, flows) = (setup.forward.len(), flows.unwrap_or(usize::MAX));
        let mut sampler = Sampler { interval, forward, flows, bytes_before: Vec::new(), log };
        engine::run(setup, &mut sampler).map(drop)
    })
}

/// A log: it ends when it is stopped or its memory is exhausted.
struct Log<'a, T> {
    table: T,
    budget: &'a Budget<'a>,
    refused: Option<Refusal>,
}

impl<T: Table> Log<'_, T> {
    /// Appends a row, unless the memory was exhausted before.
    fn push(&mut self, row: T::Row) {
        if self.refused.is_none() {
            self.refused = self.table.push(row, self.budget).err();
        }
    }

    fn checkpoint(&mut self) -> ControlFlow<()> {
        if self.refused.is_none() {
            self.refused = self.budget.ask().err();
        }
        let ends = self.refused.is_some() || raised::is_raised();
        if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Returns the log of a run of `setup` as columns.
fn logged<'py, T: Table>(
    py: Python<'py>,
    setup: &Setup,
    run: impl FnOnce(&engine::Setup, &mut Log<'_, T>) -> Result<(), engine::RunError> + Send + 'static,
) -> PyResult<Bound<'py, PyDict>> {
    let setup = Arc::clone(&setup.0);
    let run = move |budget: &Budget<'_>| {
        let mut log = Log { table: T::default(), budget, refused: None };
        let ran = run(&setup, &mut log);
        (ran, log.table, log.refused)
    };
    let ((ran, table, refused), short) = watched(py, run)?;
    match refused {
        Some(refused) if short => Err(memory_error(refused)),
        Some(refused) => Err(scenario_error(refused)),
        None => ran.map_err(run_error).and_then(|()| table.dict(py)),
    }
}

table!(Samples of SampleRow {
    time_s: f64,
    flow: u32,
    cwnd_packets: f64,
    ssthresh_packets: f64,
    srtt_ms: f64,
    in_flight_packets: u64,
    goodput_kbps: f64,
    bytes_in_order: u64,
    segments_sent: u64,
    retransmissions: u64,
    timeouts: u64,
    queue_packets: u64,
    dropped_packets: u64,
    bits_on_air: f64,
});

struct Sampler<'a, 'b> {
    interval: Duration,
    forward: usize,
    flows: usize,
    bytes_before: Vec<u64>,
    log: &'a mut Log<'b, Samples>,
}

impl Observer for Sampler<'_, '_> {
    fn checkpoint(&mut self, _: Instant, _: u64) -> ControlFlow<()> {
        self.log.checkpoint()
    }

    fn sample_interval(&self) -> Option<Duration> {
        Some(self.interval)
    }

    fn sample(&mut self, sample: &Sample) {
        self.bytes_before.resize(sample.flows.len(), 0);
        let hops = &sample.hops[..self.forward];
        for (number, flow) in sample.flows.iter().enumerate().take(self.flows) {
            let new = flow.bytes_in_order - self.bytes_before[number];
            self.bytes_before[number] = flow.bytes_in_order;
            self.log.push(SampleRow {
                time_s: sample.at.as_secs_f64(),
                flow: number as u32,
                cwnd_packets: flow.cwnd,
                ssthresh_packets: flow.ssthresh,
                srtt_ms: flow.srtt.map_or(f64::NAN, |srtt| srtt.as_secs_f64() * 1e3),
                in_flight_packets: flow.in_flight,
                goodput_kbps: new as f64 * 8e-3 / self.interval.as_secs_f64(),
                bytes_in_order: flow.bytes_in_order,
                segments_sent: flow.sent,
                retransmissions: flow.retransmissions,
                timeouts: flow.timeouts,
                queue_packets: hops.iter().map(|hop| hop.queue).max().unwrap_or(0),
                dropped_packets: hops.iter().map(|hop| hop.dropped).sum(),
                bits_on_air: hops.first().map_or(0.0, |hop| hop.bits_on_air),
            });
        }
    }
}

/// Runs `setup` again and logs the events of every segment. Returns columns as numpy arrays:
/// `time_ns`, `flow`, `kind` ([`clift::simulation::EventKind`]), `seq` (of an acknowledgement: the
/// next byte expected) and `len`.
#[pyfunction]
pub(crate) fn events<'py>(py: Python<'py>, setup: &Setup) -> PyResult<Bound<'py, PyDict>> {
    logged(py, setup, |setup, log| {
        engine::run(setup, &mut Events(log))?;
        log.table.sort();
        Ok(())
    })
}

table!(Segments of SegmentRow { time_ns: i64, flow: u32, kind: u8, seq: u64, len: u32 });

impl Segments {
    /// Sorts by time: drops of a managed queue are reported slightly later.
    fn sort(&mut self) {
        if self.time_ns.is_sorted() {
            return;
        }
        let mut order: Vec<usize> = (0..self.time_ns.len()).collect();
        order.sort_by_key(|&row| self.time_ns[row]);
        fn put<T: Copy>(column: &mut Vec<T>, order: &[usize]) {
            *column = order.iter().map(|&row| column[row]).collect();
        }
        put(&mut self.time_ns, &order);
        put(&mut self.flow, &order);
        put(&mut self.kind, &order);
        put(&mut self.seq, &order);
        put(&mut self.len, &order);
    }
}

struct Events<'a, 'b>(&'a mut Log<'b, Segments>);

impl Observer for Events<'_, '_> {
    fn wants(&self) -> Wants {
        Wants { events: true, ..Wants::default() }
    }

    fn checkpoint(&mut self, _: Instant, _: u64) -> ControlFlow<()> {
        self.0.checkpoint()
    }

    fn event(&mut self, at: Instant, event: &Event) {
        let (flow, seq, len) = match *event {
            Event::Sent { flow, seq, len, .. }
            | Event::Received { flow, seq, len, .. }
            | Event::Gone { flow, seq, len } => (flow, seq, len),
            Event::Acked { flow, ack } => (flow, ack, 0),
            _ => return,
        };
        let (time_ns, kind) = (at.as_nanos() as i64, event.kind() as u8);
        self.0.push(SegmentRow { time_ns, flow, kind, seq, len });
    }
}

/// Runs `setup` again and logs every unit that its live links sent. Returns columns as numpy
/// arrays: `time_ns`, `link` (number of the shared hop), `kind`
/// ([`clift::link::TransmissionKind`]), `unit` (for a repair: its block), `attempt`, `arrival_ns`
/// (-1: erased), `first_packet`, `last_packet`, and `flow` (-1: none), `seq` and `len` of the first
/// packet's stream. Ends at `until_ns`.
#[pyfunction]
#[pyo3(signature = (setup, until_ns=None))]
pub(crate) fn units<'py>(
    py: Python<'py>,
    setup: &Setup,
    until_ns: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let until = until_ns.map_or(Instant::MAX, Instant::from_nanos);
    logged(py, setup, move |setup, log| engine::run(setup, &mut Units { until, log }).map(drop))
}

table!(Sent of SentRow {
    time_ns: i64,
    link: u32,
    kind: u8,
    unit: u64,
    attempt: u32,
    arrival_ns: i64,
    first_packet: u64,
    last_packet: u64,
    flow: i64,
    seq: u64,
    len: u32,
});

struct Units<'a, 'b> {
    until: Instant,
    log: &'a mut Log<'b, Sent>,
}

impl Observer for Units<'_, '_> {
    fn wants(&self) -> Wants {
        Wants { units: true, ..Wants::default() }
    }

    fn checkpoint(&mut self, _: Instant, _: u64) -> ControlFlow<()> {
        self.log.checkpoint()
    }

    fn units(&mut self, hop: usize, sent: Vec<Transmission>) {
        for unit in sent.into_iter().take_while(|unit| unit.at <= self.until) {
            self.log.push(SentRow {
                time_ns: unit.at.as_nanos() as i64,
                link: hop as u32,
                kind: unit.kind as u8,
                unit: unit.unit,
                attempt: unit.attempt,
                arrival_ns: unit.arrival.map_or(-1, |at| at.as_nanos() as i64),
                first_packet: unit.packets.0,
                last_packet: unit.packets.1,
                flow: unit.carries.map_or(-1, |range| i64::from(range.flow)),
                seq: unit.carries.map_or(0, |range| range.start),
                len: unit.carries.map_or(0, |range| (range.end - range.start) as u32),
            });
        }
    }
}
