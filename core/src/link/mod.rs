//! Stage 3: the link, a state machine without I/O that puts packets onto LLDUs.
//!
//! Every host (our engine, ns-2, ns-3, a live emulator) drives the same object through [`Link`].

use crate::units::{Bytes, Instant};

/// A link: handed packets and the time, it says when to be polled and what comes out.
///
/// Call order: [`Link::enqueue`] with a `now` that never falls; [`Link::poll`] at the instant that
/// [`Link::poll_timeout`] names (earlier does no harm), until it returns `None`. What is due at
/// `now` must be polled before a packet is enqueued at `now`.
pub trait Link {
    /// A packet of `size` arrives at the link's queue.
    fn enqueue(&mut self, now: Instant, packet: PacketId, size: Bytes) -> Admission;

    /// When [`Link::poll`] has something to do next; `None`: not before a further packet.
    fn poll_timeout(&self) -> Option<Instant>;

    /// The next thing that happened up to `now`, oldest first; `None`: nothing more for now.
    fn poll(&mut self, now: Instant) -> Option<LinkEvent>;

    /// Packets waiting in the queue at `now`, not counting the one being sent.
    fn queue_len(&self, now: Instant) -> usize;

    /// Totals so far.
    fn counters(&self) -> LinkCounters;
}

/// The host's name for a packet, given back when it leaves the link.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PacketId(pub u64);

/// Whether the queue took a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub enum Admission {
    /// It will be delivered, lost, or still be pending at the end.
    Queued,
    /// It is gone.
    Dropped(DropReason),
}

/// Why a packet was not admitted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum DropReason {
    /// The queue was full.
    QueueFull,
}

/// What came out of a link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum LinkEvent {
    /// The packet is at the far end.
    Delivered(PacketId),
    /// The link gave the packet up.
    Lost(PacketId),
    /// The trace ended while this packet (and all behind it) waits for slots.
    TraceEnded(PacketId),
}

/// Totals of a link, in packets, LLDUs and nanoseconds.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct LinkCounters {
    /// Packets offered.
    pub offered: u64,
    /// Bytes of packets that were given LLDUs.
    pub bytes_carried: u64,
    /// Packets dropped by a full queue.
    pub dropped: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Packets given up by the link.
    pub lost: u64,
    /// Data LLDUs taken by packets.
    pub lldus_taken: u64,
    /// Most packets that waited at once.
    pub longest_queue: u64,
    /// Packets delivered after a packet that entered the link later.
    pub overtaken: u64,
}
