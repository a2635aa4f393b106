//! The packets of a live link: waiting, being sent, in flight.

use std::collections::VecDeque;

use crate::link::counters::Tally;
use crate::link::due::{Due, DueQueue, Notices};
use crate::link::queue::DropTail;
use crate::link::{
    LinkCounters, LinkEvent, Packet, PacketId, QueueLimit, StreamRange, Transit, earliest, instant,
};
use crate::units::{Bytes, Instant};

/// The drop-tail queue, the units sent of each packet, and their fates.
///
/// A unit is a part of one packet or, if packed by bytes, of all waiting packets that fit into it.
///
/// A packet leaves the queue at `t` of its first unit. Its fate is known when the fates of all its
/// units are; it is then due half a round-trip time after the last of them arrived or was given up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packets {
    queue: DropTail,
    one_way: i64,
    /// All packets from the oldest one with an open fate; the first has the order `base`.
    open: VecDeque<Open>,
    base: u64,
    /// Order of the first packet that is not completely sent.
    next: u64,
    amounts: Amounts,
    /// Content of the units, if packets share them.
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
    /// Size of the packet in the queue.
    queued: Bytes,
    /// Units used; if amounts are in bytes, the units that this packet started.
    units: u32,
    /// Total and unsent amount.
    amount: u64,
    unsent: u64,
    /// Units with an open fate; if amounts are in bytes, of those sent.
    unresolved: u32,
    lost: bool,
    entered: Instant,
    departed: i64,
    /// Latest time so far at which a unit of the packet arrived or was given up.
    latest: i64,
    carries: Option<StreamRange>,
}

/// How much of a packet is to be sent, and how much of it a unit carries.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Amounts {
    /// Units of one packet each, all of one size.
    #[default]
    Units,
    /// Bytes, of one packet a unit: slots differ in size.
    Bytes,
    /// Bytes, of all waiting packets that fit into a unit.
    Shared,
}

/// Content of shared units.
#[derive(Clone, Debug, Default)]
struct Shared {
    /// All units from the number `base` on.
    units: VecDeque<Load>,
    base: u64,
}

/// First and last packet of a unit, by order, and whether the fate of the unit is known.
#[derive(Clone, Copy, Debug)]
struct Load {
    packets: (u64, u64),
    resolved: bool,
}

/// Number of units whose packets stay known after their fate is: more than any block has.
const KEPT: usize = 1 << 16;

impl Packets {
    /// An empty queue.
    pub(crate) fn new(limit: QueueLimit, one_way: i64, amounts: Amounts) -> Self {
        Self {
            queue: DropTail::new(limit),
            one_way,
            amounts,
            shared: (amounts == Amounts::Shared).then(Shared::default),
            ..Self::default()
        }
    }

    // --- the queue ---

    /// Sets another limit of the queue. Packets that wait stay.
    pub(crate) fn set_limit(&mut self, limit: QueueLimit) {
        self.queue.set_limit(limit);
    }

    /// Puts a packet of `amount` into the queue, of which it occupies `queued` bytes. Returns
    /// `false` if it was dropped.
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
        let (units, amount) = match self.amounts {
            Amounts::Units => {
                let units = u32::try_from(amount).unwrap_or(u32::MAX);
                (units, u64::from(units))
            }
            Amounts::Bytes | Amounts::Shared => (0, amount.max(1)),
        };
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

    /// True if the queue has room for a packet of `size`.
    pub(crate) fn has_room(&self, size: Bytes) -> bool {
        self.queue.has_room(size)
    }

    pub(crate) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// True if a unit is ready to be sent.
    #[inline]
    pub(crate) fn wait(&self) -> bool {
        self.next - self.base < self.open.len() as u64
    }

    /// The next packet to be sent or continued, and its arrival time.
    pub(crate) fn first_waiting(&self) -> Option<(PacketId, Instant)> {
        let packet = self.open.get((self.next - self.base) as usize)?;
        Some((packet.packet, packet.entered))
    }

    /// Takes the next unit for the slot at `t` with room for `payload` bytes; there must be one.
    /// Returns its name: the order of its packet, or its own number if packets share it.
    #[inline]
    pub(crate) fn take(&mut self, t: i64, payload: u64) -> u64 {
        self.counters.lldus_taken += 1;
        let order = self.next;
        match self.amounts {
            Amounts::Units => self.send(t, 1),
            Amounts::Bytes => {
                let packet = &mut self.open[(order - self.base) as usize];
                packet.units += 1;
                packet.unresolved += 1;
                self.send(t, payload)
            }
            Amounts::Shared => return self.share(t, payload),
        };
        order
    }

    /// Fills a unit with waiting packets and returns its number.
    #[inline]
    fn share(&mut self, t: i64, payload: u64) -> u64 {
        let (first, mut last, mut left) = (self.next, self.next, payload);
        self.open[(first - self.base) as usize].units += 1;
        while left > 0 && self.wait() {
            last = self.next;
            self.open[(last - self.base) as usize].unresolved += 1;
            left -= self.send(t, left);
        }
        // A waiting unit implies an open packet.
        self.shared.as_mut().map_or(0, |shared| {
            shared.units.push_back(Load { packets: (first, last), resolved: false });
            shared.base + shared.units.len() as u64 - 1
        })
    }

    /// Sends at most `most` of the next packet at `t`; returns the amount sent.
    #[inline]
    fn send(&mut self, t: i64, most: u64) -> u64 {
        let packet = &mut self.open[(self.next - self.base) as usize];
        if packet.unsent == packet.amount {
            packet.departed = t;
            self.queue.leave(packet.queued);
            // A packet that arrives at `t` may still share the unit, so the departure is reported
            // afterwards.
            let told = t + i64::from(self.shared.is_some());
            self.notices.departs(packet.packet, instant(told));
            self.counters.bytes_carried += u64::from(packet.size.0);
        }
        let sent = most.min(packet.unsent);
        packet.unsent -= sent;
        self.next += u64::from(packet.unsent == 0);
        sent
    }

    /// The orders of the first and the last packet of the units with these names
    /// ([`Packets::take`]).
    pub(crate) fn packets_of(&self, (first, last): (u64, u64)) -> (u64, u64) {
        let Some(shared) = &self.shared else { return (first, last) };
        let load = |unit: u64| {
            let place = unit.checked_sub(shared.base)?;
            Some(shared.units.get(place as usize)?.packets)
        };
        (load(first).map_or(self.base, |one| one.0), load(last).map_or(self.base, |one| one.1))
    }

    /// The byte range of a stream that the packet carries, while its fate is open.
    pub(crate) fn carries(&self, order: u64) -> Option<StreamRange> {
        let place = order.checked_sub(self.base)?;
        self.open.get(place as usize)?.carries
    }

    // --- what becomes of them ---

    /// Records that unit `name` arrived or was rebuilt at time `at`, excluding propagation delay.
    #[inline]
    pub(crate) fn arrived(&mut self, name: u64, at: i64) {
        self.decided(name, at, false);
    }

    /// Records that unit `name` was given up at time `at`, excluding propagation delay.
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

    /// Time of the next event, as far as known.
    #[inline]
    pub(crate) fn next_due(&self) -> Option<Instant> {
        earliest(self.due.next_at(), self.notices.next_at())
    }

    /// The next event, if due by `now`.
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
