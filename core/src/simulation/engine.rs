//! The event loop.

use std::ops::ControlFlow;

use thiserror::Error;

use crate::link::{Admission, Link, LinkEvent};
use crate::seed::Stream;
use crate::simulation::agenda::{Agenda, SourceId};
use crate::simulation::flow::FlowState;
use crate::simulation::leg::Passage;
use crate::simulation::observer::{Event, HopSample, Observer, Sample};
use crate::simulation::path::{Direction, Node, Packet, Packets};
use crate::simulation::report::Outcome;
use crate::simulation::setup::{Application, Hop, Setup, SetupError, Transport};
use crate::transport::{Endpoint, Segment};
use crate::units::{Bytes, Duration, Instant};

/// Why a run has no outcome.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum RunError {
    /// The setup cannot be run.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A packet waited when the trace ended, before the end of the run.
    #[error("the link trace ends at {:.3} s of the run while a packet waits; shorten the duration, start earlier, take a longer trace or let it wrap", at.as_secs_f64())]
    TraceEnded {
        /// When.
        at: Instant,
    },
    /// The observer stopped the run.
    #[error("the run was interrupted at {:.3} s of simulated time", at.as_secs_f64())]
    Interrupted {
        /// When.
        at: Instant,
    },
}

/// Runs a setup to its end, watched by `observer` (`&mut ()`: nobody).
///
/// # Errors
/// If the setup cannot be run, the trace ends too early, or the observer stops the run.
pub fn run<O: Observer>(setup: &Setup, observer: &mut O) -> Result<Outcome, RunError> {
    check(setup)?;
    Engine::new(setup, observer)?.run()
}

fn check(setup: &Setup) -> Result<(), SetupError> {
    if setup.flows.is_empty() {
        return Err(SetupError::NoFlow);
    }
    if setup.duration == Duration::ZERO {
        return Err(SetupError::NoTime);
    }
    for (number, flow) in setup.flows.iter().enumerate() {
        let packet = match &flow.transport {
            Transport::Tcp(tcp) => {
                tcp.check()?;
                tcp.packet
            }
            Transport::Datagram { packet } => *packet,
        };
        for hop in &setup.forward {
            if let Hop::Link(link) = hop {
                link.check_packet(packet)?;
            }
        }
        let Application::Bulk = flow.application else { continue };
        if let Transport::Datagram { .. } = flow.transport {
            return Err(SetupError::BulkDatagrams { flow: number });
        }
        let paced = flow.source_leg.iter().any(|leg| leg.rate.is_some())
            || setup.forward.iter().any(|hop| match hop {
                Hop::Leg(leg) => leg.rate.is_some(),
                Hop::Link(_) => true,
            });
        let bounded = matches!(&flow.transport, Transport::Tcp(tcp) if tcp.cwnd_max.is_some());
        if !paced && !bounded {
            return Err(SetupError::Unlimited);
        }
    }
    Ok(())
}

/// Events between two looks at the observer.
const CHECKPOINT: u64 = 4096;
/// Source legs draw from streams far from those of the shared hops.
const SOURCE_LEG_STREAMS: u32 = 1 << 16;

struct Engine<'a, O> {
    observer: &'a mut O,
    end: Instant,
    stop_when_done: bool,
    /// Nodes: shared forward hops, shared backward hops, source legs.
    nodes: Vec<Node>,
    forward: usize,
    backward: usize,
    flows: Vec<FlowState>,
    unfinished: usize,
    packets: Packets,
    agenda: Agenda,
    sequence: u64,
    sample_interval: Option<Duration>,
}

/// What an event source is. Sources are numbered: the nodes, then three for each flow, then the
/// sampler.
enum Role {
    Node(usize),
    SenderTimer(u32),
    ReceiverTimer(u32),
    Application(u32),
    Sampler,
}

impl<'a, O: Observer> Engine<'a, O> {
    fn new(setup: &Setup, observer: &'a mut O) -> Result<Self, SetupError> {
        let shared = setup.forward.iter().chain(&setup.backward);
        let mut nodes: Vec<Node> = shared
            .zip(0..)
            .map(|(hop, number)| Node::shared(hop, setup.seed, number, setup.duration))
            .collect::<Result<_, _>>()?;
        let forward = setup.forward.len();
        let backward = setup.backward.len();
        let mut flows = Vec::with_capacity(setup.flows.len());
        for (flow, number) in setup.flows.iter().zip(0u32..) {
            let mut to_receiver: Vec<u32> = (0..forward as u32).collect();
            let mut to_sender: Vec<u32> = (forward as u32..(forward + backward) as u32).collect();
            if let Some(leg) = &flow.source_leg {
                let stream = SOURCE_LEG_STREAMS + 2 * number;
                to_receiver.insert(0, nodes.len() as u32);
                nodes.push(Node::leg(leg, setup.seed, stream));
                to_sender.push(nodes.len() as u32);
                nodes.push(Node::leg(leg, setup.seed, stream + 1));
            }
            let rng = setup.seed.rng(Stream::Flow(number));
            flows.push(FlowState::new(flow, rng, to_receiver, to_sender));
        }
        let sources = nodes.len() + 3 * flows.len() + 1;
        let sample_interval = observer.sample_interval();
        let mut engine = Self {
            observer,
            end: Instant::ZERO + setup.duration,
            stop_when_done: setup.stop_when_done,
            nodes,
            forward,
            backward,
            unfinished: flows.len(),
            flows,
            packets: Packets::default(),
            agenda: Agenda::new(sources),
            sequence: 0,
            sample_interval,
        };
        for (flow, number) in setup.flows.iter().zip(0u32..) {
            engine.schedule(engine.application(number), flow.start);
        }
        if O::UNITS {
            links(&mut engine.nodes).for_each(|(_, link)| link.log_units());
        }
        if sample_interval.is_some() {
            engine.schedule(SourceId(sources as u32 - 1), Instant::ZERO);
        }
        Ok(engine)
    }

    fn run(mut self) -> Result<Outcome, RunError> {
        let mut events = 0u64;
        let mut now = Instant::ZERO;
        while let Some((at, source)) = self.agenda.next() {
            if at > self.end {
                break;
            }
            now = at;
            match self.role(source) {
                Role::Node(node) => self.node_event(node, now)?,
                Role::SenderTimer(flow) => self.sender_timer(flow, now),
                Role::ReceiverTimer(flow) => self.receiver_timer(flow, now),
                Role::Application(flow) => self.application_event(flow, now),
                Role::Sampler => self.sample(now),
            }
            events += 1;
            if events.is_multiple_of(CHECKPOINT) {
                self.hand_out_units();
                let bytes = self.flows.iter().map(FlowState::bytes_in_order).sum();
                if let ControlFlow::Break(()) = self.observer.checkpoint(now, bytes) {
                    return Err(RunError::Interrupted { at: now });
                }
            }
            if self.unfinished == 0 && self.stop_when_done {
                self.end = now;
                break;
            }
        }
        let ended = if self.stop_when_done && self.unfinished == 0 { now } else { self.end };
        links(&mut self.nodes).for_each(|(_, link)| link.catch_up(ended));
        self.hand_out_units();
        Ok(Outcome::new(&self.flows, &self.nodes, self.forward, self.backward, ended, events))
    }

    fn role(&self, source: SourceId) -> Role {
        let number = source.0 as usize;
        if number < self.nodes.len() {
            return Role::Node(number);
        }
        let number = (number - self.nodes.len()) as u32;
        let flow = number / 3;
        if flow as usize == self.flows.len() {
            return Role::Sampler;
        }
        match number % 3 {
            0 => Role::SenderTimer(flow),
            1 => Role::ReceiverTimer(flow),
            _ => Role::Application(flow),
        }
    }

    fn sender_timer_source(&self, flow: u32) -> SourceId {
        SourceId(self.nodes.len() as u32 + 3 * flow)
    }

    fn application(&self, flow: u32) -> SourceId {
        SourceId(self.nodes.len() as u32 + 3 * flow + 2)
    }

    #[inline]
    fn schedule(&mut self, source: SourceId, at: Instant) {
        self.agenda.set(source, at, self.sequence);
        self.sequence += 1;
    }

    // --- what happens at a source ---

    fn node_event(&mut self, number: usize, now: Instant) -> Result<(), RunError> {
        let source = SourceId(number as u32);
        match &mut self.nodes[number] {
            Node::Leg(node) => {
                // The agenda shows a leg only while something is on its way.
                let Some((_, _, id)) = node.on_the_way.pop_front() else { return Ok(()) };
                match node.on_the_way.front() {
                    Some(&(at, sequence, _)) => self.agenda.set(source, at, sequence),
                    None => self.agenda.clear(source),
                }
                self.leave_hop(id, now);
            }
            Node::Link(_) => {
                while let Some(event) = self.poll_link(number, now) {
                    match event {
                        LinkEvent::Delivered(transit) => {
                            self.leave_hop(transit.packet.0 as u32, now);
                        }
                        LinkEvent::Lost(transit) => self.gone(transit.packet.0 as u32, now),
                        LinkEvent::TraceEnded { at, .. } if at < self.end => {
                            return Err(RunError::TraceEnded { at });
                        }
                        LinkEvent::TraceEnded { .. } => {}
                    }
                }
                self.refresh_link(number);
            }
        }
        Ok(())
    }

    fn poll_link(&mut self, number: usize, now: Instant) -> Option<LinkEvent> {
        let Node::Link(node) = &mut self.nodes[number] else { return None };
        let event = node.link.poll(now);
        if let Some(LinkEvent::Delivered(transit)) = event {
            node.delay.record(transit.at - transit.entered);
            node.queueing.record(transit.departed - transit.entered);
        }
        event
    }

    /// Shows the agenda when a link wants to be polled next.
    #[inline]
    fn refresh_link(&mut self, number: usize) {
        let Node::Link(node) = &self.nodes[number] else { return };
        let source = SourceId(number as u32);
        let next = node.link.poll_timeout();
        if next == self.agenda.time_of(source) {
            return;
        }
        match next {
            Some(at) => self.schedule(source, at),
            None => self.agenda.clear(source),
        }
    }

    fn sender_timer(&mut self, flow: u32, now: Instant) {
        let source = self.sender_timer_source(flow);
        self.agenda.clear(source);
        let sender = &mut self.flows[flow as usize].sender;
        // The timer may have been moved since it was set: then only look again.
        if sender.poll_timeout().is_some_and(|at| at <= now) {
            sender.handle_timeout(now);
        }
        self.pump_sender(flow, now);
    }

    fn receiver_timer(&mut self, flow: u32, now: Instant) {
        let source = SourceId(self.sender_timer_source(flow).0 + 1);
        self.agenda.clear(source);
        let receiver = &mut self.flows[flow as usize].receiver;
        if receiver.poll_timeout().is_some_and(|at| at <= now) {
            receiver.handle_timeout(now);
        }
        self.pump_receiver(flow, now);
    }

    fn application_event(&mut self, number: u32, now: Instant) {
        let source = self.application(number);
        let flow = &mut self.flows[number as usize];
        match &mut flow.messages {
            None => {
                flow.start();
                self.agenda.clear(source);
            }
            Some(messages) => {
                let bytes = messages.send();
                let next = messages.next_due();
                flow.supply(bytes);
                self.schedule(source, next);
            }
        }
        self.pump_sender(number, now);
    }

    fn sample(&mut self, now: Instant) {
        let source = SourceId((self.nodes.len() + 3 * self.flows.len()) as u32);
        links(&mut self.nodes).for_each(|(_, link)| link.catch_up(now));
        let hops = &self.nodes[..self.forward + self.backward];
        let sample = Sample {
            at: now,
            flows: self.flows.iter().map(FlowState::sample).collect(),
            hops: hops.iter().map(|node| sample_hop(node, now)).collect(),
        };
        self.observer.sample(&sample);
        match self.sample_interval {
            Some(interval) => self.schedule(source, now + interval),
            None => self.agenda.clear(source),
        }
    }

    fn hand_out_units(&mut self) {
        if O::UNITS {
            for (hop, link) in links(&mut self.nodes) {
                self.observer.units(hop, link.take_units());
            }
        }
    }

    // --- how a packet moves ---

    #[inline]
    fn pump_sender(&mut self, flow: u32, now: Instant) {
        loop {
            let segment = self.packets.prepare(flow, Direction::Receiver);
            if !self.flows[flow as usize].sender.transmit_into(now, segment) {
                break;
            }
            if O::EVENTS {
                let Segment { seq, len, retransmission, .. } = *segment;
                self.observer.event(now, &Event::Sent { flow, seq, len, retransmission });
            }
            self.send_prepared(now);
        }
        let timeout = self.flows[flow as usize].sender.poll_timeout();
        self.arm_retransmission(self.sender_timer_source(flow), timeout);
    }

    #[inline]
    fn pump_receiver(&mut self, flow: u32, now: Instant) {
        loop {
            let segment = self.packets.prepare(flow, Direction::Sender);
            if !self.flows[flow as usize].receiver.transmit_into(now, segment) {
                break;
            }
            self.send_prepared(now);
        }
        let timeout = self.flows[flow as usize].receiver.poll_timeout();
        let source = SourceId(self.sender_timer_source(flow).0 + 1);
        if timeout == self.agenda.time_of(source) {
            return;
        }
        match timeout {
            Some(at) => self.schedule(source, at),
            None => self.agenda.clear(source),
        }
    }

    /// Sets the retransmission timer, lazily: a deadline that moved back is left where it is, and found to be too
    /// early when it comes. Every acknowledgement moves the retransmission timer back.
    #[inline]
    fn arm_retransmission(&mut self, source: SourceId, timeout: Option<Instant>) {
        let Some(at) = timeout else { return };
        if self.agenda.time_of(source).is_none_or(|set| at < set) {
            self.schedule(source, at);
        }
    }

    #[inline]
    fn send_prepared(&mut self, now: Instant) {
        if let Some(id) = self.packets.send() {
            self.enter_hop(id, now);
        }
    }

    #[inline]
    fn leave_hop(&mut self, id: u32, now: Instant) {
        self.packets.get_mut(id).hop += 1;
        self.enter_hop(id, now);
    }

    #[inline]
    fn enter_hop(&mut self, id: u32, now: Instant) {
        let packet = self.packets.get(id);
        let path = self.flows[packet.flow as usize].path(packet.toward);
        let Some(&number) = path.get(usize::from(packet.hop)) else {
            return self.deliver(id, now);
        };
        let size = Bytes(packet.segment.wire);
        match &mut self.nodes[number as usize] {
            Node::Leg(node) => match node.leg.offer(now, size) {
                Passage::Arrives(at) => {
                    if node.push(at, self.sequence, id) {
                        self.agenda.set(SourceId(number), at, self.sequence);
                    }
                    self.sequence += 1;
                }
                Passage::Lost | Passage::Dropped => self.gone(id, now),
            },
            Node::Link(node) => {
                match node.link.enqueue(now, packet.offered(id)) {
                    Admission::Queued => {}
                    Admission::Dropped(_) => self.gone(id, now),
                }
                self.refresh_link(number as usize);
            }
        }
    }

    fn gone(&mut self, id: u32, now: Instant) {
        if O::EVENTS {
            let Packet { segment, flow, .. } = *self.packets.get(id);
            self.observer.event(now, &Event::Gone { flow, seq: segment.seq, len: segment.len });
        }
        self.packets.remove(id);
    }

    #[inline]
    fn deliver(&mut self, id: u32, now: Instant) {
        let packet = self.packets.get(id);
        let number = packet.flow;
        let flow = &mut self.flows[number as usize];
        let was_done = flow.done;
        match packet.toward {
            Direction::Receiver => {
                let duplicate = flow.receive(now, &packet.segment);
                if O::EVENTS {
                    let Segment { seq, len, .. } = packet.segment;
                    let event = Event::Received { flow: number, seq, len, duplicate };
                    self.observer.event(now, &event);
                }
                self.unfinished -= usize::from(!was_done && flow.done);
                self.packets.remove(id);
                self.pump_receiver(number, now);
            }
            Direction::Sender => {
                flow.acknowledge(now, &packet.segment);
                if O::EVENTS {
                    let event = Event::Acked { flow: number, ack: packet.segment.ack };
                    self.observer.event(now, &event);
                }
                self.unfinished -= usize::from(!was_done && flow.done);
                self.packets.remove(id);
                self.pump_sender(number, now);
            }
        }
    }
}

/// The links among the nodes, by number.
fn links(nodes: &mut [Node]) -> impl Iterator<Item = (usize, &mut (dyn Link + Send + 'static))> {
    nodes.iter_mut().enumerate().filter_map(|(number, node)| match node {
        Node::Link(node) => Some((number, &mut *node.link)),
        Node::Leg(_) => None,
    })
}

fn sample_hop(node: &Node, now: Instant) -> HopSample {
    match node {
        Node::Leg(node) => HopSample {
            queue: node.leg.queue_len(now) as u64,
            dropped: node.leg.counters.dropped,
            bits_on_air: node.leg.counters.bytes_sent as f64 * 8.0,
        },
        Node::Link(node) => {
            let usage = node.link.usage(now);
            HopSample {
                queue: node.link.queue_len(now) as u64,
                dropped: node.link.counters().dropped,
                bits_on_air: usage.used * f64::from(usage.slot.0) * 8.0,
            }
        }
    }
}
