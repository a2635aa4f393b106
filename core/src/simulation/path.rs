//! The nodes of a path.

use crate::link::schedule::{Schedule, Timed};
use crate::link::{InstrumentedLink, LinkError};
use crate::metrics::Distribution;
use crate::queue::Aqm;
use crate::scheme::LinkConfig;
use crate::seed::{Seed, Stream};
use crate::simulation::leg::Leg;
use crate::simulation::setup::{Hop, LegConfig};
use crate::simulation::way::LegLink;
use crate::units::{Duration, Instant};

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
    pub(super) link: Box<dyn InstrumentedLink + Send>,
    /// Whether it is a leg, driven as a link for the sake of its queue.
    pub(super) is_leg: bool,
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
        if config.aqm != Aqm::None {
            let link = LegLink::build(config, seed, number);
            return Self::Link(LinkNode { is_leg: true, ..LinkNode::of(link) });
        }
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
        Ok(Self::of(config.build(seed, number, Some(end))?))
    }

    fn of(link: Box<dyn InstrumentedLink + Send>) -> Self {
        let (delay, queueing) = (Distribution::default(), Distribution::default());
        Self { link, is_leg: false, delay, queueing }
    }
}
