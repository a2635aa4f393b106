//! Counters of a link.

use crate::config::together;
use crate::link::due::Due;
use crate::link::{LinkEvent, Transit};
use crate::units::{Bytes, Duration};

/// Totals of a link, in packets, bytes and LLDUs.
///
/// `offered = dropped + delivered + lost + pending`; a packet is pending until the poll that
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
    /// Bytes of the packets that received LLDUs (at arrival in an open-loop link).
    pub bytes_carried: u64,
    /// Bytes of the packets delivered.
    pub bytes_delivered: u64,
    /// Data LLDUs used by packets.
    pub lldus_taken: u64,
    /// Data LLDUs used by delivered packets.
    pub lldus_delivered: u64,
    /// Maximum queue length, in packets.
    pub longest_queue: u64,
    /// Packets delivered after a packet that entered the link later.
    pub overtaken: u64,
    /// Packets put into a re-sequencing buffer.
    pub held: u64,
    /// Flushes of a non-empty re-sequencing buffer.
    pub flushes: u64,
}

impl LinkCounters {
    /// Packets neither dropped nor delivered nor given up so far.
    pub fn pending(&self) -> u64 {
        self.offered - self.dropped - self.delivered - self.lost
    }

    /// Those of two queues of a link together.
    pub(crate) fn plus(self, other: Self) -> Self {
        together!(
            self, other => offered, dropped, delivered, lost, bytes_carried, bytes_delivered,
            lldus_taken, lldus_delivered, overtaken, held, flushes; most longest_queue
        )
    }
}

/// Utilisation of a link (DESIGN section 8).
///
/// In an open-loop link every data LLDU counts as `slots used / data LLDUs` slots of its trace: its
/// own slot and its share of the repairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// Slots that passed. If slots differ in size, this and `used` are bytes divided by `slot`.
    pub slots: f64,
    /// Slots used for the packets that left the queue, including slots still ahead of them.
    pub used: f64,
    /// Those of the used slots that were erased, as far as the link knows: a link trace does not say
    /// which repair units were.
    pub erased: f64,
    /// Slots that passed unused although packets waited in the link, for any reason; `None` for a kind
    /// of link that never does so.
    pub waiting: Option<f64>,
    /// Transmissions that a model sends beside the link without using its slots (repairs without
    /// air time), in slots.
    pub beside: f64,
    /// Slots used per data LLDU, repairs included.
    pub per_lldu: f64,
    /// Bytes of a slot; of the largest if slots differ.
    pub slot: Bytes,
    /// True if every packet takes whole LLDUs, all of `slot` bytes.
    pub pads: bool,
    /// Of the used slots that were not erased, the room without bytes of packets, in slots: padding, and
    /// headers of the link. 0 if `pads`: then the packets tell it.
    pub padding: f64,
    /// What fades took from the room of the used slots that were not erased, in slots.
    pub faded: f64,
    /// Whether it sent more than the packets: repairs, or data again.
    pub repairs: bool,
    /// Bytes that a code above the link added: repair packets, and with packets that share LLDUs its headers.
    pub coding: f64,
}

impl Usage {
    /// Of a link without slots.
    pub(crate) const NONE: Self = Self {
        slots: 0.0,
        used: 0.0,
        erased: 0.0,
        waiting: None,
        beside: 0.0,
        per_lldu: 0.0,
        slot: Bytes(0),
        pads: false,
        padding: 0.0,
        faded: 0.0,
        repairs: false,
        coding: 0.0,
    };

    /// Bytes of the slots that passed in the time `elapsed`, bit/s.
    pub fn capacity(&self, elapsed: Duration) -> f64 {
        let seconds = elapsed.as_secs_f64();
        let bits = self.slots * f64::from(self.slot.0) * 8.0;
        if seconds > 0.0 { bits / seconds } else { 0.0 }
    }

    /// Share of the slots used by packets, at most 1; 0 if no slot passed. Of slots still ahead,
    /// only those within the elapsed time count.
    pub fn share(&self) -> f64 {
        self.part(self.used).min(1.0)
    }

    /// Transmissions beside the link divided by the slots that passed; 0 if no slot passed. May
    /// exceed 1.
    pub fn share_beside(&self) -> f64 {
        self.part(self.beside)
    }

    /// A number of slots divided by those that passed; 0 if no slot passed.
    pub(crate) fn part(&self, of: f64) -> f64 {
        if self.slots > 0.0 { of / self.slots } else { 0.0 }
    }

    /// Share of the bytes of the data LLDUs of delivered packets that carry padding and headers of
    /// the link; `None` unless packets take whole LLDUs of one size, or if nothing was delivered.
    pub fn share_padding(&self, counters: &LinkCounters) -> Option<f64> {
        let taken = counters.lldus_delivered as f64 * f64::from(self.slot.0);
        (self.pads && taken > 0.0).then(|| 1.0 - counters.bytes_delivered as f64 / taken)
    }

    /// Mean coding ratio: bytes delivered over bytes sent on the link for them, repairs and padding
    /// included (MCR in table I of the CLIFT papers); `None` if nothing was delivered. If slots
    /// differ in size, all bytes sent on the link count, including those of lost packets.
    pub fn coding_ratio(&self, counters: &LinkCounters) -> Option<f64> {
        let slots = counters.lldus_delivered as f64 * self.per_lldu;
        let sent = slots * f64::from(self.slot.0);
        (sent > 0.0).then(|| counters.bytes_delivered as f64 / sent)
    }
}

/// Counts the packets that leave a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    delivered: u64,
    lost: u64,
    bytes: u64,
    lldus: u64,
    overtaken: u64,
    /// The highest `order` delivered, plus 1.
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

    /// Counts the end of a packet before its event is created: reading the event back right after
    /// writing it would stall.
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
        if transit.order < self.next {
            self.overtaken += 1;
        } else {
            self.next = transit.order + 1;
        }
    }

    #[inline]
    pub(crate) fn lost(&mut self) {
        self.lost += 1;
    }

    /// `counters` with these counts of delivered and lost packets in place of those of the inner
    /// link.
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
