//! The 3GPP link: its layers joined to a state machine.

mod agenda;
mod receiver;
mod sender;

use std::collections::VecDeque;

use agenda::Task;

use crate::link::counters::Tally;
use crate::link::ntn::backlog::Backlog;
use crate::link::ntn::config::NtnConfig;
use crate::link::ntn::control::{Control, Feedback};
use crate::link::ntn::harq::{BlockId, Harq, Landing};
use crate::link::ntn::path::Path;
use crate::link::ntn::pdcp::Pdcp;
use crate::link::ntn::pdu::Pdu;
use crate::link::ntn::rlc::Rlc;
use crate::link::ntn::slots::{Slot, Slots};
use crate::link::ntn::timeline::Timeline;
use crate::link::{
    Admission, DropReason, Fragmentation, Link, LinkCounters, LinkError, LinkEvent, Packet,
    QueueLimit, Transmission, UnitLog, Usage, nanos, span,
};
use crate::seed::{Seed, Stream};
use crate::units::{Bytes, Duration, Instant};

/// A 3GPP NR link that runs with its traffic; see the [module](crate::link::ntn) for its rules.
#[derive(Clone, Debug)]
pub struct NtnLink {
    slots: Slots,
    path: Path,
    harq: Harq,
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
    landings: Timeline<Landing>,
    /// HARQ feedback under way: on which block, what it says, what will be read.
    feedback: Timeline<(BlockId, Feedback, Feedback)>,
    /// The slot that may carry something next.
    scheduled: Option<Slot>,
    /// The first slot that was not offered yet.
    next_index: u64,
    /// The first of the slots that could not be used since all processes are busy.
    stalled_from: Option<u64>,
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

/// How a [`NtnLink`] stands in a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct NtnLinkConfig {
    /// How much may wait.
    pub queue: QueueLimit,
    /// Headers: of every block (`lldu_header`) and every packet (`packet_header`), beside those of
    /// the link's own configuration.
    pub fragmentation: Fragmentation,
    /// Trace time at time zero of the run.
    pub start_offset: Duration,
    /// Whether the trace repeats.
    pub wrap: bool,
    /// End of the run.
    pub duration: Option<Instant>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    stalled_slots: u64,
    discarded: u64,
    late: u64,
    incomplete: u64,
}

impl NtnLink {
    /// A link, empty at time zero. `number` tells the links of a run apart: block errors are drawn
    /// from [`Stream::Link`], losses of status reports from [`Stream::Feedback`], errors of grants
    /// and HARQ feedback from [`Stream::Control`] of that number.
    ///
    /// # Errors
    /// If there can be no such link.
    pub fn new(
        config: &NtnConfig,
        usage: NtnLinkConfig,
        seed: Seed,
        number: u32,
    ) -> Result<Self, LinkError> {
        config.check()?;
        let header = usage.fragmentation.lldu_header.0;
        let pdu_header = config.headers.pdu.0;
        let tb = config.tb();
        let room = tb.0.checked_sub(header).filter(|&room| room > pdu_header);
        let room = room.ok_or(LinkError::Header { lldu: tb.0, header })?;
        let rng = seed.rng(Stream::Link(number));
        let packet_header = usage.fragmentation.packet_header.0;
        let slots = Slots::new(&config.phy, usage.start_offset, usage.wrap, rng)?;
        Ok(Self {
            slots_end: slots.end().map(|end| (end.at + 1).max(0)),
            slots,
            path: Path::new(config.propagation.clone(), config.way_back.clone()),
            harq: Harq::new(config.harq),
            control: Control::new(config.control, seed.rng(Stream::Control(number))),
            rlc: Rlc::new(config.rlc, seed, number),
            pdcp: Pdcp::new(config.pdcp),
            backlog: Backlog::new(usage.queue),
            discard: config.pdcp.discard.map(span),
            sdu_header: Bytes(config.headers.sdu.0.saturating_add(packet_header)),
            pdu_header,
            tb,
            room,
            landings: Timeline::new(),
            feedback: Timeline::new(),
            scheduled: None,
            next_index: 0,
            stalled_from: None,
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
        self.counters.offered += 1;
        let slot_now = self.scheduled.is_some_and(|slot| slot.at == at) && self.wanted();
        if slot_now && !self.backlog.has_room(packet.size) {
            // A slot at this very instant empties a full queue first.
            self.use_slot();
            self.schedule(at);
        }
        if !self.backlog.has_room(packet.size) {
            self.counters.dropped += 1;
            return Admission::Dropped(DropReason::QueueFull);
        }
        self.backlog.admit(now, packet, self.sdu_header);
        self.schedule(at);
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
        let event = self.out.pop_front()?;
        self.tally.record(&event);
        Some(event)
    }

    fn queue_len(&self, _now: Instant) -> usize {
        self.backlog.waiting()
    }

    fn counters(&self) -> LinkCounters {
        let (lldus_taken, bytes_carried) = (self.backlog.blocks(), self.backlog.carried());
        self.tally.replace_in(LinkCounters { lldus_taken, bytes_carried, ..self.counters })
    }

    fn usage(&self, until: Instant) -> Usage {
        let used = (self.harq.sent + self.harq.sent_again) as f64;
        let taken = self.backlog.blocks() as f64;
        let per_lldu = if taken > 0.0 { used / taken } else { 0.0 };
        Usage { slots: self.slots.passed(nanos(until)), used, per_lldu, slot: self.tb }
    }

    fn details(&self) -> Vec<(&'static str, u64)> {
        let mut details = vec![
            ("tbs_sent", self.harq.sent),
            ("tbs_sent_again", self.harq.sent_again),
            ("tbs_failed", self.harq.failed),
            ("stalled_slots", self.counts.stalled_slots),
            ("reassembly_timeouts", self.rlc.reassembly_timeouts()),
            ("reordering_timeouts", self.pdcp.timeouts),
            ("sdus_discarded", self.counts.discarded),
            ("sdus_late", self.counts.late),
        ];
        details.extend(self.control.details());
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
        while self.step(nanos(until)) {}
    }

    fn log_units(&mut self) {
        self.log.start();
    }

    fn take_units(&mut self) -> Vec<Transmission> {
        self.log.take()
    }
}

fn instant(nanos: i64) -> Instant {
    Instant::from_nanos(nanos.max(0) as u64)
}
