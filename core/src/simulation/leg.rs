//! A wired leg with a drop-tail queue.

use crate::link::QueueLimit;
use crate::link::Usage;
use crate::link::queue::{DepartureQueue, Waiting};
use crate::metrics::LegCounters;
use crate::seed::{Seed, Stream};
use crate::simulation::setup::LegConfig;
use crate::simulation::transmitter::Transmitter;
use crate::units::{Bytes, Instant};

/// The state of a leg. First in, first out: what becomes of a packet is known when it arrives.
#[derive(Debug)]
pub(crate) struct Leg {
    queue: DepartureQueue<Instant>,
    transmitter: Transmitter,
    pub(crate) counters: LegCounters,
}

/// What becomes of a packet offered to a leg.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Passage {
    /// It arrives at the far end.
    Arrives(Instant),
    /// It is sent and lost.
    Lost,
    /// The queue is full.
    Dropped,
}

impl Leg {
    /// The leg of `config`, with any queue; `number` tells the legs of a run apart.
    pub(crate) fn new(config: &LegConfig, seed: Seed, number: u32) -> Self {
        Self {
            queue: DepartureQueue::new(config.queue),
            transmitter: Transmitter::new(config, seed.rng(Stream::Leg(number))),
            counters: LegCounters::default(),
        }
    }

    /// Sets another limit of the queue. Packets that wait stay.
    pub(super) fn set_queue(&mut self, limit: QueueLimit) {
        self.queue.set_limit(limit);
    }

    /// A packet arrives; `data`: it carries some.
    #[inline(always)] // called for every packet: a call costs as much as what it does
    pub(crate) fn offer(&mut self, now: Instant, size: Bytes, data: bool) -> Passage {
        self.counters.offered += 1;
        let starts = self.free_at().max(now);
        self.queue.advance(now);
        // A packet that starts at once never waits, and without a rate each one does.
        if starts > now {
            if !self.queue.has_room(size) {
                self.counters.dropped += 1;
                return Passage::Dropped;
            }
            self.queue.push(Waiting { departure: starts, size });
            self.counters.longest_queue = self.counters.longest_queue.max(self.queue.len() as u64);
        }
        self.counters.bytes_sent += u64::from(size.0);
        match self.transmitter.send(starts, size, data) {
            Some(at) => Passage::Arrives(at),
            None => {
                self.counters.lost += 1;
                Passage::Lost
            }
        }
    }

    /// When the transmitter has sent all that it was offered.
    #[inline]
    pub(crate) fn free_at(&self) -> Instant {
        self.transmitter.free_at()
    }

    /// Whether no packet overtakes another.
    pub(super) fn keeps_order(&self) -> bool {
        self.transmitter.keeps_order()
    }

    /// When it begins to send the packet that it was offered last.
    pub(crate) fn last_start(&self) -> Instant {
        self.transmitter.last_start()
    }

    /// Whether a packet of `size` would be taken at `now`, which never falls.
    pub(crate) fn has_room(&mut self, now: Instant, size: Bytes) -> bool {
        self.queue.advance(now);
        self.free_at() <= now || self.queue.has_room(size)
    }

    /// Bytes that it could send until `now`, and those that it sent; `None` without a rate.
    pub(crate) fn usage(&self, now: Instant) -> Option<Usage> {
        self.transmitter.usage(now, self.counters.bytes_sent)
    }

    /// Packets that wait at `now`, without the one being sent.
    pub(crate) fn queue_len(&self, now: Instant) -> usize {
        self.queue.waiting_at(now).len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::link::QueueLimit;
    use crate::queue::Aqm;
    use crate::simulation::setup::Loss;
    use crate::units::{BitRate, Duration, Probability};

    fn leg(queue: QueueLimit, loss: Loss) -> Leg {
        let config = LegConfig {
            rate: BitRate::from_bits_per_second(8_000_000), // a byte takes a microsecond
            delay: Duration::from_millis(1).into(),
            queue,
            aqm: Aqm::None,
            loss,
        };
        Leg::new(&config, Seed(1), 0)
    }

    const PACKET: Bytes = Bytes(1000); // one millisecond

    #[test]
    fn packets_are_sent_one_after_the_other() {
        let mut leg = leg(QueueLimit::Unlimited, Loss::None);
        let at = |ms| Passage::Arrives(Instant::ZERO + Duration::from_millis(ms));
        assert_eq!(leg.offer(Instant::ZERO, PACKET, true), at(2));
        assert_eq!(leg.offer(Instant::ZERO, PACKET, true), at(3));
        assert_eq!(leg.offer(Instant::ZERO + Duration::from_millis(9), PACKET, true), at(11));
    }

    #[test]
    fn a_full_queue_drops_and_the_packet_being_sent_is_not_in_it() {
        let mut leg = leg(QueueLimit::Packets(2), Loss::None);
        let fates: Vec<_> = (0..5).map(|_| leg.offer(Instant::ZERO, PACKET, true)).collect();
        assert_eq!(fates.iter().filter(|&&fate| fate == Passage::Dropped).count(), 2);
        // At 1 ms the second packet has just left the queue: there is room for one.
        let now = Instant::ZERO + Duration::from_millis(1);
        assert_eq!(leg.queue_len(now), 1);
        assert!(matches!(leg.offer(now, PACKET, true), Passage::Arrives(_)));
        assert_eq!(leg.offer(now, PACKET, true), Passage::Dropped);
    }

    #[test]
    fn a_queue_may_be_bounded_in_bytes() {
        let mut leg = leg(QueueLimit::Bytes(1500), Loss::None);
        assert!(matches!(leg.offer(Instant::ZERO, PACKET, true), Passage::Arrives(_)));
        assert!(matches!(leg.offer(Instant::ZERO, PACKET, true), Passage::Arrives(_)));
        assert_eq!(leg.offer(Instant::ZERO, PACKET, true), Passage::Dropped);
        assert!(matches!(leg.offer(Instant::ZERO, Bytes(500), true), Passage::Arrives(_)));
    }

    #[test]
    fn random_loss_keeps_its_rate() {
        for p in [0.001, 0.01, 0.5, 1.0] {
            let loss = Loss::Random(Probability::new(p).unwrap());
            let mut leg = leg(QueueLimit::Unlimited, loss);
            let n = 200_000;
            for _ in 0..n {
                leg.offer(leg.free_at(), PACKET, true);
            }
            let sd = libm::sqrt(n as f64 * p * (1.0 - p));
            let off = (leg.counters.lost as f64 - n as f64 * p).abs();
            assert!(off <= 4.0 * sd, "{p}: {} lost", leg.counters.lost);
        }
    }

    #[test]
    fn listed_packets_are_lost_and_no_others() {
        let mut leg = leg(QueueLimit::Unlimited, Loss::Packets(Arc::new([1, 3])));
        let lost: Vec<_> =
            (0..5).map(|_| leg.offer(Instant::ZERO, PACKET, true) == Passage::Lost).collect();
        assert_eq!(lost, [false, true, false, true, false]);
    }

    /// A packet takes 1 ms, and 1 ms more to arrive; the second is held back for 5 ms, and lost if
    /// it is listed as lost too.
    #[test]
    fn listed_packets_are_held_back() {
        let held: Arc<[_]> = Arc::new([(1, Duration::from_millis(5))]);
        for lost in [Arc::new([]) as Arc<[u64]>, Arc::new([1])] {
            let is_lost = !lost.is_empty();
            let loss = Loss::Data { lost, held: Arc::clone(&held) };
            let mut leg = leg(QueueLimit::Unlimited, loss);
            let at = |ms| Passage::Arrives(Instant::ZERO + Duration::from_millis(ms));
            let fates: Vec<_> = (0..3).map(|_| leg.offer(Instant::ZERO, PACKET, true)).collect();
            assert_eq!(fates, [at(2), if is_lost { Passage::Lost } else { at(8) }, at(4)]);
        }
    }

    /// The first is a SYN, say, and the third an acknowledgement.
    #[test]
    fn only_packets_that_carry_data_are_counted() {
        let (lost, held) = (Arc::new([1]), Arc::new([(0, Duration::from_millis(5))]));
        let mut leg = leg(QueueLimit::Unlimited, Loss::Data { lost, held });
        let mut fate = |data| leg.offer(Instant::ZERO, PACKET, data);
        let at = |ms| Passage::Arrives(Instant::ZERO + Duration::from_millis(ms));
        let fates = [fate(false), fate(true), fate(false), fate(true), fate(true)];
        assert_eq!(fates, [at(2), at(8), at(4), Passage::Lost, at(6)]);
    }

    /// A packet takes 1 ms; what leaves at 2 ms or later, and before 4 ms, is lost.
    #[test]
    fn an_outage_loses_what_leaves_the_transmitter_in_it() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut leg = leg(QueueLimit::Unlimited, Loss::Outages([(at(2), at(4))].into()));
        let fates: Vec<_> = (0..5).map(|_| leg.offer(Instant::ZERO, PACKET, true)).collect();
        let lost = Passage::Lost;
        assert_eq!(
            fates,
            [2, 0, 0, 5, 6].map(|ms| if ms > 0 { Passage::Arrives(at(ms)) } else { lost })
        );
    }
}
