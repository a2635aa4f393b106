//! The packets of a live link: waiting, being sent, on their way.

use std::collections::VecDeque;

use crate::link::counters::Tally;
use crate::link::due::{Due, DueQueue};
use crate::link::queue::DropTail;
use crate::link::{LinkCounters, LinkEvent, Packet, PacketId, QueueLimit, StreamRange, Transit};
use crate::units::{Bytes, Instant};

/// The drop-tail queue, what was sent of each packet, and what became of it.
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
    /// Order of the first packet of which a unit is unsent.
    next: u64,
    due: DueQueue,
    counters: LinkCounters,
    tally: Tally,
}

#[derive(Clone, Debug)]
struct Open {
    packet: PacketId,
    size: Bytes,
    units: u32,
    unsent: u32,
    /// Units whose fate is open.
    unresolved: u32,
    lost: bool,
    entered: Instant,
    departed: i64,
    /// When the last of its units so far arrived or was given up.
    latest: i64,
    carries: Option<StreamRange>,
}

impl Packets {
    pub(crate) fn new(limit: QueueLimit, one_way: i64) -> Self {
        Self {
            queue: DropTail::new(limit),
            one_way,
            open: VecDeque::new(),
            base: 0,
            next: 0,
            due: DueQueue::default(),
            counters: LinkCounters::default(),
            tally: Tally::default(),
        }
    }

    // --- the queue ---

    /// Puts a packet of so many units into the queue; `false`: it was dropped.
    pub(crate) fn offer(&mut self, now: Instant, packet: Packet, units: u64) -> bool {
        self.counters.offered += 1;
        if !self.queue.has_room(packet.size) {
            self.counters.dropped += 1;
            return false;
        }
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        self.queue.join(packet.size);
        self.open.push_back(Open {
            packet: packet.id,
            size: packet.size,
            units,
            unsent: units,
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

    /// Takes the next unit for the slot at `t`; there must be one. Returns its packet's order.
    #[inline]
    pub(crate) fn take(&mut self, t: i64) -> u64 {
        let order = self.next;
        let packet = &mut self.open[(order - self.base) as usize];
        if packet.unsent == packet.units {
            packet.departed = t;
            self.queue.leave(packet.size);
            self.counters.bytes_carried += u64::from(packet.size.0);
        }
        packet.unsent -= 1;
        self.next += u64::from(packet.unsent == 0);
        self.counters.lldus_taken += 1;
        order
    }

    /// What the packet carries of a stream, as long as its fate is open.
    pub(crate) fn carries(&self, order: u64) -> Option<StreamRange> {
        let place = order.checked_sub(self.base)?;
        self.open.get(place as usize)?.carries
    }

    // --- what becomes of them ---

    /// A unit of the packet arrived, or was rebuilt, at the instant `at` (without propagation).
    #[inline]
    pub(crate) fn arrived(&mut self, order: u64, at: i64) {
        self.resolve(order, at, false);
    }

    /// A unit of the packet was given up at the instant `at` (without propagation).
    pub(crate) fn lost(&mut self, order: u64, at: i64) {
        self.resolve(order, at, true);
    }

    #[inline]
    fn resolve(&mut self, order: u64, at: i64, lost: bool) {
        let packet = &mut self.open[(order - self.base) as usize];
        packet.latest = packet.latest.max(at);
        packet.lost |= lost;
        packet.unresolved -= 1;
        if packet.unresolved > 0 {
            return;
        }
        let transit = Transit {
            packet: packet.packet,
            size: packet.size,
            lldus: packet.units,
            order,
            entered: packet.entered,
            departed: Instant::from_nanos(packet.departed.max(0) as u64),
            at: Instant::from_nanos((packet.latest + self.one_way).max(0) as u64),
        };
        self.due.push(Due { transit, lost: packet.lost });
        while self.open.front().is_some_and(|packet| packet.unresolved == 0) {
            self.open.pop_front();
            self.base += 1;
        }
    }

    /// When the next packet comes out, as far as is known.
    #[inline]
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.due.next_at()
    }

    /// The next packet that comes out up to `now`.
    #[inline]
    pub(crate) fn pop(&mut self, now: Instant) -> Option<LinkEvent> {
        let due = self.due.pop(now)?;
        self.tally.count(&due);
        Some(due.event())
    }

    pub(crate) fn counters(&self) -> LinkCounters {
        self.tally.replace_in(self.counters)
    }
}
