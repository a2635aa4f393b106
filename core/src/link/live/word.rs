//! A code word under way: what arrived of it, and what must be rebuilt.

use crate::link::live::line::{Line, Unit};
use crate::link::live::slots::Slot;

/// The data and repair units of one code word. It is decoded when as many units have arrived as
/// data were sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    /// Data units sent.
    pub(super) data: usize,
    /// First and last of the packets that they are parts of.
    pub(super) packets: (u64, u64),
    /// When its last unit so far was sent.
    pub(super) last: i64,
    /// `t + d` of the units that arrived, in order of their slots.
    arrivals: Vec<i64>,
    /// The packets of the data units that were erased and are not rebuilt.
    erased: Vec<u64>,
}

impl Word {
    /// Forgets everything but its memory.
    pub(super) fn clear(&mut self) {
        self.arrivals.clear();
        self.erased.clear();
        (self.data, self.last) = (0, 0);
    }

    /// Its next data unit was sent.
    #[inline]
    pub(super) fn add_data(&mut self, slot: Slot, unit: Unit, line: &mut Line) {
        if self.data == 0 {
            self.packets.0 = unit.packet;
        }
        self.packets.1 = unit.packet;
        self.data += 1;
        self.last = slot.t;
        if slot.d > 0 {
            self.arrivals.push(slot.t + slot.d);
            line.arrived(unit.packet, slot.t + slot.d);
        } else {
            self.erased.push(unit.packet);
        }
    }

    /// A repair unit of it was sent.
    #[inline]
    pub(super) fn add_repair(&mut self, slot: Slot) {
        self.last = slot.t;
        if slot.d > 0 {
            self.arrivals.push(slot.t + slot.d);
        }
    }

    /// Units that it lacks to be decoded, once all its data were sent.
    #[inline]
    pub(super) fn missing(&self) -> usize {
        self.data.saturating_sub(self.arrivals.len())
    }

    /// When it is decoded, if nothing that is still to be sent overtakes; `None` if it is not, or
    /// nothing is left to rebuild.
    #[inline]
    pub(super) fn decoded_at(&mut self) -> Option<i64> {
        if self.erased.is_empty() || self.missing() > 0 {
            return None;
        }
        let last = self.data - 1;
        // A later unit seldom overtakes an earlier one.
        if !self.arrivals.is_sorted() {
            self.arrivals.sort_unstable();
        }
        Some(self.arrivals[last])
    }

    /// Rebuilds what was erased, at the instant `at`.
    pub(super) fn rebuild(&mut self, at: i64, line: &mut Line) {
        for packet in self.erased.drain(..) {
            line.arrived(packet, at);
        }
    }

    /// Gives up what was erased, a decoding time after the slot at `t`.
    pub(super) fn give_up(&mut self, t: i64, line: &mut Line) {
        line.counts.blocks_failed += 1;
        for packet in self.erased.drain(..) {
            line.give_up(packet, t);
        }
    }
}
