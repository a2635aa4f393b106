//! The drop-tail queue in front of a link whose departures are known on arrival.

use std::collections::VecDeque;

use crate::units::Bytes;

/// How much may wait in a link's queue; a packet that finds no room is dropped.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum QueueLimit {
    /// No limit.
    #[default]
    Unlimited,
    /// So many packets.
    Packets(u32),
    /// So many bytes of packets.
    Bytes(u64),
}

impl QueueLimit {
    /// Whether a packet of `size` may join so many packets and bytes.
    #[inline]
    pub(crate) fn has_room(self, packets: usize, bytes: u64, size: Bytes) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Packets(limit) => packets < limit as usize,
            Self::Bytes(limit) => bytes + u64::from(size.0) <= limit,
        }
    }
}

/// Every packet that waits, in order of both arrival and departure.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    limit: QueueLimit,
    waiting: VecDeque<Waiting>,
    bytes: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) departure: i64,
    pub(crate) size: Bytes,
    /// LLDUs that it will take.
    pub(crate) lldus: u32,
}

impl Queue {
    pub(crate) fn new(limit: QueueLimit) -> Self {
        Self { limit, waiting: VecDeque::new(), bytes: 0 }
    }

    /// Lets go of what departs up to `now`: at equal times departures come before arrivals.
    #[inline]
    pub(crate) fn advance(&mut self, now: i64) {
        while let Some(&Waiting { departure, size, .. }) = self.waiting.front() {
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

    /// Puts in a packet that departs no earlier than the last one.
    #[inline]
    pub(crate) fn push(&mut self, packet: Waiting) {
        debug_assert!(self.waiting.back().is_none_or(|last| last.departure <= packet.departure));
        self.bytes += u64::from(packet.size.0);
        self.waiting.push_back(packet);
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Those that still wait at `now`.
    pub(crate) fn waiting_at(&self, now: i64) -> impl ExactSizeIterator<Item = &Waiting> {
        self.waiting.range(self.waiting.partition_point(|packet| packet.departure <= now)..)
    }
}
