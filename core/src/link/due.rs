//! What will come out of a link, ordered by time.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use crate::link::{LinkEvent, Transit};
use crate::units::Instant;

/// A packet's end, known ahead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub(crate) transit: Transit,
    pub(crate) lost: bool,
}

impl Due {
    pub(crate) fn event(self) -> LinkEvent {
        if self.lost { LinkEvent::Lost(self.transit) } else { LinkEvent::Delivered(self.transit) }
    }

    fn key(&self) -> (Instant, u64) {
        (self.transit.at, self.transit.order)
    }
}

/// A priority queue by (time, order of admission) for packets that mostly end in the order in which
/// they came.
///
/// A packet goes to the back of a ring; those there that end later are overtaken and move to a
/// heap, once each. So the heap holds only what a link-layer repair delays.
#[derive(Clone, Debug, Default)]
pub(crate) struct DueQueue {
    ring: VecDeque<Due>,
    overtaken: BinaryHeap<Late>,
}

impl DueQueue {
    /// Puts in the end of a packet.
    #[inline]
    pub(crate) fn push(&mut self, due: Due) {
        if self.ring.back().is_some_and(|last| last.key() > due.key()) {
            self.overtake(due.key());
        }
        self.ring.push_back(due);
    }

    /// Moves what ends after `key` out of its way.
    fn overtake(&mut self, key: (Instant, u64)) {
        while self.ring.back().is_some_and(|last| last.key() > key) {
            self.overtaken.extend(self.ring.pop_back().map(Late));
        }
    }

    /// When the next one ends.
    #[inline]
    pub(crate) fn next_at(&self) -> Option<Instant> {
        let ring = self.ring.front().map(|due| due.transit.at);
        match self.overtaken.peek() {
            None => ring,
            Some(late) => Some(ring.map_or(late.0.transit.at, |at| at.min(late.0.transit.at))),
        }
    }

    /// Takes out the next one if it ends at `now` or before.
    #[inline]
    pub(crate) fn pop(&mut self, now: Instant) -> Option<Due> {
        let ring = self.ring.front().filter(|due| due.transit.at <= now);
        let Some(late) = self.overtaken.peek().filter(|late| late.0.transit.at <= now) else {
            let due = *ring?;
            self.ring.pop_front();
            return Some(due);
        };
        match ring {
            Some(&due) if due.key() < late.0.key() => {
                self.ring.pop_front();
                Some(due)
            }
            _ => self.overtaken.pop().map(|late| late.0),
        }
    }
}

/// Ordered so that the earliest is the greatest, as a heap wants it.
#[derive(Clone, Copy, Debug)]
struct Late(Due);

impl Ord for Late {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.key().cmp(&self.0.key())
    }
}

impl PartialOrd for Late {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Late {
    fn eq(&self, other: &Self) -> bool {
        self.0.key() == other.0.key()
    }
}

impl Eq for Late {}
