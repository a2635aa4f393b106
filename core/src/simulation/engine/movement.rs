//! How a packet moves: out of an end, from hop to hop, into the other end.

use super::Engine;
use crate::link::Admission;
use crate::simulation::agenda::SourceId;
use crate::simulation::leg::Passage;
use crate::simulation::observer::{Event, Observer};
use crate::simulation::path::{Direction, Node, Packet};
use crate::transport::{Endpoint, Segment};
use crate::units::{Bytes, Instant};

impl<O: Observer> Engine<'_, O> {
    // --- how a packet moves ---

    #[inline]
    pub(super) fn pump_sender(&mut self, flow: u32, now: Instant) {
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
    pub(super) fn pump_receiver(&mut self, flow: u32, now: Instant) {
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
    pub(super) fn leave_hop(&mut self, id: u32, now: Instant) {
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

    pub(super) fn gone(&mut self, id: u32, now: Instant) {
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
