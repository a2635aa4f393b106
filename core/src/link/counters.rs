//! What a link counts.

use crate::link::due::Due;
use crate::link::{LinkEvent, Transit};
use crate::units::Bytes;

/// Totals of a link, in packets, bytes and LLDUs.
///
/// `offered = dropped + delivered + lost + pending`, where a packet is pending until the poll that
/// returns its event.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct LinkCounters {
    /// Packets offered.
    pub offered: u64,
    /// Packets dropped by a full queue.
    pub dropped: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Packets given up by the link.
    pub lost: u64,
    /// Bytes of the packets that were given LLDUs (an open-loop link gives them on arrival).
    pub bytes_carried: u64,
    /// Bytes of the packets delivered.
    pub bytes_delivered: u64,
    /// Data LLDUs taken by packets.
    pub lldus_taken: u64,
    /// Data LLDUs taken by the packets delivered.
    pub lldus_delivered: u64,
    /// Most packets that waited at once.
    pub longest_queue: u64,
    /// Packets delivered after a packet that entered the link later.
    pub overtaken: u64,
    /// Packets put into a re-sequencing buffer.
    pub held: u64,
    /// Times that a re-sequencing buffer was flushed with something in it.
    pub flushes: u64,
}

impl LinkCounters {
    /// Packets that were neither dropped nor delivered nor given up so far.
    pub fn pending(&self) -> u64 {
        self.offered - self.dropped - self.delivered - self.lost
    }
}

/// How much of a link was used (DESIGN section 8).
///
/// In an open-loop link every data LLDU stands for `slots used / data LLDUs` slots of its trace:
/// its own, and its part of the repairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// Slots that passed. Where they differ in size, they and those used are counted in bytes, as
    /// slots of `slot` bytes.
    pub slots: f64,
    /// Slots used for the packets that left the queue; the whole of what is in the air.
    pub used: f64,
    /// What was sent beside the link as if it had more slots, in slots: the repairs of a model that
    /// takes no time for them.
    pub beside: f64,
    /// Slots used for a data LLDU, repairs included.
    pub per_lldu: f64,
    /// Bytes of a slot; of the largest where they differ.
    pub slot: Bytes,
}

impl Usage {
    /// Share of the slots that packets used, 0 if no slot passed. At most 1: of what is in the air
    /// only that counts for which there was time.
    pub fn share(&self) -> f64 {
        if self.slots > 0.0 { (self.used / self.slots).min(1.0) } else { 0.0 }
    }

    /// What was sent beside the link over the slots that passed, 0 if none did. It may exceed 1.
    pub fn share_beside(&self) -> f64 {
        if self.slots > 0.0 { self.beside / self.slots } else { 0.0 }
    }

    /// Mean coding ratio: bytes delivered over bytes put on the link for them, repairs and padding
    /// included (MCR in table I of the CLIFT papers); `None` if nothing was delivered. Where slots
    /// differ in size, all that was put on the link counts, what was lost too.
    pub fn coding_ratio(&self, counters: &LinkCounters) -> Option<f64> {
        let slots = counters.lldus_delivered as f64 * self.per_lldu;
        let sent = slots * f64::from(self.slot.0);
        (sent > 0.0).then(|| counters.bytes_delivered as f64 / sent)
    }
}

/// Counts what comes out of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    delivered: u64,
    lost: u64,
    bytes: u64,
    lldus: u64,
    overtaken: u64,
    /// One more than the highest `order` delivered.
    next: u64,
}

impl Tally {
    #[inline]
    pub(crate) fn record(&mut self, event: &LinkEvent) {
        match event {
            LinkEvent::Delivered(transit) => self.delivered(transit),
            LinkEvent::Lost(_) => self.lost(),
            LinkEvent::Departed { .. }
            | LinkEvent::Marked { .. }
            | LinkEvent::TraceEnded { .. } => {}
        }
    }

    /// Counts a packet's end before its event is made of it: reading back what was just written
    /// would stall.
    #[inline]
    pub(crate) fn count(&mut self, due: &Due) {
        if due.lost {
            self.lost();
        } else {
            self.delivered(&due.transit);
        }
    }

    #[inline]
    pub(crate) fn delivered(&mut self, transit: &Transit) {
        self.delivered += 1;
        self.bytes += u64::from(transit.size.0);
        self.lldus += u64::from(transit.lldus);
        self.overtaken += u64::from(transit.order < self.next);
        self.next = self.next.max(transit.order + 1);
    }

    #[inline]
    pub(crate) fn lost(&mut self) {
        self.lost += 1;
    }

    /// `counters` with what came out here in the place of what came out further in.
    pub(crate) fn replace_in(&self, counters: LinkCounters) -> LinkCounters {
        LinkCounters {
            delivered: self.delivered,
            lost: self.lost,
            bytes_delivered: self.bytes,
            lldus_delivered: self.lldus,
            overtaken: self.overtaken,
            ..counters
        }
    }
}
