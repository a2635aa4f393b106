//! A code word under way: units that arrived, and units to be rebuilt.

use crate::link::line::{Line, Unit};
use crate::link::slots::Slot;

/// The data and repair units of one code word. It is decoded when as many units have arrived as
/// data were sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    /// Data units sent.
    pub(super) data: usize,
    /// First and last of the packets that they are parts of.
    pub(super) packets: (u64, u64),
    /// `t + d` of the units that arrived, in rising order.
    arrivals: Vec<i64>,
    /// The packets of the data units that were erased and are not rebuilt.
    erased: Vec<u64>,
}

impl Word {
    /// Its next data unit was sent.
    #[inline]
    pub(super) fn add_data(&mut self, slot: Slot, unit: Unit, line: &mut Line) {
        if self.data == 0 {
            self.packets.0 = unit.packet;
        }
        self.packets.1 = unit.packet;
        self.data += 1;
        if slot.d > 0 {
            self.arrives(slot.t + slot.d);
            line.arrived(unit.packet, slot.t + slot.d);
        } else {
            self.erased.push(unit.packet);
        }
    }

    /// A repair unit of it was sent.
    #[inline]
    pub(super) fn add_repair(&mut self, slot: Slot) {
        if slot.d > 0 {
            self.arrives(slot.t + slot.d);
        }
    }

    #[inline]
    fn arrives(&mut self, at: i64) {
        // A later unit seldom overtakes an earlier one.
        if self.arrivals.last().is_none_or(|&last| last <= at) {
            self.arrivals.push(at);
        } else {
            let place = self.arrivals.partition_point(|&other| other <= at);
            self.arrivals.insert(place, at);
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
    pub(super) fn decoded_at(&self) -> Option<i64> {
        if self.erased.is_empty() {
            return None;
        }
        self.arrivals.get(self.data - 1).copied()
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
        self.data = 0;
    }

    fn give_up(&mut self, t: i64, line: &mut Line) {
        line.counts.blocks_failed += 1;
        for packet in self.erased.drain(..) {
            line.give_up(packet, t);
        }
    }
}
