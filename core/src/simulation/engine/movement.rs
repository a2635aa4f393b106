//! How a packet moves: out of an endpoint, from hop to hop, into the other endpoint.

use super::Engine;
use crate::link::{Admission, DropReason};
use crate::simulation::agenda::SourceId;
use crate::simulation::leg::Passage;
use crate::simulation::observer::{Discarded, Event, Observer, SenderState, Step};
use crate::simulation::path::Node;
use crate::simulation::route::{Stop, offered};
use crate::simulation::socket::Socket;
use crate::transport::train::Rank;
use crate::transport::{Answer, Contents, End, Limit, Packet, Received};
use crate::units::Instant;

impl Engine<'_> {
    // --- how a packet moves ---

    /// Has an endpoint send what it has to send, and sets its timer.
    pub(super) fn pump(&mut self, number: u32, now: Instant) {
        // Something stands before it if this end answers a packet that crossed no hop.
        let first = self.packets.sent().len();
        let endpoint = &mut self.sockets[number as usize].endpoint;
        let timeout = endpoint.transmit(now, &mut self.packets);
        let limit = endpoint.limit();
        self.send_off::<false>(number, first, timeout, limit, now);
    }

    /// What a socket sends, from index `first` on, sets off; its timer is set. `PLAIN`: the socket is
    /// plain ([`Socket::is_plain`]).
    #[inline(always)] // called for every packet: a call costs as much as what it does
    fn send_off<const PLAIN: bool>(
        &mut self,
        number: u32,
        first: usize,
        timeout: Option<Instant>,
        mut limit: Limit,
        now: Instant,
    ) {
        let Socket { flow, end, way, first: begins, splits, .. } = self.sockets[number as usize];
        let mut index = first;
        while let Some(&id) = self.packets.sent().get(index) {
            index += 1;
            if !PLAIN && splits && end == End::Sender {
                self.flows[flow as usize].stamp(number, now, &mut self.packets[id]);
            }
            if !PLAIN && (self.wants.events || self.wants.packets) {
                self.tell_sent(number, id, now);
            }
            let place = match self.packets[id].path {
                0 => begins,
                path => self.ways.starts[way as usize + usize::from(path)],
            };
            let stop = self.ways.stops[place as usize];
            match stop.is_end {
                false => self.enter_node::<PLAIN>(stop, place, id, now),
                true => {
                    self.arrive_at_once(stop.number, id, now);
                    limit = self.sockets[number as usize].endpoint.limit();
                }
            }
        }
        self.packets.forget_sent(first);
        if end == End::Sender {
            self.flows[flow as usize].note_limit(now, limit, &self.sockets);
            if !PLAIN && self.wants.senders {
                self.tell_sender(number, now);
            }
        }
        let rank = self.rank(Rank::Alarm);
        let alarm = &mut self.sockets[number as usize].alarm;
        if alarm.set(timeout, rank) {
            let (at, rank) = alarm.key();
            self.agenda.set(self.timer_source(number), at, rank);
        }
    }

    /// Tells the observer that a socket sends a packet.
    #[cold]
    fn tell_sent(&mut self, number: u32, id: u32, now: Instant) {
        let Socket { endpoint, flow, end, .. } = &self.sockets[number as usize];
        let (packet, flow, from) = (&self.packets[id], *flow, *end);
        if self.wants.events && from == End::Sender {
            let Packet { start, len, retransmission, .. } = *packet;
            self.observer.event(now, &Event::Sent { flow, seq: start, len, retransmission });
        }
        if self.wants.packets {
            let contents = self.packets.contents(id);
            let payload = contents.map_or(&[][..], |contents| endpoint.payload(contents));
            let connection = (number - self.flows[flow as usize].sockets.start) / 2;
            let connection = connection + u32::from(packet.path);
            let step = Step::Sent { from, connection, packet, payload };
            self.observer.packet(now, flow, id, step);
        }
    }

    /// Tells the observer the state of a sender.
    #[cold]
    fn tell_sender(&mut self, number: u32, now: Instant) {
        let Socket { endpoint, flow, .. } = &self.sockets[number as usize];
        let paths = endpoint.paths();
        for (path, own) in (0..).zip(&paths) {
            let state = SenderState {
                limit: own.limit.unwrap_or(Limit::Path),
                is_passed_over: own.limit.is_none(),
                window: own.window.unwrap_or_default(),
                counters: own.report.sender,
                acknowledged: own.acknowledged,
                unsent: endpoint.unsent(),
                is_open: own.is_open,
            };
            self.observer.sender(now, *flow, path, &state);
        }
        if !paths.is_empty() {
            return;
        }
        let state = SenderState {
            limit: endpoint.limit(),
            is_passed_over: false,
            window: endpoint.window().unwrap_or_default(),
            counters: endpoint.report().sender,
            acknowledged: endpoint.acknowledged().unwrap_or(0),
            unsent: endpoint.unsent(),
            is_open: endpoint.is_open(),
        };
        let connection = (number - self.flows[*flow as usize].sockets.start) / 2;
        self.observer.sender(now, *flow, connection, &state);
    }

    /// A packet on a way without any hop.
    #[cold]
    fn arrive_at_once(&mut self, to: u32, id: u32, now: Instant) {
        self.deliver(to, id, now);
    }

    /// A packet has crossed a node that is no plain leg.
    #[inline(always)]
    pub(super) fn leave_node(&mut self, id: u32, now: Instant) {
        self.enter(self.places[id as usize] + 1, id, now);
    }

    /// A packet comes to a stop of its way.
    #[inline(always)] // so is `deliver`
    pub(super) fn enter(&mut self, place: u32, id: u32, now: Instant) {
        let stop = self.ways.stops[place as usize];
        match stop.is_end {
            true => self.deliver(stop.number, id, now),
            false => self.enter_node::<false>(stop, place, id, now),
        }
    }

    /// Notes the stop of a packet that enters a node that is no plain leg.
    #[inline]
    fn note_place(&mut self, id: u32, place: u32) {
        match self.places.get_mut(id as usize) {
            Some(known) => *known = place,
            None => self.places.resize(id as usize + 1, place),
        }
    }

    #[inline(always)] // called for every packet on every hop
    fn enter_node<const PLAIN: bool>(&mut self, stop: Stop, place: u32, id: u32, now: Instant) {
        let Stop { number, flow, .. } = stop;
        let rank = self.rank(Rank::Packet);
        let packet = &self.packets[id];
        match &mut self.nodes[number as usize] {
            Node::Managed(_) | Node::Link(_) => self.enter_link(stop, place, id, now),
            Node::Leg(node) => match node.leg.offer(now, packet.size, packet.len > 0) {
                Passage::Arrives(at) => {
                    if !PLAIN && self.wants.packets {
                        let begins = node.leg.last_start();
                        tell_on_leg(self.observer, now, (flow, id), number, begins);
                    }
                    if node.push(at, rank, id, place) {
                        self.agenda.set(SourceId(number), at, rank);
                    }
                }
                passage => {
                    if self.wants.packets {
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
        }
    }

    /// A packet enters a node that is no plain leg.
    #[inline(never)] // so that a leg does not pay for its registers
    fn enter_link(&mut self, stop: Stop, place: u32, id: u32, now: Instant) {
        let Stop { number, flow, .. } = stop;
        let packet = &self.packets[id];
        match &mut self.nodes[number as usize] {
            Node::Leg(_) => {}
            Node::Managed(node) => {
                let is_taken = node.offer(now, &offered(id, flow, packet));
                let news = node.news();
                self.note_place(id, place);
                if news {
                    self.refresh(number as usize);
                }
                if !is_taken {
                    let step = Step::Dropped { hop: number as usize, too_large: false };
                    self.tell(id, now, step);
                    self.gone(flow, id, now);
                }
            }
            Node::Link(node) => {
                match node.link.enqueue(now, offered(id, flow, packet)) {
                    Admission::Queued => self.note_place(id, place),
                    Admission::Dropped(why) => {
                        if self.wants.packets {
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
        if self.wants.events {
            self.observer.event(now, &Event::Gone { flow, seq: packet.start, len: packet.len });
        }
        self.packets.free(id);
    }

    #[inline(always)]
    fn deliver(&mut self, to: u32, id: u32, now: Instant) {
        let socket = &mut self.sockets[to as usize];
        if !socket.is_plain {
            return self.deliver_in_steps(to, id, now);
        }
        let first = self.packets.sent().len();
        let Answer { received, timeout, limit } =
            socket.endpoint.answer(now, id, &mut self.packets);
        let (flow, end) = (socket.flow, socket.end);
        self.note_arrival(flow, end, id, received, now);
        self.packets.free(id);
        self.send_off::<true>(to, first, timeout, limit, now);
    }

    /// As [`Engine::deliver`], where something happens between arrival and answer.
    #[inline(never)] // what some packets need would take the registers of all
    fn deliver_in_steps(&mut self, to: u32, id: u32, now: Instant) {
        let contents = self.packets.take_contents(id);
        let packet = &self.packets[id];
        let Socket { endpoint, flow: number, end, proxy, .. } = &mut self.sockets[to as usize];
        let (number, end, proxy) = (*number, *end, *proxy);
        let received = match self.wants.events || self.wants.packets {
            false => endpoint.handle(now, packet, contents),
            true => self.handle_watched(to, id, now, contents),
        };
        match proxy {
            // The application stands elsewhere.
            Some(_) if end == End::Receiver => {}
            _ => self.note_arrival(number, end, id, received, now),
        }
        if let Some(proxy) = proxy {
            return self.relay(to, id, proxy as usize, now);
        }
        self.packets.free(id);
        if let Some(session) = self.flows[number as usize].session {
            self.attend(session, Some((number, end)), now);
        }
        self.pump(to, now);
    }

    /// A flow notes that a packet reached an end of it.
    #[inline(always)] // as above
    fn note_arrival(&mut self, flow: u32, end: End, id: u32, received: Received, now: Instant) {
        let flow = &mut self.flows[flow as usize];
        let is_last = flow.arrived(now, end, &self.packets[id], received, &self.sockets);
        self.unfinished -= usize::from(is_last);
    }

    /// A packet reaches a socket, and the observer hears of it.
    #[cold]
    fn handle_watched(
        &mut self,
        to: u32,
        id: u32,
        now: Instant,
        contents: Option<Contents>,
    ) -> Received {
        let packet = &self.packets[id];
        let Socket { endpoint, flow, end, .. } = &mut self.sockets[to as usize];
        let (flow, stale) = (*flow, endpoint.report().receiver.stale_segments);
        let received = endpoint.handle(now, packet, contents);
        if self.wants.packets {
            let discarded = match received {
                Received::Data { in_vain: true, .. } if packet.len > 0 => {
                    let is_stale = endpoint.report().receiver.stale_segments > stale;
                    Some(if is_stale { Discarded::Stale } else { Discarded::Duplicate })
                }
                _ => None,
            };
            self.observer.packet(now, flow, id, Step::Arrived { discarded });
        }
        if self.wants.events {
            let Packet { start: seq, len, .. } = *packet;
            let event = match (*end, received) {
                (End::Sender, Received::Ack(ack)) => Event::Acked { flow, ack },
                (End::Sender, Received::Data { .. }) => {
                    Event::Acked { flow, ack: endpoint.acknowledged().unwrap_or(0) }
                }
                (End::Receiver, received) => {
                    let duplicate = matches!(received, Received::Data { in_vain: true, .. });
                    Event::Received { flow, seq, len, duplicate }
                }
            };
            self.observer.event(now, &event);
        }
        received
    }

    /// A packet has reached a socket of a proxy, whose application copies what it can.
    #[cold]
    fn relay(&mut self, socket: u32, id: u32, proxy: usize, now: Instant) {
        let Socket { flow: number, end, .. } = self.sockets[socket as usize];
        let own = &mut self.flows[number as usize].proxies[proxy];
        own.arrived(end, &self.packets[id]);
        let beyond = own.beyond(socket);
        self.packets.free(id);
        self.run_proxy(number, proxy);
        self.pump(socket, now);
        self.pump(beyond, now);
    }

    /// Has a proxy of a flow copy what it can.
    pub(super) fn run_proxy(&mut self, flow: u32, proxy: usize) {
        let flow = &mut self.flows[flow as usize];
        let source = &self.sockets[flow.socket(End::Sender) as usize];
        let total = source.endpoint.total();
        flow.proxies[proxy].run(&mut self.sockets, total);
    }
}

/// Tells an observer of a packet of a flow that it is on a leg, which begins to send it at `begins`.
#[cold]
fn tell_on_leg(
    observer: &mut dyn Observer,
    now: Instant,
    (flow, id): (u32, u32),
    leg: u32,
    begins: Instant,
) {
    observer.packet(now, flow, id, Step::OnLeg { hop: leg as usize, begins });
}
