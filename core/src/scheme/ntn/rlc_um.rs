//! RLC unacknowledged mode (TS 38.322 sections 5.2.2.1, 5.2.2.2).

use std::collections::VecDeque;

use crate::link::span;
use crate::scheme::ntn::backlog::Backlog;
use crate::scheme::ntn::config::UmConfig;
use crate::scheme::ntn::pdu::{Pdu, Ranges};
use crate::scheme::ntn::preset::Timers;

/// Cuts packets into PDUs. A packet that fits whole has no sequence number (section 5.2.2.1.2).
#[derive(Clone, Debug, Default)]
pub(super) struct UmSender {
    /// `TX_Next`.
    pub(super) next: u64,
    /// The packet that is partly sent.
    cut: Option<Cut>,
}

/// A packet the rest of which waits: bytes from `sent` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) order: u64,
    pub(super) sn: u64,
    pub(super) sent: u32,
    pub(super) bytes: u32,
}

impl Cut {
    pub(super) fn left(&self) -> u64 {
        u64::from(self.bytes - self.sent)
    }

    /// The next piece of at most `room` bytes.
    pub(super) fn piece(&mut self, room: u32) -> Pdu {
        let (start, end) = (self.sent, self.bytes.min(self.sent.saturating_add(room)));
        self.sent = end;
        let last = end == self.bytes;
        Pdu { order: self.order, sn: Some(self.sn), start, end, last, again: false, poll: false }
    }
}

impl UmSender {
    /// Bytes that wait to be sent (TS 38.322 section 5.5).
    pub(super) fn volume(&self, backlog: &Backlog) -> u64 {
        self.cut.map_or(0, |cut| cut.left()) + backlog.waiting_bytes()
    }

    /// Re-established (section 5.1.2): the rest of a packet that is partly sent is discarded;
    /// which.
    pub(super) fn reestablish(&mut self) -> Option<u64> {
        self.cut.take().map(|cut| {
            self.next = cut.sn + 1;
            cut.order
        })
    }

    #[inline]
    pub(super) fn wants(&self, backlog: &Backlog) -> bool {
        self.cut.is_some() || backlog.front().is_some()
    }

    /// The next PDU, with at most `room` bytes of data.
    pub(super) fn next_pdu(&mut self, room: u32, backlog: &mut Backlog, now: i64) -> Option<Pdu> {
        let mut cut = match self.cut.take() {
            Some(cut) => cut,
            None => {
                let order = backlog.leave(now)?;
                let bytes = backlog.get_mut(order).bytes;
                Cut { order, sn: self.next, sent: 0, bytes }
            }
        };
        let mut pdu = cut.piece(room);
        let sdu = backlog.ride(cut.order, true);
        if !pdu.last {
            self.cut = Some(cut);
        } else {
            sdu.open = false;
            match pdu.start {
                // TS 38.322 section 5.2.2: only packets that were cut carry a number.
                0 => pdu.sn = None,
                _ => self.next += 1,
            }
        }
        Some(pdu)
    }
}

/// Puts packets together again and gives up those that stay incomplete.
#[derive(Clone, Debug)]
pub(super) struct UmReceiver {
    window: u64,
    t_reassembly: i64,
    /// `RX_Next_Reassembly`, the first number of `buffer`.
    next: u64,
    /// `RX_Next_Highest`.
    highest: u64,
    /// `RX_Timer_Trigger`.
    trigger: u64,
    buffer: VecDeque<Entry>,
    expires: Option<i64>,
    pub(super) timeouts: u64,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    got: Ranges,
    total: Option<u32>,
    complete: bool,
}

impl UmReceiver {
    pub(super) fn new(config: UmConfig, timers: Timers) -> Self {
        Self {
            window: u64::from(config.window.get()),
            t_reassembly: span(timers.reassembly),
            next: 0,
            highest: 0,
            trigger: 0,
            buffer: VecDeque::new(),
            expires: None,
            timeouts: 0,
        }
    }

    /// Re-establishment: incomplete packets are discarded; `next`: the sender's next number.
    pub(super) fn reestablish(&mut self, next: u64) {
        (self.next, self.highest, self.trigger) = (next, next, next);
        self.buffer.clear();
        self.expires = None;
    }

    /// When `t-Reassembly` expires.
    #[inline]
    pub(super) fn expires(&self) -> Option<i64> {
        self.expires
    }

    /// A PDU arrived; whether that completes its packet (section 5.2.2.2.2).
    pub(super) fn receive(&mut self, pdu: &Pdu, now: i64) -> bool {
        let Some(sn) = pdu.sn else { return true };
        if sn < self.next {
            return false;
        }
        let entry = self.entry(sn);
        if entry.complete {
            return false;
        }
        entry.got.insert(pdu.start, pdu.end);
        if pdu.last {
            entry.total = Some(pdu.end);
        }
        let complete = entry.total.is_some_and(|total| entry.got.covers(0, total));
        entry.complete = complete;
        if complete {
            self.drop_complete();
        } else if sn >= self.highest {
            self.highest = sn + 1;
            self.move_to(self.highest.saturating_sub(self.window));
        }
        self.update_timer(now);
        complete
    }

    /// `t-Reassembly` expired (section 5.2.2.2.4).
    pub(super) fn expire(&mut self, now: i64) {
        self.expires = None;
        self.timeouts += 1;
        self.move_to(self.trigger);
        if self.waits() {
            self.start(now);
        }
    }

    fn entry(&mut self, sn: u64) -> &mut Entry {
        let index = (sn - self.next) as usize;
        if self.buffer.len() <= index {
            self.buffer.resize_with(index + 1, Entry::default);
        }
        &mut self.buffer[index]
    }

    /// Gives up packets below `sn`, and passes complete ones that follow.
    fn move_to(&mut self, sn: u64) {
        while self.next < sn {
            self.buffer.pop_front();
            self.next += 1;
        }
        self.drop_complete();
    }

    fn drop_complete(&mut self) {
        while self.buffer.front().is_some_and(|entry| entry.complete) {
            self.buffer.pop_front();
            self.next += 1;
        }
    }

    /// Section 5.2.2.2.3, the part on `t-Reassembly`.
    fn update_timer(&mut self, now: i64) {
        if self.expires.is_some() {
            let left_window = self.trigger + self.window < self.highest;
            if self.trigger <= self.next
                || left_window
                || (self.highest == self.next + 1 && !self.waits())
            {
                self.expires = None;
            }
        }
        if self.expires.is_none() && self.waits() {
            self.start(now);
        }
    }

    /// Whether something is missing that should have come before what has.
    fn waits(&self) -> bool {
        let hole = || self.buffer.front().is_some_and(|entry| entry.got.has_hole());
        self.highest > self.next + 1 || (self.highest == self.next + 1 && hole())
    }

    fn start(&mut self, now: i64) {
        self.expires = Some(now + self.t_reassembly);
        self.trigger = self.highest;
    }
}
