//! One flow while it runs: its connection, its application, its way through the nodes.

use std::collections::VecDeque;

use rand_chacha::ChaCha8Rng;

use crate::application::{Arrival, Session, Traffic};
use crate::metrics::{Distribution, EcnMetrics, FlowMetrics, ProxyMetrics};
use crate::simulation::observer::FlowSample;
use crate::simulation::setup::{Flow, Setup};
use crate::simulation::stretches::{Stretches, cut};
use crate::transport::{Connection, EcnReport, End, Packet, Received, Relayed};
use crate::units::{Duration, Instant};

pub(super) struct FlowState {
    pub(super) connection: Box<dyn Connection>,
    pub(super) done: bool,
    traffic: Box<dyn Traffic>,
    /// The session that it belongs to.
    pub(super) session: Option<u32>,
    /// Bytes with which everything has arrived, if the application ever ends.
    size: Option<u64>,
    /// Whether the application gets a stream in order.
    in_order: bool,
    start: Instant,
    to_receiver: Vec<u32>,
    to_sender: Vec<u32>,
    /// Where the stretches of these ways begin, if proxies split them.
    stretches: Option<Box<Stretches>>,
    /// Delays of packets that arrived in order, and so were delivered at once.
    prompt_delay: Distribution,
    /// Delays of the others, to arrival and to delivery in order.
    early_delay: Distribution,
    early_in_order_delay: Distribution,
    /// The packets that arrived and wait for earlier ones: first byte, first transmission; by
    /// first byte.
    waiting: VecDeque<(u64, Instant)>,
    completed: Option<Instant>,
    acknowledged: Option<Instant>,
}

/// The nodes that a flow crosses.
#[derive(Clone)]
pub(super) struct Way {
    pub(super) to_receiver: Vec<u32>,
    pub(super) to_sender: Vec<u32>,
    /// Where its stretches begin, if proxies split it.
    pub(super) stretches: Option<Stretches>,
}

impl Way {
    /// A way that nobody splits.
    pub(super) fn whole(to_receiver: Vec<u32>, to_sender: Vec<u32>) -> Self {
        Self { to_receiver, to_sender, stretches: None }
    }

    /// This way of `flow` where the proxies split it; `wire` makes a hop for a stretch without one.
    pub(super) fn split(&self, setup: &Setup, flow: &Flow, mut wire: impl FnMut() -> u32) -> Self {
        let own = usize::from(flow.source_leg.is_some());
        let there: Vec<usize> = setup.proxies.iter().map(|proxy| proxy.forward + own).collect();
        let back: Vec<usize> = setup.proxies.iter().rev().map(|proxy| proxy.backward).collect();
        let (there, from_sender) = cut(&self.to_receiver, &there, &mut wire);
        let (back, mut from_receiver) = cut(&self.to_sender, &back, &mut wire);
        from_receiver.reverse();
        let stretches = Stretches { to_receiver: from_sender, to_sender: from_receiver };
        Self { to_receiver: there, to_sender: back, stretches: Some(stretches) }
    }
}

impl FlowState {
    pub(super) fn new(
        flow: &Flow,
        connection: Box<dyn Connection>,
        draws: ChaCha8Rng,
        session: Option<u32>,
        way: Way,
    ) -> Self {
        let Way { to_receiver, to_sender, stretches } = way;
        let beside = flow.transport.datagram().filter(|_| flow.application.sends_messages());
        let payload = beside.unwrap_or(flow.transport.payload());
        let traffic = flow.application.start_own(flow.start, payload, draws);
        Self {
            in_order: connection.in_order(),
            size: flow.application.size(),
            connection,
            traffic,
            session,
            done: false,
            start: flow.start,
            to_receiver,
            to_sender,
            stretches: stretches.map(Box::new),
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
    pub(super) fn path(&self, toward: End) -> &[u32] {
        match toward {
            End::Receiver => &self.to_receiver,
            End::Sender => &self.to_sender,
        }
    }

    /// Where on that way a packet begins that an end, or a proxy, sends.
    #[inline]
    pub(super) fn begins(&self, toward: End, packet: &Packet) -> u16 {
        let Some(stretches) = &self.stretches else { return 0 };
        let starts = match toward {
            End::Receiver => &stretches.to_receiver,
            End::Sender => &stretches.to_sender,
        };
        starts[usize::from(packet.body as u16)]
    }

    /// Whether a packet that reaches `end` of a stretch is at the application's end, and not at a
    /// proxy.
    #[inline]
    pub(super) fn is_at_end(&self, end: End, packet: &Packet) -> bool {
        let Some(stretches) = &self.stretches else { return true };
        let last = match end {
            End::Sender => 0,
            End::Receiver => stretches.to_receiver.len() - 1,
        };
        usize::from(packet.body as u16) == last
    }

    /// Whether proxies split it: what arrives anywhere may let both kinds of ends send.
    #[inline]
    pub(super) fn is_split(&self) -> bool {
        self.stretches.is_some()
    }

    /// Has the application hand over what is due; says when it has more.
    pub(super) fn drive(&mut self, now: Instant) -> Option<Instant> {
        self.traffic.drive(now, &mut *self.connection)
    }

    /// A packet reached one of the ends.
    #[inline]
    pub(super) fn receive(&mut self, now: Instant, end: End, packet: &Packet) -> Received {
        let received = self.connection.receive(now, end, packet);
        match received {
            Received::Data { in_vain, delivered } => {
                self.data_arrived(now, packet, in_vain, delivered);
            }
            Received::Ack(_) => self.acknowledgement_arrived(now),
            Received::Relayed { .. } => {}
        }
        received
    }

    #[inline]
    fn data_arrived(&mut self, now: Instant, packet: &Packet, in_vain: bool, delivered: u64) {
        let (delivered_to, arrival) = match self.in_order {
            true => (delivered, Arrival::Stream(delivered)),
            false => (u64::MAX, Arrival::Datagram { start: packet.start, len: packet.len }),
        };
        if !in_vain && packet.len > 0 {
            self.record_delays(now, packet, delivered_to);
        }
        if self.in_order || (!in_vain && packet.len > 0) {
            self.traffic.arrived(now, arrival);
        }
        if self.completed.is_none() && self.size.is_some_and(|size| delivered >= size) {
            self.completed = Some(now);
            self.done |= self.connection.acknowledged().is_none();
        }
    }

    #[inline]
    fn acknowledgement_arrived(&mut self, now: Instant) {
        if let (Some(size), None) = (self.size, self.acknowledged)
            && self.connection.acknowledged().is_some_and(|bytes| bytes >= size)
        {
            self.acknowledged = Some(now);
            self.done = true;
        }
    }

    /// A new packet, and those that waited for it, are delivered once they are in order; datagrams
    /// as they come.
    #[inline]
    fn record_delays(&mut self, now: Instant, packet: &Packet, delivered_to: u64) {
        let delay = now.saturating_since(packet.first_sent);
        if packet.start >= delivered_to {
            return self.wait(packet, delay);
        }
        self.prompt_delay.record(delay);
        while let Some(&(start, first_sent)) = self.waiting.front()
            && start < delivered_to
        {
            self.early_in_order_delay.record(now.saturating_since(first_sent));
            self.waiting.pop_front();
        }
    }

    fn wait(&mut self, packet: &Packet, delay: Duration) {
        self.early_delay.record(delay);
        // Mostly at the end.
        let place = match self.waiting.back() {
            Some(&(last, _)) if last > packet.start => {
                self.waiting.partition_point(|&(start, _)| start < packet.start)
            }
            _ => self.waiting.len(),
        };
        self.waiting.insert(place, (packet.start, packet.first_sent));
    }

    pub(super) fn sample(&self) -> FlowSample {
        let report = self.connection.report();
        let window = self.connection.window().unwrap_or_default();
        FlowSample {
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            srtt: window.srtt,
            in_flight: window.in_flight,
            bytes_in_order: self.connection.delivered(),
            sent: report.sent,
            retransmissions: report.retransmissions,
            timeouts: report.timeouts,
        }
    }

    /// What was measured; `session`: that of this connection, and which of its connections this is.
    pub(super) fn metrics(
        &self,
        ended: Instant,
        session: Option<(&dyn Session, usize)>,
    ) -> FlowMetrics {
        let report = self.connection.report();
        let segment_delay = self.prompt_delay.merged(&self.early_delay).summary();
        let in_order_delay = match self.early_delay.count() {
            0 => segment_delay,
            _ => self.prompt_delay.merged(&self.early_in_order_delay).summary(),
        };
        let mut metrics = FlowMetrics {
            start: self.start,
            end: self.completed.unwrap_or(ended),
            bytes_in_order: self.connection.delivered(),
            ip_bytes_received: report.bytes_received,
            ip_bytes_sent: report.bytes_sent,
            segments_sent: report.sent,
            retransmissions: report.retransmissions,
            segments_by_retransmissions: report.by_retransmissions,
            spurious_retransmissions: report.spurious_retransmissions,
            stale_segments: report.stale,
            timeouts: report.timeouts,
            fast_retransmits: report.fast_retransmits,
            recovery_entries: report.recovery_entries,
            duplicate_acks: report.duplicate_acks,
            window_reductions: report.window_reductions,
            undo_events: report.undo_events,
            reordering_degree: report.reordering,
            segment_delay,
            in_order_delay,
            completed: self.completed,
            acknowledged: self.acknowledged,
            proxies: self.connection.proxies().into_iter().map(proxy).collect(),
            ecn: report.ecn.map(|EcnReport { marked, arrived, reductions }| EcnMetrics {
                marked,
                arrived,
                reductions,
            }),
            ..FlowMetrics::default()
        };
        self.traffic.report(&mut metrics);
        if let Some((session, number)) = session {
            session.report(number, &mut metrics);
        }
        metrics
    }
}

fn proxy(did: Relayed) -> ProxyMetrics {
    ProxyMetrics { relayed: did.bytes, most_held: did.most_held }
}
