//! How a packet moves: out of an end, from hop to hop, into the other end.

use super::Engine;
use crate::link::Admission;
use crate::simulation::agenda::SourceId;
use crate::simulation::leg::Passage;
use crate::simulation::observer::{Event, Observer};
use crate::simulation::packet::Packet;
use crate::simulation::path::Node;
use crate::transport::{self, End, Received};
use crate::units::Instant;

impl<O: Observer> Engine<'_, O> {
    // --- how a packet moves ---

    /// Has an end of a flow send what it has to send, and sets its timer.
    #[inline]
    pub(super) fn pump(&mut self, flow: u32, end: End, now: Instant) {
        loop {
            let connection = &mut self.flows[flow as usize].connection;
            let packet = self.packets.prepare();
            if !connection.transmit(now, end, &mut packet.content) {
                break;
            }
            let toward = match end {
                End::Sender => End::Receiver,
                End::Receiver => End::Sender,
            };
            (packet.flow, packet.hop, packet.toward) = (flow, 0, toward);
            if O::EVENTS && end == End::Sender {
                let transport::Packet { start, len, retransmission, .. } = packet.content;
                self.observer.event(now, &Event::Sent { flow, seq: start, len, retransmission });
            }
            let id = self.packets.keep();
            self.enter_hop(id, now);
        }
        let timeout = self.flows[flow as usize].connection.poll_timeout(end);
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
    pub(super) fn leave_hop(&mut self, id: u32, now: Instant) {
        self.packets[id].hop += 1;
        self.enter_hop(id, now);
    }

    #[inline]
    fn enter_hop(&mut self, id: u32, now: Instant) {
        let packet = &self.packets[id];
        let path = self.flows[packet.flow as usize].path(packet.toward);
        let Some(&number) = path.get(usize::from(packet.hop)) else {
            return self.deliver(id, now);
        };
        match &mut self.nodes[number as usize] {
            Node::Leg(node) => match node.leg.offer(now, packet.content.size) {
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
        let Packet { content, flow, .. } = self.packets[id];
        if O::EVENTS {
            let transport::Packet { start, len, .. } = content;
            self.observer.event(now, &Event::Gone { flow, seq: start, len });
        }
        self.flows[flow as usize].connection.discard(&content);
        self.packets.free(id);
    }

    #[inline]
    fn deliver(&mut self, id: u32, now: Instant) {
        let Packet { content, flow: number, toward, .. } = self.packets[id];
        self.packets.free(id);
        let flow = &mut self.flows[number as usize];
        let was_done = flow.done;
        let received = flow.receive(now, toward, &content);
        self.unfinished -= usize::from(!was_done && flow.done);
        if O::EVENTS {
            let transport::Packet { start: seq, len, .. } = content;
            let event = match received {
                Received::Ack(ack) => Event::Acked { flow: number, ack },
                Received::New => Event::Received { flow: number, seq, len, duplicate: false },
                Received::InVain => Event::Received { flow: number, seq, len, duplicate: true },
            };
            self.observer.event(now, &event);
        }
        self.pump(number, toward, now);
    }
}
