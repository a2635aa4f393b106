//! The receiving side of RLC acknowledged mode (TS 38.322 sections 5.2.3.2 and 5.3.4).

use std::collections::VecDeque;

use crate::link::ntn::config::AmConfig;
use crate::link::ntn::pdu::{Pdu, Status};
use crate::link::ntn::ranges::Ranges;
use crate::link::span;

/// Puts packets together again and reports what is missing.
#[derive(Clone, Debug)]
pub(super) struct AmReceiver {
    window: u64,
    t_reassembly: i64,
    /// `RX_Next`, the first number of `buffer`.
    next: u64,
    /// `RX_Next_Highest`.
    highest: u64,
    /// `RX_Highest_Status`.
    highest_status: u64,
    /// `RX_Next_Status_Trigger`.
    trigger: u64,
    buffer: VecDeque<Entry>,
    expires: Option<i64>,
    /// Polled numbers whose report waits until HARQ has had its time (section 5.3.4).
    polled: Vec<u64>,
    /// A status report is due.
    pub(super) report: bool,
    pub(super) timeouts: u64,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    got: Ranges,
    total: Option<u32>,
    complete: bool,
}

impl AmReceiver {
    pub(super) fn new(config: AmConfig) -> Self {
        Self {
            window: u64::from(config.window.get()),
            t_reassembly: span(config.t_reassembly),
            next: 0,
            highest: 0,
            highest_status: 0,
            trigger: 0,
            buffer: VecDeque::new(),
            expires: None,
            polled: Vec::new(),
            report: false,
            timeouts: 0,
        }
    }

    /// When `t-Reassembly` expires.
    #[inline]
    pub(super) fn expires(&self) -> Option<i64> {
        self.expires
    }

    /// A PDU arrived; whether that completes its packet (section 5.2.3.2.2).
    pub(super) fn receive(&mut self, pdu: &Pdu, now: i64) -> bool {
        let Some(sn) = pdu.sn else { return false };
        let fresh = (self.next..self.next + self.window).contains(&sn) && {
            let entry = self.entry(sn);
            !entry.complete && !entry.got.covers(pdu.start, pdu.end)
        };
        if !fresh {
            self.report |= pdu.poll;
            return false;
        }
        let entry = self.entry(sn);
        entry.got.insert(pdu.start, pdu.end);
        if pdu.last {
            entry.total = Some(pdu.end);
        }
        let complete = entry.total.is_some_and(|total| entry.got.covers(0, total));
        self.placed(sn, complete, now);
        if pdu.poll {
            self.polled.push(sn);
        }
        self.answer_polls();
        complete
    }

    /// The sender gave up a packet: nothing more of it comes. Whether it was still incomplete.
    pub(super) fn given_up(&mut self, sn: u64, now: i64) -> bool {
        if sn < self.next || self.entry(sn).complete {
            return false;
        }
        self.placed(sn, true, now);
        self.answer_polls();
        true
    }

    /// `t-Reassembly` expired (section 5.2.3.2.4).
    pub(super) fn expire(&mut self, now: i64) {
        self.expires = None;
        self.timeouts += 1;
        self.highest_status = self.first_incomplete(self.trigger);
        if self.waits(self.highest_status) {
            self.start(now);
        }
        self.report = true;
        self.answer_polls();
    }

    /// The report that is due (section 5.3.4).
    pub(super) fn status(&mut self) -> Status {
        self.report = false;
        let mut nacks = Vec::new();
        for sn in self.next..self.highest_status {
            match self.buffer.get((sn - self.next) as usize) {
                Some(entry) if entry.complete => {}
                Some(entry) => {
                    nacks.extend(entry.got.missing(entry.total).map(|(from, to)| (sn, from, to)));
                }
                None => nacks.push((sn, 0, u32::MAX)),
            }
        }
        Status { ack_sn: self.highest_status, nacks }
    }

    fn entry(&mut self, sn: u64) -> &mut Entry {
        let index = (sn - self.next) as usize;
        if self.buffer.len() <= index {
            self.buffer.resize_with(index + 1, Entry::default);
        }
        &mut self.buffer[index]
    }

    /// Section 5.2.3.2.3.
    fn placed(&mut self, sn: u64, complete: bool, now: i64) {
        self.highest = self.highest.max(sn + 1);
        if complete {
            self.entry(sn).complete = true;
            if sn == self.highest_status {
                self.highest_status = self.first_incomplete(sn + 1);
            }
            while self.buffer.front().is_some_and(|entry| entry.complete) {
                self.buffer.pop_front();
                self.next += 1;
            }
        }
        if self.expires.is_some() {
            let reached = self.trigger == self.next
                || (self.trigger == self.next + 1 && !self.has_hole(self.next));
            let outside = !(self.next..=self.next + self.window).contains(&self.trigger);
            if reached || outside {
                self.expires = None;
            }
        }
        if self.expires.is_none() && self.waits(self.next) {
            self.start(now);
        }
    }

    /// Reports for polls are due once they can be answered (section 5.3.4).
    fn answer_polls(&mut self) {
        let (known, window_end) = (self.highest_status, self.next + self.window);
        let before = self.polled.len();
        self.polled.retain(|&sn| !(sn < known || sn >= window_end));
        self.report |= self.polled.len() < before;
    }

    fn first_incomplete(&self, from: u64) -> u64 {
        let known = self.buffer.iter().skip(from.saturating_sub(self.next) as usize);
        from.max(self.next) + known.take_while(|entry| entry.complete).count() as u64
    }

    fn has_hole(&self, sn: u64) -> bool {
        let entry = self.buffer.get((sn - self.next) as usize);
        entry.is_some_and(|entry| !entry.complete && entry.got.has_hole())
    }

    /// Whether something from `sn` on is missing that should have come before what has.
    fn waits(&self, sn: u64) -> bool {
        self.highest > sn + 1 || (self.highest == sn + 1 && self.has_hole(sn))
    }

    fn start(&mut self, now: i64) {
        self.expires = Some(now + self.t_reassembly);
        self.trigger = self.highest;
    }
}
