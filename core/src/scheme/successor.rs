//! Schemes one after the other on a live link.

use crate::link::earliest;
use crate::link::line::Line;
use crate::link::live::LiveScheme;
use crate::link::slots::Slot;

/// From the first slot at `at` or later on, `next` takes the new data. `before` then has no more of
/// them: it closes its open block as if nothing waited, and completes the repair of what it has sent,
/// ahead of `next`.
pub(super) struct Successor {
    pub(super) before: Box<dyn LiveScheme + Send>,
    pub(super) next: Box<dyn LiveScheme + Send>,
    /// ns.
    pub(super) at: i64,
    /// Whether the link has come to a slot at `at` or later.
    pub(super) has_begun: bool,
}

impl LiveScheme for Successor {
    fn wants(&self, data_wait: bool) -> Option<i64> {
        if !self.has_begun {
            // In the slot at `at` the schemes change, even if nothing is to be sent.
            return earliest(self.before.wants(data_wait), Some(self.at));
        }
        earliest(self.before.wants(false), self.next.wants(data_wait))
    }

    fn carry(&mut self, slot: Slot, line: &mut Line) -> bool {
        self.has_begun |= slot.t >= self.at;
        if !self.has_begun {
            return self.before.carry(slot, line);
        }
        if self.before.wants(false).is_some_and(|from| from <= slot.t) {
            line.is_closed = true;
            let has_sent = self.before.carry(slot, line);
            line.is_closed = false;
            if has_sent {
                return true;
            }
        }
        let wants = self.next.wants(line.data_wait());
        wants.is_some_and(|from| from <= slot.t) && self.next.carry(slot, line)
    }

    fn undecided(&self) -> Option<i64> {
        earliest(self.before.undecided(), self.next.undecided())
    }

    fn settle(&mut self, until: i64, line: &mut Line) {
        self.before.settle(until, line);
        self.next.settle(until, line);
    }

    fn feedback_lost(&self) -> u64 {
        self.before.feedback_lost() + self.next.feedback_lost()
    }
}
