//! Reassembly of packets at an RLC receiver, the part that both modes share (TS 38.322 sections
//! 5.2.2.2 and 5.2.3.2).

use std::collections::VecDeque;

use crate::link::span;
use crate::scheme::ntn::pdu::{Pdu, Ranges};
use crate::units::Duration;

/// The packets that are not complete or wait for earlier ones, and `t-Reassembly`.
#[derive(Clone, Debug, Default)]
pub(super) struct Reassembly {
    pub(super) window: u64,
    t_reassembly: i64,
    /// `RX_Next_Reassembly` (UM), `RX_Next` (AM): the first number of `buffer`.
    pub(super) next: u64,
    /// `RX_Next_Highest`.
    pub(super) highest: u64,
    /// `RX_Timer_Trigger` (UM), `RX_Next_Status_Trigger` (AM).
    pub(super) trigger: u64,
    pub(super) buffer: VecDeque<Entry>,
    /// When `t-Reassembly` expires.
    pub(super) expires: Option<i64>,
    /// How often it expired.
    pub(super) timeouts: u64,
}

/// What has arrived of a packet.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    pub(super) got: Ranges,
    pub(super) total: Option<u32>,
    pub(super) complete: bool,
}

impl Reassembly {
    pub(super) fn new(window: u32, t_reassembly: Duration) -> Self {
        Self { window: u64::from(window), t_reassembly: span(t_reassembly), ..Self::default() }
    }

    /// Re-establishment: incomplete packets are discarded; `next`: the sender's next number.
    pub(super) fn reestablish(&mut self, next: u64) {
        (self.next, self.highest, self.trigger) = (next, next, next);
        self.buffer.clear();
        self.expires = None;
    }

    pub(super) fn entry(&mut self, sn: u64) -> &mut Entry {
        let index = (sn - self.next) as usize;
        if self.buffer.len() <= index {
            self.buffer.resize_with(index + 1, Entry::default);
        }
        &mut self.buffer[index]
    }

    /// Puts a part in its place; whether all of its packet is there now.
    pub(super) fn insert(&mut self, sn: u64, pdu: &Pdu) -> bool {
        let entry = self.entry(sn);
        entry.got.insert(pdu.start, pdu.end);
        if pdu.last {
            entry.total = Some(pdu.end);
        }
        entry.total.is_some_and(|total| entry.got.covers(0, total))
    }

    /// Passes complete packets that nothing precedes.
    pub(super) fn drop_complete(&mut self) {
        while self.buffer.front().is_some_and(|entry| entry.complete) {
            self.buffer.pop_front();
            self.next += 1;
        }
    }

    /// Whether something from `sn` on is missing that should have come before what has.
    pub(super) fn waits(&self, sn: u64) -> bool {
        self.highest > sn + 1 || (self.highest == sn + 1 && self.has_hole(sn))
    }

    pub(super) fn has_hole(&self, sn: u64) -> bool {
        let entry = self.buffer.get((sn - self.next) as usize);
        entry.is_some_and(|entry| !entry.complete && entry.got.has_hole())
    }

    /// Stops `t-Reassembly` if it has nothing to wait for, and starts it if there is something.
    pub(super) fn update_timer(&mut self, is_over: bool, now: i64) {
        if is_over {
            self.expires = None;
        }
        if self.expires.is_none() && self.waits(self.next) {
            self.start(now);
        }
    }

    pub(super) fn start(&mut self, now: i64) {
        self.expires = Some(now + self.t_reassembly);
        self.trigger = self.highest;
    }
}
