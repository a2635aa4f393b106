//! How long signals are under way, in both directions.

use crate::link::{Propagation, span};
use crate::units::{Duration, Instant};

/// Propagation from sender to receiver and back.
#[derive(Clone, Debug)]
pub(super) struct Path {
    forward: Propagation,
    back: Propagation,
    /// `K_offset`.
    offset: Option<i64>,
    /// When what was sent last arrives.
    last: i64,
}

impl Path {
    pub(super) fn new(forward: Propagation, back: Propagation, offset: Option<Duration>) -> Self {
        Self { forward, back, offset: offset.map(span), last: 0 }
    }

    /// When the signal of a slot at `at` begins to arrive. Slots must not go backwards.
    pub(super) fn arrival(&mut self, at: i64) -> i64 {
        let arrival = self.notice(at);
        if !self.forward.keeps_order() {
            return arrival;
        }
        self.last = self.last.max(arrival);
        self.last
    }

    /// When the receiver learns what the sender says at `at` beside the slots.
    pub(super) fn notice(&self, at: i64) -> i64 {
        at + span(self.forward.at(Instant::from_nanos(at as u64)))
    }

    /// When the sender acts upon what the receiver answers at `leaves` to a slot at `sent`, the signal
    /// of which began to arrive at `signal`. With `K_offset` the terminal's clock is ahead by its own
    /// round trip (timing advance), so that the answer is in time for the whole cell.
    pub(super) fn answer(&self, sent: i64, signal: i64, leaves: i64) -> i64 {
        match self.offset {
            Some(offset) => sent + (leaves - signal) + offset,
            None => self.feedback(leaves),
        }
    }

    /// When the sender has what leaves the receiver at `at`.
    pub(super) fn feedback(&self, at: i64) -> i64 {
        at + span(self.back.at(Instant::from_nanos(at as u64)))
    }
}
