//! The link that runs adaptive HARQ.

use std::sync::Arc;

use super::air::Air;
use super::arrivals::Arrivals;
use super::code_word::{self, Decoding};
use super::config::{AdaptiveHarqConfig, AdaptiveHarqError};
use super::sizing::Sizing;
use super::threshold::Thresholds;
use crate::link::counters::Tally;
use crate::link::queue::{Queue, Waiting};
use crate::link::{
    Admission, DropReason, HORIZON, Link, LinkCounters, LinkEvent, Packet, PacketId, QueueLimit,
    StreamRange, Transit, Transmission, TransmissionKind, Usage, nanos, span,
};
use crate::seed::{Seed, Stream};
use crate::trace::MiTrace;
use crate::units::{BitRate, Bytes, Duration, Instant};

/// A link whose packets are code words, sent again in part until they are decoded (seed 004).
///
/// Attempt i of a packet starts i steps after the first, and is credited its coded bits times the
/// channel's mutual information at its start. A packet is decoded once what it was credited passes
/// its threshold, which is when the attempt's last bit is sent, counting each attempt as long as
/// the first; it arrives a propagation delay later. The next packet is sent right after the first
/// attempt of the one before: retransmissions take no time from others, as in the paper's module,
/// but their bits are counted ([`Link::usage`]). So what becomes of a packet is known on arrival.
///
/// Every packet that is sent draws its thresholds from the stream of the link.
///
/// ```
/// use std::sync::Arc;
/// use clift::link::{AdaptiveHarqConfig, AdaptiveHarqLink, Propagation, QueueLimit, deliver};
/// use clift::seed::Seed;
/// use clift::trace::MiTrace;
/// use clift::units::{BitRate, Bytes, Duration};
///
/// // A channel that lets 0.8 bits through per coded bit, in every millisecond of 10 s.
/// let information = Arc::new(MiTrace::new(Duration::from_millis(1), vec![0.8; 10_000]).unwrap());
/// let (sizing, threshold) = AdaptiveHarqConfig::fitted(information.mean());
/// let (max_retransmissions, step) = AdaptiveHarqConfig::PAPER;
/// let config = AdaptiveHarqConfig {
///     information,
///     rate: BitRate::from_bits_per_second(50_000_000).unwrap(),
///     delay: Propagation::Fixed(Duration::from_millis(80)),
///     sizing,
///     max_retransmissions,
///     step,
///     threshold,
///     reorder: None,
/// };
/// let start = (Duration::ZERO, false);
/// let mut link =
///     AdaptiveHarqLink::new(&config, QueueLimit::Unlimited, start, Seed(1), 0, None).unwrap();
/// let arrivals: Vec<i64> = (0..1000).map(|n| n * 1_000_000).collect();
/// let packets = deliver(&mut link, &arrivals, Bytes(1040)).unwrap();
/// // 8320 bits, 1.25 coded bits each, at 50 Mbit/s, then the path; or as many steps later.
/// let at_once = 208_000 + 80_000_000;
/// assert!(packets.delivered.iter().zip(&arrivals).all(|(at, from)| {
///     *at == -1 || (at - from - at_once) % 21_000_000 == 0
/// }));
/// // What was sent first carries just what an average packet needs.
/// let first = packets.delivered.iter().zip(&arrivals).filter(|(at, from)| *at - *from == at_once);
/// assert!((450..550).contains(&first.count()));
/// ```
#[derive(Clone, Debug)]
pub struct AdaptiveHarqLink {
    channel: Channel,
    attempts: usize,
    sizing: Sizing,
    step: i64,
    rate: BitRate,
    thresholds: Thresholds,
    queue: Queue,
    free_at: i64,
    air: Air,
    arrivals: Arrivals,
    end: i64,
    ended: ChannelEnd,
    admitted: u64,
    counters: LinkCounters,
    tally: Tally,
    /// Packets decoded by each attempt.
    decoded: Vec<u64>,
    log: AttemptLog,
}

impl AdaptiveHarqLink {
    /// A link, empty at time zero. `number` tells links of a run apart. The channel's mutual
    /// information starts at `start_offset` and, with `wrap`, begins again at its end. `end` is
    /// the end of the run, beyond which the channel need not be known.
    ///
    /// # Errors
    /// If there can be no such link.
    pub fn new(
        config: &AdaptiveHarqConfig,
        queue: QueueLimit,
        (start_offset, wrap): (Duration, bool),
        seed: Seed,
        number: u32,
        end: Option<Instant>,
    ) -> Result<Self, AdaptiveHarqError> {
        config.check()?;
        let attempts = config.attempts();
        Ok(Self {
            attempts,
            sizing: config.sizing.clone(),
            step: span(config.step),
            rate: config.rate,
            thresholds: Thresholds::new(config.threshold, attempts, seed.rng(Stream::Link(number))),
            queue: Queue::new(queue),
            free_at: 0,
            air: Air::new(attempts),
            arrivals: Arrivals::new(config.delay.clone()),
            end: end.map_or(HORIZON, nanos),
            ended: ChannelEnd::Ahead,
            admitted: 0,
            counters: LinkCounters::default(),
            tally: Tally::default(),
            decoded: vec![0; attempts],
            log: AttemptLog::default(),
            channel: Channel {
                information: Arc::clone(&config.information),
                offset: span(start_offset),
                wrap,
            },
        })
    }

    /// Sends a packet from `departure` on; returns the instant of the last bit of its last
    /// attempt, the attempts made, and whether it is decoded. `None`: the channel ends before.
    #[inline]
    fn send(&mut self, departure: i64, size: Bytes) -> Option<(i64, u32, bool)> {
        let bits = f64::from(size.0) * 8.0;
        let needed = self.thresholds.draw(bits);
        let (channel, air, step) = (&self.channel, &mut self.air, self.step);
        let start = |attempt: usize| departure + attempt as i64 * step;
        let mut first = 0;
        let decoding = code_word::send(
            bits,
            |attempt| needed.at(attempt),
            self.attempts,
            &self.sizing,
            |attempt| channel.at(start(attempt)),
            |attempt, coded| {
                first = if attempt == 0 { coded } else { first };
                air.plan(attempt, start(attempt), coded);
            },
        );
        let serialisation = time_to_send(first, self.rate);
        self.free_at = departure + serialisation;
        let (attempt, decoded) = match decoding {
            Decoding::Decoded(attempt) => (attempt, true),
            Decoding::Failed => (self.attempts - 1, false),
            Decoding::Unknown => return None,
        };
        Some((start(attempt) + serialisation, attempt as u32 + 1, decoded))
    }

    fn ran_out(&mut self, now: i64, packet: PacketId) {
        let last = self.channel.end();
        // The run is in error only if its clock passes the channel's end before it is over.
        if matches!(self.ended, ChannelEnd::Ahead) && now.max(last) < self.end {
            self.ended = ChannelEnd::Due { packet, at: instant(now.max(last)) };
        }
    }
}

impl Link for AdaptiveHarqLink {
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
            self.ran_out(entered, id);
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
        self.arrivals.push(transit, !decoded);
        let arrival = || decoded.then(|| self.arrivals.end_of(transit.at));
        self.log.note(&transit, arrival, packet.carries, |attempt| departure + attempt * self.step);
        Admission::Queued
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Instant> {
        let due = self.arrivals.next_at();
        match self.ended {
            ChannelEnd::Due { at, .. } => Some(due.map_or(at, |due| due.min(at))),
            _ => due,
        }
    }

    #[inline]
    fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        if let ChannelEnd::Due { packet, at } = self.ended
            && at <= now
            && self.arrivals.next_at().is_none_or(|due| due > at)
        {
            self.ended = ChannelEnd::Told;
            return Some(LinkEvent::TraceEnded { packet, at });
        }
        let due = self.arrivals.pop(now)?;
        self.air.advance(nanos(now));
        if due.lost {
            self.tally.lost();
        } else {
            self.tally.delivered(&due.transit);
            self.decoded[due.transit.lldus as usize - 1] += 1;
        }
        Some(due.event())
    }

    fn queue_len(&self, now: Instant) -> usize {
        self.queue.waiting_at(nanos(now)).len()
    }

    fn counters(&self) -> LinkCounters {
        self.tally.replace_in(self.counters)
    }

    /// In bytes of coded bits: a slot is a byte at the link's rate, an LLDU an attempt.
    fn usage(&self, until: Instant) -> Usage {
        let until = nanos(until);
        let used = self.air.bits_at(until) as f64 / 8.0;
        let sent = self.counters.lldus_taken;
        Usage {
            slots: until as f64 / 8e9 * self.rate.bits_per_second() as f64,
            used,
            per_lldu: if sent == 0 { 0.0 } else { used / sent as f64 },
            slot: Bytes(1),
        }
    }

    fn catch_up(&mut self, until: Instant) {
        self.air.advance(nanos(until));
    }

    fn log_units(&mut self) {
        self.log.planned.get_or_insert_default();
    }

    /// An attempt is a unit. Only the one that decodes its packet has an arrival, that of its last
    /// bit.
    fn take_units(&mut self) -> Vec<Transmission> {
        self.log.take(self.air.until)
    }

    fn details(&self) -> Vec<(&'static str, u64)> {
        let mut details = vec![
            ("harq_coded_bits", self.air.bits),
            ("harq_retransmissions", self.air.retransmissions),
            ("harq_failures", self.tally.replace_in(self.counters).lost),
        ];
        details.extend(DECODED_AFTER.into_iter().zip(self.decoded.iter().copied()));
        details
    }
}

/// Packets decoded after so many retransmissions.
const DECODED_AFTER: [&str; AdaptiveHarqConfig::MOST_RETRANSMISSIONS as usize + 1] = [
    "harq_decoded_after_0",
    "harq_decoded_after_1",
    "harq_decoded_after_2",
    "harq_decoded_after_3",
    "harq_decoded_after_4",
    "harq_decoded_after_5",
    "harq_decoded_after_6",
    "harq_decoded_after_7",
];

/// Attempts for a log, off unless asked for.
#[derive(Clone, Debug, Default)]
struct AttemptLog {
    planned: Option<Vec<Transmission>>,
}

impl AttemptLog {
    #[inline]
    fn note(
        &mut self,
        transit: &Transit,
        arrival: impl Fn() -> Option<Instant>,
        carries: Option<StreamRange>,
        start: impl Fn(i64) -> i64,
    ) {
        let Some(planned) = &mut self.planned else { return };
        let (attempts, order, arrival) = (transit.lldus, transit.order, arrival());
        planned.extend((0..attempts).map(|attempt| Transmission {
            at: instant(start(i64::from(attempt))),
            kind: if attempt == 0 { TransmissionKind::New } else { TransmissionKind::Repair },
            unit: order,
            attempt,
            arrival: arrival.filter(|_| attempt + 1 == attempts),
            packets: (order, order),
            carries,
        }));
    }

    fn take(&mut self, until: i64) -> Vec<Transmission> {
        let Some(planned) = &mut self.planned else { return Vec::new() };
        let ahead = planned.extract_if(.., |unit| nanos(unit.at) > until).collect();
        let mut sent = std::mem::replace(planned, ahead);
        sent.sort_by_key(|unit| unit.at);
        sent
    }
}

/// The channel's mutual information in run time.
#[derive(Clone, Debug)]
struct Channel {
    information: Arc<MiTrace>,
    offset: i64,
    wrap: bool,
}

impl Channel {
    #[inline]
    fn at(&self, run_time: i64) -> Option<f64> {
        let mut at = run_time.saturating_add(self.offset).max(0) as u64;
        if self.wrap {
            at %= self.length();
        }
        self.information.at(Instant::from_nanos(at)).map(f64::from)
    }

    /// When it ends, in run time.
    fn end(&self) -> i64 {
        let length = i64::try_from(self.length()).unwrap_or(HORIZON).min(HORIZON);
        if self.wrap { HORIZON } else { length - self.offset }
    }

    fn length(&self) -> u64 {
        self.information.every().as_nanos().saturating_mul(self.information.values().len() as u64)
    }
}

/// Whether [`LinkEvent::TraceEnded`] was told.
#[derive(Clone, Copy, Debug)]
enum ChannelEnd {
    Ahead,
    Due { packet: PacketId, at: Instant },
    Told,
}

/// Rounded to the nearest nanosecond.
#[inline]
fn time_to_send(coded_bits: u64, rate: BitRate) -> i64 {
    let rate = u128::from(rate.bits_per_second());
    let time = (u128::from(coded_bits) * 1_000_000_000 + rate / 2) / rate;
    time.min(HORIZON as u128) as i64
}

fn instant(nanos: i64) -> Instant {
    Instant::from_nanos(nanos.clamp(0, HORIZON) as u64)
}
