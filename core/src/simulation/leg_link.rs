//! A wired leg as a link, for hosts other than our engine.

use crate::link::due::{Due, DueQueue, Notices};
use crate::link::{
    Admission, BuiltLink, DropReason, Instrument, Link, LinkCounters, LinkEvent, Packet,
    QueueLimit, Transit, Usage, earliest,
};
use crate::queue::{Aqm, Managed};
use crate::seed::Seed;
use crate::simulation::leg::{Leg, Passage};
use crate::simulation::setup::LegConfig;
use crate::simulation::way::at_once;
use crate::units::{Bytes, Instant};

/// A leg with its queue, of any kind, as a link.
pub(super) fn leg_link(config: &LegConfig, seed: Seed, number: u32) -> BuiltLink {
    // A queue that manages itself is a separate element before the leg.
    let queue = if config.aqm == Aqm::None { config.queue } else { QueueLimit::Unlimited };
    let leg = Box::new(LegLink::new(&LegConfig { queue, ..config.clone() }, seed, number));
    Managed::before(leg, &config.aqm, config.queue, seed, number)
}

/// A wired leg as a link.
struct LegLink {
    leg: Leg,
    on_the_way: DueQueue,
    notices: Notices,
    admitted: u64,
    counters: LinkCounters,
}

impl LegLink {
    fn new(config: &LegConfig, seed: Seed, number: u32) -> Self {
        Self {
            leg: Leg::new(config, seed, number),
            on_the_way: DueQueue::default(),
            notices: Notices::default(),
            admitted: 0,
            counters: LinkCounters::default(),
        }
    }
}

impl Link for LegLink {
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        self.counters.offered += 1;
        let lost = match self.leg.offer(now, packet.size, packet.carries.is_some()) {
            Passage::Dropped => {
                self.counters.dropped += 1;
                return Admission::Dropped(DropReason::QueueFull);
            }
            // It is gone once it was sent.
            Passage::Lost => Err(self.leg.free_at()),
            Passage::Arrives(at) => Ok(at),
        };
        let departed = self.leg.last_start();
        self.notices.departs(packet.id, departed);
        let (at, lost) = lost.map_or_else(|at| (at, true), |at| (at, false));
        let transit = Transit { departed, at, ..at_once(now, packet, self.admitted) };
        self.admitted += 1;
        self.on_the_way.push(Due { transit, lost });
        Admission::Queued
    }

    fn poll_timeout(&self) -> Option<Instant> {
        earliest(self.notices.next_at(), self.on_the_way.next_at())
    }

    fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        if let Some(departure) = self.notices.tell(now, self.on_the_way.next_at()) {
            return Some(departure);
        }
        let due = self.on_the_way.pop(now)?;
        if due.lost {
            self.counters.lost += 1;
        } else {
            self.counters.delivered += 1;
            self.counters.bytes_delivered += u64::from(due.transit.size.0);
        }
        Some(due.event())
    }

    fn has_room(&mut self, now: Instant, size: Bytes) -> bool {
        self.leg.has_room(now, size)
    }

    fn notify_departures(&mut self) {
        self.notices.tell_departures();
    }
}

impl Instrument for LegLink {
    fn queue_len(&self, now: Instant) -> usize {
        self.leg.queue_len(now)
    }

    fn counters(&self) -> LinkCounters {
        let longest_queue = self.leg.counters.longest_queue;
        LinkCounters { longest_queue, bytes_carried: self.leg.counters.bytes_sent, ..self.counters }
    }

    fn usage(&self, until: Instant) -> Usage {
        self.leg.usage(until).unwrap_or(Usage::NONE)
    }
}
