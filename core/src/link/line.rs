//! State that every scheme of a live link works on: packets, counters, log of units.

use crate::link::packets::Packets;
use crate::link::slots::Slot;
use crate::link::{Transmission, TransmissionKind, UnitLog};
use crate::units::Instant;

/// The sending end of a live link and its knowledge of the far end. A scheme takes new data from
/// it, and reports to it what it sends and the fate of each data unit.
#[derive(Clone, Debug)]
pub struct Line {
    pub(crate) packets: Packets,
    pub(crate) counts: Counts,
    pub(crate) log: UnitLog,
    /// Nominal decoding time, ns.
    pub(crate) nominal: i64,
    /// Half the round-trip time, ns.
    pub(crate) one_way: i64,
    /// Bytes of each LLDU that do not carry packets.
    pub(crate) header: u32,
    /// Whether the scheme gets no new data: another one takes them.
    pub(crate) is_closed: bool,
}

/// Counters of a live link, besides packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Slots used, and their bytes.
    pub(crate) sent: u64,
    pub(crate) bytes: u64,
    /// Those of them that were erased, and their bytes.
    pub(crate) erased: u64,
    pub(crate) erased_bytes: u64,
    /// Bytes of the slots that carried data units for the first time.
    pub(crate) data_bytes: u64,
    /// Data units sent again.
    pub(crate) sent_again: u64,
    /// Repair units sent.
    pub(crate) repair: u64,
    /// Data units given up.
    pub(crate) given_up: u64,
    /// Blocks closed before they were full.
    pub(crate) blocks_flushed: u64,
    /// Blocks that requested repair at least once.
    pub(crate) blocks_repaired: u64,
    /// Blocks given up.
    pub(crate) blocks_failed: u64,
}

/// A data unit: its number, and its name in the link.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// Number of data units sent before it.
    pub number: u64,
    /// Number of packets before the one it belongs to; if packets share units, the number of the
    /// unit. The scheme passes it back unchanged.
    pub packet: u64,
}

impl Line {
    /// True if a new data unit is ready to be sent.
    #[inline]
    pub fn data_wait(&self) -> bool {
        !self.is_closed && self.packets.wait()
    }

    /// Sends the next new data unit, which must exist.
    #[inline]
    pub fn send_new(&mut self, slot: Slot) -> Unit {
        let number = self.counts.sent - self.counts.sent_again - self.counts.repair;
        self.counts.data_bytes += u64::from(slot.bytes);
        let payload = u64::from(slot.bytes.saturating_sub(self.header));
        let unit = Unit { number, packet: self.packets.take(slot.t, payload) };
        self.note(slot, TransmissionKind::New, number, 0, (unit.packet, unit.packet));
        unit
    }

    /// Retransmits a data unit that was sent `times` times before.
    #[inline]
    pub fn send_again(&mut self, slot: Slot, unit: Unit, times: u32) {
        self.counts.sent_again += 1;
        self.note(slot, TransmissionKind::Again, unit.number, times, (unit.packet, unit.packet));
    }

    /// Sends a repair unit of the block `block`, which contains parts of the packets from the first
    /// to the second of `packets`; `round` is 0 for units that were not requested.
    #[inline]
    pub fn send_repair(&mut self, slot: Slot, block: u64, round: u32, packets: (u64, u64)) {
        self.counts.repair += 1;
        self.note(slot, TransmissionKind::Repair, block, round, packets);
    }

    /// Records that a unit of the packet reaches the far end at time `at` (ns), excluding
    /// propagation. Each data unit is reported exactly once, here or as given up.
    #[inline]
    pub fn arrived(&mut self, packet: u64, at: i64) {
        self.packets.arrived(packet, at);
    }

    /// Records that a unit of the packet is given up one decoding time after the slot at `t`, ns.
    pub fn give_up(&mut self, packet: u64, t: i64) {
        self.counts.given_up += 1;
        self.packets.lost(packet, t + self.nominal);
    }

    #[inline]
    fn note(
        &mut self,
        slot: Slot,
        kind: TransmissionKind,
        unit: u64,
        attempt: u32,
        packets: (u64, u64),
    ) {
        self.counts.sent += 1;
        self.counts.bytes += u64::from(slot.bytes);
        if slot.d == 0 {
            self.counts.erased += 1;
            self.counts.erased_bytes += u64::from(slot.bytes);
        }
        let (table, one_way) = (&self.packets, self.one_way);
        self.log.note(|| {
            let packets = table.packets_of(packets);
            Transmission {
                at: Instant::from_nanos(slot.t as u64),
                kind,
                unit,
                attempt,
                arrival: (slot.d > 0)
                    .then(|| Instant::from_nanos((slot.t + slot.d + one_way) as u64)),
                packets,
                carries: table.carries(packets.0),
            }
        });
    }
}

impl Counts {
    /// The counters by their names in a run's summary.
    pub(crate) fn named(&self, feedback_lost: u64) -> Vec<(&'static str, u64)> {
        vec![
            ("units_sent", self.sent),
            ("units_sent_again", self.sent_again),
            ("repair_units", self.repair),
            ("units_given_up", self.given_up),
            ("blocks_flushed", self.blocks_flushed),
            ("blocks_repaired", self.blocks_repaired),
            ("blocks_failed", self.blocks_failed),
            ("feedback_lost", feedback_lost),
        ]
    }
}
