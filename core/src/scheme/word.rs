//! A code word under way: units that arrived, and units to be rebuilt.

use crate::link::line::{Line, Unit};
use crate::link::slots::Slot;

/// The data and repair units of one code word. It is decoded when as many bytes have arrived as
/// its data units have: as many units, if all are of one size.
#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    /// Data units sent.
    pub(super) data: usize,
    /// First and last of the packets that they are parts of.
    pub(super) packets: (u64, u64),
    /// Bytes of the data units, and of all units that arrived.
    bytes: (u64, u64),
    /// Size of its first unit, and whether another one differs.
    size: u32,
    differ: bool,
    /// `t + d` and bytes of the units that arrived, in rising order.
    arrivals: Vec<(i64, u32)>,
    /// The packets of the data units that were erased and are not rebuilt.
    erased: Vec<u64>,
}

impl Word {
    /// Its next data unit was sent.
    #[inline]
    pub(super) fn add_data(&mut self, slot: Slot, unit: Unit, line: &mut Line) {
        if self.data == 0 {
            self.packets.0 = unit.packet;
            self.size = slot.bytes;
        }
        self.packets.1 = unit.packet;
        self.data += 1;
        self.bytes.0 += u64::from(slot.bytes);
        self.add_repair(slot);
        if slot.d > 0 {
            line.arrived(unit.packet, slot.t + slot.d);
        } else {
            self.erased.push(unit.packet);
        }
    }

    /// A unit of it was sent, without data.
    #[inline]
    pub(super) fn add_repair(&mut self, slot: Slot) {
        self.differ |= slot.bytes != self.size;
        if slot.d == 0 {
            return;
        }
        self.bytes.1 += u64::from(slot.bytes);
        let at = slot.t + slot.d;
        // A later unit seldom overtakes an earlier one.
        if self.arrivals.last().is_none_or(|&(last, _)| last <= at) {
            self.arrivals.push((at, slot.bytes));
        } else {
            let place = self.arrivals.partition_point(|&(other, _)| other <= at);
            self.arrivals.insert(place, (at, slot.bytes));
        }
    }

    /// Bytes that it lacks to be decoded, once all its data were sent.
    #[inline]
    pub(super) fn missing(&self) -> u64 {
        self.bytes.0.saturating_sub(self.bytes.1)
    }

    /// When it is decoded, if nothing that is still to be sent overtakes; `None` if it is not, or
    /// nothing is left to rebuild.
    #[inline]
    pub(super) fn decoded_at(&self) -> Option<i64> {
        if self.erased.is_empty() {
            return None;
        }
        if !self.differ {
            return self.arrivals.get(self.data - 1).map(|&(at, _)| at);
        }
        let mut arrived = 0;
        let last = self.arrivals.iter().find(|&&(_, bytes)| {
            arrived += u64::from(bytes);
            arrived >= self.bytes.0
        });
        last.map(|&(at, _)| at)
    }

    /// Rebuilds what was erased, at the instant `at`.
    pub(super) fn rebuild(&mut self, at: i64, line: &mut Line) {
        for packet in self.erased.drain(..) {
            line.arrived(packet, at);
        }
    }

    /// Nothing more of it is sent after the slot at `t`: it is decoded, or what was erased is given
    /// up a decoding time later. Forgets everything but its memory.
    #[inline]
    pub(super) fn finish(&mut self, t: i64, line: &mut Line) {
        if let Some(at) = self.decoded_at() {
            self.rebuild(at, line);
        } else if self.missing() > 0 {
            self.give_up(t, line);
        }
        self.arrivals.clear();
        (self.data, self.bytes, self.differ) = (0, (0, 0), false);
    }

    fn give_up(&mut self, t: i64, line: &mut Line) {
        line.counts.blocks_failed += 1;
        for packet in self.erased.drain(..) {
            line.give_up(packet, t);
        }
    }
}
