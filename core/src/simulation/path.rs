//! The nodes of a path and the packets on them.

use crate::link::schedule::{Schedule, Timed};
use crate::link::{self, Link, LinkError};
use crate::metrics::Distribution;
use crate::scheme::LinkConfig;
use crate::seed::{Seed, Stream};
use crate::simulation::leg::Leg;
use crate::simulation::setup::{Hop, LegConfig};
use crate::transport::Segment;
use crate::units::{Bytes, Duration, Instant};

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) segment: Segment,
    pub(super) flow: u32,
    /// Index of the hop it is on, within its flow's path.
    pub(super) hop: u16,
    pub(super) toward: Direction,
}

impl Packet {
    /// As a link sees it.
    #[inline]
    pub(super) fn offered(&self, id: u32) -> link::Packet {
        let Segment { seq, len, wire, .. } = self.segment;
        let packet = link::Packet::new(link::PacketId(u64::from(id)), Bytes(wire));
        if len == 0 {
            return packet;
        }
        let (start, end) = (seq, seq + u64::from(len));
        packet.carrying(link::StreamRange { flow: self.flow, start, end })
    }
}

/// Which way a packet travels.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Direction {
    Receiver,
    Sender,
}

/// Packets by number. Numbers are used again, so that memory follows what is in flight.
#[derive(Debug, Default)]
pub(super) struct Packets {
    slots: Vec<Packet>,
    free: Vec<u32>,
}

impl Packets {
    /// A packet to be written in place, of a flow and on its first hop. It is under way only once
    /// [`Packets::send`] was called; until then the next call gives the same one. (In place, since
    /// a segment that is built elsewhere and copied here costs more than the rest of an event.)
    #[inline]
    pub(super) fn prepare(&mut self, flow: u32, toward: Direction) -> &mut Segment {
        let next = match self.free.last() {
            Some(&id) => id,
            None => {
                let id = self.slots.len() as u32;
                let segment = Segment::default();
                self.slots.push(Packet { segment, flow, hop: 0, toward });
                self.free.push(id);
                id
            }
        };
        let packet = &mut self.slots[next as usize];
        (packet.flow, packet.hop, packet.toward) = (flow, 0, toward);
        &mut packet.segment
    }

    /// The packet that was prepared last is under way now; `None`: none was.
    #[inline]
    pub(super) fn send(&mut self) -> Option<u32> {
        self.free.pop()
    }

    #[inline]
    pub(super) fn get(&self, id: u32) -> &Packet {
        &self.slots[id as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: u32) -> &mut Packet {
        &mut self.slots[id as usize]
    }

    #[inline]
    pub(super) fn remove(&mut self, id: u32) {
        self.free.push(id);
    }
}

/// A leg or a link with the packets on it.
pub(super) enum Node {
    Leg(LegNode),
    Link(LinkNode),
}

/// A leg, and what is on its way over it.
#[derive(Debug)]
pub(super) struct LegNode {
    pub(super) leg: Leg,
    on_the_way: Schedule<Passing>,
}

/// A packet that will arrive at the far end of a leg.
#[derive(Clone, Copy, Debug)]
struct Passing {
    at: Instant,
    /// Of the engine: what was sent first arrives first at equal instants.
    sequence: u64,
    packet: u32,
}

impl Timed for Passing {
    type Time = Instant;

    #[inline]
    fn key(&self) -> (Instant, u64) {
        (self.at, self.sequence)
    }
}

/// A link and the delays of its packets.
pub(super) struct LinkNode {
    pub(super) link: Box<dyn Link + Send>,
    pub(super) delay: Distribution,
    pub(super) queueing: Distribution,
}

impl Node {
    pub(super) fn shared(
        hop: &Hop,
        seed: Seed,
        number: u32,
        duration: Duration,
    ) -> Result<Self, LinkError> {
        match hop {
            Hop::Leg(config) => Ok(Self::leg(config, seed, number)),
            Hop::Link(config) => {
                Ok(Self::Link(LinkNode::new(config, seed, number, Instant::ZERO + duration)?))
            }
        }
    }

    pub(super) fn leg(config: &LegConfig, seed: Seed, number: u32) -> Self {
        Self::Leg(LegNode {
            leg: Leg::new(config, seed.rng(Stream::Leg(number))),
            on_the_way: Schedule::default(),
        })
    }
}

impl LegNode {
    /// A packet is on its way and arrives at `at`; says whether it is the next one to arrive.
    #[inline]
    pub(super) fn push(&mut self, at: Instant, sequence: u64, packet: u32) -> bool {
        self.on_the_way.push(Passing { at, sequence, packet })
    }

    /// Packets on their way.
    pub(super) fn on_the_way(&self) -> usize {
        self.on_the_way.len()
    }

    /// When the next packet arrives, and its sequence number.
    #[inline]
    pub(super) fn next(&self) -> Option<(Instant, u64)> {
        self.on_the_way.first().map(Timed::key)
    }

    /// Takes out the packet that arrives next, if it does by `now`.
    #[inline]
    pub(super) fn pop(&mut self, now: Instant) -> Option<u32> {
        self.on_the_way.pop(now).map(|passing| passing.packet)
    }
}

impl LinkNode {
    fn new(config: &LinkConfig, seed: Seed, number: u32, end: Instant) -> Result<Self, LinkError> {
        let link = config.build(seed, number, Some(end))?;
        Ok(Self { link, delay: Distribution::default(), queueing: Distribution::default() })
    }
}
