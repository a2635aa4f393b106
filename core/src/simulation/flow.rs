//! One flow while it runs: its application, its proxies, what is measured of it.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use crate::application::{Arrival, Session, Traffic};
use crate::metrics::{Distribution, FlowMetrics, PathMetrics};
use crate::simulation::births::Births;
use crate::simulation::observer::FlowSample;
use crate::simulation::proxy::Proxy;
use crate::simulation::reordering::Reordering;
use crate::simulation::setup::{Flow, Setup};
use crate::simulation::socket::{Socket, main_connection};
use crate::transport::{End, Endpoint, Limit, Outbox, Packet, PathReport, Received, Report, Train};
use crate::units::{Duration, Instant};

pub(super) struct FlowState {
    /// The sockets of its connections one behind the other, sender and receiver of each.
    pub(super) sockets: Range<u32>,
    /// What stands between these connections.
    pub(super) proxies: Vec<Proxy>,
    /// The connection whose window it shows.
    main: usize,
    /// First transmissions of the source, if there are proxies.
    births: Births,
    pub(super) done: bool,
    traffic: Box<dyn Traffic>,
    /// The session that it belongs to.
    pub(super) session: Option<u32>,
    /// Bytes with which everything has arrived, if the application ever ends.
    size: Option<u64>,
    /// Most bytes of a packet.
    payload: u64,
    /// Whether the application gets a stream in order.
    in_order: bool,
    /// Whether the sender gets acknowledgements.
    acknowledges: bool,
    start: Instant,
    /// When its application stops at the latest, as far as it tells.
    pub(super) end: Instant,
    /// When data arrived last, if after that.
    drained: Instant,
    /// Delays of packets that arrived in order, and so were delivered at once.
    prompt_delay: Distribution,
    /// Delays of the others, to arrival and to delivery in order.
    early_delay: Distribution,
    early_in_order_delay: Distribution,
    /// The packets that arrived and wait for earlier ones: first byte, first transmission; by
    /// first byte.
    waiting: VecDeque<(u64, Instant)>,
    /// What a receiver of several paths does.
    reordering: Option<Box<Reordering>>,
    completed: Option<Instant>,
    acknowledged: Option<Instant>,
    waits: Waits,
    name: Option<Arc<str>>,
}

/// How long a sender waited for what, as `tcp_info` of Linux counts it.
#[derive(Clone, Copy, Debug)]
struct Waits {
    since: Instant,
    limit: Limit,
    application: Duration,
    receive_window: Duration,
}

impl Waits {
    /// These waits at `now`, with `limit` from then on.
    fn until(mut self, now: Instant, limit: Limit) -> Self {
        let lasted = now.saturating_since(self.since);
        match self.limit {
            Limit::Application => self.application += lasted,
            Limit::ReceiveWindow | Limit::MostWindow => self.receive_window += lasted,
            Limit::Path => {}
        }
        Self { since: now.max(self.since), limit, ..self }
    }
}

impl FlowState {
    /// A flow over these `sockets`, the last of the run so far, with a proxy between each two of their
    /// connections.
    pub(super) fn new(
        flow: &Flow,
        setup: &Setup,
        (sockets, first): (&[Socket], usize),
        draws: ChaCha8Rng,
        session: Option<u32>,
        name: Option<Arc<str>>,
    ) -> Self {
        let beside = flow.transport.datagram().filter(|_| flow.application.sends_messages());
        let payload = beside.unwrap_or(flow.transport.payload());
        let traffic = flow.application.start_own(flow.start, payload, draws);
        let numbers = first as u32..(first + sockets.len()) as u32;
        let between = setup.proxies.iter().zip(numbers.clone().skip(1).step_by(2));
        let splits = sockets.len() > 2;
        let between = between.filter(|_| splits);
        Self {
            in_order: sockets[0].endpoint.in_order(),
            acknowledges: sockets[0].endpoint.acknowledged().is_some(),
            size: flow.application.size(),
            payload: u64::from(payload.0).max(1),
            proxies: between
                .map(|(proxy, nearer)| Proxy::new(&proxy.config, [nearer, nearer + 1]))
                .collect(),
            main: if splits { main_connection(setup) } else { 0 },
            births: Births::default(),
            sockets: numbers,
            end: traffic.end().map_or(Instant::MAX, |end| end.max(flow.start)),
            drained: Instant::ZERO,
            traffic,
            session,
            done: false,
            start: flow.start,
            prompt_delay: Distribution::default(),
            early_delay: Distribution::default(),
            early_in_order_delay: Distribution::default(),
            waiting: VecDeque::new(),
            reordering: (flow.transport.paths() > 1).then(Box::default),
            completed: None,
            acknowledged: None,
            waits: Waits {
                since: flow.start,
                limit: Limit::default(),
                application: Duration::ZERO,
                receive_window: Duration::ZERO,
            },
            name,
        }
    }

    /// A sender has sent all that it can at `now`, and `own` keeps it from sending more. What it waits
    /// for after its end is not counted.
    #[inline]
    pub(super) fn note_limit(&mut self, now: Instant, own: Limit, sockets: &[Socket]) {
        if self.completed.is_none() {
            let limit = match self.proxies.is_empty() {
                true => own,
                false => self.limit_of_main(sockets),
            };
            if limit != self.waits.limit {
                self.waits = self.waits.until(now.min(self.end), limit);
            }
        }
    }

    /// What keeps the main connection from sending. If it waits for data, the first one keeps it waiting.
    #[inline(never)]
    fn limit_of_main(&self, sockets: &[Socket]) -> Limit {
        let first = self.sockets.start as usize;
        let limit = |connection: usize| sockets[first + 2 * connection].endpoint.limit();
        match limit(self.main) {
            Limit::Application if self.main > 0 => limit(0),
            limit => limit,
        }
    }

    /// The socket of the application at an end.
    #[inline]
    pub(super) fn socket(&self, end: End) -> u32 {
        match end {
            End::Sender => self.sockets.start,
            End::Receiver => self.sockets.end - 1,
        }
    }

    /// Its sockets among those of the run.
    fn own<'a>(&self, sockets: &'a [Socket]) -> &'a [Socket] {
        &sockets[self.sockets.start as usize..self.sockets.end as usize]
    }

    /// Bytes that the receiver's application has.
    pub(super) fn delivered(&self, sockets: &[Socket]) -> u64 {
        sockets[self.socket(End::Receiver) as usize].endpoint.delivered()
    }

    /// Bytes that the senders of all its connections know to be delivered.
    fn acknowledged_bytes(&self, sockets: &[Socket]) -> u64 {
        let senders = self.own(sockets).iter().step_by(2);
        senders.filter_map(|sender| sender.endpoint.acknowledged()).min().unwrap_or(0)
    }

    /// Has the application hand over what is due; says when it has more.
    pub(super) fn drive(&mut self, now: Instant, sender: &mut dyn Endpoint) -> Option<Instant> {
        self.traffic.drive(now, sender)
    }

    /// A sender of data sends a packet: its bytes are as old as they are at the source.
    #[cold]
    pub(super) fn stamp(&mut self, socket: u32, now: Instant, packet: &mut Packet) {
        if packet.len == 0 {
            return;
        }
        if socket != self.sockets.start {
            packet.first_sent = self.births.of(packet.start).unwrap_or(packet.first_sent);
        } else if packet.retransmission == 0 {
            self.births.add(packet.start, now);
        }
    }

    /// A packet reached an end of it; says whether that makes it done.
    #[inline(always)] // called for every packet: a call costs as much as what it does
    pub(super) fn arrived(
        &mut self,
        now: Instant,
        end: End,
        packet: &Packet,
        received: Received,
        sockets: &[Socket],
    ) -> bool {
        let was_done = self.done;
        match (end, received) {
            (End::Sender, _) => self.acknowledgement_arrived(now, sockets),
            (End::Receiver, Received::Data { in_vain, delivered }) => {
                self.data_arrived(now, packet, in_vain, delivered);
            }
            (End::Receiver, Received::Ack(_)) => {}
        }
        self.done && !was_done
    }

    /// As [`FlowState::arrived`], for packets that reached an end one after the other; and what kept the
    /// sender from sending more. None of them makes a transfer complete, unless it is the only one.
    pub(super) fn arrived_all(
        &mut self,
        train: &Train,
        end: End,
        packets: &Outbox,
        sockets: &[Socket],
    ) -> bool {
        let was_done = self.done;
        if end == End::Sender {
            if let Some(arrival) = train.arrivals.last() {
                self.acknowledgement_arrived(arrival.key.0, sockets);
            }
            train.limits.iter().for_each(|&(at, limit)| self.note_limit(at, limit, sockets));
        } else {
            // Of a stream without an end most data come in order, and nothing waits for them.
            let in_time = train.arrivals.last().is_none_or(|last| last.key.0 <= self.end);
            let is_endless = self.in_order && self.size.is_none() && in_time;
            let is_plain = is_endless && self.reordering.is_none();
            for (arrival, &received) in train.arrivals.iter().zip(&train.received) {
                let Received::Data { in_vain, delivered } = received else { continue };
                let (now, packet) = (arrival.key.0, &packets[arrival.packet]);
                let is_prompt = !in_vain && packet.start < delivered && self.waiting.is_empty();
                if is_plain && is_prompt && packet.len > 0 {
                    self.prompt_delay.record(now.saturating_since(packet.first_sent));
                    self.traffic.arrived(now, Arrival::Stream(delivered));
                } else {
                    self.data_arrived(now, packet, in_vain, delivered);
                }
            }
        }
        self.done && !was_done
    }

    /// How many packets may reach this end, or `None` a node, in one go: no more than certainly do not
    /// make a transfer complete, or the next one alone.
    pub(super) fn at_once(&self, end: Option<End>, sockets: &[Socket]) -> usize {
        let Some(size) = self.size else { return usize::MAX };
        match end {
            Some(End::Receiver) if self.completed.is_none() => {
                let held = self.waiting.len() as u64 * self.payload;
                let missing = size.saturating_sub(self.delivered(sockets) + held);
                (missing.saturating_sub(1) / self.payload).max(1) as usize
            }
            // The acknowledgement of everything comes behind those that are on their way.
            Some(End::Sender) if self.completed.is_none() && self.acknowledges => usize::MAX,
            _ => match sockets[self.socket(End::Sender) as usize].endpoint.unsent() {
                0 => 1,
                _ => usize::MAX,
            },
        }
    }

    /// A packet with data reached the receiver's application.
    #[inline(always)] // called in two places
    fn data_arrived(&mut self, now: Instant, packet: &Packet, in_vain: bool, delivered: u64) {
        let (delivered_to, arrival) = match self.in_order {
            true => (delivered, Arrival::Stream(delivered)),
            false => (u64::MAX, Arrival::Datagram { start: packet.start, len: packet.len }),
        };
        if !in_vain && packet.len > 0 {
            if now > self.end {
                self.drained = now;
            }
            self.record_delays(now, packet, delivered_to);
            if let Some(reordering) = &mut self.reordering {
                reordering.arrived(now, packet, delivered_to);
            }
        }
        if self.in_order || (!in_vain && packet.len > 0) {
            self.traffic.arrived(now, arrival);
        }
        if self.completed.is_none() && self.size.is_some_and(|size| delivered >= size) {
            self.completed = Some(now);
            self.done |= !self.acknowledges;
        }
    }

    /// A packet reached a sender of one of its connections.
    #[inline(always)] // most flows of long runs do not wait for anything
    fn acknowledgement_arrived(&mut self, now: Instant, sockets: &[Socket]) {
        if self.size.is_some() || !self.proxies.is_empty() {
            self.note_acknowledged(now, sockets);
        }
    }

    #[inline(never)]
    fn note_acknowledged(&mut self, now: Instant, sockets: &[Socket]) {
        if let (Some(size), None) = (self.size, self.acknowledged)
            && self.acknowledges
            && self.acknowledged_bytes(sockets) >= size
        {
            self.acknowledged = Some(now);
            self.done = true;
        }
        if !self.proxies.is_empty() {
            let last = &sockets[self.sockets.end as usize - 2];
            self.births.forget(last.endpoint.acknowledged().unwrap_or(0));
        }
    }

    /// A new packet, and those that waited for it, are delivered once they are in order; datagrams
    /// as they come.
    #[inline(always)] // called in one place
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

    #[inline(never)] // what few packets need would take the registers of all
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

    pub(super) fn sample(&self, sockets: &[Socket]) -> FlowSample {
        let Report { sender, .. } = self.report(sockets);
        let main = &self.own(sockets)[2 * self.main];
        let window = main.endpoint.window().unwrap_or_default();
        FlowSample {
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            srtt: window.srtt,
            in_flight: window.in_flight,
            bytes_in_order: self.delivered(sockets),
            sent: sender.segments_sent,
            retransmissions: sender.retransmissions,
            timeouts: sender.timeouts,
        }
    }

    /// The counters of its data over all its connections.
    fn report(&self, sockets: &[Socket]) -> Report {
        let connections = self.own(sockets).as_chunks::<2>().0.iter();
        let reports = connections
            .map(|[sender, receiver]| sender.endpoint.report().to(&receiver.endpoint.report()));
        reports.reduce(|sum, next| sum.then(&next)).unwrap_or_default()
    }

    /// The metrics of its paths, if it has several.
    fn paths(&self, sockets: &[Socket]) -> Vec<PathMetrics> {
        let of = |end| sockets[self.socket(end) as usize].endpoint.paths();
        let both = of(End::Sender).into_iter().zip(of(End::Receiver));
        let path = |(sender, receiver): (PathReport, PathReport)| PathMetrics {
            report: sender.report.to(&receiver.report),
            window: sender.window,
            reinjected: sender.reinjected,
        };
        both.map(path).collect()
    }

    /// What was measured; `session`: that of this connection, and which of its connections this is.
    pub(super) fn metrics(
        &self,
        sockets: &[Socket],
        ended: Instant,
        session: Option<(&dyn Session, usize)>,
    ) -> FlowMetrics {
        let Report { sender, receiver, ecn, broken_off } = self.report(sockets);
        let late = [&self.early_delay, &self.early_in_order_delay];
        let [segment_delay, in_order_delay] = match self.early_delay.count() {
            0 => [self.prompt_delay.summary(); 2],
            _ => self.prompt_delay.summaries_with(late),
        };
        let mut metrics = FlowMetrics {
            name: self.name.clone(),
            start: self.start,
            end: self.completed.unwrap_or(ended),
            bytes_in_order: self.delivered(sockets),
            sender,
            receiver,
            ecn,
            broken_off: broken_off.filter(|_| self.completed.is_none()),
            segment_delay,
            in_order_delay,
            completed: self.completed,
            acknowledged: self.acknowledged,
            proxies: self.proxies.iter().map(Proxy::metrics).collect(),
            paths: self.paths(sockets),
            reordering: self.reordering.as_ref().map(|own| own.metrics(self.start, ended)),
            ..FlowMetrics::default()
        };
        // Its deadlines go on after it has stopped, as long as the run.
        self.traffic.report(&mut metrics);
        // What arrived after the application stopped is in its rates, and so is that time.
        metrics.end = metrics.end.min(self.end.max(self.drained));
        if let Some((session, number)) = session {
            session.report(number, &mut metrics);
        }
        let waits = self.waits.until(metrics.end, Limit::default());
        // A connection that its session opened later waited for data until then.
        let before = metrics.start.saturating_since(self.start);
        metrics.waited_for_application = waits.application - before.min(waits.application);
        metrics.waited_for_receive_window = waits.receive_window;
        metrics
    }
}
