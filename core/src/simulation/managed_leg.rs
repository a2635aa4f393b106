//! A wired leg before which packets wait in a queue that manages itself.

use crate::link::{Packet, Usage};
use crate::metrics::LegCounters;
use crate::queue::{Discipline, MARKED, Queue, WaitingPacket};
use crate::seed::{Seed, Stream};
use crate::simulation::setup::LegConfig;
use crate::simulation::transmitter::Transmitter;
use crate::units::{Bytes, Duration, Instant};

/// A leg whose transmitter has one packet before it, as the driver of a network card does; all
/// others wait where they can still be dropped. The next one is taken out when that packet begins
/// to be sent.
///
/// What becomes of a packet is known once it is taken out. So nobody has to ask at that very
/// instant: what happened until a packet comes or arrives is made up for then, and a packet costs
/// our engine as few events as without a queue's management. A host that acts on departures asks at
/// [`ManagedLeg::next`].
pub(super) struct ManagedLeg {
    queue: Queue,
    transmitter: Transmitter,
    /// The packet before the transmitter, and when it begins to be sent.
    ahead: Option<(Instant, u64)>,
    /// Packets that allowed marks came.
    capable: bool,
    dropped_early: u64,
    marked: u64,
    /// As of the last call; a packet that is lost is counted by the caller.
    pub(super) counters: LegCounters,
    /// Kept for its room.
    gone: Vec<WaitingPacket>,
}

/// What becomes of packets, each by its number.
pub(super) trait Fates {
    /// The transmitter takes a packet.
    fn taken(&mut self, taken: Taken);

    /// A packet that was admitted is dropped.
    fn dropped(&mut self, at: Instant, packet: u64, size: Bytes, entered: Instant);

    /// A packet is marked; it is taken next.
    fn marked(&mut self, at: Instant, packet: u64);

    /// The transmitter begins to send a packet.
    fn departed(&mut self, at: Instant, packet: u64);
}

/// A packet that the transmitter took, and what becomes of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) packet: u64,
    pub(super) size: Bytes,
    pub(super) entered: Instant,
    /// When it begins to be sent.
    pub(super) departed: Instant,
    /// When it is at the far end, or lost.
    pub(super) at: Instant,
    pub(super) lost: bool,
}

impl ManagedLeg {
    /// The leg of `config` behind `queue`.
    pub(super) fn new(config: &LegConfig, queue: Queue, seed: Seed, number: u32) -> Self {
        Self {
            queue,
            transmitter: Transmitter::new(config, seed.rng(Stream::Leg(number))),
            ahead: None,
            capable: false,
            dropped_early: 0,
            marked: 0,
            counters: LegCounters::default(),
            gone: Vec::new(),
        }
    }

    /// Whether a packet finds room at `now`, which never falls.
    #[inline]
    pub(super) fn offer(&mut self, now: Instant, packet: &Packet, fates: &mut impl Fates) -> bool {
        self.run(now, fates);
        self.counters.offered += 1;
        self.capable |= packet.ecn.is_capable();
        self.queue.enqueue(now, WaitingPacket::new(packet, now), &mut self.gone);
        if !self.gone.is_empty() && self.refuses(now, packet.id.0, fates) {
            return false;
        }
        self.fill(now, fates);
        let waiting = self.queue.len() + usize::from(self.ahead.is_some());
        self.counters.longest_queue = self.counters.longest_queue.max(waiting as u64);
        true
    }

    /// Takes packets out at each instant up to `now` at which there was room before the
    /// transmitter.
    #[inline]
    pub(super) fn run(&mut self, now: Instant, fates: &mut impl Fates) {
        while let Some((at, packet)) = self.ahead.filter(|(at, _)| *at <= now) {
            self.ahead = None;
            fates.departed(at, packet);
            self.fill(at, fates);
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

    /// When there is room before the transmitter again.
    pub(super) fn next(&self) -> Option<Instant> {
        self.ahead.map(|(at, _)| at)
    }

    /// Takes out what the transmitter may have before it at `now`, where it has nothing.
    #[inline]
    fn fill(&mut self, now: Instant, fates: &mut impl Fates) {
        while self.ahead.is_none() {
            let next = self.queue.dequeue(now, &mut self.gone);
            if !self.gone.is_empty() {
                self.dropped_early += self.gone.len() as u64;
                self.drop_gone(now, fates);
            }
            let Some(held) = next else { return };
            self.send(held, now, fates);
        }
    }

    /// Gives a packet to the transmitter.
    #[inline]
    fn send(&mut self, held: WaitingPacket, now: Instant, fates: &mut impl Fates) {
        let WaitingPacket { packet, size, entered, data, marked, .. } = held;
        if marked {
            self.marked += 1;
            fates.marked(now, packet);
        }
        self.counters.bytes_sent += u64::from(size.0);
        let departed = self.transmitter.free_at().max(now);
        let (at, lost) = match self.transmitter.send(departed, size, data) {
            Some(at) => (at, false),
            // It is gone once it was sent.
            None => (self.transmitter.free_at(), true),
        };
        fates.taken(Taken { packet, size, entered, departed, at, lost });
        if departed > now {
            self.ahead = Some((departed, packet));
        } else {
            fates.departed(now, packet);
        }
    }

    /// Whether the packet that came is among those that were dropped for it.
    #[cold]
    fn refuses(&mut self, now: Instant, packet: u64, fates: &mut impl Fates) -> bool {
        let before = self.gone.len();
        self.gone.retain(|held| held.packet != packet);
        let is_refused = self.gone.len() < before;
        self.counters.dropped += u64::from(is_refused);
        self.drop_gone(now, fates);
        is_refused
    }

    #[cold]
    fn drop_gone(&mut self, now: Instant, fates: &mut impl Fates) {
        for WaitingPacket { packet, size, entered, .. } in self.gone.drain(..) {
            self.counters.dropped += 1;
            fates.dropped(now, packet, size, entered);
        }
    }

    /// Whether a packet of `size` would be taken at `now`.
    pub(super) fn has_room(&mut self, now: Instant, size: Bytes, fates: &mut impl Fates) -> bool {
        self.run(now, fates);
        self.queue.has_room(size)
    }

    /// Bytes that it could send until `now`, and those that it sent; `None` without a rate.
    pub(super) fn usage(&self, now: Instant) -> Option<Usage> {
        self.transmitter.usage(now, self.counters.bytes_sent)
    }

    /// Packets that wait at `now`, without the one being sent.
    pub(super) fn queue_len(&self, now: Instant) -> usize {
        self.queue.len() + usize::from(self.ahead.is_some_and(|(at, _)| at > now))
    }

    /// Packets marked; `None` if none came that allowed it.
    pub(super) fn marked(&self) -> Option<u64> {
        self.capable.then_some(self.marked)
    }

    /// What the queue counts besides, by name.
    pub(super) fn details(&self) -> Vec<(&'static str, u64)> {
        let marked = self.marked().map(|count| (MARKED, count));
        [("dropped_at_head", self.dropped_early)].into_iter().chain(marked).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::link::{PacketId, QueueLimit};
    use crate::simulation::setup::Loss;
    use crate::units::{BitRate, Duration, Ecn, Probability};

    /// What was told, in order.
    #[derive(Default)]
    struct Log {
        lines: Vec<String>,
        departures: Vec<(Instant, u64)>,
    }

    impl Fates for Log {
        fn taken(&mut self, taken: Taken) {
            self.lines.push(format!("{taken:?}"));
        }

        fn dropped(&mut self, at: Instant, packet: u64, _: Bytes, entered: Instant) {
            self.lines.push(format!("dropped {at:?} {packet} {entered:?}"));
        }

        fn marked(&mut self, at: Instant, packet: u64) {
            self.lines.push(format!("marked {at:?} {packet}"));
        }

        fn departed(&mut self, at: Instant, packet: u64) {
            self.departures.push((at, packet));
        }
    }

    fn leg(aqm: &str) -> ManagedLeg {
        let limit = QueueLimit::Packets(12);
        let config = LegConfig {
            rate: BitRate::from_bits_per_second(8_000_000), // a byte takes a microsecond
            delay: Duration::from_millis(30).into(),
            queue: limit,
            aqm: aqm.parse().unwrap(),
            loss: Loss::Random(Probability::new(0.05).unwrap()),
        };
        let queue = config.aqm.build(limit, Seed(3), 0).unwrap();
        ManagedLeg::new(&config, queue, Seed(3), 0)
    }

    #[test]
    fn one_packet_is_sent_and_one_is_before_the_transmitter() {
        let (mut leg, mut log) = (leg("codel"), Log::default());
        for id in 0..4 {
            assert!(leg.offer(Instant::ZERO, &Packet::new(PacketId(id), Bytes(1000)), &mut log));
        }
        // The first is being sent, the second is next; the others can still be dropped.
        let ms = |ms| Instant::ZERO + Duration::from_millis(ms);
        assert_eq!((log.lines.len(), leg.next()), (2, Some(ms(1))));
        assert_eq!(leg.queue_len(Instant::ZERO), 3);
        leg.run(ms(3), &mut log);
        assert_eq!(log.lines.len(), 4);
        assert_eq!(log.departures, [(ms(0), 0), (ms(1), 1), (ms(2), 2), (ms(3), 3)]);
        assert_eq!(leg.next(), None);
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
            let (mut prompt, mut lazy) = ((leg(aqm), Log::default()), (leg(aqm), Log::default()));
            let mut now = Instant::ZERO;
            for (id, (gap, size, capable)) in gaps.into_iter().enumerate() {
                now = now + Duration::from_nanos(gap);
                while let Some(at) = prompt.0.next().filter(|at| *at <= now) {
                    prompt.0.run(at, &mut prompt.1);
                }
                let ecn = if capable { Ecn::Ect0 } else { Ecn::NotEct };
                let flow = id as u32 % 3;
                let packet = Packet { flow, ecn, ..Packet::new(PacketId(id as u64), Bytes(size)) };
                let taken = prompt.0.offer(now, &packet, &mut prompt.1);
                prop_assert_eq!(taken, lazy.0.offer(now, &packet, &mut lazy.1));
                prop_assert_eq!(prompt.0.queue_len(now), lazy.0.queue_len(now));
            }
            now = now + Duration::from_secs(1);
            while let Some(at) = prompt.0.next() {
                prompt.0.run(at, &mut prompt.1);
            }
            lazy.0.run(now, &mut lazy.1);
            prop_assert_eq!(prompt.1.lines, lazy.1.lines);
            prop_assert_eq!(prompt.1.departures, lazy.1.departures);
            prop_assert_eq!(prompt.0.counters, lazy.0.counters);
        }
    }
}
