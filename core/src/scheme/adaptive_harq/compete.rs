//! The link whose retransmissions take their time on the air.

use std::collections::VecDeque;

use crate::config::Fault;
use crate::link::queue::DropTail;
use crate::link::{
    Admission, DropReason, Instrument, Link, LinkCounters, LinkEvent, Packet, StreamRange, Transit,
    Transmission, UnitLog, Usage, instant, nanos,
};
use crate::scheme::Building;
use crate::scheme::adaptive_harq::attempt::{Attempts, CodeWord, Outcome};
use crate::scheme::adaptive_harq::beside::unit;
use crate::scheme::adaptive_harq::config::AdaptiveHarqConfig;
use crate::scheme::adaptive_harq::far_end::FarEnd;
use crate::units::{Bytes, Instant};

/// One transmitter sends everything, an attempt at a time: a retransmission as soon as it is due
/// and the air is free, before new packets. A packet is decoded when the last bit of the attempt is
/// sent.
#[derive(Clone, Debug)]
pub(super) struct CompetingLink {
    attempts: Attempts,
    queue: DropTail,
    waiting: VecDeque<Word>,
    /// Packets that are not decoded, by when their next attempt is due: the order in which the last
    /// was sent.
    repairs: VecDeque<Repair>,
    free_at: i64,
    far_end: FarEnd,
    admitted: u64,
    counters: LinkCounters,
    coded_bits: u64,
    retransmissions: u64,
    log: UnitLog,
}

/// A packet that was taken into the queue.
#[derive(Clone, Copy, Debug)]
struct Word {
    packet: Packet,
    order: u64,
    entered: Instant,
}

/// A packet that will be sent again.
#[derive(Clone, Debug)]
struct Repair {
    due: i64,
    word: Word,
    departed: Instant,
    code: CodeWord,
}

impl CompetingLink {
    pub(super) fn new(config: &AdaptiveHarqConfig, with: &Building<'_>) -> Result<Self, Fault> {
        Ok(Self {
            attempts: Attempts::new(config, with)?,
            queue: DropTail::new(with.usage.queue),
            waiting: VecDeque::new(),
            repairs: VecDeque::new(),
            free_at: 0,
            far_end: FarEnd::new(config, with.usage.duration),
            admitted: 0,
            counters: LinkCounters::default(),
            coded_bits: 0,
            retransmissions: 0,
            log: UnitLog::default(),
        })
    }

    /// Starts all transmissions due by `now`.
    fn send_until(&mut self, now: i64) {
        loop {
            let again = self.next_repair();
            let new = self.next_new();
            if let Some(start) = again
                && start <= now
                && new.is_none_or(|new| start <= new)
            {
                self.send_again(start);
            } else if let Some(start) = new
                && start <= now
            {
                self.send_new(start);
            } else {
                return;
            }
        }
    }

    fn next_repair(&self) -> Option<i64> {
        self.repairs.front().map(|repair| repair.due.max(self.free_at))
    }

    fn next_new(&self) -> Option<i64> {
        self.waiting.front().map(|word| nanos(word.entered).max(self.free_at))
    }

    fn send_again(&mut self, start: i64) {
        let Some(Repair { word, departed, code, .. }) = self.repairs.pop_front() else { return };
        self.retransmissions += 1;
        self.send(start, word, departed, code);
    }

    fn send_new(&mut self, start: i64) {
        let Some(word) = self.waiting.pop_front() else { return };
        let size = word.packet.size;
        self.queue.leave(size);
        self.counters.bytes_carried += u64::from(size.0);
        self.far_end.notices.departs(word.packet.id, instant(start));
        let code = self.attempts.word(size);
        self.send(start, word, instant(start), code);
    }

    fn send(&mut self, start: i64, word: Word, departed: Instant, mut code: CodeWord) {
        let (coded, outcome) = self.attempts.send(&mut code, start);
        self.free_at = start + self.attempts.serialisation(coded);
        self.coded_bits += coded;
        self.counters.lldus_taken += 1;
        let Word { packet, order, entered } = word;
        let transit = Transit {
            packet: packet.id,
            size: packet.size,
            lldus: code.attempts() as u32,
            order,
            entered,
            departed,
            at: instant(self.free_at),
        };
        match outcome {
            Outcome::Again => {
                let due = start + self.attempts.step;
                self.repairs.push_back(Repair { due, word, departed, code });
            }
            Outcome::Unknown => self.far_end.ran_out(start, packet.id),
            Outcome::Decoded | Outcome::Failed => {
                self.far_end.arrivals.push(transit, outcome == Outcome::Failed);
            }
        }
        let decoded = outcome == Outcome::Decoded;
        self.note(start, &transit, packet.carries, decoded);
    }

    fn note(&mut self, start: i64, transit: &Transit, carries: Option<StreamRange>, decoded: bool) {
        let arrivals = &self.far_end.arrivals;
        self.log.note(|| Transmission {
            arrival: decoded.then(|| arrivals.end_of(transit.at)),
            ..unit(start, transit.order, transit.lldus.saturating_sub(1), carries)
        });
    }
}

impl Link for CompetingLink {
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        let size = packet.size;
        self.send_until(nanos(now));
        self.counters.offered += 1;
        if !self.queue.has_room(size) {
            self.counters.dropped += 1;
            return Admission::Dropped(DropReason::QueueFull);
        }
        self.waiting.push_back(Word { packet, order: self.admitted, entered: now });
        self.queue.join(size);
        self.admitted += 1;
        self.send_until(nanos(now));
        self.counters.longest_queue = self.counters.longest_queue.max(self.waiting.len() as u64);
        Admission::Queued
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let start = [self.next_repair(), self.next_new()].into_iter().flatten().min();
        [start.map(instant), self.far_end.next_at()].into_iter().flatten().min()
    }

    fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        self.send_until(nanos(now));
        self.far_end.pop(now)
    }

    fn has_room(&mut self, now: Instant, size: Bytes) -> bool {
        self.send_until(nanos(now));
        self.queue.has_room(size)
    }

    fn notify_departures(&mut self) {
        self.far_end.notices.tell_departures();
    }
}

impl Instrument for CompetingLink {
    fn queue_len(&self, _now: Instant) -> usize {
        self.waiting.len()
    }

    fn counters(&self) -> LinkCounters {
        self.far_end.counters(self.counters)
    }

    fn usage(&self, until: Instant) -> Usage {
        let delivered = self.counters().lldus_delivered;
        self.attempts.usage(nanos(until), self.coded_bits, 0, delivered)
    }

    fn catch_up(&mut self, until: Instant) {
        self.send_until(nanos(until));
    }

    fn log_units(&mut self) {
        self.log.start();
    }

    /// An attempt is a unit. Only the one that decodes its packet has an arrival, that of its last
    /// bit.
    fn take_units(&mut self) -> Vec<Transmission> {
        self.log.take()
    }

    fn details(&self) -> Vec<(&'static str, u64)> {
        self.far_end.details(self.coded_bits, self.retransmissions)
    }
}
