//! A link with an active queue before it.

use std::collections::VecDeque;

use slab::Slab;

use super::{Aqm, Discipline, MARKED, Queue, WaitingPacket};
use crate::link::counters::Tally;
use crate::link::{
    Admission, BuiltLink, DropReason, Instrument, Link, LinkCounters, LinkEvent, Packet, PacketId,
    QueueLimit, Transit, Transmission, Usage, earliest,
};
use crate::seed::Seed;
use crate::units::{Bytes, Instant};

/// A link that receives its packets one at a time, each when the previous one has departed, so that
/// all others wait where the queue can still drop them. A link whose slots are shared by packets
/// receives as many as fill a slot.
///
/// A packet dropped after its admission is reported as lost and counted as dropped.
pub(crate) struct Managed {
    inner: BuiltLink,
    queue: Queue,
    /// Bytes that the link may have waiting: one slot.
    slot: u64,
    /// Bytes passed to the link that have not departed.
    ahead: u64,
    /// Cached time of the link's next poll, updated after each change.
    next: Option<Instant>,
    packets: Packets,
    /// True if a packet that allows marks has arrived.
    capable: bool,
    marked: u64,
    out: VecDeque<PendingEvent>,
    tells_departures: bool,
    offered: u64,
    dropped: u64,
    dropped_early: u64,
    longest: u64,
    given: u64,
    tally: Tally,
    /// Reused buffer.
    gone: Vec<WaitingPacket>,
}

/// An event to report, and whether it counts as a drop.
struct PendingEvent {
    event: LinkEvent,
    dropped: bool,
}

impl Managed {
    /// `inner`, whose own queue must be unlimited, with `aqm` and `limit` before it; `inner` itself
    /// for drop-tail.
    pub(crate) fn before(
        mut inner: BuiltLink,
        aqm: &Aqm,
        limit: QueueLimit,
        seed: Seed,
        number: u32,
    ) -> BuiltLink {
        let Some(queue) = aqm.build(limit, seed, number) else { return inner };
        inner.notify_departures();
        let (slot, next) = (inner.usage(Instant::ZERO).slot, inner.poll_timeout());
        Box::new(Self {
            inner,
            queue,
            slot: u64::from(slot.0),
            ahead: 0,
            next,
            packets: Packets::default(),
            capable: false,
            marked: 0,
            out: VecDeque::new(),
            tells_departures: false,
            offered: 0,
            dropped: 0,
            dropped_early: 0,
            longest: 0,
            given: 0,
            tally: Tally::default(),
            gone: Vec::new(),
        })
    }

    /// Processes events up to `now`; after each departure, the link is filled again.
    fn run(&mut self, now: Instant) {
        while let Some(at) = self.next.filter(|at| *at <= now) {
            let ahead = self.ahead;
            while let Some(event) = self.inner.poll(at) {
                self.tell(event);
            }
            self.next = self.inner.poll_timeout();
            // Only departures free room.
            if self.ahead < ahead {
                self.fill(at);
            }
        }
    }

    fn tell(&mut self, event: LinkEvent) {
        let event = match event {
            LinkEvent::Delivered(transit) => LinkEvent::Delivered(self.packets.take(transit)),
            LinkEvent::Lost(transit) => LinkEvent::Lost(self.packets.take(transit)),
            LinkEvent::Departed { packet, at } => {
                let packet = self.packets.of(packet);
                self.ahead -= u64::from(packet.size.0);
                if !self.tells_departures {
                    return;
                }
                LinkEvent::Departed { packet: packet.id, at }
            }
            LinkEvent::Marked { packet, at } => {
                LinkEvent::Marked { packet: self.packets.of(packet).id, at }
            }
            LinkEvent::TraceEnded { packet, at } => {
                LinkEvent::TraceEnded { packet: self.packets.of(packet).id, at }
            }
        };
        self.out.push_back(PendingEvent { event, dropped: false });
    }

    /// Passes packets to the link at `now`, as many as it may have.
    fn fill(&mut self, now: Instant) {
        while self.ahead == 0 || self.ahead < self.slot {
            let mut gone = std::mem::take(&mut self.gone);
            let next = self.queue.dequeue(now, &mut gone);
            self.dropped_early += gone.len() as u64;
            gone.drain(..).for_each(|held| self.drop_admitted(held, now));
            self.gone = gone;
            let Some(held) = next else { return };
            let waited = self.packets.of(PacketId(held.packet));
            if held.marked {
                self.marked += 1;
                let event = LinkEvent::Marked { packet: waited.id, at: now };
                self.out.push_back(PendingEvent { event, dropped: false });
            }
            let packet = Packet { id: PacketId(held.packet), ecn: held.ecn, ..waited };
            let admission = self.inner.enqueue(now, packet);
            self.next = self.inner.poll_timeout();
            match admission {
                Admission::Queued => {
                    self.ahead += u64::from(packet.size.0);
                    self.given += 1;
                }
                // The queue of the link is unlimited, so the packet is too large.
                Admission::Dropped(_) => self.drop_admitted(held, now),
            }
        }
    }

    fn drop_admitted(&mut self, held: WaitingPacket, now: Instant) {
        self.dropped += 1;
        let WaitingPacket { packet, size, entered, .. } = held;
        let packet = PacketId(packet);
        let transit =
            Transit { packet, size, lldus: 0, order: self.given, entered, departed: now, at: now };
        let transit = self.packets.take(transit);
        if self.tells_departures {
            let event = LinkEvent::Departed { packet: transit.packet, at: now };
            self.out.push_back(PendingEvent { event, dropped: false });
        }
        self.out.push_back(PendingEvent { event: LinkEvent::Lost(transit), dropped: true });
    }
}

impl Link for Managed {
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        self.run(now);
        self.offered += 1;
        let place = self.packets.put(packet, now);
        self.capable |= packet.ecn.is_capable();
        let held = WaitingPacket::new(&Packet { id: PacketId(place), ..packet }, now);
        let mut gone = std::mem::take(&mut self.gone);
        self.queue.enqueue(now, held, &mut gone);
        let refused = gone.iter().any(|held| held.packet == place);
        for held in gone.drain(..) {
            match held.packet == place {
                true => self.dropped += 1,
                false => self.drop_admitted(held, now),
            }
        }
        self.gone = gone;
        if refused {
            self.packets.free(place);
            return Admission::Dropped(DropReason::QueueFull);
        }
        self.fill(now);
        self.longest = self.longest.max(self.queue_len(now) as u64);
        // Departures at this instant need no further poll.
        self.run(now);
        Admission::Queued
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let told = self.out.front().map(|told| told.event.at());
        earliest(told, self.next)
    }

    fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        if self.out.is_empty() {
            self.run(now);
        }
        let PendingEvent { event, dropped } = self.out.pop_front()?;
        if !dropped {
            self.tally.record(&event);
        }
        Some(event)
    }

    fn has_room(&mut self, now: Instant, size: Bytes) -> bool {
        self.run(now);
        self.queue.has_room(size)
    }

    fn notify_departures(&mut self) {
        self.tells_departures = true;
    }
}

impl Instrument for Managed {
    fn queue_len(&self, now: Instant) -> usize {
        self.queue.len() + self.inner.queue_len(now)
    }

    fn counters(&self) -> LinkCounters {
        let inner = self.tally.replace_in(self.inner.counters());
        let (offered, dropped, longest_queue) = (self.offered, self.dropped, self.longest);
        LinkCounters { offered, dropped, longest_queue, ..inner }
    }

    fn usage(&self, until: Instant) -> Usage {
        self.inner.usage(until)
    }

    fn details(&self) -> Vec<(&'static str, u64)> {
        let mut details = self.inner.details();
        details.push(("dropped_at_head", self.dropped_early));
        if self.capable {
            details.push((MARKED, self.marked));
        }
        details
    }

    fn catch_up(&mut self, until: Instant) {
        self.run(until);
        self.inner.catch_up(until);
        self.next = self.inner.poll_timeout();
    }

    fn log_units(&mut self) {
        self.inner.log_units();
    }

    fn take_units(&mut self) -> Vec<Transmission> {
        self.inner.take_units()
    }
}

/// The packets before and on the link, by their number in the link.
#[derive(Debug, Default)]
struct Packets(Slab<(Packet, Instant)>);

impl Packets {
    fn put(&mut self, packet: Packet, entered: Instant) -> u64 {
        self.0.insert((packet, entered)) as u64
    }

    fn of(&self, id: PacketId) -> Packet {
        self.0[id.0 as usize].0
    }

    /// Ends the passage of a packet and restores the host's identifier. The order stays that of the
    /// link: the order in which the packets were passed to it.
    fn take(&mut self, transit: Transit) -> Transit {
        let (packet, entered) = self.0.remove(transit.packet.0 as usize);
        Transit { packet: packet.id, size: packet.size, entered, ..transit }
    }

    fn free(&mut self, place: u64) {
        self.0.remove(place as usize);
    }
}
