//! What happens at a source of events: a node, a timer, an application, the sampler.

use super::{Engine, RunError, links};
use crate::link::{LinkEvent, Transit};
use crate::simulation::agenda::SourceId;
use crate::simulation::flow::FlowState;
use crate::simulation::observer::{HopSample, Observer, Sample, Step};
use crate::simulation::path::Node;
use crate::transport::End;
use crate::units::Instant;

impl<O: Observer> Engine<'_, O> {
    // --- what happens at a source ---

    pub(super) fn node_event(&mut self, number: usize, now: Instant) -> Result<(), RunError> {
        let source = SourceId(number as u32);
        match &mut self.nodes[number] {
            Node::Leg(node) => {
                // The agenda shows a leg only while something is on its way.
                let Some(id) = node.pop(now) else { return Ok(()) };
                match node.next() {
                    Some((at, sequence)) => self.agenda.set(source, at, sequence),
                    None => self.agenda.clear(source),
                }
                self.leave_hop(id, now);
            }
            Node::Link(_) => {
                while let Some(event) = self.poll_link(number, now) {
                    match event {
                        LinkEvent::Delivered(transit) => {
                            self.tell_transit(number, transit, now);
                            self.leave_hop(transit.packet.0 as u32, now);
                        }
                        LinkEvent::Lost(transit) => {
                            let id = transit.packet.0 as u32;
                            let flow = self.routes[id as usize].flow;
                            self.tell_transit(number, transit, now);
                            if O::PACKETS {
                                let step = Step::Lost { hop: number, begins: None };
                                self.observer.packet(now, flow, id, step);
                            }
                            self.gone(flow, id, now);
                        }
                        LinkEvent::TraceEnded { at, .. } if at < self.end => {
                            return Err(RunError::TraceEnded { at });
                        }
                        LinkEvent::Marked { packet, .. } => {
                            self.packets.mark(packet.0 as u32);
                            if O::PACKETS {
                                let id = packet.0 as u32;
                                let flow = self.routes[id as usize].flow;
                                self.observer.packet(now, flow, id, Step::Marked { hop: number });
                            }
                        }
                        LinkEvent::Departed { .. } | LinkEvent::TraceEnded { .. } => {}
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

    /// Tells the observer how a packet came through a link, and what the link sent until then.
    #[inline]
    fn tell_transit(&mut self, number: usize, transit: Transit, now: Instant) {
        if !O::PACKETS {
            return;
        }
        let Node::Link(node) = &mut self.nodes[number] else { return };
        let units = if O::UNITS { Vec::new() } else { node.link.take_units() };
        let id = transit.packet.0 as u32;
        let flow = self.routes[id as usize].flow;
        self.observer.packet(now, flow, id, Step::OverLink { hop: number, transit, units });
    }

    /// Shows the agenda when a link wants to be polled next.
    #[inline]
    pub(super) fn refresh_link(&mut self, number: usize) {
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

    pub(super) fn timer(&mut self, flow: u32, end: End, now: Instant) {
        self.agenda.clear(self.timer_source(flow, end));
        self.flows[flow as usize].connection.handle_timeout(now, end);
        self.pump(flow, end, now);
    }

    pub(super) fn application_event(&mut self, number: u32, now: Instant) {
        let source = self.application(number);
        if let Some(session) = self.flows[number as usize].session {
            self.agenda.clear(source);
            return self.attend(session, None, now);
        }
        match self.flows[number as usize].drive(now) {
            Some(next) => self.schedule(source, next),
            None => self.agenda.clear(source),
        }
        self.pump(number, End::Sender, now);
    }

    pub(super) fn sample(&mut self, now: Instant) {
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

    pub(super) fn hand_out_units(&mut self) {
        if O::UNITS {
            for (hop, link) in links(&mut self.nodes) {
                self.observer.units(hop, link.take_units());
            }
        }
    }
}

fn sample_hop(node: &Node, now: Instant) -> HopSample {
    match node {
        Node::Leg(node) => HopSample {
            queue: node.leg.queue_len(now) as u64,
            dropped: node.leg.counters.dropped,
            bits_on_air: node.leg.counters.bytes_sent as f64 * 8.0,
        },
        Node::Link(node) if node.is_leg => HopSample {
            queue: node.link.queue_len(now) as u64,
            dropped: node.link.counters().dropped,
            bits_on_air: node.link.counters().bytes_carried as f64 * 8.0,
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
