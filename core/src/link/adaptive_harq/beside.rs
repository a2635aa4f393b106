//! The link whose retransmissions take no time from other packets.

use super::air::Air;
use super::attempts::{Attempts, Outcome};
use super::config::AdaptiveHarqConfig;
use super::far_end::FarEnd;
use super::instant;
use super::planned_log::PlannedLog;
use crate::link::queue::{Queue, Waiting};
use crate::link::{
    Admission, DropReason, Link, LinkConfig, LinkCounters, LinkEvent, Packet, Transit,
    Transmission, Usage, nanos,
};
use crate::seed::Seed;
use crate::units::{Bytes, Instant};

/// The next packet is sent right after the first attempt of the one before, as in the paper's
/// module; the bits of retransmissions are counted only. So what becomes of a packet is known on
/// arrival. It is decoded when the attempt's last bit is sent, counting each attempt as long as
/// the first.
#[derive(Clone, Debug)]
pub(super) struct BesideLink {
    attempts: Attempts,
    queue: Queue,
    free_at: i64,
    air: Air,
    far_end: FarEnd,
    admitted: u64,
    counters: LinkCounters,
    log: PlannedLog,
}

impl BesideLink {
    pub(super) fn new(
        config: &AdaptiveHarqConfig,
        usage: &LinkConfig,
        seed: Seed,
        number: u32,
        end: Option<Instant>,
    ) -> Self {
        Self {
            attempts: Attempts::new(config, usage, seed, number),
            queue: Queue::new(usage.queue),
            free_at: 0,
            air: Air::new(config.attempts()),
            far_end: FarEnd::new(config, end),
            admitted: 0,
            counters: LinkCounters::default(),
            log: PlannedLog::default(),
        }
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
            self.queue.push(Waiting { departure, size, lldus: 1 });
            self.counters.longest_queue = self.counters.longest_queue.max(self.queue.len() as u64);
        }
        let order = self.admitted;
        self.admitted += 1;
        self.counters.bytes_carried += u64::from(size.0);
        let Some((at, lldus, decoded)) = self.send(departure, size) else {
            let known_until = self.attempts.channel.end();
            self.far_end.ended.reached(entered.max(known_until), id);
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

    fn queue_len(&self, now: Instant) -> usize {
        self.queue.waiting_at(nanos(now)).len()
    }

    fn counters(&self) -> LinkCounters {
        self.far_end.counters(self.counters)
    }

    fn usage(&self, until: Instant) -> Usage {
        let until = nanos(until);
        self.attempts.usage(until, self.air.bits_at(until), self.counters.lldus_taken)
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
