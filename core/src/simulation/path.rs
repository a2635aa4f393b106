//! The nodes of a path.

use std::collections::VecDeque;

use crate::link::{Link, LinkError};
use crate::metrics::Distribution;
use crate::scheme::LinkConfig;
use crate::seed::{Seed, Stream};
use crate::simulation::leg::Leg;
use crate::simulation::setup::{Hop, LegConfig};
use crate::units::{Duration, Instant};

/// A leg or a link with the packets on it.
pub(super) enum Node {
    Leg(LegNode),
    Link(LinkNode),
}

/// A leg, and what is on its way over it: arrival, sequence number, packet, in order of arrival.
#[derive(Debug)]
pub(super) struct LegNode {
    pub(super) leg: Leg,
    pub(super) on_the_way: VecDeque<(Instant, u64, u32)>,
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
            on_the_way: VecDeque::new(),
        })
    }
}

impl LegNode {
    /// A packet is on its way and arrives at `at`; says whether it is the next one to arrive. Its place
    /// is mostly the last: only what is held back, or sent before the path got shorter, is overtaken.
    #[inline]
    pub(super) fn push(&mut self, at: Instant, sequence: u64, id: u32) -> bool {
        match self.on_the_way.back() {
            Some(&(last, ..)) if last > at => self.overtake(at, sequence, id),
            before => {
                let is_next = before.is_none();
                self.on_the_way.push_back((at, sequence, id));
                is_next
            }
        }
    }

    #[cold]
    fn overtake(&mut self, at: Instant, sequence: u64, id: u32) -> bool {
        let place = self.on_the_way.partition_point(|&(other, ..)| other <= at);
        self.on_the_way.insert(place, (at, sequence, id));
        place == 0
    }
}

impl LinkNode {
    fn new(config: &LinkConfig, seed: Seed, number: u32, end: Instant) -> Result<Self, LinkError> {
        let link = config.build(seed, number, Some(end))?;
        Ok(Self { link, delay: Distribution::default(), queueing: Distribution::default() })
    }
}
