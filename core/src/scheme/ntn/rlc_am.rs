//! The sending side of RLC acknowledged mode (TS 38.322 sections 5.2.3.1 and 5.3).

use std::collections::VecDeque;
use std::num::NonZeroU32;

use rand_chacha::ChaCha8Rng;

use crate::link::span;
use crate::scheme::ntn::backlog::Backlog;
use crate::scheme::ntn::config::{AmConfig, most};
use crate::scheme::ntn::pdu::{Pdu, Ranges, Status};
use crate::scheme::ntn::preset::Timers;
use crate::scheme::ntn::reassembly::Reassembly;
use crate::scheme::ntn::rlc_um::Cut;
use crate::seed::uniform;
use crate::units::{Limit, Probability};

/// Cuts packets into PDUs, polls, and sends again what the receiver misses.
#[derive(Clone, Debug, Default)]
pub(super) struct AmSender {
    config: AmConfig,
    t_poll_retransmit: i64,
    /// `TX_Next_Ack`, the first number of `sent`.
    acked: u64,
    /// From `TX_Next_Ack` to before `TX_Next`.
    sent: VecDeque<SentSdu>,
    /// Packets that the new cell sends once more, before all others.
    forwarded: VecDeque<u64>,
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

#[derive(Clone, Debug, Default)]
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
    pub(super) fn new(config: AmConfig, timers: Timers) -> Self {
        Self { config, t_poll_retransmit: span(timers.poll_retransmit), ..Self::default() }
    }

    /// Bytes that wait to be sent, for the first time or again (TS 38.322 section 5.5).
    pub(super) fn volume(&self, backlog: &Backlog) -> u64 {
        let again: u64 = match self.to_repeat {
            0 => 0,
            _ => self.sent.iter().map(|sdu| sdu.pending.bytes()).sum(),
        };
        let forwarded: u64 =
            self.forwarded.iter().map(|&order| u64::from(backlog.get(order).bytes)).sum();
        again + forwarded + self.cut.map_or(0, |cut| cut.left()) + backlog.waiting_bytes()
    }

    /// Re-established (TS 38.322 section 5.1.2): numbers, timers and what was under way are
    /// forgotten. PDCP has every packet sent again that the far end has not reported (TS 38.323
    /// section 5.1.2, with a status report). The next number.
    pub(super) fn reestablish(&mut self, backlog: &mut Backlog) -> u64 {
        let next = self.acked + self.sent.len() as u64;
        let mut forwarded = VecDeque::new();
        for sdu in self.sent.drain(..).filter(|sdu| !sdu.done) {
            let packet = backlog.get_mut(sdu.order);
            if packet.complete {
                packet.open = false;
            } else {
                forwarded.push_back(sdu.order);
            }
        }
        forwarded.append(&mut self.forwarded);
        self.forwarded = forwarded;
        self.acked = next;
        self.cut = None;
        self.retransmit.clear();
        self.to_repeat = 0;
        (self.pdus_without_poll, self.bytes_without_poll) = (0, 0);
        self.poll_next = false;
        self.expires = None;
        next
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
            || (self.has_packet(backlog) && !self.window_full())
    }

    /// The next PDU, with at most `room` bytes of data: retransmissions go first (section
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
            || self.bytes_without_poll >= u64::from(limit(self.config.poll_bytes));
        // TS 38.322 section 5.3.3.2: the last PDU polls, as no later one could; so does one that
        // fills the window.
        let empty = self.to_repeat == 0 && !self.has_packet(backlog);
        pdu.poll = self.poll_next || asked || (self.cut.is_none() && (empty || self.window_full()));
        if pdu.poll {
            self.poll(now);
        }
        Some(pdu)
    }

    /// A status report arrived (sections 5.2.3.1.2, 5.3.2, 5.3.3.3); returns the packets given up.
    pub(super) fn status(&mut self, status: &Status, backlog: &mut Backlog) -> Vec<GivenUp> {
        // TS 38.322 section 5.3.3.3: a report that covers POLL_SN answers the poll.
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

    /// Finds a packet for a poll that nothing else carries (section 5.3.3.4); returns the packets
    /// given up. A poll for all partly sent packets would let a timer shorter than a slot starve
    /// the rest.
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

    /// Whether a packet waits none of which this entity has sent.
    fn has_packet(&self, backlog: &Backlog) -> bool {
        !self.forwarded.is_empty() || backlog.front().is_some()
    }

    fn window_full(&self) -> bool {
        self.sent.len() as u64 >= u64::from(self.config.window.get())
    }

    fn again(&mut self, room: u32, backlog: &mut Backlog) -> Option<Pdu> {
        loop {
            let sn = *self.retransmit.front()?;
            // Numbers below the window were acknowledged.
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
                let order = match self.forwarded.pop_front() {
                    Some(order) => order,
                    None => backlog.leave(now)?,
                };
                let bytes = backlog.get_mut(order).bytes;
                let sn = self.acked + self.sent.len() as u64;
                self.sent.push_back(SentSdu { order, ..SentSdu::default() });
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
        // POLL_SN is the highest number sent so far (TS 38.322 section 5.3.3.2).
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
            // A report may name an open range: only sent bytes can be missing.
            let end = end.min(sdu.bytes_sent);
            if start >= end {
                continue;
            }
            let pending = sdu.pending.covers(start, end);
            // TS 38.322 section 5.3.2: RETX_COUNT rises once for a report, and not for data that
            // already waits to be sent again.
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
        let threshold = most(self.config.max_retx)?.get();
        if sdu.retx.is_none_or(|count| count < threshold) {
            return None;
        }
        let order = sdu.order;
        self.finish(sn, backlog);
        Some((sn, order))
    }

    /// Stops sending the packet.
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

fn limit(value: Limit) -> u32 {
    most(value).map_or(u32::MAX, NonZeroU32::get)
}

/// Position after the entries of `sn`.
fn after(nacks: &[(u64, u32, u32)], sn: u64) -> &[(u64, u32, u32)] {
    let own = nacks.iter().take_while(|&&(other, ..)| other == sn).count();
    &nacks[own..]
}

/// Reassembles packets and reports missing parts.
#[derive(Clone, Debug)]
pub(super) struct AmReceiver {
    packets: Reassembly,
    /// `RX_Highest_Status`.
    highest_status: u64,
    /// Polled numbers whose report waits until HARQ has had its time (section 5.3.4).
    polled: Vec<u64>,
    /// A status report is due.
    pub(super) report: bool,
}

impl AmReceiver {
    pub(super) fn new(config: AmConfig, timers: Timers) -> Self {
        let packets = Reassembly::new(config.window.get(), timers.reassembly);
        Self { packets, highest_status: 0, polled: Vec::new(), report: false }
    }

    pub(super) fn reassembly(&self) -> &Reassembly {
        &self.packets
    }

    /// Re-establishment: incomplete packets are discarded; `next`: the sender's next number.
    pub(super) fn reestablish(&mut self, next: u64) {
        self.packets.reestablish(next);
        self.highest_status = next;
        self.polled.clear();
        self.report = false;
    }

    /// A PDU arrived; whether that completes its packet (section 5.2.3.2.2).
    pub(super) fn receive(&mut self, pdu: &Pdu, now: i64) -> bool {
        let Some(sn) = pdu.sn else { return false };
        let Reassembly { window, next, .. } = self.packets;
        let fresh = (next..next + window).contains(&sn) && {
            let entry = self.packets.entry(sn);
            !entry.complete && !entry.got.covers(pdu.start, pdu.end)
        };
        if !fresh {
            // TS 38.322 section 5.3.4: a poll is answered even if its data was received before.
            self.report |= pdu.poll;
            return false;
        }
        let complete = self.packets.insert(sn, pdu);
        self.placed(sn, complete, now);
        if pdu.poll {
            self.polled.push(sn);
        }
        self.answer_polls();
        complete
    }

    /// The sender gave up a packet: nothing more of it comes. Whether it was still incomplete.
    pub(super) fn given_up(&mut self, sn: u64, now: i64) -> bool {
        if sn < self.packets.next || self.packets.entry(sn).complete {
            return false;
        }
        self.placed(sn, true, now);
        self.answer_polls();
        true
    }

    /// `t-Reassembly` expired (section 5.2.3.2.4).
    pub(super) fn expire(&mut self, now: i64) {
        self.packets.expires = None;
        self.packets.timeouts += 1;
        self.highest_status = self.first_incomplete(self.packets.trigger);
        if self.packets.waits(self.highest_status) {
            self.packets.start(now);
        }
        self.report = true;
        self.answer_polls();
    }

    /// The report that is due (section 5.3.4).
    pub(super) fn status(&mut self) -> Status {
        self.report = false;
        let Reassembly { next, buffer, .. } = &self.packets;
        let mut nacks = Vec::new();
        for sn in *next..self.highest_status {
            match buffer.get((sn - next) as usize) {
                Some(entry) if entry.complete => {}
                Some(entry) => {
                    nacks.extend(entry.got.missing(entry.total).map(|(from, to)| (sn, from, to)));
                }
                None => nacks.push((sn, 0, u32::MAX)),
            }
        }
        Status { ack_sn: self.highest_status, nacks }
    }

    /// Section 5.2.3.2.3.
    fn placed(&mut self, sn: u64, complete: bool, now: i64) {
        self.packets.highest = self.packets.highest.max(sn + 1);
        if complete {
            self.packets.entry(sn).complete = true;
            if sn == self.highest_status {
                self.highest_status = self.first_incomplete(sn + 1);
            }
            self.packets.drop_complete();
        }
        let Reassembly { window, next, trigger, .. } = self.packets;
        let reached = trigger == next || (trigger == next + 1 && !self.packets.has_hole(next));
        let outside = !(next..=next + window).contains(&trigger);
        self.packets.update_timer(reached || outside, now);
    }

    /// Reports for polls are due once they can be answered (section 5.3.4).
    fn answer_polls(&mut self) {
        let (known, window_end) = (self.highest_status, self.packets.next + self.packets.window);
        let before = self.polled.len();
        self.polled.retain(|&sn| !(sn < known || sn >= window_end));
        self.report |= self.polled.len() < before;
    }

    fn first_incomplete(&self, from: u64) -> u64 {
        let Reassembly { next, buffer, .. } = &self.packets;
        let known = buffer.iter().skip(from.saturating_sub(*next) as usize);
        from.max(*next) + known.take_while(|entry| entry.complete).count() as u64
    }
}

/// `t-StatusProhibit` (TS 38.322 section 5.3.4), the delay before a report leaves, and losses.
#[derive(Clone, Debug)]
pub(super) struct Reports {
    prohibit: i64,
    delay: i64,
    loss: Probability,
    rng: ChaCha8Rng,
    /// No report up to and including this time, but for the one that it releases.
    prohibited: Option<i64>,
    held: bool,
    pub(super) sent: u64,
    pub(super) lost: u64,
}

impl Reports {
    pub(super) fn new(config: AmConfig, timers: Timers, rng: ChaCha8Rng) -> Self {
        Self {
            prohibit: span(timers.status_prohibit),
            delay: span(config.status_delay.unwrap_or_default()),
            loss: config.status_loss,
            rng,
            prohibited: None,
            held: false,
            sent: 0,
            lost: 0,
        }
    }

    /// Nothing is held back any more.
    pub(super) fn forget(&mut self) {
        self.prohibited = None;
        self.held = false;
    }

    /// When a report that `t-StatusProhibit` holds back may go.
    #[inline]
    pub(super) fn expires(&self) -> Option<i64> {
        self.prohibited.filter(|_| self.held)
    }

    /// A report is due; whether it may go now.
    pub(super) fn may_go(&mut self, now: i64) -> bool {
        self.held = self.prohibited.is_some_and(|until| now <= until);
        !self.held
    }

    /// A report goes; when it leaves the receiver, `None`: it gets lost.
    pub(super) fn go(&mut self, now: i64) -> Option<i64> {
        self.held = false;
        self.prohibited = Some(now + self.prohibit);
        self.sent += 1;
        if self.loss > Probability::ZERO && uniform(&mut self.rng) < self.loss.get() {
            self.lost += 1;
            return None;
        }
        Some(now + self.delay)
    }
}
