//! The sending side of RLC acknowledged mode (TS 38.322 sections 5.2.3.1 and 5.3).

use std::collections::VecDeque;

use crate::link::ntn::backlog::Backlog;
use crate::link::ntn::config::AmConfig;
use crate::link::ntn::pdu::{Pdu, Status};
use crate::link::ntn::ranges::Ranges;
use crate::link::ntn::um::Cut;
use crate::link::span;

/// Cuts packets into PDUs, polls, and sends again what the receiver misses.
#[derive(Clone, Debug)]
pub(super) struct AmSender {
    config: AmConfig,
    t_poll_retransmit: i64,
    /// `TX_Next_Ack`, the first number of `sent`.
    acked: u64,
    /// From `TX_Next_Ack` to before `TX_Next`.
    sent: VecDeque<SentSdu>,
    /// The packet that is partly sent.
    cut: Option<Cut>,
    /// Numbers in the order in which they were first considered for retransmission; those that
    /// were acknowledged since are skipped.
    retransmit: VecDeque<u64>,
    /// How many packets have something to be sent again.
    to_repeat: usize,
    pdus_without_poll: u32,
    bytes_without_poll: u64,
    /// `t-PollRetransmit` expired: the next PDU polls.
    poll_next: bool,
    /// `POLL_SN`.
    poll_sn: u64,
    expires: Option<i64>,
    pub(super) polls: u64,
    pub(super) pdus_sent_again: u64,
}

#[derive(Clone, Debug)]
struct SentSdu {
    order: u64,
    /// Acknowledged or given up.
    done: bool,
    bytes_sent: u32,
    /// Waits to be sent again.
    pending: Ranges,
    queued: bool,
    /// `RETX_COUNT`.
    retx: Option<u32>,
}

/// A packet given up: number and order.
pub(super) type GivenUp = (u64, u64);

impl AmSender {
    pub(super) fn new(config: AmConfig) -> Self {
        Self {
            config,
            t_poll_retransmit: span(config.t_poll_retransmit),
            acked: 0,
            sent: VecDeque::new(),
            cut: None,
            retransmit: VecDeque::new(),
            to_repeat: 0,
            pdus_without_poll: 0,
            bytes_without_poll: 0,
            poll_next: false,
            poll_sn: 0,
            expires: None,
            polls: 0,
            pdus_sent_again: 0,
        }
    }

    /// When `t-PollRetransmit` expires.
    #[inline]
    pub(super) fn expires(&self) -> Option<i64> {
        self.expires
    }

    #[inline]
    pub(super) fn wants(&self, backlog: &Backlog) -> bool {
        self.to_repeat > 0
            || self.cut.is_some()
            || (backlog.front().is_some() && !self.window_full())
    }

    /// The next PDU, with at most `room` bytes of data: what is sent again goes first (section
    /// 5.2.3.1.1).
    pub(super) fn next_pdu(&mut self, room: u32, backlog: &mut Backlog, now: i64) -> Option<Pdu> {
        let mut pdu = match self.again(room, backlog) {
            Some(pdu) => {
                self.pdus_sent_again += 1;
                pdu
            }
            None => self.new_data(room, backlog, now)?,
        };
        let asked = self.pdus_without_poll >= limit(self.config.poll_pdu)
            || self.bytes_without_poll >= u64::from(limit(self.config.poll_byte));
        let empty = self.to_repeat == 0 && backlog.front().is_none();
        pdu.poll = self.poll_next || asked || (self.cut.is_none() && (empty || self.window_full()));
        if pdu.poll {
            self.poll(now);
        }
        Some(pdu)
    }

    /// A status report arrived (sections 5.2.3.1.2, 5.3.2, 5.3.3.3); says what is given up.
    pub(super) fn status(&mut self, status: &Status, backlog: &mut Backlog) -> Vec<GivenUp> {
        if self.expires.is_some() && self.poll_sn < status.ack_sn {
            self.expires = None;
        }
        let mut given_up = Vec::new();
        let mut nacks = status.nacks.as_slice();
        let highest = self.acked + self.sent.len() as u64;
        while let Some(&(sn, ..)) = nacks.first().filter(|(sn, ..)| *sn < self.acked) {
            nacks = after(nacks, sn);
        }
        for sn in self.acked..status.ack_sn.min(highest) {
            if nacks.first().is_none_or(|&(nacked, ..)| nacked != sn) {
                self.finish(sn, backlog);
                continue;
            }
            let rest = after(nacks, sn);
            let missing = &nacks[..nacks.len() - rest.len()];
            nacks = rest;
            given_up.extend(self.consider(sn, missing, backlog));
        }
        self.move_window();
        given_up
    }

    /// `t-PollRetransmit` expired (section 5.3.3.4).
    pub(super) fn expire(&mut self) {
        self.expires = None;
        self.poll_next = true;
    }

    /// Finds a packet for a poll that nothing else carries (section 5.3.3.4); says what is given up.
    /// To ask for all of what waits in part would let a timer shorter than a slot starve the rest.
    pub(super) fn carry_poll(&mut self, backlog: &mut Backlog) -> Vec<GivenUp> {
        let mut given_up = Vec::new();
        while self.poll_next
            && !self.wants(backlog)
            && let Some(last) = self.sent.iter().rposition(|sdu| !sdu.done)
        {
            let sn = self.acked + last as u64;
            given_up.extend(self.consider(sn, &[(sn, 0, u32::MAX)], backlog));
            self.move_window();
        }
        given_up
    }

    fn window_full(&self) -> bool {
        self.sent.len() as u64 >= u64::from(self.config.window.get())
    }

    fn again(&mut self, room: u32, backlog: &mut Backlog) -> Option<Pdu> {
        loop {
            let sn = *self.retransmit.front()?;
            // What lies below the window was acknowledged.
            let sdu = sn.checked_sub(self.acked).and_then(|i| self.sent.get_mut(i as usize));
            let Some(sdu) = sdu.filter(|sdu| !sdu.pending.is_empty()) else {
                self.retransmit.pop_front();
                continue;
            };
            let (start, end) = sdu.pending.take_first(room)?;
            if sdu.pending.is_empty() {
                sdu.queued = false;
                self.to_repeat -= 1;
                self.retransmit.pop_front();
            }
            let order = sdu.order;
            let last = end == backlog.ride(order, false).bytes;
            return Some(Pdu { order, sn: Some(sn), start, end, last, again: true, poll: false });
        }
    }

    fn new_data(&mut self, room: u32, backlog: &mut Backlog, now: i64) -> Option<Pdu> {
        let mut cut = match self.cut.take() {
            Some(cut) => cut,
            None => {
                if self.window_full() {
                    return None;
                }
                let order = backlog.leave(now)?;
                let bytes = backlog.get_mut(order).bytes;
                let sn = self.acked + self.sent.len() as u64;
                self.sent.push_back(SentSdu {
                    order,
                    done: false,
                    bytes_sent: 0,
                    pending: Ranges::default(),
                    queued: false,
                    retx: None,
                });
                Cut { order, sn, sent: 0, bytes }
            }
        };
        let pdu = cut.piece(room);
        // The window does not move past a packet before all of it was sent, unless it was given up.
        if let Some(sdu) =
            cut.sn.checked_sub(self.acked).and_then(|i| self.sent.get_mut(i as usize))
        {
            sdu.bytes_sent = pdu.end;
        }
        backlog.ride(pdu.order, true);
        if !pdu.last {
            self.cut = Some(cut);
        }
        self.pdus_without_poll = self.pdus_without_poll.saturating_add(1);
        self.bytes_without_poll += u64::from(pdu.end - pdu.start);
        Some(pdu)
    }

    /// Section 5.3.3.2.
    fn poll(&mut self, now: i64) {
        self.polls += 1;
        self.poll_next = false;
        (self.pdus_without_poll, self.bytes_without_poll) = (0, 0);
        self.poll_sn = self.acked + self.sent.len() as u64 - 1;
        self.expires = Some(now + self.t_poll_retransmit);
    }

    /// A packet is considered for retransmission, `missing` bytes of it (section 5.3.2).
    fn consider(
        &mut self,
        sn: u64,
        missing: &[(u64, u32, u32)],
        backlog: &mut Backlog,
    ) -> Option<GivenUp> {
        let sdu = &mut self.sent[(sn - self.acked) as usize];
        if sdu.done {
            return None;
        }
        let was_pending = !sdu.pending.is_empty();
        let mut counted = false;
        for &(_, start, end) in missing {
            let end = end.min(sdu.bytes_sent);
            if start >= end {
                continue;
            }
            let pending = sdu.pending.covers(start, end);
            if !pending && !counted {
                sdu.retx = Some(sdu.retx.map_or(0, |count| count + 1));
                counted = true;
            }
            sdu.pending.insert(start, end);
        }
        if !was_pending && !sdu.pending.is_empty() {
            self.to_repeat += 1;
        }
        if !sdu.queued && !sdu.pending.is_empty() {
            sdu.queued = true;
            self.retransmit.push_back(sn);
        }
        let threshold = self.config.max_retx?.get();
        if sdu.retx.is_none_or(|count| count < threshold) {
            return None;
        }
        let order = sdu.order;
        self.finish(sn, backlog);
        Some((sn, order))
    }

    /// Nothing of the packet is sent any more.
    fn finish(&mut self, sn: u64, backlog: &mut Backlog) {
        let sdu = &mut self.sent[(sn - self.acked) as usize];
        if sdu.done {
            return;
        }
        sdu.done = true;
        if !sdu.pending.is_empty() {
            sdu.pending = Ranges::default();
            self.to_repeat -= 1;
        }
        backlog.get_mut(sdu.order).open = false;
        // The rest of a packet that is given up is not sent either.
        if self.cut.is_some_and(|cut| cut.sn == sn) {
            self.cut = None;
        }
    }

    fn move_window(&mut self) {
        while self.sent.front().is_some_and(|sdu| sdu.done) {
            self.sent.pop_front();
            self.acked += 1;
        }
    }
}

fn limit(value: Option<std::num::NonZeroU32>) -> u32 {
    value.map_or(u32::MAX, std::num::NonZeroU32::get)
}

/// What follows the entries of `sn`.
fn after(nacks: &[(u64, u32, u32)], sn: u64) -> &[(u64, u32, u32)] {
    let own = nacks.iter().take_while(|&&(other, ..)| other == sn).count();
    &nacks[own..]
}
