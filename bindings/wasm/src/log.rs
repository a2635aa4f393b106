//! Columns over the time of a run.

use std::collections::BTreeMap;

use clift::simulation::{Event, Observer, Sample, Setup, Wants};
use clift::units::{Duration, Instant};

/// Samples of a run, and the delays of its segments.
#[derive(Default)]
pub(crate) struct Log {
    interval: Option<Duration>,
    forward: usize,
    bytes_before: u64,
    samples: Samples,
    /// Segments with data that were sent and not received yet: time of the first transmission, by
    /// flow and first byte.
    on_the_way: BTreeMap<(u32, u64), Instant>,
    /// Delays since the last sample: the least and the most, each with its arrival.
    extremes: Option<[(Instant, Duration); 2]>,
}

#[derive(Default)]
struct Samples {
    time_s: Vec<f64>,
    goodput_kbps: Vec<f64>,
    cwnd_packets: Vec<f64>,
    queue_packets: Vec<f64>,
    arrival_s: Vec<f64>,
    delay_ms: Vec<f64>,
}

impl Log {
    /// The log of a run of `setup` with about `samples` samples.
    pub(crate) fn new(setup: &Setup, samples: u32) -> Self {
        let interval = setup.duration.as_nanos().checked_div(u64::from(samples));
        let interval = interval.map(|nanos| Duration::from_nanos(nanos.max(1)));
        Self { interval, forward: setup.forward.len(), ..Self::default() }
    }

    /// Columns by name: `goodput_kbps` of all flows together, `cwnd_packets` of the first flow and
    /// `queue_packets`, the longest queue of the forward hops, at `time_s`; `delay_ms` of segments from their first
    /// transmission to their first arrival at `arrival_s`, the least and the most of an interval.
    pub(crate) fn columns(mut self) -> [(&'static str, Vec<f64>); 6] {
        self.take_extremes();
        let Samples { time_s, goodput_kbps, cwnd_packets, queue_packets, arrival_s, delay_ms } =
            self.samples;
        [
            ("time_s", time_s),
            ("goodput_kbps", goodput_kbps),
            ("cwnd_packets", cwnd_packets),
            ("queue_packets", queue_packets),
            ("arrival_s", arrival_s),
            ("delay_ms", delay_ms),
        ]
    }

    /// Number of samples; the engine counts each as an event.
    pub(crate) fn taken(&self) -> u64 {
        self.samples.time_s.len() as u64
    }

    fn take_extremes(&mut self) {
        let Some([least, most]) = self.extremes.take() else { return };
        let mut both = [least, most];
        both.sort_unstable();
        let count = if least == most { 1 } else { 2 };
        for (arrival, delay) in &both[..count] {
            self.samples.arrival_s.push(arrival.as_secs_f64());
            self.samples.delay_ms.push(delay.as_secs_f64() * 1e3);
        }
    }
}

impl Observer for Log {
    fn wants(&self) -> Wants {
        Wants { events: true, ..Wants::default() }
    }

    fn sample_interval(&self) -> Option<Duration> {
        self.interval
    }

    fn sample(&mut self, sample: &Sample) {
        let Some(interval) = self.interval else { return };
        let bytes = sample.flows.iter().map(|flow| flow.bytes_in_order).sum();
        let new = bytes - self.bytes_before;
        self.bytes_before = bytes;
        let queue = sample.hops[..self.forward].iter().map(|hop| hop.queue).max().unwrap_or(0);
        self.samples.time_s.push(sample.at.as_secs_f64());
        self.samples.goodput_kbps.push(new as f64 * 8e-3 / interval.as_secs_f64());
        self.samples.cwnd_packets.push(sample.flows.first().map_or(0.0, |flow| flow.cwnd));
        self.samples.queue_packets.push(queue as f64);
        self.take_extremes();
    }

    fn event(&mut self, at: Instant, event: &Event) {
        if self.interval.is_none() {
            return;
        }
        match *event {
            Event::Sent { flow, seq, len: 1.., retransmission: 0 } => {
                self.on_the_way.insert((flow, seq), at);
            }
            Event::Received { flow, seq, len: 1.., .. } => {
                let Some(sent) = self.on_the_way.remove(&(flow, seq)) else { return };
                let here = (at, at.saturating_since(sent));
                let [least, most] = self.extremes.get_or_insert([here; 2]);
                if here.1 < least.1 {
                    *least = here;
                }
                if here.1 > most.1 {
                    *most = here;
                }
            }
            _ => {}
        }
    }
}
