//! Drop-tail queues.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;

use crate::units::{Bytes, QuantityError, Size, counted, number, packets, quantity};

/// Limit of a drop-tail queue, in text `"1000 packets"`, `"64 kB"` or `"unlimited"`; a packet that
/// does not fit is dropped.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum QueueLimit {
    /// No limit.
    #[default]
    Unlimited,
    /// At most this many packets.
    Packets(u32),
    /// At most this many bytes of packets.
    Bytes(u64),
}

impl FromStr for QueueLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "unlimited" {
            return Ok(Self::Unlimited);
        }
        if let Some(packets) = packets(text) {
            // More than 2^32 - 1 packets do not fit into memory, so that a higher limit has no
            // effect.
            return packets
                .map(|packets| Self::Packets(u32::try_from(packets).unwrap_or(u32::MAX)));
        }
        text.parse().map(|Size(bytes)| Self::Bytes(bytes)).map_err(|_: QuantityError| {
            format!(
                "`{text}` is not a queue; write e.g. \"1000 packets\", \"64 kB\" or \"unlimited\""
            )
        })
    }
}

impl fmt::Display for QueueLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Packets(packets) => f.write_str(&counted(packets, "packet", "packets")),
            Self::Bytes(bytes) => Size(bytes).fmt(f),
            Self::Unlimited => f.write_str("unlimited"),
        }
    }
}

quantity!(
    QueueLimit,
    "Queue",
    concat!(r"^\s*(unlimited|", number!(), r"\s*(packets?|B|kB|KiB|MB|MiB|GB|GiB))\s*$"),
    "a queue, e.g. \"1000 packets\", \"64 kB\" or \"unlimited\""
);

impl QueueLimit {
    /// True if a packet of `size` may join a queue of `packets` packets and `bytes` bytes.
    #[inline]
    pub(crate) fn has_room(self, packets: usize, bytes: u64, size: Bytes) -> bool {
        match self {
            Self::Unlimited => true,
            // As a drop-tail queue of ns-2 and `pfifo` count: the packet in transmission is not in
            // the queue.
            Self::Packets(limit) => packets < limit as usize,
            Self::Bytes(limit) => bytes + u64::from(size.0) <= limit,
        }
    }
}

/// Length of a drop-tail queue, in packets and bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct DropTail {
    limit: QueueLimit,
    packets: usize,
    bytes: u64,
}

impl DropTail {
    pub(crate) fn new(limit: QueueLimit) -> Self {
        Self { limit, packets: 0, bytes: 0 }
    }

    /// Sets another limit. Packets that wait stay.
    pub(crate) fn set_limit(&mut self, limit: QueueLimit) {
        self.limit = limit;
    }

    /// True if a packet of `size` may join.
    #[inline]
    pub(crate) fn has_room(&self, size: Bytes) -> bool {
        self.limit.has_room(self.packets, self.bytes, size)
    }

    #[inline]
    pub(crate) fn join(&mut self, size: Bytes) {
        self.packets += 1;
        self.bytes += u64::from(size.0);
    }

    /// Removes a packet that joined.
    #[inline]
    pub(crate) fn leave(&mut self, size: Bytes) {
        self.packets -= 1;
        self.bytes -= u64::from(size.0);
    }

    pub(crate) fn len(&self) -> usize {
        self.packets
    }
}

/// A drop-tail queue whose departures are known on arrival: all waiting packets, in order of
/// arrival and departure. `T` is the type of time.
#[derive(Clone, Debug)]
pub(crate) struct DepartureQueue<T = i64> {
    limit: QueueLimit,
    waiting: VecDeque<Waiting<T>>,
    bytes: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting<T = i64> {
    pub(crate) departure: T,
    pub(crate) size: Bytes,
}

impl<T: Copy + Ord> DepartureQueue<T> {
    pub(crate) fn new(limit: QueueLimit) -> Self {
        Self { limit, waiting: VecDeque::new(), bytes: 0 }
    }

    /// Sets another limit. Packets that wait stay.
    pub(crate) fn set_limit(&mut self, limit: QueueLimit) {
        self.limit = limit;
    }

    /// Removes packets that depart up to `now`: at equal times departures come before arrivals.
    #[inline]
    pub(crate) fn advance(&mut self, now: T) {
        while let Some(&Waiting { departure, size, .. }) = self.waiting.front() {
            // Departures come before arrivals at one instant (DESIGN section 5).
            if departure > now {
                return;
            }
            self.bytes -= u64::from(size.0);
            self.waiting.pop_front();
        }
    }

    #[inline]
    pub(crate) fn has_room(&self, size: Bytes) -> bool {
        self.limit.has_room(self.waiting.len(), self.bytes, size)
    }

    /// Adds a packet that departs not earlier than the last one.
    #[inline]
    pub(crate) fn push(&mut self, packet: Waiting<T>) {
        self.bytes += u64::from(packet.size.0);
        self.waiting.push_back(packet);
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The packets that still wait at `now`.
    pub(crate) fn waiting_at(&self, now: T) -> impl ExactSizeIterator<Item = &Waiting<T>> {
        self.waiting.range(self.waiting.partition_point(|packet| packet.departure <= now)..)
    }
}
