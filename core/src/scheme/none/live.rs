//! No scheme, live: each unit once, and what is erased is lost.

use crate::link::line::Line;
use crate::link::live::{LiveScheme, NOW};
use crate::link::slots::Slot;

#[derive(Clone, Debug)]
pub(crate) struct LiveNone;

impl LiveScheme for LiveNone {
    fn wants(&self, data_wait: bool) -> Option<i64> {
        data_wait.then_some(NOW)
    }

    fn carry(&mut self, slot: Slot, line: &mut Line) -> bool {
        let unit = line.send_new(slot);
        if slot.d > 0 {
            line.arrived(unit.packet, slot.t + slot.d);
        } else {
            line.give_up(unit.packet, slot.t);
        }
        true
    }
}
