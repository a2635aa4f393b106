//! A wired leg as a link, for hosts other than our engine.

use std::collections::VecDeque;

use crate::link::counters::Tally;
use crate::link::due::{Due, DueQueue, Notices};
use crate::link::{
    Admission, BuiltLink, DropReason, Instrument, Link, LinkCounters, LinkEvent, Packet, PacketId,
    Transit, Usage, earliest,
};
use crate::metrics::LegCounters;
use crate::seed::Seed;
use crate::simulation::leg::{Leg, Passage};
use crate::simulation::managed_leg::{Fates, ManagedLeg, Taken};
use crate::simulation::setup::LegConfig;
use crate::simulation::way::at_once;
use crate::units::{Bytes, Instant};

/// A leg with its queue, of any kind, as a link.
pub(super) fn leg_link(config: &LegConfig, seed: Seed, number: u32) -> BuiltLink {
    match config.aqm.build(config.queue, seed, number) {
        None => Box::new(LegLink::new(config, seed, number)),
        Some(queue) => {
            let leg = ManagedLeg::new(config, queue, seed, number);
            Box::new(ManagedLegLink { leg, told: Told::default() })
        }
    }
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

/// A leg with a queue that manages itself, as a link.
struct ManagedLegLink {
    leg: ManagedLeg,
    told: Told,
}

/// Fates of packets that are not yet reported.
#[derive(Default)]
struct Told {
    on_the_way: DueQueue,
    /// Marks, drops after admission, and departures, each before what arrives then.
    out: VecDeque<LinkEvent>,
    departures: bool,
    taken: u64,
    tally: Tally,
}

impl Fates for Told {
    fn taken(&mut self, taken: Taken) {
        let Taken { packet, size, entered, departed, at, lost } = taken;
        let (packet, order) = (PacketId(packet), self.taken);
        self.taken += 1;
        let transit = Transit { packet, size, lldus: 0, order, entered, departed, at };
        self.on_the_way.push(Due { transit, lost });
    }

    fn dropped(&mut self, at: Instant, packet: u64, size: Bytes, entered: Instant) {
        self.departed(at, packet);
        let (packet, order) = (PacketId(packet), self.taken);
        let transit = Transit { packet, size, lldus: 0, order, entered, departed: at, at };
        self.out.push_back(LinkEvent::Lost(transit));
    }

    fn marked(&mut self, at: Instant, packet: u64) {
        self.out.push_back(LinkEvent::Marked { packet: PacketId(packet), at });
    }

    fn departed(&mut self, at: Instant, packet: u64) {
        if self.departures {
            self.out.push_back(LinkEvent::Departed { packet: PacketId(packet), at });
        }
    }
}

impl Link for ManagedLegLink {
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        match self.leg.offer(now, &packet, &mut self.told) {
            true => Admission::Queued,
            false => Admission::Dropped(DropReason::QueueFull),
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let told = self.told.out.front().map(LinkEvent::at);
        earliest(earliest(told, self.leg.next()), self.told.on_the_way.next_at())
    }

    fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        if self.told.out.is_empty() {
            self.leg.run(now, &mut self.told);
        }
        if let Some(event) = self.told.out.pop_front() {
            return Some(event);
        }
        let due = self.told.on_the_way.pop(now)?;
        self.told.tally.count(&due);
        Some(due.event())
    }

    fn has_room(&mut self, now: Instant, size: Bytes) -> bool {
        self.leg.has_room(now, size, &mut self.told)
    }

    fn notify_departures(&mut self) {
        self.told.departures = true;
    }
}

impl Instrument for ManagedLegLink {
    fn queue_len(&self, now: Instant) -> usize {
        self.leg.queue_len(now)
    }

    fn counters(&self) -> LinkCounters {
        let LegCounters { offered, dropped, bytes_sent, longest_queue, .. } = self.leg.counters;
        self.told.tally.replace_in(LinkCounters {
            offered,
            dropped,
            bytes_carried: bytes_sent,
            longest_queue,
            ..LinkCounters::default()
        })
    }

    fn usage(&self, until: Instant) -> Usage {
        self.leg.usage(until).unwrap_or(Usage::NONE)
    }

    fn details(&self) -> Vec<(&'static str, u64)> {
        self.leg.details()
    }

    fn catch_up(&mut self, until: Instant) {
        self.leg.run(until, &mut self.told);
    }
}
