//! From the last bit sent to the far end.

use crate::link::due::{Due, DueQueue};
use crate::link::{Propagation, Transit};
use crate::units::Instant;

/// Packets that are decoded or given up, on their way to the far end.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    delay: Propagation,
    /// By arrival; where a varying delay keeps order, by when they were sent.
    due: DueQueue,
    last: Instant,
}

impl Arrivals {
    pub(super) fn new(delay: Propagation) -> Self {
        Self { delay, due: DueQueue::default(), last: Instant::ZERO }
    }

    /// Puts in a packet whose last bit is sent at `transit.at`.
    #[inline]
    pub(super) fn push(&mut self, transit: Transit, lost: bool) {
        let at = if self.waits() { transit.at } else { self.end_of(transit.at) };
        self.due.push(Due { transit: Transit { at, ..transit }, lost });
    }

    /// When the next one arrives.
    #[inline]
    pub(super) fn next_at(&self) -> Option<Instant> {
        let next = self.due.next_at()?;
        Some(if self.waits() { self.last.max(self.end_of(next)) } else { next })
    }

    /// Takes out the next one if it arrives at `now` or before.
    #[inline]
    pub(super) fn pop(&mut self, now: Instant) -> Option<Due> {
        if !self.waits() {
            return self.due.pop(now);
        }
        let at = self.next_at().filter(|&at| at <= now)?;
        let mut due = self.due.pop(Instant::MAX)?;
        (due.transit.at, self.last) = (at, at);
        Some(due)
    }

    /// When what is sent at an instant is at the far end, if it need not wait for others.
    #[inline]
    pub(super) fn end_of(&self, sent: Instant) -> Instant {
        sent + self.delay.at(sent)
    }

    /// Whether a packet waits for those sent before it.
    fn waits(&self) -> bool {
        matches!(self.delay, Propagation::Varying { keep_order: true, .. })
    }
}
