//! The packets of a link: those that wait to be sent, and what is known of all that have not ended.

use std::collections::VecDeque;

use crate::link::queue::DropTail;
use crate::link::{Packet, PacketId, QueueLimit, StreamRange, instant, nanos};
use crate::units::{Bytes, Instant};

/// A packet from its admission until no part of the link refers to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sdu {
    pub(super) packet: PacketId,
    pub(super) carries: Option<StreamRange>,
    pub(super) size: Bytes,
    /// With its header.
    pub(super) bytes: u32,
    pub(super) entered: Instant,
    /// When its first byte was sent.
    pub(super) departed: i64,
    /// How many TBs took bytes of it for the first time.
    pub(super) blocks: u32,
    /// PDUs of it that are under way.
    pub(super) riding: u32,
    /// Whether the sender may still send some of it.
    pub(super) open: bool,
    /// Whether the receiver's RLC has put it together.
    pub(super) complete: bool,
    /// Whether it was delivered or given up.
    pub(super) ended: bool,
}

/// All packets in order of admission, and the drop-tail queue of those that wait.
#[derive(Clone, Debug)]
pub(super) struct Backlog {
    first: u64,
    sdus: VecDeque<Sdu>,
    queue: DropTail,
    waiting: VecDeque<u64>,
    /// Bytes of those that wait, headers included.
    waiting_bytes: u64,
    /// Packets that left the queue and when, still to be reported; `None`: not reported.
    departures: Option<Vec<(PacketId, Instant)>>,
    blocks: u64,
    carried: u64,
}

impl Backlog {
    pub(super) fn new(limit: QueueLimit) -> Self {
        let (sdus, waiting) = (VecDeque::new(), VecDeque::new());
        let queue = DropTail::new(limit);
        Self {
            first: 0,
            sdus,
            queue,
            waiting,
            waiting_bytes: 0,
            departures: None,
            blocks: 0,
            carried: 0,
        }
    }

    pub(super) fn has_room(&self, size: Bytes) -> bool {
        self.queue.has_room(size)
    }

    pub(super) fn admit(&mut self, now: Instant, packet: Packet, header: Bytes) {
        let bytes = packet.size.0.saturating_add(header.0).max(1);
        self.waiting.push_back(self.first + self.sdus.len() as u64);
        self.waiting_bytes += u64::from(bytes);
        self.queue.join(packet.size);
        self.sdus.push_back(Sdu {
            packet: packet.id,
            carries: packet.carries,
            size: packet.size,
            bytes,
            entered: now,
            departed: 0,
            blocks: 0,
            riding: 0,
            open: true,
            complete: false,
            ended: false,
        });
    }

    /// The packet that waits first.
    #[inline]
    pub(super) fn front(&self) -> Option<u64> {
        self.waiting.front().copied()
    }

    /// It leaves the queue at `now`.
    #[inline]
    pub(super) fn leave(&mut self, now: i64) -> Option<u64> {
        let order = self.waiting.pop_front()?;
        let sdu = self.get_mut(order);
        sdu.departed = now;
        let (packet, size, bytes) = (sdu.packet, sdu.size, sdu.bytes);
        self.waiting_bytes -= u64::from(bytes);
        self.queue.leave(size);
        if let Some(departures) = &mut self.departures {
            departures.push((packet, instant(now)));
        }
        Some(order)
    }

    /// Has departures noted from now on.
    pub(super) fn note_departures(&mut self) {
        self.departures.get_or_insert_default();
    }

    /// The departures noted since the last call.
    pub(super) fn departures(&mut self) -> impl Iterator<Item = (PacketId, Instant)> {
        self.departures.iter_mut().flat_map(|departures| departures.drain(..))
    }

    /// When the packet that waits first came.
    pub(super) fn waiting_since(&self) -> Option<i64> {
        let sdu = &self.sdus[(self.front()? - self.first) as usize];
        Some(nanos(sdu.entered))
    }

    /// A PDU of a packet is sent; `fresh`: with bytes that were not sent before.
    #[inline]
    pub(super) fn ride(&mut self, order: u64, fresh: bool) -> &mut Sdu {
        let sdu = &mut self.sdus[(order - self.first) as usize];
        if fresh {
            self.blocks += 1;
            self.carried += if sdu.blocks == 0 { u64::from(sdu.size.0) } else { 0 };
        }
        sdu.blocks += u32::from(fresh);
        sdu.riding += 1;
        sdu
    }

    /// TBs that packets took with bytes that were not sent before, each counted for every packet in
    /// it.
    pub(super) fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Bytes of the packets that were sent, in part at least.
    pub(super) fn carried(&self) -> u64 {
        self.carried
    }

    /// True if no part of the link holds a packet.
    pub(super) fn is_empty(&self) -> bool {
        self.sdus.is_empty()
    }

    /// Bytes of the packets that wait, headers included.
    pub(super) fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The packet that came first of those that have not ended.
    pub(super) fn oldest(&self) -> Option<PacketId> {
        self.sdus.iter().find(|sdu| !sdu.ended).map(|sdu| sdu.packet)
    }

    /// A packet that something of the link still knows of.
    pub(super) fn get(&self, order: u64) -> &Sdu {
        &self.sdus[(order - self.first) as usize]
    }

    /// The same, to be changed.
    #[inline]
    pub(super) fn get_mut(&mut self, order: u64) -> &mut Sdu {
        &mut self.sdus[(order - self.first) as usize]
    }

    /// Forgets the packets in front that are of no more use.
    #[inline]
    pub(super) fn retire(&mut self) {
        while self.sdus.front().is_some_and(|sdu| sdu.ended && !sdu.open && sdu.riding == 0) {
            self.sdus.pop_front();
            self.first += 1;
        }
    }
}
