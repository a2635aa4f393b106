//! The nodes of a path.

use std::ops::{Deref, DerefMut};

use crate::config::Fault;
use crate::link::due::Due;
use crate::link::schedule::{Schedule, Timed};
use crate::link::{
    Admission, BuiltLink, InstrumentedLink, Link, LinkEvent, Packet, QueueLimit, TraceLink,
    Transit, Usage,
};
use crate::metrics::Distribution;
use crate::scheme::LinkConfig;
use crate::seed::Seed;
use crate::simulation::leg::Leg;
pub(super) use crate::simulation::managed_leg::{ManagedNode, Told};
use crate::simulation::setup::{Hop, LegConfig};
use crate::transport::train::{Arrival, Key, Rank};
use crate::units::{Duration, Instant};

/// A leg or a link with the packets on it.
#[repr(u8)] // else every look at which it is decodes a field of the leg
pub(super) enum Node {
    Leg(LegNode),
    /// A leg with a queue that manages itself.
    Managed(Box<ManagedNode>),
    Link(LinkNode),
}

/// A leg, and what is on its way over it.
#[derive(Debug)]
pub(super) struct LegNode {
    pub(super) leg: Leg,
    on_the_way: Schedule<Arrival>,
}

/// A packet that will arrive at the far end of a leg. Its rank is of the engine: what was sent first arrives
/// first at equal instants.
impl Timed for Arrival {
    type Time = Instant;

    #[inline]
    fn key(&self) -> Key {
        self.key
    }
}

/// A link and the delays of its packets.
pub(super) struct LinkNode {
    pub(super) link: AnyLink,
    pub(super) delay: Distribution,
    pub(super) queueing: Distribution,
    /// When it was asked last.
    asked: Instant,
}

/// A link. Most runs have a plain one over a link trace: what is called for every packet of it is
/// part of its callers.
pub(super) enum AnyLink {
    Trace(Box<TraceLink>),
    Other(BuiltLink),
}

/// Calls the same method of each kind of link.
macro_rules! delegate {
    ($any:expr, $link:ident => $call:expr) => {
        match $any {
            AnyLink::Trace($link) => $call,
            AnyLink::Other($link) => $call,
        }
    };
}

impl AnyLink {
    /// As [`Link::enqueue`].
    #[inline(always)]
    pub(super) fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        delegate!(self, link => link.enqueue(now, packet))
    }

    /// As [`Link::poll`].
    #[inline(always)]
    pub(super) fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        delegate!(self, link => link.poll(now))
    }

    /// As [`Link::poll_timeout`].
    #[inline(always)]
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        delegate!(self, link => link.poll_timeout())
    }
}

/// What is called less often.
impl Deref for AnyLink {
    type Target = dyn InstrumentedLink + Send;

    fn deref(&self) -> &Self::Target {
        delegate!(self, link => &**link)
    }
}

impl DerefMut for AnyLink {
    fn deref_mut(&mut self) -> &mut Self::Target {
        delegate!(self, link => &mut **link)
    }
}

impl Node {
    /// What it carried until `now`, up to which it has caught up; `None`: it has no rate.
    pub(super) fn usage(&self, now: Instant) -> Option<Usage> {
        match self {
            Self::Leg(node) => node.leg.usage(now),
            Self::Managed(node) => node.leg.usage(now),
            Self::Link(node) => Some(node.link.usage(now)),
        }
    }

    /// Its next event.
    pub(super) fn next(&self) -> Option<Key> {
        match self {
            Self::Leg(node) => node.next(),
            Self::Managed(node) => node.next(),
            Self::Link(node) => node.next(),
        }
    }

    /// Sets another limit of its queue; false if it has no drop-tail queue.
    pub(super) fn set_queue(&mut self, limit: QueueLimit) -> bool {
        match self {
            Self::Leg(node) => {
                node.leg.set_queue(limit);
                true
            }
            Self::Managed(_) => false,
            Self::Link(node) => node.link.set_queue(limit),
        }
    }

    pub(super) fn shared(
        hop: &Hop,
        seed: Seed,
        number: u32,
        duration: Duration,
    ) -> Result<Self, Fault> {
        match hop {
            Hop::Leg(config) => Ok(Self::leg(config, seed, number)),
            Hop::Link(config) => {
                Ok(Self::Link(LinkNode::new(config, seed, number, Instant::ZERO + duration)?))
            }
        }
    }

    pub(super) fn leg(config: &LegConfig, seed: Seed, number: u32) -> Self {
        if let Some(queue) = config.aqm.build(config.queue, seed, number) {
            return Self::Managed(Box::new(ManagedNode::new(config, queue, seed, number)));
        }
        Self::Leg(LegNode { leg: Leg::new(config, seed, number), on_the_way: Schedule::default() })
    }
}

impl LegNode {
    /// A packet is on its way and arrives at `at`; says whether it is the next one to arrive.
    #[inline]
    pub(super) fn push(&mut self, at: Instant, rank: u64, packet: u32, place: u32) -> bool {
        self.on_the_way.push(Arrival { key: (at, rank), packet, place })
    }

    /// Sets the stops of the packets on their way: `moved` of those that they have.
    pub(super) fn reroute(&mut self, mut moved: impl FnMut(u32) -> u32) {
        self.on_the_way.change(|arrival| arrival.place = moved(arrival.place));
    }

    /// Packets on their way.
    pub(super) fn on_the_way(&self) -> usize {
        self.on_the_way.len()
    }

    /// When the next packet arrives, and its rank.
    #[inline]
    pub(super) fn next(&self) -> Option<Key> {
        self.on_the_way.first().map(Timed::key)
    }

    /// Moves the packets that arrive before `limit`, `most` at most, and the first in any case, to `arrivals`.
    pub(super) fn take_before(&mut self, limit: Key, most: usize, arrivals: &mut Vec<Arrival>) {
        self.on_the_way.take_before(limit, most, arrivals);
    }

    /// Takes out the packet that arrives next; its number and that of its stop.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(u32, u32)> {
        self.on_the_way.pop_first().map(|arrival| (arrival.packet, arrival.place))
    }
}

impl LinkNode {
    fn new(config: &LinkConfig, seed: Seed, number: u32, end: Instant) -> Result<Self, Fault> {
        let link = match config.build_plain(end) {
            Some(link) => AnyLink::Trace(Box::new(link?)),
            None => AnyLink::Other(config.build(seed, number, Some(end))?),
        };
        let (delay, queueing) = (Distribution::default(), Distribution::default());
        Ok(Self { link, delay, queueing, asked: Instant::ZERO })
    }

    /// Its next event, which it sets when the packet comes or when the event before it has happened.
    #[inline]
    pub(super) fn next(&self) -> Option<Key> {
        let at = self.link.poll_timeout()?;
        let entered = match &self.link {
            AnyLink::Trace(link) => link.next_entered(),
            AnyLink::Other(_) => Instant::ZERO,
        };
        Some((at, Rank::Link.at(self.asked.max(entered))))
    }

    /// Its next event up to `now`.
    #[inline(always)] // called for every packet: a call costs as much as what it does
    pub(super) fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        self.asked = now;
        let event = self.link.poll(now);
        if let Some(LinkEvent::Delivered(transit)) = &event {
            record([&mut self.delay, &mut self.queueing], transit);
        }
        event
    }

    /// Packets end in their order as long as `ends` says so of the next, the last one at `now`: over a trace,
    /// while the link tells of nothing else. `most` at most, but all of the first instant.
    #[inline(always)] // called in one place
    pub(super) fn end_while(&mut self, most: usize, mut ends: impl FnMut(&Due) -> Option<Instant>) {
        let Self { link: AnyLink::Trace(link), delay, queueing, asked } = self else { return };
        link.end_while(most, |due| {
            let Some(now) = ends(due) else { return false };
            *asked = now;
            if !due.lost {
                record([delay, queueing], &due.transit);
            }
            true
        });
    }
}

/// Records how long a packet took, and how long it waited.
#[inline(always)] // as `poll`
fn record([delay, queueing]: [&mut Distribution; 2], transit: &Transit) {
    delay.record(transit.at - transit.entered);
    queueing.record(transit.departed - transit.entered);
}
