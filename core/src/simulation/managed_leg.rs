//! A wired leg before which packets wait in a queue that manages itself.

use std::collections::VecDeque;

use crate::link::schedule::{Schedule, Timed};
use crate::link::{Packet, Usage};
use crate::metrics::{LegCounters, LegMetrics};
use crate::queue::{Discipline, Queue, WaitingPacket};
use crate::seed::{Seed, Stream};
use crate::simulation::setup::LegConfig;
use crate::simulation::transmitter::Transmitter;
use crate::transport::train::{Key, Rank};
use crate::units::{Duration, Instant};

/// A leg whose transmitter has one packet before it, as the driver of a network card does; all
/// others wait where they can still be dropped. The next one is taken out when that packet begins
/// to be sent.
///
/// What becomes of a packet is known once it is taken out. So nobody has to ask at that very
/// instant: what happened until a packet comes or arrives is made up for then, and a packet costs
/// our engine as few events as without a queue's management. Hosts that act on departures have
/// [`Managed`](crate::queue::Managed) before the leg.
pub(super) struct ManagedLeg {
    queue: Queue,
    transmitter: Transmitter,
    /// When the packet before the transmitter begins to be sent.
    ahead: Option<Instant>,
    /// Packets that allowed marks came.
    capable: bool,
    marked: u64,
    /// As of the last call; a packet that is lost is counted by the caller.
    pub(super) counters: LegCounters,
    /// Kept for its room.
    gone: Vec<WaitingPacket>,
}

/// A leg with a queue that manages itself, and what is on its way over it.
pub(super) struct ManagedNode {
    pub(super) leg: ManagedLeg,
    under_way: UnderWay,
}

/// Fates of packets, and those that the engine does not know so far.
#[derive(Debug, Default)]
struct UnderWay {
    on_the_way: Schedule<Onward>,
    /// Marks and drops.
    early: VecDeque<Told>,
    /// Whether another packet than before is the next to arrive.
    is_new: bool,
    taken: u64,
    lost: u64,
    arrived: u64,
}

/// A packet that the transmitter took.
#[derive(Clone, Copy, Debug)]
struct Onward {
    at: Instant,
    order: u64,
    entered: Instant,
    departed: Instant,
    packet: u32,
    lost: bool,
}

impl Timed for Onward {
    type Time = Instant;

    #[inline]
    fn key(&self) -> (Instant, u64) {
        (self.at, self.order)
    }
}

impl Onward {
    /// When it arrives, or is lost on the way, and the rank of that event.
    #[inline]
    fn event(&self) -> Key {
        (self.at, Rank::Link.at(self.departed))
    }

    #[inline]
    fn told(&self) -> Told {
        let Self { packet, entered, departed, .. } = *self;
        match self.lost {
            true => Told::Lost { packet, entered, departed },
            false => Told::Arrived { packet, entered, departed },
        }
    }
}

/// What a leg with a queue that manages itself tells of a packet. What its queue did comes with the next
/// packet that comes or arrives: it matters to nobody until then.
#[derive(Clone, Copy, Debug)]
pub(super) enum Told {
    Marked { packet: u32 },
    Dropped { packet: u32, at: Instant },
    Arrived { packet: u32, entered: Instant, departed: Instant },
    Lost { packet: u32, entered: Instant, departed: Instant },
}

impl UnderWay {
    /// The transmitter takes `held`, which is at the far end, or lost, at `at`.
    #[inline]
    fn take(&mut self, held: &WaitingPacket, departed: Instant, at: Instant, lost: bool) {
        let (packet, entered, order) = (held.packet as u32, held.entered, self.taken);
        self.taken += 1;
        self.is_new |= self.on_the_way.push(Onward { at, order, entered, departed, packet, lost });
    }
}

impl ManagedNode {
    /// The leg of `config` behind `queue`.
    pub(super) fn new(config: &LegConfig, queue: Queue, seed: Seed, number: u32) -> Self {
        let leg = ManagedLeg::new(config, queue, seed, number);
        Self { leg, under_way: UnderWay::default() }
    }

    /// A packet comes; whether it finds room.
    #[inline]
    pub(super) fn offer(&mut self, now: Instant, packet: &Packet) -> bool {
        self.leg.offer(now, packet, &mut self.under_way)
    }

    /// Whether another packet is the next one than when this was asked before.
    #[inline]
    pub(super) fn news(&mut self) -> bool {
        std::mem::take(&mut self.under_way.is_new)
    }

    /// When the next packet arrives, or is lost on the way, which is set when the leg begins to send it.
    #[inline]
    pub(super) fn next(&self) -> Option<Key> {
        self.under_way.on_the_way.first().map(Onward::event)
    }

    /// A mark or a drop that nobody was told of.
    #[inline]
    pub(super) fn pop_early(&mut self) -> Option<Told> {
        self.under_way.early.pop_front()
    }

    /// Packets arrive or are lost on the way, in order and as far as the leg has caught up, as long as
    /// `ends` says so of the next: when, its number, whether it is lost. `most` at most, but all of the first
    /// instant.
    #[inline(always)] // called in one place
    pub(super) fn end_while(&mut self, most: usize, mut ends: impl FnMut(Key, u32, bool) -> bool) {
        let UnderWay { on_the_way, lost, arrived, .. } = &mut self.under_way;
        on_the_way.take_while(most, |onward| {
            let ends = ends(onward.event(), onward.packet, onward.lost);
            *(if onward.lost { &mut *lost } else { &mut *arrived }) += u64::from(ends);
            ends
        });
    }

    /// The next fate until `now`, up to which the leg has caught up.
    #[inline(never)] // other nodes would pay for its registers
    pub(super) fn pop(&mut self, now: Instant) -> Option<Told> {
        let early = self.pop_early();
        if early.is_some() {
            return early;
        }
        let UnderWay { on_the_way, lost, arrived, .. } = &mut self.under_way;
        let onward = on_the_way.pop(now)?;
        *(if onward.lost { lost } else { arrived }) += 1;
        Some(onward.told())
    }

    /// Works off what the queue did up to `until`.
    #[inline]
    pub(super) fn catch_up(&mut self, until: Instant) {
        self.leg.run(until, &mut self.under_way);
    }

    /// What the leg counted until `ended`.
    pub(super) fn metrics(&self, ended: Instant) -> LegMetrics {
        let UnderWay { lost, arrived, .. } = self.under_way;
        let counters = LegCounters { lost, ..self.leg.counters };
        let pending = counters.offered - counters.dropped - lost - arrived;
        let share_used = self.leg.usage(ended).map(|usage| usage.share());
        LegMetrics { counters, pending, marked: self.leg.marked(), share_used }
    }
}

impl ManagedLeg {
    /// The leg of `config` behind `queue`.
    fn new(config: &LegConfig, queue: Queue, seed: Seed, number: u32) -> Self {
        Self {
            queue,
            transmitter: Transmitter::new(config, seed.rng(Stream::Leg(number))),
            ahead: None,
            capable: false,
            marked: 0,
            counters: LegCounters::default(),
            gone: Vec::new(),
        }
    }

    /// Whether a packet finds room at `now`, which never falls.
    #[inline]
    fn offer(&mut self, now: Instant, packet: &Packet, way: &mut UnderWay) -> bool {
        self.run(now, way);
        self.counters.offered += 1;
        self.capable |= packet.ecn.is_capable();
        let held = WaitingPacket::new(packet, now);
        if self.ahead.is_none() && self.queue.passes(now, &held) {
            self.send(held, now, way);
        } else if !self.takes_in(held, now, way) {
            return false;
        }
        self.fill(now, way);
        let waiting = self.queue.len() + usize::from(self.ahead.is_some());
        self.counters.longest_queue = self.counters.longest_queue.max(waiting as u64);
        true
    }

    #[inline(never)] // as `take_out`
    fn takes_in(&mut self, held: WaitingPacket, now: Instant, way: &mut UnderWay) -> bool {
        self.queue.enqueue(now, held, &mut self.gone);
        self.gone.is_empty() || !self.refuses(now, held.packet, way)
    }

    /// Takes packets out at each instant up to `now` at which there was room before the
    /// transmitter.
    #[inline]
    fn run(&mut self, now: Instant, way: &mut UnderWay) {
        while let Some(at) = self.ahead.filter(|at| *at <= now) {
            self.ahead = None;
            self.fill(at, way);
        }
    }

    /// Whether its queue comes from outside the core.
    pub(super) fn is_own(&self) -> bool {
        matches!(self.queue, Queue::Own(_))
    }

    /// As [`Transmitter::lead`].
    pub(super) fn lead(&self) -> Option<Duration> {
        self.transmitter.lead()
    }

    /// Takes out what the transmitter may have before it at `now`, where it has nothing.
    #[inline(always)] // mostly nothing waits
    fn fill(&mut self, now: Instant, way: &mut UnderWay) {
        if self.ahead.is_none() && !self.queue.is_at_rest(now) {
            self.take_out(now, way);
        }
    }

    #[inline(never)] // so that packets that meet an empty queue do not pay for its registers
    fn take_out(&mut self, now: Instant, way: &mut UnderWay) {
        while self.ahead.is_none() {
            let next = self.queue.dequeue(now, &mut self.gone);
            if !self.gone.is_empty() {
                self.drop_gone(now, way);
            }
            let Some(held) = next else { return };
            self.send(held, now, way);
        }
    }

    /// Gives a packet to the transmitter.
    #[inline(always)] // called for every packet: a call costs as much as what it does
    fn send(&mut self, held: WaitingPacket, now: Instant, way: &mut UnderWay) {
        let WaitingPacket { packet, size, data, marked, .. } = held;
        if marked {
            self.marked += 1;
            way.early.push_back(Told::Marked { packet: packet as u32 });
        }
        self.counters.bytes_sent += u64::from(size.0);
        let departed = self.transmitter.free_at().max(now);
        let (at, lost) = match self.transmitter.send(departed, size, data) {
            Some(at) => (at, false),
            // It is gone once it was sent.
            None => (self.transmitter.free_at(), true),
        };
        way.take(&held, departed, at, lost);
        self.ahead = (departed > now).then_some(departed);
    }

    /// Whether the packet that came is among those that were dropped for it.
    #[cold]
    fn refuses(&mut self, now: Instant, packet: u64, way: &mut UnderWay) -> bool {
        let before = self.gone.len();
        self.gone.retain(|held| held.packet != packet);
        let is_refused = self.gone.len() < before;
        self.counters.dropped += u64::from(is_refused);
        self.drop_gone(now, way);
        is_refused
    }

    #[cold]
    fn drop_gone(&mut self, now: Instant, way: &mut UnderWay) {
        for WaitingPacket { packet, .. } in self.gone.drain(..) {
            self.counters.dropped += 1;
            way.early.push_back(Told::Dropped { packet: packet as u32, at: now });
        }
    }

    /// Bytes that it could send until `now`, and those that it sent; `None` without a rate.
    pub(super) fn usage(&self, now: Instant) -> Option<Usage> {
        self.transmitter.usage(now, self.counters.bytes_sent)
    }

    /// Packets that wait at `now`, without the one being sent.
    pub(super) fn queue_len(&self, now: Instant) -> usize {
        self.queue.len() + usize::from(self.ahead.is_some_and(|at| at > now))
    }

    /// Packets marked; `None` if none came that allowed it.
    pub(super) fn marked(&self) -> Option<u64> {
        self.capable.then_some(self.marked)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::link::{PacketId, QueueLimit};
    use crate::simulation::setup::Loss;
    use crate::units::{BitRate, Bytes, Duration, Ecn, Probability};

    fn node(aqm: &str) -> ManagedNode {
        let limit = QueueLimit::Packets(12);
        let config = LegConfig {
            rate: BitRate::from_bits_per_second(8_000_000), // a byte takes a microsecond
            delay: Duration::from_millis(30).into(),
            queue: limit,
            aqm: aqm.parse().unwrap(),
            loss: Loss::Random(Probability::new(0.05).unwrap()),
        };
        let queue = config.aqm.build(limit, Seed(3), 0).unwrap();
        ManagedNode::new(&config, queue, Seed(3), 0)
    }

    #[test]
    fn one_packet_is_sent_and_one_is_before_the_transmitter() {
        let mut node = node("codel");
        for id in 0..4 {
            assert!(node.offer(Instant::ZERO, &Packet::new(PacketId(id), Bytes(1000))));
        }
        // The first is being sent, the second is next; the others can still be dropped.
        let ms = |ms| Instant::ZERO + Duration::from_millis(ms);
        assert_eq!((node.under_way.taken, node.leg.ahead), (2, Some(ms(1))));
        assert_eq!(node.leg.queue_len(Instant::ZERO), 3);
        node.catch_up(ms(3));
        assert_eq!((node.under_way.taken, node.leg.ahead), (4, None));
        let told = std::iter::from_fn(|| node.pop(ms(1000)));
        let departures = told.map(|told| match told {
            Told::Arrived { packet, departed, .. } | Told::Lost { packet, departed, .. } => {
                (departed, packet)
            }
            Told::Marked { .. } | Told::Dropped { .. } => panic!("{told:?}"),
        });
        // Losses come before arrivals.
        let mut departures: Vec<_> = departures.collect();
        departures.sort_unstable();
        assert_eq!(departures, [(ms(0), 0), (ms(1), 1), (ms(2), 2), (ms(3), 3)]);
    }

    proptest! {
        /// Asked at each departure or only when a packet comes: the same.
        #[test]
        fn what_happens_does_not_depend_on_when_one_asks(
            gaps in prop::collection::vec((0u64..3_000_000, 40u32..1500, any::<bool>()), 1..400),
            aqm in prop::sample::select(vec![
                "codel(target 2 ms, interval 10 ms)",
                "fq-codel(target 2 ms, interval 10 ms)",
                "pie(target 2 ms)",
                "dualpi2(target 2 ms)",
            ]),
        ) {
            let (mut prompt, mut lazy) = (node(aqm), node(aqm));
            let mut now = Instant::ZERO;
            for (id, (gap, size, capable)) in gaps.into_iter().enumerate() {
                now = now + Duration::from_nanos(gap);
                while let Some(at) = prompt.leg.ahead.filter(|at| *at <= now) {
                    prompt.catch_up(at);
                }
                let ecn = if capable { Ecn::Ect0 } else { Ecn::NotEct };
                let flow = id as u32 % 3;
                let packet = Packet { flow, ecn, ..Packet::new(PacketId(id as u64), Bytes(size)) };
                prop_assert_eq!(prompt.offer(now, &packet), lazy.offer(now, &packet));
                prop_assert_eq!(prompt.leg.queue_len(now), lazy.leg.queue_len(now));
            }
            now = now + Duration::from_secs(1);
            while let Some(at) = prompt.leg.ahead {
                prompt.catch_up(at);
            }
            lazy.catch_up(now);
            prop_assert_eq!(format!("{:?}", prompt.under_way), format!("{:?}", lazy.under_way));
            prop_assert_eq!(prompt.leg.counters, lazy.leg.counters);
        }
    }
}
