//! The packets of a live link: waiting, being sent, on their way.

use std::collections::VecDeque;

use crate::link::counters::Tally;
use crate::link::due::{Due, DueQueue, Notices};
use crate::link::queue::DropTail;
use crate::link::{
    LinkCounters, LinkEvent, Packet, PacketId, QueueLimit, StreamRange, Transit, earliest, instant,
};
use crate::units::{Bytes, Instant};

/// The drop-tail queue, what was sent of each packet, and what became of it.
///
/// A unit is a part of one packet, or, packed by bytes, of as many as wait and fit into it.
///
/// A packet leaves the queue at `t` of its first unit. Its fate is known once that of all its units
/// is: then it is due half a round-trip time after the last of them arrived or was given up.
#[derive(Clone, Debug)]
pub(crate) struct Packets {
    queue: DropTail,
    one_way: i64,
    /// Every packet from the oldest whose fate is open; the first has the order `base`.
    open: VecDeque<Open>,
    base: u64,
    /// Order of the first packet of which something is unsent.
    next: u64,
    /// What units hold, if packets share them.
    shared: Option<Shared>,
    due: DueQueue,
    pub(crate) notices: Notices,
    counters: LinkCounters,
    tally: Tally,
}

#[derive(Clone, Debug)]
struct Open {
    packet: PacketId,
    size: Bytes,
    /// What it counts for in the queue.
    queued: Bytes,
    /// Units that it took; those that it began, if it shares them.
    units: u32,
    /// Units, or bytes if it shares units, and how many of them are unsent.
    amount: u64,
    unsent: u64,
    /// Units whose fate is open; of those sent, if it shares units.
    unresolved: u32,
    lost: bool,
    entered: Instant,
    departed: i64,
    /// When the last of its units so far arrived or was given up.
    latest: i64,
    carries: Option<StreamRange>,
}

/// What units hold that packets share.
#[derive(Clone, Debug)]
struct Shared {
    /// Bytes of a unit.
    payload: u64,
    /// Every unit from the number `base` on.
    units: VecDeque<Load>,
    base: u64,
}

/// The packets of a unit by their order, first and last, and whether its fate is known.
#[derive(Clone, Copy, Debug)]
struct Load {
    packets: (u64, u64),
    resolved: bool,
}

/// Units whose packets are still known once their fate is: more than any block has.
const KEPT: usize = 1 << 16;

impl Packets {
    /// An empty queue. `payload`: bytes of a unit that packets share, if they do.
    pub(crate) fn new(limit: QueueLimit, one_way: i64, payload: Option<u64>) -> Self {
        Self {
            queue: DropTail::new(limit),
            one_way,
            shared: payload.map(|payload| Shared { payload, units: VecDeque::new(), base: 0 }),
            open: VecDeque::new(),
            base: 0,
            next: 0,
            due: DueQueue::default(),
            notices: Notices::default(),
            counters: LinkCounters::default(),
            tally: Tally::default(),
        }
    }

    // --- the queue ---

    /// Puts a packet into the queue that takes so many units, or bytes if it shares units, and counts
    /// for `queued` there; `false`: it was dropped.
    pub(crate) fn offer(
        &mut self,
        now: Instant,
        packet: Packet,
        amount: u64,
        queued: Bytes,
    ) -> bool {
        self.counters.offered += 1;
        if !self.queue.has_room(queued) {
            self.counters.dropped += 1;
            return false;
        }
        let units = match self.shared {
            None => u32::try_from(amount).unwrap_or(u32::MAX),
            Some(_) => 0,
        };
        let amount = if self.shared.is_some() { amount.max(1) } else { u64::from(units) };
        self.queue.join(queued);
        self.open.push_back(Open {
            packet: packet.id,
            size: packet.size,
            queued,
            units,
            amount,
            unsent: amount,
            unresolved: units,
            lost: false,
            entered: now,
            departed: 0,
            latest: i64::MIN,
            carries: packet.carries,
        });
        true
    }

    /// Notes how many wait, once a packet that came could have left again.
    pub(crate) fn note_queue(&mut self) {
        self.counters.longest_queue = self.counters.longest_queue.max(self.queue.len() as u64);
    }

    /// Whether the queue has room for a packet of `size`.
    pub(crate) fn has_room(&self, size: Bytes) -> bool {
        self.queue.has_room(size)
    }

    pub(crate) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Whether a unit is there to be sent.
    #[inline]
    pub(crate) fn wait(&self) -> bool {
        self.next - self.base < self.open.len() as u64
    }

    /// The packet that is next to be sent (on), and when it came.
    pub(crate) fn first_waiting(&self) -> Option<(PacketId, Instant)> {
        let packet = self.open.get((self.next - self.base) as usize)?;
        Some((packet.packet, packet.entered))
    }

    /// Takes the next unit for the slot at `t`; there must be one. Returns what to call it: its
    /// packet's order, or its own number if packets share it.
    #[inline]
    pub(crate) fn take(&mut self, t: i64) -> u64 {
        self.counters.lldus_taken += 1;
        let Some(payload) = self.shared.as_ref().map(|shared| shared.payload) else {
            let order = self.next;
            self.send(t, 1);
            return order;
        };
        let (first, mut last, mut left) = (self.next, self.next, payload);
        self.open[(first - self.base) as usize].units += 1;
        while left > 0 && self.wait() {
            last = self.next;
            self.open[(last - self.base) as usize].unresolved += 1;
            left -= self.send(t, left);
        }
        // It is there, as was found above.
        self.shared.as_mut().map_or(0, |shared| {
            shared.units.push_back(Load { packets: (first, last), resolved: false });
            shared.base + shared.units.len() as u64 - 1
        })
    }

    /// Sends at most so much of the next packet at `t`; says how much that was.
    #[inline]
    fn send(&mut self, t: i64, most: u64) -> u64 {
        let packet = &mut self.open[(self.next - self.base) as usize];
        if packet.unsent == packet.amount {
            packet.departed = t;
            self.queue.leave(packet.queued);
            // What may still come at `t` shares the unit: nobody sees it gone before.
            let told = t + i64::from(self.shared.is_some());
            self.notices.departs(packet.packet, instant(told));
            self.counters.bytes_carried += u64::from(packet.size.0);
        }
        let sent = most.min(packet.unsent);
        packet.unsent -= sent;
        self.next += u64::from(packet.unsent == 0);
        sent
    }

    /// The order of the first and the last packet of what [`Packets::take`] called so.
    pub(crate) fn packets_of(&self, (first, last): (u64, u64)) -> (u64, u64) {
        let Some(shared) = &self.shared else { return (first, last) };
        let load = |unit: u64| {
            let place = unit.checked_sub(shared.base)?;
            Some(shared.units.get(place as usize)?.packets)
        };
        (load(first).map_or(self.base, |one| one.0), load(last).map_or(self.base, |one| one.1))
    }

    /// What the packet carries of a stream, as long as its fate is open.
    pub(crate) fn carries(&self, order: u64) -> Option<StreamRange> {
        let place = order.checked_sub(self.base)?;
        self.open.get(place as usize)?.carries
    }

    // --- what becomes of them ---

    /// A unit of this name arrived, or was rebuilt, at the instant `at` (without propagation).
    #[inline]
    pub(crate) fn arrived(&mut self, name: u64, at: i64) {
        self.decided(name, at, false);
    }

    /// A unit of this name was given up at the instant `at` (without propagation).
    pub(crate) fn lost(&mut self, name: u64, at: i64) {
        self.decided(name, at, true);
    }

    #[inline]
    fn decided(&mut self, name: u64, at: i64, lost: bool) {
        let Some(shared) = &mut self.shared else { return self.resolve(name, at, lost) };
        let load = &mut shared.units[(name - shared.base) as usize];
        load.resolved = true;
        let (first, last) = load.packets;
        while shared.units.len() > KEPT && shared.units.front().is_some_and(|load| load.resolved) {
            shared.units.pop_front();
            shared.base += 1;
        }
        for order in first..=last {
            self.resolve(order, at, lost);
        }
    }

    #[inline]
    fn resolve(&mut self, order: u64, at: i64, lost: bool) {
        let packet = &mut self.open[(order - self.base) as usize];
        packet.latest = packet.latest.max(at);
        packet.lost |= lost;
        packet.unresolved -= 1;
        if packet.unresolved > 0 || packet.unsent > 0 {
            return;
        }
        let transit = Transit {
            packet: packet.packet,
            size: packet.size,
            lldus: packet.units,
            order,
            entered: packet.entered,
            departed: instant(packet.departed),
            at: instant(packet.latest + self.one_way),
        };
        self.due.push(Due { transit, lost: packet.lost });
        while self.open.front().is_some_and(|one| one.unresolved == 0 && one.unsent == 0) {
            self.open.pop_front();
            self.base += 1;
        }
    }

    /// When something comes out next, as far as is known.
    #[inline]
    pub(crate) fn next_due(&self) -> Option<Instant> {
        earliest(self.due.next_at(), self.notices.next_at())
    }

    /// What comes out next, if by `now`.
    #[inline]
    pub(crate) fn pop(&mut self, now: Instant) -> Option<LinkEvent> {
        if let Some(notice) = self.notices.tell(now, self.due.next_at()) {
            return Some(notice);
        }
        let due = self.due.pop(now)?;
        self.tally.count(&due);
        Some(due.event())
    }

    pub(crate) fn counters(&self) -> LinkCounters {
        self.tally.replace_in(self.counters)
    }
}
