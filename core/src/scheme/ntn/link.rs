//! The 3GPP link: its layers joined to a state machine.

use std::collections::{BTreeSet, VecDeque};

use crate::config::Fault;
use crate::link::counters::Tally;
use crate::link::schedule::ReadyQueue;
use crate::link::{
    Admission, DropReason, Instrument, Link, LinkCounters, LinkEvent, Packet, Passed, STALLED,
    TraceLinkConfig, Transit, Transmission, TransmissionKind, UnitLog, Usage, Waits, instant,
    nanos, no_room, span,
};
use crate::scheme::ntn::backlog::Backlog;
use crate::scheme::ntn::config::{Handovers, NtnConfig};
use crate::scheme::ntn::grants::Grants;
use crate::scheme::ntn::harq::{BlockId, Control, Feedback, Harq, Label, Landing};
use crate::scheme::ntn::path::Path;
use crate::scheme::ntn::pdcp::Pdcp;
use crate::scheme::ntn::pdu::Pdu;
use crate::scheme::ntn::rlc::Rlc;
use crate::scheme::ntn::rlc_am::GivenUp;
use crate::scheme::ntn::slots::{BlockSlots, Slot};
use crate::seed::{Seed, Stream};
use crate::units::{Bytes, Instant};

/// A 3GPP NR link that runs with its traffic; see the [module](crate::scheme::ntn) for its rules.
#[derive(Clone, Debug)]
pub struct NtnLink {
    slots: BlockSlots,
    path: Path,
    harq: Harq,
    /// Of an uplink that needs them.
    grants: Option<Grants>,
    control: Control,
    rlc: Rlc,
    pdcp: Pdcp,
    backlog: Backlog,
    discard: Option<i64>,
    sdu_header: Bytes,
    pdu_header: u32,
    tb: Bytes,
    /// Bytes of a block without the header of the block.
    room: u32,
    landings: ReadyQueue<Landing>,
    /// HARQ feedback under way: on which block, what it says, what will be read.
    feedback: ReadyQueue<(BlockId, Feedback, Feedback)>,
    handovers: Option<Handovers>,
    /// When the next handover is.
    hands_over: i64,
    /// When slots can be used again after the last one.
    resumes: i64,
    /// The slot that may carry something next.
    scheduled: Option<Slot>,
    /// The first slot that was not offered yet.
    next_index: u64,
    /// When the last slot was that it used, looked at or left to another.
    slot_at: i64,
    /// Data waits only for a HARQ process: slots are not looked at until one is free.
    is_blocked: bool,
    waits: Waits,
    /// The end of the slots, while it is ahead.
    slots_end: Option<i64>,
    /// Somebody waited for a slot after the end of the slots.
    trace_ended: bool,
    end: i64,
    out: VecDeque<LinkEvent>,
    counters: LinkCounters,
    tally: Tally,
    counts: Counts,
    /// Vectors to use again.
    spare: Vec<Vec<Pdu>>,
    released: Vec<u64>,
    log: UnitLog,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    discarded: u64,
    late: u64,
    incomplete: u64,
    /// Bytes of the blocks without those of packets.
    unfilled: u64,
}

impl NtnLink {
    /// A link, empty at time zero. `number` tells the links of a run apart: block errors are drawn
    /// from [`Stream::Link`], losses of status reports from [`Stream::Feedback`], errors of grants
    /// and HARQ feedback from [`Stream::Control`] of that number.
    ///
    /// # Errors
    /// If the link is not valid.
    pub fn new(
        config: &NtnConfig,
        usage: TraceLinkConfig,
        seed: Seed,
        number: u32,
    ) -> Result<Self, Fault> {
        config.check().map_err(|fault| Fault::at(fault.message()))?;
        let header = usage.fragmentation.lldu_header.0;
        let pdu_header = config.headers.pdu.0;
        let tb = config.tb();
        let room = tb.0.checked_sub(header).filter(|&room| room > pdu_header);
        let room = room.ok_or_else(|| no_room(tb.0, header))?;
        let rng = seed.rng(Stream::Link(number));
        let packet_header = usage.fragmentation.packet_header.0;
        let combining = config.combining.as_ref();
        let slots = BlockSlots::new(&config.phy, combining, usage.start_offset, usage.wrap, rng)?;
        Ok(Self {
            slots_end: slots.end().map(|end| (end.at + 1).max(0)),
            slots,
            path: Path::new(config.propagation.clone(), config.way_back.clone(), config.k_offset),
            harq: Harq::new(config.harq),
            grants: config
                .uplink
                .map(|uplink| Grants::new(uplink, config.retx_bsr(uplink), room - pdu_header)),
            control: Control::new(config.control, seed.rng(Stream::Control(number))),
            rlc: Rlc::new(config, seed, number),
            pdcp: Pdcp::new(config),
            backlog: Backlog::new(usage.queue),
            discard: config.pdcp.discard.get().map(span),
            sdu_header: Bytes(config.headers.sdu.0.saturating_add(packet_header)),
            pdu_header,
            tb,
            room,
            landings: ReadyQueue::new(),
            feedback: ReadyQueue::new(),
            handovers: config.handovers,
            hands_over: config.handovers.map_or(i64::MAX, |handovers| span(handovers.every)),
            resumes: 0,
            scheduled: None,
            next_index: 0,
            slot_at: -1,
            is_blocked: false,
            waits: Waits::default(),
            trace_ended: false,
            end: usage.duration.map_or(i64::MAX, nanos),
            out: VecDeque::new(),
            counters: LinkCounters::default(),
            tally: Tally::default(),
            counts: Counts::default(),
            spare: Vec::new(),
            released: Vec::new(),
            log: UnitLog::default(),
        })
    }
}

impl Link for NtnLink {
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        let at = nanos(now);
        while self.step(at) {}
        while self.hands_over <= at {
            // An idle link did not wake for it.
            self.hand_over(self.hands_over);
        }
        self.counters.offered += 1;
        let slot_now = self.scheduled.is_some_and(|slot| slot.at == at) && self.wanted();
        if slot_now && !self.backlog.has_room(packet.size) {
            // A slot at this very instant empties a full queue first.
            self.use_slot();
            self.schedule(at);
            self.note_wait(at);
        }
        if !self.backlog.has_room(packet.size) {
            self.counters.dropped += 1;
            return Admission::Dropped(DropReason::QueueFull);
        }
        self.backlog.admit(now, packet, self.sdu_header);
        self.schedule(at);
        self.note_wait(at);
        let waiting = self.backlog.waiting() as u64;
        self.counters.longest_queue = self.counters.longest_queue.max(waiting);
        Admission::Queued
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Instant> {
        if let Some(event) = self.out.front() {
            return Some(event.at());
        }
        // A slot is used when its instant is over.
        self.next().map(|(at, task)| instant(at + i64::from(task == Task::Slot)))
    }

    #[inline]
    fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        let at = nanos(now);
        while self.out.is_empty() && self.step(at) {}
        self.next_event()
    }

    fn has_room(&mut self, now: Instant, size: Bytes) -> bool {
        while self.step(nanos(now)) {}
        self.backlog.has_room(size)
    }

    fn notify_departures(&mut self) {
        self.backlog.note_departures();
    }
}

impl Instrument for NtnLink {
    fn queue_len(&self, _now: Instant) -> usize {
        self.backlog.waiting()
    }

    fn counters(&self) -> LinkCounters {
        let (lldus_taken, bytes_carried) = (self.backlog.blocks(), self.backlog.carried());
        self.tally.replace_in(LinkCounters { lldus_taken, bytes_carried, ..self.counters })
    }

    fn usage(&self, until: Instant) -> Usage {
        let used = self.used() as f64;
        let taken = self.backlog.blocks() as f64;
        let per_lldu = if taken > 0.0 { used / taken } else { 0.0 };
        let sent = self.harq.sent.max(1) as f64;
        let again = match &self.rlc {
            Rlc::Um { .. } => 0,
            Rlc::Am(am) => am.sender.pdus_sent_again,
        };
        Usage {
            slots: self.slots.passed(nanos(until)) as f64,
            used,
            erased: self.harq.failed as f64,
            waiting: Some(self.waits.unused(self.passed(nanos(until))) as f64),
            per_lldu,
            slot: self.tb,
            padding: self.counts.unfilled as f64 / f64::from(self.tb.0)
                * (1.0 - self.harq.failed as f64 / sent),
            repairs: self.harq.sent_again + again > 0,
            ..Usage::NONE
        }
    }

    fn details(&self) -> Vec<(&'static str, u64)> {
        let mut details = vec![
            ("tbs_sent", self.harq.sent),
            ("tbs_sent_again", self.harq.sent_again),
            ("tbs_failed", self.harq.failed),
            (STALLED, self.waits.counted()),
            ("reassembly_timeouts", self.rlc.reassembly().timeouts),
            ("reordering_timeouts", self.pdcp.timeouts),
            ("sdus_discarded", self.counts.discarded),
            ("sdus_late", self.counts.late),
        ];
        if self.handovers.is_some() {
            details.push(("tbs_flushed", self.harq.flushed));
        }
        details.extend(self.control.details());
        details.extend(self.grants.iter().flat_map(Grants::details));
        match &self.rlc {
            Rlc::Um { .. } => details.push(("sdus_incomplete", self.counts.incomplete)),
            Rlc::Am(am) => details.extend([
                ("sdus_given_up", am.gave_up),
                ("rlc_pdus_sent_again", am.sender.pdus_sent_again),
                ("polls", am.sender.polls),
                ("status_reports", am.reports.sent),
                ("status_reports_lost", am.reports.lost),
            ]),
        }
        details
    }

    fn catch_up(&mut self, until: Instant) {
        let until = nanos(until);
        while self.step(until) {}
        let now = self.passed(until);
        self.waits.settle(now);
    }

    fn log_units(&mut self) {
        self.log.start();
    }

    fn take_units(&mut self) -> Vec<Transmission> {
        self.log.take()
    }
}

/// Kinds of events, in the order in which those of one instant are handled: what arrives at the
/// instant at which a timer expires still counts, and a slot sees everything that came before.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Task {
    /// The terminal changes its cell.
    Handover,
    /// Grants are there.
    Grant,
    /// A transport block is decoded, or nothing more of it comes.
    Landing,
    /// The receiver learns that a packet was given up.
    GivenUp,
    /// `t-Reassembly` expires.
    Reassembly,
    /// `t-StatusProhibit` expires while a report waits.
    Report,
    /// `t-Reordering` expires.
    Reordering,
    /// HARQ feedback arrives.
    Feedback,
    /// A status report arrives.
    Status,
    /// `t-PollRetransmit` expires.
    PollRetransmit,
    /// `discardTimer` of the packet that waits first expires.
    Discard,
    /// The terminal asks for grants.
    Ask,
    /// The slots are over.
    SlotsEnd,
    /// A slot that may carry something.
    Slot,
}

impl NtnLink {
    /// When something is due next, and what.
    fn next(&self) -> Option<(i64, Task)> {
        let am = match &self.rlc {
            Rlc::Am(am) => Some(am),
            Rlc::Um { .. } => None,
        };
        let grants = self.grants.as_ref();
        let at = grants.and_then(Grants::comes).unwrap_or(i64::MAX);
        let mut next = Earliest { at, task: Task::Grant };
        next = next.or(self.landings.next_at(), Task::Landing);
        next = next.or(am.and_then(|am| am.given_up.next_at()), Task::GivenUp);
        next = next.or(self.rlc.reassembly().expires, Task::Reassembly);
        next = next.or(am.and_then(|am| am.reports.expires()), Task::Report);
        next = next.or(self.pdcp.expires(), Task::Reordering);
        next = next.or(self.feedback.next_at(), Task::Feedback);
        next = next.or(am.and_then(|am| am.statuses.next_at()), Task::Status);
        next = next.or(am.and_then(|am| am.sender.expires()), Task::PollRetransmit);
        if let Some(time) = self.discard {
            next = next.or(self.backlog.waiting_since().map(|at| at + time), Task::Discard);
        }
        next = next.or(grants.and_then(Grants::asks), Task::Ask);
        next = next.or(self.slots_end, Task::SlotsEnd);
        let next = next.or(self.scheduled.map(|slot| slot.at), Task::Slot).get();
        // A handover has no effect on an idle link.
        if self.hands_over == i64::MAX || (next.is_none() && self.backlog.is_empty()) {
            return next;
        }
        match next {
            Some((at, _)) if at < self.hands_over => next,
            _ => Some((self.hands_over, Task::Handover)),
        }
    }

    /// Does what is due next, up to `now`; whether there was something. A slot at `now` waits,
    /// since it may still take a packet that is enqueued at `now`.
    pub(super) fn step(&mut self, now: i64) -> bool {
        let Some((at, task)) = self.next().filter(|&(at, task)| match task {
            Task::Slot => at < now,
            _ => at <= now,
        }) else {
            return false;
        };
        match task {
            Task::Handover => self.hand_over(at),
            Task::Grant => self.grants.iter_mut().for_each(|grants| grants.come(at)),
            Task::Landing => self.land(at),
            Task::GivenUp => self.learn_given_up(at),
            Task::Reassembly => self.rlc.reassembly_expired(at),
            Task::Report => self.send_status(at),
            Task::Reordering => self.pdcp.expire(at, &mut self.released),
            Task::Feedback => self.hear_feedback(at),
            Task::Status => self.hear_status(at),
            Task::PollRetransmit => self.owe_poll(),
            Task::Discard => self.discard_first(at),
            Task::Ask => self.ask(at),
            Task::SlotsEnd => self.slots_end = None,
            Task::Slot => self.use_slot(),
        }
        self.settle(at);
        true
    }

    /// What follows every task.
    fn settle(&mut self, at: i64) {
        self.carry_poll(at);
        self.release(at);
        self.report(at);
        self.backlog.retire();
        self.schedule(at);
        self.note_wait(at);
    }

    #[inline]
    fn note_wait(&mut self, now: i64) {
        let backlog = &self.backlog;
        let wait = backlog.waiting() > 0 || self.rlc.wants(backlog) || self.harq.has_again();
        if wait != self.waits.wait() {
            self.waits.note(wait, self.passed(now));
        }
    }

    /// Slots before `now`, and one at `now` that it has used, looked at or left to another.
    fn passed(&self, now: i64) -> Passed {
        let until = if self.slot_at == now { now } else { now - 1 };
        Passed { slots: self.slots.passed(until), used: self.used() }
    }

    /// The next event of those that the tasks so far brought.
    #[inline]
    pub(super) fn next_event(&mut self) -> Option<LinkEvent> {
        let event = self.out.pop_front()?;
        self.tally.record(&event);
        Some(event)
    }
}

/// The link as one terminal of a cell, which decides who uses a slot.
impl NtnLink {
    /// When something is due next, and whether it is a slot.
    pub(super) fn due(&self) -> Option<(i64, bool)> {
        self.next().map(|(at, task)| (at, task == Task::Slot))
    }

    /// When the slot is at which it looks next.
    pub(super) fn slot(&self) -> Option<i64> {
        self.scheduled.map(|slot| slot.at)
    }

    /// Bytes that wait for the slot at this instant, at least one; `None`: the link cannot use it.
    pub(super) fn claim(&mut self, at: i64) -> Option<u64> {
        self.scheduled.filter(|slot| slot.at == at)?;
        if !self.wanted() || self.is_stalled() {
            self.take_slot();
            return None;
        }
        let again = self.harq.again() * u64::from(self.tb.0);
        Some((again + self.rlc.volume(&self.backlog)).max(1))
    }

    /// Whether the slot belongs to a transmission that takes several in a row.
    pub(super) fn is_repeating(&self) -> bool {
        self.harq.is_repeating()
    }

    /// The link has the slot that it claimed.
    pub(super) fn take_slot(&mut self) {
        let Some(Slot { at, .. }) = self.scheduled else { return };
        self.use_slot();
        self.settle(at);
    }

    /// Another has it.
    pub(super) fn pass_slot(&mut self) {
        let Some(Slot { at, index }) = self.scheduled.take() else { return };
        self.next_index = index + 1;
        self.slot_at = at;
        self.settle(at);
    }

    /// Slots used so far.
    pub(super) fn used(&self) -> u64 {
        self.harq.sent + self.harq.sent_again
    }

    /// Whether packets wait in the queue, or data that is sent in part or again.
    pub(super) fn has_waiting(&self) -> bool {
        self.waits.wait()
    }
}

/// The earliest of some tasks, of equals the first kind; without any its instant never comes.
#[derive(Clone, Copy, Debug)]
struct Earliest {
    at: i64,
    task: Task,
}

impl Earliest {
    /// Tasks must come in the order of their kinds.
    #[inline]
    fn or(self, at: Option<i64>, task: Task) -> Self {
        let at = at.unwrap_or(i64::MAX);
        if at < self.at { Self { at, task } } else { self }
    }

    #[inline]
    fn get(self) -> Option<(i64, Task)> {
        (self.at < i64::MAX).then_some((self.at, self.task))
    }
}

impl NtnLink {
    /// Chooses the next slot, if one is wanted.
    fn schedule(&mut self, now: i64) {
        if let Some(grants) = &mut self.grants {
            grants.consider(self.rlc.wants(&self.backlog), now.max(self.resumes));
        }
        if self.scheduled.is_some() {
            return;
        }
        let wanted = self.wanted();
        self.is_blocked &= wanted && self.is_stalled();
        if self.trace_ended {
            return;
        }
        if wanted && !self.is_blocked {
            self.scheduled = self.slots.first(self.next_index, now.max(self.resumes));
        }
        let waits = self.harq.has_again() || self.rlc.wants(&self.backlog);
        if waits && self.scheduled.is_none() && self.slots_end.is_none() {
            self.tell_trace_end(now);
        }
    }

    #[inline]
    fn wanted(&self) -> bool {
        self.harq.has_again() || self.may_send_new()
    }

    /// Whether the next slot may carry new data; in an uplink that is granted, with data or not.
    #[inline]
    fn may_send_new(&self) -> bool {
        match &self.grants {
            Some(grants) => grants.has_due(),
            None => self.rlc.wants(&self.backlog),
        }
    }

    /// Whether data waits for a process.
    fn is_stalled(&self) -> bool {
        self.rlc.wants(&self.backlog) && !self.harq.has_again() && !self.harq.has_free()
    }

    /// Called when the slots end while something waits to be sent.
    fn tell_trace_end(&mut self, now: i64) {
        // Without a waiting packet, a missing retransmission does not stop the run.
        let Some(packet) = self.backlog.oldest() else { return };
        if self.slots.end().is_none() {
            return;
        }
        self.trace_ended = true;
        if now <= self.end {
            self.out.push_back(LinkEvent::TraceEnded { packet, at: instant(now) });
        }
    }

    /// HARQ retransmissions first, then RLC retransmissions, then new data.
    fn use_slot(&mut self) {
        let Some(slot) = self.scheduled.take() else { return };
        self.next_index = slot.index + 1;
        self.slot_at = slot.at;
        let block = match self.harq.next_again() {
            Some(block) => block,
            None if !self.may_send_new() => return,
            None if !self.rlc.wants(&self.backlog) => {
                // The slot of a grant, and no data.
                self.grants.iter_mut().for_each(Grants::waste);
                return;
            }
            None if !self.harq.has_free() => {
                self.is_blocked = true;
                return;
            }
            None => self.new_block(slot.at),
        };
        if self.harq.begins() {
            self.harq.grant(block, self.control.granted(slot.index));
        }
        let signal = self.path.arrival(slot.at);
        let combined = self.harq.next_combined(block);
        let decoded = combined
            .and_then(|combined| self.slots.decode(slot, combined, self.harq.received(block)));
        let decoded = decoded.map(|time| signal + time);
        let attempt = self.harq.attempts(block);
        let known = signal + self.slots.nominal_decoding();
        let label = self.harq.label(block);
        self.log.note(|| Transmission {
            at: instant(slot.at),
            kind: match attempt > 0 || label.again {
                true => TransmissionKind::Again,
                false => TransmissionKind::New,
            },
            unit: label.unit,
            attempt,
            arrival: decoded.map(instant),
            packets: label.packets,
            carries: label.carries,
        });
        let sent = self.harq.transmit(block, known, decoded);
        if let Some((at, mut landing)) = sent.lands {
            if let (Some(report), Some(grants)) = (&mut landing.report, &self.grants) {
                report.answered = self.path.answer(slot.at, signal, at + grants.processing());
            }
            self.landings.push(at, landing);
        }
        if let Some((leaves, feedback)) = sent.feedback {
            let read = self.control.reading(slot.index, feedback);
            let heard = self.path.answer(slot.at, signal, leaves);
            self.feedback.push(heard, (block, feedback, read));
        }
    }

    fn new_block(&mut self, now: i64) -> BlockId {
        let pdus = self.spare.pop().unwrap_or_default();
        let header = self.pdu_header;
        let pdus = self.rlc.fill(pdus, self.room, header, &mut self.backlog, now);
        // A packet's own header counts where the packet begins.
        let is_first = |pdu: &&Pdu| pdu.start == 0 && !pdu.again;
        let headers = pdus.iter().filter(is_first).count() as u64 * u64::from(self.sdu_header.0);
        let data: u64 = pdus.iter().map(|pdu| u64::from(pdu.end - pdu.start)).sum();
        self.counts.unfilled += (u64::from(self.tb.0) + headers).saturating_sub(data);
        self.tell_departures();
        let left = self.grants.as_ref().map_or(0, |_| self.rlc.volume(&self.backlog));
        let report = self.grants.as_mut().and_then(|grants| grants.take(left, now));
        let Some(first) = pdus.first() else {
            return self.harq.open(pdus, report, Label::default());
        };
        let orders = || pdus.iter().map(|pdu| pdu.order);
        let label = Label {
            unit: 0,
            packets: (orders().min().unwrap_or(0), orders().max().unwrap_or(0)),
            again: first.again,
            carries: self.backlog.get_mut(first.order).carries,
        };
        self.harq.open(pdus, report, label)
    }

    /// The terminal changes its cell: MAC is reset (TS 38.321 section 5.12), RLC and PDCP are
    /// re-established (TS 38.322 section 5.1.2, TS 38.323 section 5.1.2), packets are forwarded.
    fn hand_over(&mut self, now: i64) {
        let Some(Handovers { every, interruption }) = self.handovers else { return };
        self.hands_over = now.saturating_add(span(every));
        self.resumes = now.saturating_add(span(interruption));
        self.scheduled = None;
        self.feedback = ReadyQueue::new();
        self.grants.iter_mut().for_each(Grants::forget);
        let mut lost = self.harq.flush();
        while let Some(Landing { pdus, decoded, .. }) = self.landings.pop(i64::MAX) {
            self.harq.flushed += u64::from(decoded);
            lost.extend(pdus);
        }
        for pdu in &lost {
            self.backlog.get_mut(pdu.order).riding -= 1;
        }
        match &mut self.rlc {
            Rlc::Um { sender, receiver } => {
                let rest = sender.reestablish();
                receiver.reestablish(sender.next);
                if let Some(order) = rest {
                    self.backlog.get_mut(order).open = false;
                }
                let orders: BTreeSet<u64> = lost.iter().map(|pdu| pdu.order).chain(rest).collect();
                for order in orders {
                    let sdu = self.backlog.get_mut(order);
                    if !sdu.complete && !sdu.ended {
                        self.counts.incomplete += 1;
                        self.lose(order, now);
                    }
                }
                self.pdcp.reestablish(&mut self.released);
            }
            Rlc::Am(am) => {
                let mut given_up = Vec::new();
                while let Some((sn, order)) = am.given_up.pop(i64::MAX) {
                    if am.receiver.given_up(sn, now) {
                        given_up.push(order);
                    }
                }
                let next = am.sender.reestablish(&mut self.backlog);
                am.receiver.reestablish(next);
                am.reports.forget();
                am.statuses = ReadyQueue::new();
                for order in given_up {
                    self.lose(order, now);
                }
            }
        }
    }

    /// The terminal asks for grants.
    fn ask(&mut self, now: i64) {
        let Some(grants) = &mut self.grants else { return };
        if grants.ask(now) {
            let heard = self.path.notice(now);
            grants.granted(self.path.answer(now, heard, heard + grants.processing()));
        }
    }

    fn discard_first(&mut self, now: i64) {
        let Some(order) = self.backlog.leave(now) else { return };
        self.tell_departures();
        self.backlog.get_mut(order).open = false;
        self.counts.discarded += 1;
        self.lose(order, now);
    }

    fn tell_departures(&mut self) {
        let departures = self.backlog.departures();
        self.out.extend(departures.map(|(packet, at)| LinkEvent::Departed { packet, at }));
    }

    /// HARQ feedback arrived.
    fn hear_feedback(&mut self, now: i64) {
        let Some((block, sent, read)) = self.feedback.pop(now) else { return };
        self.control.count(sent, read);
        if let Some(lost) = self.harq.feedback(block, read) {
            self.landings.push(now, lost);
        }
    }

    /// A status report arrived.
    fn hear_status(&mut self, now: i64) {
        let Rlc::Am(am) = &mut self.rlc else { return };
        let Some(status) = am.statuses.pop(now) else { return };
        for given_up in am.sender.status(&status, &mut self.backlog) {
            self.tell_given_up(given_up, now);
        }
    }

    /// `t-PollRetransmit` expired.
    fn owe_poll(&mut self) {
        let Rlc::Am(am) = &mut self.rlc else { return };
        am.sender.expire();
    }

    /// A poll that is owed must find a PDU, also if what was to carry it is acknowledged, given up
    /// or discarded.
    fn carry_poll(&mut self, now: i64) {
        let Rlc::Am(am) = &mut self.rlc else { return };
        for given_up in am.sender.carry_poll(&mut self.backlog) {
            self.tell_given_up(given_up, now);
        }
    }

    /// Tells the receiver that nothing more of a packet comes.
    fn tell_given_up(&mut self, given_up: GivenUp, now: i64) {
        let Rlc::Am(am) = &mut self.rlc else { return };
        am.given_up.push(self.path.notice(now), given_up);
        am.gave_up += 1;
    }
}

impl NtnLink {
    /// A block is decoded, or nothing more of it comes.
    fn land(&mut self, now: i64) {
        let Some(Landing { mut pdus, report, decoded }) = self.landings.pop(now) else { return };
        if let (Some(report), Some(grants)) = (report, &mut self.grants) {
            grants.hear(report);
        }
        for pdu in &pdus {
            let complete = decoded && self.rlc.receive(pdu, now);
            let sdu = self.backlog.get_mut(pdu.order);
            sdu.riding -= 1;
            if complete {
                sdu.complete = true;
                if !self.pdcp.receive(pdu.order, now, &mut self.released) {
                    self.counts.late += 1;
                    self.lose(pdu.order, now);
                }
                self.release(now);
                continue;
            }
            // In UM nobody repairs it: lost with the last of its blocks.
            let gone = !sdu.open && sdu.riding == 0 && !sdu.complete && !sdu.ended;
            if gone && matches!(self.rlc, Rlc::Um { .. }) {
                self.counts.incomplete += 1;
                self.lose(pdu.order, now);
            }
        }
        pdus.clear();
        self.spare.push(pdus);
    }

    /// The sender gave up a packet.
    fn learn_given_up(&mut self, now: i64) {
        let Rlc::Am(am) = &mut self.rlc else { return };
        let Some((sn, order)) = am.given_up.pop(now) else { return };
        if am.receiver.given_up(sn, now) {
            self.lose(order, now);
        }
    }

    /// Sends a status report if one is due and may go.
    fn report(&mut self, now: i64) {
        let Rlc::Am(am) = &mut self.rlc else { return };
        if am.receiver.report && am.reports.may_go(now) {
            self.send_status(now);
        }
    }

    /// A status report goes, and may get lost.
    fn send_status(&mut self, now: i64) {
        let Rlc::Am(am) = &mut self.rlc else { return };
        let status = am.receiver.status();
        if let Some(leaves) = am.reports.go(now) {
            am.statuses.push(self.path.feedback(leaves), status);
        }
    }

    fn lose(&mut self, order: u64, now: i64) {
        let transit = self.transit(order, now);
        self.out.push_back(LinkEvent::Lost(transit));
    }

    /// Passes packets released by PDCP out of the link.
    fn release(&mut self, now: i64) {
        let mut released = std::mem::take(&mut self.released);
        for order in released.drain(..) {
            let transit = self.transit(order, now);
            self.out.push_back(LinkEvent::Delivered(transit));
        }
        self.released = released;
    }

    fn transit(&mut self, order: u64, now: i64) -> Transit {
        let sdu = self.backlog.get_mut(order);
        sdu.ended = true;
        Transit {
            packet: sdu.packet,
            size: sdu.size,
            lldus: sdu.blocks,
            order,
            entered: sdu.entered,
            departed: instant(sdu.departed),
            at: instant(now),
        }
    }
}
