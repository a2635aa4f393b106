//! What happens at a source of events: a node, a timer, an application, the sampler.

use super::{Engine, RunError, WayTable, links};
use crate::link::{LinkEvent, Transit};
use crate::simulation::agenda::SourceId;
use crate::simulation::observer::{HopSample, Sample, Step};
use crate::simulation::path::{Node, Told};
use crate::simulation::rerouting::Rerouter;
use crate::transport::End;
use crate::units::Instant;

impl Engine<'_> {
    // --- what happens at a source ---

    #[inline(always)] // called for every packet: a call costs as much as what it does
    pub(super) fn node_event(&mut self, number: usize, now: Instant) -> Result<(), RunError> {
        let source = SourceId(number as u32);
        let Node::Leg(node) = &mut self.nodes[number] else {
            return self.link_event(number, now);
        };
        // The agenda shows a leg only while something is on its way.
        let Some((id, place)) = node.pop() else { return Ok(()) };
        self.agenda.put(source, node.next());
        self.enter(place + 1, id, now);
        Ok(())
    }

    /// Something happens in a node that is no plain leg.
    #[inline(never)] // so that a leg's event does not pay for its registers
    fn link_event(&mut self, number: usize, now: Instant) -> Result<(), RunError> {
        match &mut self.nodes[number] {
            Node::Leg(_) => {}
            Node::Managed(_) => {
                self.managed_event(number, now);
                self.refresh(number);
            }
            Node::Link(_) => {
                while let Some(event) = self.poll_link(number, now) {
                    match event {
                        LinkEvent::Delivered(transit) => {
                            self.tell_transit(number, transit, now);
                            self.leave_node(transit.packet.0 as u32, now);
                        }
                        LinkEvent::Lost(transit) => {
                            let id = transit.packet.0 as u32;
                            let flow = self.flow_of(id);
                            self.tell_transit(number, transit, now);
                            if self.wants.packets {
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
                            if self.wants.packets {
                                let id = packet.0 as u32;
                                let flow = self.flow_of(id);
                                self.observer.packet(now, flow, id, Step::Marked { hop: number });
                            }
                        }
                        LinkEvent::Departed { .. } | LinkEvent::TraceEnded { .. } => {}
                    }
                    // Mostly it has nothing else now: then it is not polled for that.
                    let next = self.next_of(number);
                    if next.is_none_or(|at| at > now) {
                        self.show(number, next);
                        return Ok(());
                    }
                }
                self.refresh(number);
            }
        }
        Ok(())
    }

    /// A packet arrives over a leg with a queue that manages itself, or is lost; and what the queue did.
    fn managed_event(&mut self, number: usize, now: Instant) {
        if let Node::Managed(node) = &mut self.nodes[number] {
            node.catch_up(now);
        }
        loop {
            let Node::Managed(node) = &mut self.nodes[number] else { return };
            let Some(told) = node.pop(now) else { return };
            match told {
                Told::Arrived { packet: id, entered, departed: begins } => {
                    self.tell(id, entered, Step::OnLeg { hop: number, begins });
                    self.leave_node(id, now);
                }
                Told::Lost { packet: id, entered, departed } => {
                    self.tell(id, entered, Step::Lost { hop: number, begins: Some(departed) });
                    let flow = self.flow_of(id);
                    self.gone(flow, id, now);
                }
                Told::Dropped { packet: id, at } => {
                    self.tell(id, at, Step::Lost { hop: number, begins: None });
                    let flow = self.flow_of(id);
                    self.gone(flow, id, at);
                }
                Told::Marked { packet: id } => {
                    self.packets.mark(id);
                    self.tell(id, now, Step::Marked { hop: number });
                }
            }
        }
    }

    /// The flow of a packet that is not on a plain leg.
    fn flow_of(&self, id: u32) -> u32 {
        self.ways.stops[self.places[id as usize] as usize].flow
    }

    /// Tells the observer a packet's fate.
    #[inline]
    pub(super) fn tell(&mut self, id: u32, at: Instant, step: Step<'_>) {
        if self.wants.packets {
            let flow = self.flow_of(id);
            self.observer.packet(at, flow, id, step);
        }
    }

    fn poll_link(&mut self, number: usize, now: Instant) -> Option<LinkEvent> {
        let Node::Link(node) = &mut self.nodes[number] else { return None };
        node.poll(now)
    }

    /// Tells the observer how a packet came through a link, and what the link sent until then.
    #[inline(always)]
    fn tell_transit(&mut self, number: usize, transit: Transit, now: Instant) {
        if self.wants.packets {
            self.tell_wanted_transit(number, transit, now);
        }
    }

    #[cold]
    fn tell_wanted_transit(&mut self, number: usize, transit: Transit, now: Instant) {
        let Node::Link(node) = &mut self.nodes[number] else { return };
        let units = if self.wants.units { Vec::new() } else { node.link.take_units() };
        let id = transit.packet.0 as u32;
        let flow = self.flow_of(id);
        self.observer.packet(now, flow, id, Step::OverLink { hop: number, transit, units });
    }

    /// Shows the agenda when a node, but for a plain leg, has its next event.
    #[inline]
    pub(super) fn refresh(&mut self, number: usize) {
        let next = self.next_of(number);
        self.show(number, next);
    }

    /// When a node has its next event.
    #[inline(always)]
    fn next_of(&self, number: usize) -> Option<Instant> {
        match &self.nodes[number] {
            Node::Leg(node) => node.next().map(|(at, _)| at),
            Node::Managed(node) => node.next().map(|(at, _)| at),
            Node::Link(node) => node.link.poll_timeout(),
        }
    }

    #[inline(always)] // mostly nothing changes
    fn show(&mut self, number: usize, next: Option<Instant>) {
        let source = SourceId(number as u32);
        if self.ahead.is_some() {
            let next = self.nodes[number].next();
            return self.agenda.put(source, next);
        }
        if next == self.agenda.time_of(source) {
            return;
        }
        match next {
            Some(at) => self.schedule(source, at),
            None => self.agenda.clear(source),
        }
    }

    /// The agenda's time for a socket has come. False if its timer does not expire now.
    pub(super) fn timer(&mut self, number: u32, now: Instant) -> bool {
        let source = self.timer_source(number);
        let socket = &mut self.sockets[number as usize];
        let goes_off = socket.alarm.goes_off(now);
        let look = socket.alarm.look().map(|at| (at, socket.alarm.key().1));
        self.agenda.put(source, look);
        if !goes_off {
            return false;
        }
        let flow = socket.flow;
        socket.endpoint.handle_timeout(now);
        self.pump(number, now);
        self.refill(flow, now);
        true
    }

    pub(super) fn application_event(&mut self, number: u32, now: Instant) {
        let source = self.application(number);
        let flow = &mut self.flows[number as usize];
        if let Some(session) = flow.session {
            self.agenda.clear(source);
            return self.attend(session, None, now);
        }
        let socket = flow.socket(End::Sender);
        match flow.drive(now, &mut *self.sockets[socket as usize].endpoint) {
            Some(next) => self.schedule(source, next),
            None => self.agenda.clear(source),
        }
        for proxy in 0..self.flows[number as usize].proxies.len() {
            self.run_proxy(number, proxy);
        }
        self.pump(socket, now);
    }

    /// Packets follow the routes of now, those under way too.
    #[cold]
    pub(super) fn reroute(&mut self, now: Instant) {
        let setup = self.setup;
        let Some(own) = &setup.routing.rerouting else { return };
        // Before all other events of its instant: the first choice has the first sequence number.
        self.agenda.set(self.rerouting(), now + own.every, 0);
        let graph = own.graph(setup, now);
        let flows = setup.flows.iter().enumerate();
        let origins: Vec<_> =
            flows.flat_map(|(number, flow)| std::iter::repeat_n(number, flow.members())).collect();
        let WayTable { stops, starts } = &mut self.ways;
        let mut rerouter = Rerouter::new(own, &graph, stops, &self.sockets, &origins);
        for socket in &mut self.sockets {
            socket.first = rerouter.way(socket.first);
            starts[socket.way as usize] = socket.first;
        }
        for node in &mut self.nodes {
            if let Node::Leg(node) = node {
                node.reroute(|place| rerouter.place(place));
            }
        }
        self.places.iter_mut().for_each(|place| *place = rerouter.place(*place));
    }

    pub(super) fn sample(&mut self, now: Instant) {
        let source = self.application(self.flows.len() as u32);
        self.catch_up(now);
        let hops = &self.nodes[..self.forward + self.backward];
        let sample = Sample {
            at: now,
            flows: self.flows.iter().map(|flow| flow.sample(&self.sockets)).collect(),
            hops: hops.iter().map(|node| sample_hop(node, now)).collect(),
        };
        self.observer.sample(&sample);
        match self.sample_interval {
            Some(interval) => self.schedule(source, now + interval),
            None => self.agenda.clear(source),
        }
    }

    /// Hands the observer the readings that it wants before `now`: a slot may still take packets of
    /// its own instant.
    #[cold]
    pub(super) fn read_hops(&mut self, now: Instant) {
        while let Some(at) = self.observer.reading_due().filter(|&at| at < now) {
            self.catch_up(at);
            for hop in 0..self.forward + self.backward {
                let usage = self.nodes[hop].usage(at);
                self.observer.reading(at, hop, usage.as_ref());
            }
        }
    }

    /// Has the nodes work off what happened up to `now`.
    pub(super) fn catch_up(&mut self, now: Instant) {
        for node in &mut self.nodes {
            match node {
                Node::Leg(_) => {}
                Node::Managed(node) => node.catch_up(now),
                Node::Link(node) => node.link.catch_up(now),
            }
        }
    }

    pub(super) fn hand_out_units(&mut self) {
        if self.wants.units {
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
        Node::Managed(node) => HopSample {
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
