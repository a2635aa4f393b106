//! What happens between the connections of a session.

use super::Engine;
use crate::application::{Connections, Session};
use crate::simulation::flow::FlowState;
use crate::simulation::observer::Observer;
use crate::transport::{Dialogue, End};
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

/// The flows of a session while it runs.
struct Members<'a> {
    flows: &'a mut [FlowState],
    taken: u64,
    nobody: Nobody,
}

impl Connections for Members<'_> {
    fn take(&mut self, number: usize) -> &mut dyn Dialogue {
        let flow = self.flows.get_mut(number).and_then(|flow| flow.connection.dialogue());
        if flow.is_some() {
            self.taken |= 1 << number.min(63);
        }
        flow.unwrap_or(&mut self.nobody)
    }
}

impl<O: Observer> Engine<'_, O> {
    /// Has a session do what is due, or take what arrived at an end of one of its connections.
    #[inline(never)]
    pub(super) fn attend(&mut self, number: u32, arrived: Option<(u32, End)>, now: Instant) {
        let own = &mut self.conversations[number as usize];
        let (first, count) = (own.first, own.count);
        let flows = &mut self.flows[first..first + count];
        let mut members = Members { flows, taken: 0, nobody: Nobody };
        let next = match arrived {
            None => own.session.run(now, &mut members),
            Some((flow, end)) => own.session.arrived(now, flow as usize - first, end, &mut members),
        };
        own.taken |= members.taken;
        if own.session.is_done() && !own.done {
            own.done = true;
            self.unfinished -= 1;
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
            let flow = (first + place) as u32;
            self.pump(flow, End::Sender, now);
            self.refill(flow, now);
            self.pump(flow, End::Receiver, now);
        }
    }

    /// A connection has sent what it could: its session hands over more if it held some back.
    pub(super) fn refill(&mut self, flow: u32, now: Instant) {
        let Some(number) = self.flows[flow as usize].session else { return };
        loop {
            let own = &mut self.conversations[number as usize];
            let flows = &mut self.flows[own.first..own.first + own.count];
            let mut members = Members { flows, taken: 0, nobody: Nobody };
            if !own.session.refill(flow as usize - own.first, &mut members) {
                return;
            }
            self.pump(flow, End::Sender, now);
        }
    }
}

/// In place of a connection that there is not.
struct Nobody;

impl Dialogue for Nobody {
    fn open(&mut self) {}

    fn is_open(&self) -> bool {
        false
    }

    fn say(&mut self, _: End, _: u32, _: u64, _: bool) {}

    fn heard(&mut self, _: End) -> Option<crate::transport::Heard> {
        None
    }

    fn unsent(&self, _: End) -> u64 {
        0
    }
}
