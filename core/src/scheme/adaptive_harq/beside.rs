//! The link whose retransmissions take no time from other packets.

use std::collections::VecDeque;

use crate::config::Fault;
use crate::link::queue::{DepartureQueue, Waiting};
use crate::link::{
    Admission, DropReason, Instrument, Link, LinkCounters, LinkEvent, Packet, StreamRange, Transit,
    Transmission, TransmissionKind, Usage, instant, nanos,
};
use crate::scheme::Building;
use crate::scheme::adaptive_harq::attempt::{Attempts, Outcome};
use crate::scheme::adaptive_harq::config::AdaptiveHarqConfig;
use crate::scheme::adaptive_harq::far_end::FarEnd;
use crate::units::{Bytes, Instant};

/// The next packet is sent right after the first attempt of the one before, as in the paper's
/// module; the bits of retransmissions are counted only. So what becomes of a packet is known on
/// arrival. It is decoded when the attempt's last bit is sent, counting each attempt as long as
/// the first.
#[derive(Clone, Debug)]
pub(super) struct BesideLink {
    attempts: Attempts,
    queue: DepartureQueue,
    free_at: i64,
    air: Air,
    far_end: FarEnd,
    admitted: u64,
    counters: LinkCounters,
    log: PlannedLog,
}

impl BesideLink {
    pub(super) fn new(config: &AdaptiveHarqConfig, with: &Building<'_>) -> Result<Self, Fault> {
        Ok(Self {
            attempts: Attempts::new(config, with)?,
            queue: DepartureQueue::new(with.usage.queue),
            free_at: 0,
            air: Air::new(config.options.attempts()),
            far_end: FarEnd::new(config, with.usage.duration),
            admitted: 0,
            counters: LinkCounters::default(),
            log: PlannedLog::default(),
        })
    }

    /// Sends a packet from `departure` on; returns the instant of the last bit of its last
    /// attempt, the attempts made, and whether it is decoded. `None`: the channel ends before.
    #[inline]
    fn send(&mut self, departure: i64, size: Bytes) -> Option<(i64, u32, bool)> {
        let mut word = self.attempts.word(size);
        let (mut at, mut serialisation) = (departure, 0);
        loop {
            let attempt = word.attempts();
            let (coded, outcome) = self.attempts.send(&mut word, at);
            self.air.plan(attempt, at, coded);
            if attempt == 0 {
                serialisation = self.attempts.serialisation(coded);
                self.free_at = departure + serialisation;
            }
            let decoded = match outcome {
                Outcome::Unknown => return None,
                Outcome::Again => {
                    at += self.attempts.step;
                    continue;
                }
                Outcome::Decoded => true,
                Outcome::Failed => false,
            };
            return Some((at + serialisation, attempt as u32 + 1, decoded));
        }
    }
}

impl Link for BesideLink {
    #[inline]
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        let Packet { id, size, .. } = packet;
        let entered = nanos(now);
        self.counters.offered += 1;
        self.queue.advance(entered);
        self.air.advance(entered);
        if !self.queue.has_room(size) {
            self.counters.dropped += 1;
            return Admission::Dropped(DropReason::QueueFull);
        }
        let departure = self.free_at.max(entered);
        if departure > entered {
            self.queue.push(Waiting { departure, size });
            self.counters.longest_queue = self.counters.longest_queue.max(self.queue.len() as u64);
        }
        let order = self.admitted;
        self.admitted += 1;
        self.counters.bytes_carried += u64::from(size.0);
        self.far_end.notices.departs(id, instant(departure));
        let Some((at, lldus, decoded)) = self.send(departure, size) else {
            let known_until = self.attempts.channel.end();
            self.far_end.ran_out(entered.max(known_until), id);
            return Admission::Queued;
        };
        self.counters.lldus_taken += u64::from(lldus);
        let transit = Transit {
            packet: id,
            size,
            lldus,
            order,
            entered: now,
            departed: instant(departure),
            at: instant(at),
        };
        self.far_end.arrivals.push(transit, !decoded);
        let arrival = || decoded.then(|| self.far_end.arrivals.end_of(transit.at));
        let step = self.attempts.step;
        self.log.note(&transit, arrival, packet.carries, |attempt| departure + attempt * step);
        Admission::Queued
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Instant> {
        self.far_end.next_at()
    }

    #[inline]
    fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        let event = self.far_end.pop(now)?;
        self.air.advance(nanos(now));
        Some(event)
    }

    fn has_room(&mut self, now: Instant, size: Bytes) -> bool {
        self.queue.advance(nanos(now));
        self.queue.has_room(size)
    }

    fn notify_departures(&mut self) {
        self.far_end.notices.tell_departures();
    }
}

impl Instrument for BesideLink {
    fn queue_len(&self, now: Instant) -> usize {
        self.queue.waiting_at(nanos(now)).len()
    }

    fn counters(&self) -> LinkCounters {
        self.far_end.counters(self.counters)
    }

    fn usage(&self, until: Instant) -> Usage {
        let until = nanos(until);
        let (bits, first) = (self.air.bits_at(until), self.air.first_bits_at(until));
        self.attempts.usage(until, first, bits - first, self.counters().lldus_delivered)
    }

    fn catch_up(&mut self, until: Instant) {
        self.air.advance(nanos(until));
    }

    fn log_units(&mut self) {
        self.log.start();
    }

    /// An attempt is a unit. Only the one that decodes its packet has an arrival, that of its last
    /// bit.
    fn take_units(&mut self) -> Vec<Transmission> {
        self.log.take(self.air.until)
    }

    fn details(&self) -> Vec<(&'static str, u64)> {
        self.far_end.details(self.air.bits, self.air.retransmissions)
    }
}

/// Coded bits that were sent, and those that will be.
///
/// The attempts of one number start in the order of their packets, so each number has a plain ring.
#[derive(Clone, Debug)]
pub(super) struct Air {
    planned: Vec<VecDeque<(i64, u64)>>,
    /// Coded bits, and attempts after the first, sent so far.
    pub(super) bits: u64,
    pub(super) retransmissions: u64,
    /// Coded bits of first attempts sent so far.
    first_bits: u64,
    /// How far that is.
    pub(super) until: i64,
}

impl Air {
    pub(super) fn new(attempts: usize) -> Self {
        let planned = vec![VecDeque::new(); attempts];
        Self { planned, bits: 0, retransmissions: 0, first_bits: 0, until: -1 }
    }

    /// An attempt of this number will send `bits` at `at`, which never falls for a number.
    #[inline]
    pub(super) fn plan(&mut self, attempt: usize, at: i64, bits: u64) {
        self.planned[attempt].push_back((at, bits));
    }

    /// Starts all transmissions due by `now`.
    #[inline]
    pub(super) fn advance(&mut self, now: i64) {
        self.until = self.until.max(now);
        for (attempt, planned) in self.planned.iter_mut().enumerate() {
            while let Some(&(at, bits)) = planned.front()
                && at <= now
            {
                planned.pop_front();
                self.bits += bits;
                self.retransmissions += u64::from(attempt > 0);
                self.first_bits += if attempt == 0 { bits } else { 0 };
            }
        }
    }

    /// Coded bits sent up to `until`, no earlier than what was advanced to.
    pub(super) fn bits_at(&self, until: i64) -> u64 {
        self.bits + self.planned.iter().map(|planned| soon(planned, until)).sum::<u64>()
    }

    /// Those of them that were sent in first attempts.
    pub(super) fn first_bits_at(&self, until: i64) -> u64 {
        self.first_bits + self.planned.first().map_or(0, |planned| soon(planned, until))
    }
}

/// The bits of what starts up to `until`.
fn soon(planned: &VecDeque<(i64, u64)>, until: i64) -> u64 {
    planned.iter().take_while(|&&(at, _)| at <= until).map(|&(_, bits)| bits).sum()
}

/// Attempts for a log, off unless asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct PlannedLog {
    planned: Option<Vec<Transmission>>,
}

impl PlannedLog {
    /// Writes from now on.
    pub(super) fn start(&mut self) {
        self.planned.get_or_insert_default();
    }

    /// All attempts at a packet; the last has an `arrival` if it decodes it.
    #[inline]
    pub(super) fn note(
        &mut self,
        transit: &Transit,
        arrival: impl Fn() -> Option<Instant>,
        carries: Option<StreamRange>,
        start: impl Fn(i64) -> i64,
    ) {
        let Some(planned) = &mut self.planned else { return };
        let arrival = arrival();
        planned.extend((0..transit.lldus).map(|attempt| Transmission {
            arrival: arrival.filter(|_| attempt + 1 == transit.lldus),
            ..unit(start(i64::from(attempt)), transit.order, attempt, carries)
        }));
    }

    /// Those made up to `until`, by time.
    pub(super) fn take(&mut self, until: i64) -> Vec<Transmission> {
        let Some(planned) = &mut self.planned else { return Vec::new() };
        let ahead = planned.extract_if(.., |unit| nanos(unit.at) > until).collect();
        let mut sent = std::mem::replace(planned, ahead);
        sent.sort_by_key(|unit| unit.at);
        sent
    }
}

/// An attempt in a log, as if it did not decode.
pub(super) fn unit(
    at: i64,
    order: u64,
    attempt: u32,
    carries: Option<StreamRange>,
) -> Transmission {
    Transmission {
        at: instant(at),
        kind: if attempt == 0 { TransmissionKind::New } else { TransmissionKind::Repair },
        unit: order,
        attempt,
        arrival: None,
        packets: (order, order),
        carries,
    }
}
