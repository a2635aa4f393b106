//! One flow while it runs: its two endpoints, its application, its way through the nodes.

use std::collections::VecDeque;

use rand_chacha::ChaCha8Rng;

use crate::metrics::{Distribution, FlowMetrics};
use crate::simulation::application::Messages;
use crate::simulation::observer::FlowSample;
use crate::simulation::path::Direction;
use crate::simulation::setup::{Application, Flow, Transport};
use crate::transport::datagram::{DatagramReceiver, DatagramSender};
use crate::transport::tcp::{TcpReceiver, TcpSender};
use crate::transport::{Endpoint, Segment};
use crate::units::Instant;

pub(super) struct FlowState {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) messages: Option<Messages>,
    pub(super) done: bool,
    file: Option<u64>,
    start: Instant,
    to_receiver: Vec<u32>,
    to_sender: Vec<u32>,
    /// Delays of segments that arrived in order, and so were delivered at once.
    prompt_delay: Distribution,
    /// Delays of the others, to arrival and to delivery in order.
    early_delay: Distribution,
    early_in_order_delay: Distribution,
    /// The segments that arrived and wait for earlier ones: first byte, first transmission; by
    /// first byte.
    waiting: VecDeque<(u64, Instant)>,
    completed: Option<Instant>,
    acknowledged: Option<Instant>,
}

/// The sending end.
pub(super) enum Sender {
    Tcp(Box<TcpSender>),
    Datagram(DatagramSender),
}

/// The receiving end.
pub(super) enum Receiver {
    Tcp(Box<TcpReceiver>),
    Datagram(DatagramReceiver),
}

impl FlowState {
    pub(super) fn new(
        flow: &Flow,
        rng: ChaCha8Rng,
        to_receiver: Vec<u32>,
        to_sender: Vec<u32>,
    ) -> Self {
        let (sender, receiver) = match &flow.transport {
            Transport::Tcp(config) => (
                Sender::Tcp(Box::new(TcpSender::with_rng(config, rng))),
                Receiver::Tcp(Box::new(TcpReceiver::new(config))),
            ),
            Transport::Datagram { packet } => (
                Sender::Datagram(DatagramSender::new(*packet)),
                Receiver::Datagram(DatagramReceiver::default()),
            ),
        };
        let file = match flow.application {
            Application::File { bytes } => Some(bytes),
            Application::Bulk | Application::ConstantRate { .. } => None,
        };
        Self {
            sender,
            receiver,
            messages: Messages::of(&flow.application, flow.start),
            done: false,
            file,
            start: flow.start,
            to_receiver,
            to_sender,
            prompt_delay: Distribution::default(),
            early_delay: Distribution::default(),
            early_in_order_delay: Distribution::default(),
            waiting: VecDeque::new(),
            completed: None,
            acknowledged: None,
        }
    }

    /// The nodes that a packet crosses in order.
    #[inline]
    pub(super) fn path(&self, toward: Direction) -> &[u32] {
        match toward {
            Direction::Receiver => &self.to_receiver,
            Direction::Sender => &self.to_sender,
        }
    }

    /// The application's first data (a constant rate sends later, message by message).
    pub(super) fn start(&mut self) {
        match (&mut self.sender, self.file, &self.messages) {
            (Sender::Tcp(tcp), Some(bytes), _) => {
                tcp.supply(bytes);
                tcp.close();
            }
            (Sender::Tcp(tcp), None, None) => tcp.supply_unlimited(),
            (Sender::Datagram(sender), Some(bytes), _) => sender.supply(bytes),
            _ => {}
        }
    }

    pub(super) fn supply(&mut self, bytes: u64) {
        match &mut self.sender {
            Sender::Tcp(tcp) => tcp.supply(bytes),
            Sender::Datagram(sender) => sender.supply(bytes),
        }
    }

    /// A data segment arrived; says whether it did in vain: all of it had arrived before, or it was
    /// too old to be taken.
    #[inline]
    pub(super) fn receive(&mut self, now: Instant, segment: &Segment) -> bool {
        let refused = self.receiver.refused();
        self.receiver.handle_segment(now, segment);
        let in_vain = self.receiver.refused() > refused;
        if !in_vain && segment.len > 0 {
            self.record_delays(now, segment);
        }
        if let Some(messages) = &mut self.messages {
            match &self.receiver {
                Receiver::Tcp(tcp) => messages.stream_reached(tcp.received(), now),
                Receiver::Datagram(_) => messages.datagram(segment.seq, segment.len, now),
            }
        }
        if self.completed.is_none() && self.file.is_some_and(|file| self.bytes_in_order() >= file) {
            self.completed = Some(now);
            self.done |= matches!(self.sender, Sender::Datagram(_));
        }
        in_vain
    }

    /// A new segment, and those that waited for it, are delivered once they are in order;
    /// datagrams as they come.
    #[inline]
    fn record_delays(&mut self, now: Instant, segment: &Segment) {
        let delay = now.saturating_since(segment.first_sent);
        let delivered_to = match &self.receiver {
            Receiver::Tcp(tcp) => tcp.received(),
            Receiver::Datagram(_) => u64::MAX,
        };
        if segment.seq >= delivered_to {
            self.early_delay.record(delay);
            // Mostly at the end.
            let place = match self.waiting.back() {
                Some(&(last, _)) if last > segment.seq => {
                    self.waiting.partition_point(|&(seq, _)| seq < segment.seq)
                }
                _ => self.waiting.len(),
            };
            self.waiting.insert(place, (segment.seq, segment.first_sent));
            return;
        }
        self.prompt_delay.record(delay);
        while let Some(&(seq, first_sent)) = self.waiting.front()
            && seq < delivered_to
        {
            self.early_in_order_delay.record(now.saturating_since(first_sent));
            self.waiting.pop_front();
        }
    }

    /// An acknowledgement arrived.
    #[inline]
    pub(super) fn acknowledge(&mut self, now: Instant, segment: &Segment) {
        self.sender.handle_segment(now, segment);
        if let (Sender::Tcp(tcp), Some(file), None) = (&self.sender, self.file, self.acknowledged)
            && tcp.acknowledged() >= file
        {
            self.acknowledged = Some(now);
            self.done = true;
        }
    }

    /// Payload bytes that the receiver has, in order for TCP.
    pub(super) fn bytes_in_order(&self) -> u64 {
        match &self.receiver {
            Receiver::Tcp(tcp) => tcp.received(),
            Receiver::Datagram(receiver) => receiver.bytes(),
        }
    }

    pub(super) fn sample(&self) -> FlowSample {
        let mut sample =
            FlowSample { bytes_in_order: self.bytes_in_order(), ..FlowSample::default() };
        match &self.sender {
            Sender::Tcp(tcp) => {
                sample.cwnd = f64::from(tcp.cwnd());
                sample.ssthresh = tcp.ssthresh().map_or(f64::INFINITY, f64::from);
                sample.srtt = tcp.srtt();
                sample.in_flight = tcp.in_flight();
                sample.sent = tcp.counters().segments_sent;
                sample.retransmissions = tcp.counters().retransmissions;
                sample.timeouts = tcp.counters().timeouts;
            }
            Sender::Datagram(sender) => sample.sent = sender.sent(),
        }
        sample
    }

    pub(super) fn metrics(&self, ended: Instant) -> FlowMetrics {
        let mut metrics = FlowMetrics {
            start: self.start,
            end: self.completed.unwrap_or(ended),
            bytes_in_order: self.bytes_in_order(),
            segment_delay: self.prompt_delay.merged(&self.early_delay).summary(),
            in_order_delay: self.prompt_delay.merged(&self.early_in_order_delay).summary(),
            completed: self.completed,
            acknowledged: self.acknowledged,
            messages: self.messages.as_ref().map(Messages::metrics),
            ..FlowMetrics::default()
        };
        match &self.sender {
            Sender::Tcp(tcp) => {
                let counters = tcp.counters();
                metrics.ip_bytes_sent = counters.bytes_sent;
                metrics.segments_sent = counters.segments_sent;
                metrics.retransmissions = counters.retransmissions;
                metrics.segments_by_retransmissions = counters.acknowledged_by_transmissions;
                metrics.timeouts = counters.timeouts;
                metrics.fast_retransmits = counters.fast_retransmits;
                metrics.recovery_entries = counters.recovery_entries_by_dupacks;
                metrics.duplicate_acks = counters.duplicate_acks;
                metrics.window_reductions = counters.cwnd_reductions;
                metrics.undo_events = counters.undo_events;
            }
            Sender::Datagram(sender) => {
                metrics.ip_bytes_sent = sender.wire_bytes();
                metrics.segments_sent = sender.sent();
                metrics.segments_by_retransmissions[0] = sender.sent();
            }
        }
        match &self.receiver {
            Receiver::Tcp(tcp) => {
                let counters = tcp.counters();
                metrics.ip_bytes_received = counters.distinct_bytes;
                metrics.spurious_retransmissions = counters.duplicate_segments;
                metrics.stale_segments = counters.stale_segments;
                metrics.reordering_degree = u64::from(counters.max_reordering);
            }
            Receiver::Datagram(receiver) => metrics.ip_bytes_received = receiver.wire_bytes(),
        }
        metrics
    }
}

impl Receiver {
    #[inline]
    fn refused(&self) -> u64 {
        match self {
            Self::Tcp(tcp) => tcp.counters().duplicate_segments + tcp.counters().stale_segments,
            Self::Datagram(_) => 0,
        }
    }
}

/// Both ends forward to what they are; written out once so that the engine need not know.
macro_rules! forward_endpoint {
    ($end:ty) => {
        impl Endpoint for $end {
            #[inline]
            fn handle_segment(&mut self, now: Instant, segment: &Segment) {
                match self {
                    Self::Tcp(tcp) => tcp.handle_segment(now, segment),
                    Self::Datagram(datagram) => datagram.handle_segment(now, segment),
                }
            }
            #[inline]
            fn handle_timeout(&mut self, now: Instant) {
                match self {
                    Self::Tcp(tcp) => tcp.handle_timeout(now),
                    Self::Datagram(datagram) => datagram.handle_timeout(now),
                }
            }
            #[inline]
            fn transmit_into(&mut self, now: Instant, segment: &mut Segment) -> bool {
                match self {
                    Self::Tcp(tcp) => tcp.transmit_into(now, segment),
                    Self::Datagram(datagram) => datagram.transmit_into(now, segment),
                }
            }
            #[inline]
            fn poll_timeout(&self) -> Option<Instant> {
                match self {
                    Self::Tcp(tcp) => tcp.poll_timeout(),
                    Self::Datagram(datagram) => datagram.poll_timeout(),
                }
            }
        }
    };
}

forward_endpoint!(Sender);
forward_endpoint!(Receiver);
