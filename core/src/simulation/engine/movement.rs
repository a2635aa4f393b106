//! How a packet moves: out of an end, from hop to hop, into the other end.

use super::Engine;
use crate::link::{Admission, DropReason};
use crate::simulation::agenda::SourceId;
use crate::simulation::leg::Passage;
use crate::simulation::observer::{Event, Observer, Step};
use crate::simulation::path::Node;
use crate::simulation::route::{Route, offered};
use crate::simulation::stretches::PROXY;
use crate::transport::{End, Packet, Received};
use crate::units::Instant;

impl<O: Observer> Engine<'_, O> {
    // --- how a packet moves ---

    /// Has an end of a flow send what it has to send, and sets its timer.
    pub(super) fn pump(&mut self, flow: u32, end: End, now: Instant) {
        // Something stands before it if this end answers a packet that crossed no hop.
        let first = self.packets.sent().len();
        let connection = &mut self.flows[flow as usize].connection;
        let timeout = connection.transmit(now, end, &mut self.packets);
        let toward = match end {
            End::Sender => End::Receiver,
            End::Receiver => End::Sender,
        };
        for index in first..self.packets.sent().len() {
            let id = self.packets.sent()[index];
            if O::EVENTS && end == End::Sender {
                let Packet { start, len, retransmission, .. } = self.packets[id];
                self.observer.event(now, &Event::Sent { flow, seq: start, len, retransmission });
            }
            if O::PACKETS {
                let step = Step::Sent { from: end, packet: &self.packets[id] };
                self.observer.packet(now, flow, id, step);
            }
            let state = &self.flows[flow as usize];
            let hop = state.begins(toward, &self.packets[id]);
            let Some(&number) = state.path(toward).get(usize::from(hop)) else {
                self.arrive_at_once(flow, toward, id, now);
                continue;
            };
            let route = Route { flow, hop, toward };
            match self.routes.get_mut(id as usize) {
                Some(place) => *place = route,
                None => self.routes.resize(id as usize + 1, route),
            }
            self.enter_node(number, id, flow, now);
        }
        self.packets.forget_sent(first);
        let source = self.timer_source(flow, end);
        match end {
            End::Sender => self.arm_retransmission(source, timeout),
            End::Receiver if timeout == self.agenda.time_of(source) => {}
            End::Receiver => match timeout {
                Some(at) => self.schedule(source, at),
                None => self.agenda.clear(source),
            },
        }
    }

    /// A packet of a flow without any hop on this way.
    #[cold]
    fn arrive_at_once(&mut self, flow: u32, toward: End, id: u32, now: Instant) {
        self.deliver(flow, toward, id, now);
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

    #[inline(always)] // so is `deliver`: a call costs as much as what it does
    pub(super) fn leave_hop(&mut self, id: u32, now: Instant) {
        let route = &mut self.routes[id as usize];
        route.hop += 1;
        let Route { flow, hop, toward } = *route;
        match self.flows[flow as usize].path(toward).get(usize::from(hop)) {
            Some(&number) if number != PROXY => self.enter_node(number, id, flow, now),
            _ => self.deliver(flow, toward, id, now),
        }
    }

    #[inline]
    fn enter_node(&mut self, number: u32, id: u32, flow: u32, now: Instant) {
        let packet = &self.packets[id];
        match &mut self.nodes[number as usize] {
            Node::Leg(node) => match node.leg.offer(now, packet.size, packet.len > 0) {
                Passage::Arrives(at) => {
                    if O::PACKETS {
                        let begins = node.leg.last_start();
                        let step = Step::OnLeg { hop: number as usize, begins };
                        self.observer.packet(now, flow, id, step);
                    }
                    if node.push(at, self.sequence, id) {
                        self.agenda.set(SourceId(number), at, self.sequence);
                    }
                    self.sequence += 1;
                }
                passage => {
                    if O::PACKETS {
                        let hop = number as usize;
                        let step = match passage {
                            Passage::Dropped => Step::Dropped { hop, too_large: false },
                            _ => Step::Lost { hop, begins: Some(node.leg.last_start()) },
                        };
                        self.observer.packet(now, flow, id, step);
                    }
                    self.gone(flow, id, now);
                }
            },
            Node::Managed(node) => {
                let is_taken = node.offer(now, &offered(id, flow, packet));
                if let Some(at) = node.news() {
                    self.schedule(SourceId(number), at);
                }
                if !is_taken {
                    let step = Step::Dropped { hop: number as usize, too_large: false };
                    self.tell(id, now, step);
                    self.gone(flow, id, now);
                }
            }
            Node::Link(node) => {
                match node.link.enqueue(now, offered(id, flow, packet)) {
                    Admission::Queued => {}
                    Admission::Dropped(why) => {
                        if O::PACKETS {
                            let too_large = why == DropReason::TooLarge;
                            let step = Step::Dropped { hop: number as usize, too_large };
                            self.observer.packet(now, flow, id, step);
                        }
                        self.gone(flow, id, now);
                    }
                }
                self.refresh(number as usize);
            }
        }
    }

    pub(super) fn gone(&mut self, flow: u32, id: u32, now: Instant) {
        let packet = &self.packets[id];
        if O::EVENTS {
            self.observer.event(now, &Event::Gone { flow, seq: packet.start, len: packet.len });
        }
        self.flows[flow as usize].connection.discard(packet);
        self.packets.free(id);
    }

    #[inline(always)]
    fn deliver(&mut self, number: u32, end: End, id: u32, now: Instant) {
        let packet = &self.packets[id];
        let flow = &mut self.flows[number as usize];
        let was_done = flow.done;
        if O::PACKETS {
            self.observer.packet(now, number, id, Step::Arrived);
        }
        let received = flow.receive(now, end, packet);
        self.unfinished -= usize::from(!was_done && flow.done);
        if O::EVENTS {
            let Packet { start: seq, len, .. } = *packet;
            let event = match received {
                Received::Ack(ack) => Event::Acked { flow: number, ack },
                Received::Data { in_vain: duplicate, .. }
                | Received::Relayed { in_vain: duplicate } => {
                    Event::Received { flow: number, seq, len, duplicate }
                }
            };
            self.observer.event(now, &event);
        }
        // What reaches a proxy is nothing to the application.
        let session = flow.session.filter(|_| flow.is_at_end(end, packet));
        self.packets.free(id);
        if let Some(session) = session {
            self.attend(session, Some((number, end)), now);
        }
        self.pump(number, end, now);
        if self.flows[number as usize].is_split() {
            let other = match end {
                End::Sender => End::Receiver,
                End::Receiver => End::Sender,
            };
            self.pump(number, other, now);
        }
    }
}
