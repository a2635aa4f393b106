//! What happens between the connections of a session.

use super::Engine;
use crate::application::{Connections, Ends, Session};
use crate::simulation::flow::FlowState;
use crate::simulation::socket::Socket;
use crate::transport::End;
use crate::units::Instant;

/// A session and its connections among the flows.
pub(in crate::simulation) struct Conversation {
    pub(in crate::simulation) session: Box<dyn Session>,
    /// The first of its flows; the others follow.
    pub(in crate::simulation) first: usize,
    pub(super) count: usize,
    pub(super) done: bool,
    /// The connections that the session took, by bits.
    taken: u64,
}

impl Conversation {
    pub(super) fn new(session: Box<dyn Session>, first: usize, count: usize) -> Self {
        Self { session, first, count, done: false, taken: 0 }
    }
}

/// The connections of a session while it runs.
struct Members<'a> {
    flows: &'a [FlowState],
    sockets: &'a mut [Socket],
    taken: u64,
}

impl Connections for Members<'_> {
    fn take(&mut self, number: usize) -> Ends<'_> {
        // A session has at least one.
        let number = number.min(self.flows.len() - 1);
        self.taken |= 1 << number.min(63);
        let flow = &self.flows[number];
        let (server, client) = (flow.socket(End::Sender), flow.socket(End::Receiver));
        let (before, from_client) = self.sockets.split_at_mut(client as usize);
        Ends {
            server: &mut *before[server as usize].endpoint,
            client: &mut *from_client[0].endpoint,
        }
    }
}

impl Engine<'_> {
    /// Has a session do what is due, or take what arrived at an end of one of its connections.
    #[inline(never)]
    pub(super) fn attend(&mut self, number: u32, arrived: Option<(u32, End)>, now: Instant) {
        let own = &mut self.conversations[number as usize];
        let (first, count) = (own.first, own.count);
        let flows = &self.flows[first..first + count];
        let mut members = Members { flows, sockets: &mut self.sockets, taken: 0 };
        let next = match arrived {
            None => own.session.run(now, &mut members),
            Some((flow, end)) => own.session.arrived(now, flow as usize - first, end, &mut members),
        };
        own.taken |= members.taken;
        if own.session.is_done() && !own.done {
            own.done = true;
            self.unfinished -= 1;
            if let Some(end) = own.session.end() {
                self.flows[first..first + count].iter_mut().for_each(|flow| flow.end = end);
            }
        }
        let source = self.application(first as u32);
        match next {
            Some(at) if self.agenda.time_of(source) == Some(at) => {}
            Some(at) => self.schedule(source, at),
            None => self.agenda.clear(source),
        }
        // A packet over a way without hops may come back here before this ends.
        let taken = std::mem::take(&mut self.conversations[number as usize].taken);
        for place in (0..count).filter(|&place| taken >> place.min(63) & 1 == 1) {
            let flow = &self.flows[first + place];
            let (server, client) = (flow.socket(End::Sender), flow.socket(End::Receiver));
            self.pump(server, now);
            self.refill((first + place) as u32, now);
            self.pump(client, now);
        }
    }

    /// A connection has sent what it could: its session writes more if it held some back.
    pub(super) fn refill(&mut self, flow: u32, now: Instant) {
        let Some(number) = self.flows[flow as usize].session else { return };
        loop {
            let own = &mut self.conversations[number as usize];
            let flows = &self.flows[own.first..own.first + own.count];
            let mut members = Members { flows, sockets: &mut self.sockets, taken: 0 };
            if !own.session.refill(flow as usize - own.first, &mut members) {
                return;
            }
            self.pump(self.flows[flow as usize].socket(End::Sender), now);
        }
    }
}
