//! Live SR-ARQ: erased LLDUs are sent again, ahead of new data.

use crate::link::earliest;
use crate::link::line::{Line, Unit};
use crate::link::live::{LiveScheme, NOW};
use crate::link::schedule::ReadyQueue;
use crate::link::slots::Slot;
use crate::scheme::Persistency;
use crate::scheme::feedback::Feedback;
use crate::scheme::window::BufferLimits;

#[derive(Clone, Debug)]
pub(crate) struct LiveArq {
    max_retx: Persistency,
    feedback: Feedback,
    window: Option<BufferLimits>,
    again: ReadyQueue<Again>,
}

/// A unit that was NACKed.
#[derive(Clone, Copy, Debug)]
struct Again {
    unit: Unit,
    /// How often it was sent.
    times: u32,
}

impl LiveArq {
    pub(crate) fn new(
        max_retx: Persistency,
        feedback: Feedback,
        window: Option<BufferLimits>,
    ) -> Self {
        Self { max_retx, feedback, window, again: ReadyQueue::new() }
    }

    fn may_send_new(&self) -> bool {
        self.window.as_ref().is_none_or(BufferLimits::has_room)
    }

    /// The next unit for the slot, and how often it was sent before.
    #[inline]
    fn next(&mut self, slot: Slot, line: &mut Line) -> Option<Again> {
        if let Some(again) = self.again.pop(slot.t) {
            line.send_again(slot, again.unit, again.times);
            return Some(again);
        }
        if !line.data_wait() || !self.may_send_new() {
            return None;
        }
        if let Some(window) = &mut self.window {
            window.open();
        }
        Some(Again { unit: line.send_new(slot), times: 0 })
    }
}

impl LiveScheme for LiveArq {
    #[inline]
    fn wants(&self, data_wait: bool) -> Option<i64> {
        let again = self.again.next_at();
        if !data_wait {
            return again;
        }
        match &self.window {
            Some(window) if !window.has_room() => earliest(again, window.next_report()),
            _ => Some(NOW),
        }
    }

    #[inline]
    fn carry(&mut self, slot: Slot, line: &mut Line) -> bool {
        if let Some(window) = &mut self.window {
            window.hear(slot.t);
        }
        let Some(Again { unit, times }) = self.next(slot, line) else { return false };
        if slot.d == 0 && self.max_retx.allows(times) {
            let ready = self.feedback.report(slot.t);
            self.again.push(ready, Again { unit, times: times + 1 });
            return true;
        }
        if slot.d > 0 {
            line.arrived(unit.packet, slot.t + slot.d);
        } else {
            line.give_up(unit.packet, slot.t);
        }
        if let Some(window) = &mut self.window {
            window.ends(unit.number, self.feedback.report(slot.t));
        }
        true
    }

    fn feedback_lost(&self) -> u64 {
        self.feedback.lost
    }
}
