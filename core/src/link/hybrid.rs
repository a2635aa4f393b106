//! Hybrid FEC/ARQ-SR of seed 002: frames of K data and N - K redundant units, sent again when fewer
//! than K arrive.

mod config;
mod counts;
mod losses;
mod repair;
mod send;

use std::collections::VecDeque;

pub use config::{HybridConfig, UnitLosses};
use counts::FrameCounts;
use losses::FrameLosses;
use repair::Repairs;

use rand::Rng;

use crate::link::counters::Tally;
use crate::link::due::Due;
use crate::link::queue::{Queue, Waiting};
use crate::link::trace_link::{TraceEnd, instant};
use crate::link::{
    Admission, DropReason, HORIZON, Link, LinkCounters, LinkError, LinkEvent, Packet, QueueLimit,
    Transit, Transmission, UnitLog, Usage, nanos, span,
};
use crate::seed::{Seed, Stream};
use crate::units::{Bytes, Duration, Instant};

/// A link that runs hybrid FEC/ARQ-SR (seed 002 section 2; DESIGN section 5).
///
/// Packets are sent one after the other, frame by frame. A frame is decoded if K of its N units
/// arrive, at its last bit + D. Otherwise its NACK is at the sender 2D after its last bit was sent,
/// and it is sent again as soon as the frame being sent is out, ahead of new frames, in order of
/// the NACKs, at most delta times. A packet is delivered when the last of its frames is decoded. If
/// a frame fails for the last time, the packet is given up when that frame's last bit is there; its
/// other frames go on.
///
/// Whatever waits will be sent without a pause, so what becomes of a packet is worked out when it
/// arrives, up to the NACKs that come when there is nothing else to send. Packets come out as they
/// are completed; [`Reordering`](crate::link::Reordering) restores their order, and
/// [`LinkConfig`](crate::link::LinkConfig) adds it if `in_order` is set.
///
/// ```
/// use clift::link::{HybridConfig, HybridLink, HybridOptions, Link, LinkEvent};
/// use clift::link::{Packet, PacketId, UnitLosses};
/// use clift::seed::Seed;
/// use clift::units::{BitRate, Bytes, Duration, Instant, Probability};
///
/// let config = HybridConfig {
///     data: 10,
///     total: 12,
///     frames: 6,
///     persistency: 5,
///     unit: Bytes(25),
///     rate: BitRate::from_bits_per_second(2_000_000).unwrap(),
///     delay: Duration::from_millis(200),
///     losses: UnitLosses::Bernoulli(Probability::ZERO),
///     in_order: true,
///     seed: Seed(1),
/// };
/// let mut link = HybridLink::new(&config, Seed(1), 0, HybridOptions::default())?;
/// let _ = link.enqueue(Instant::ZERO, Packet::new(PacketId(7), Bytes(1500)));
/// // 6 frames of 12 x 25 bytes at 2 Mbit/s: 7.2 ms, and 200 ms on the way.
/// let due = link.poll_timeout().unwrap();
/// assert_eq!(due, Instant::from_nanos(207_200_000));
/// assert!(matches!(link.poll(due), Some(LinkEvent::Delivered(_))));
/// # Ok::<(), clift::link::LinkError>(())
/// ```
#[derive(Clone, Debug)]
pub struct HybridLink {
    config: HybridConfig,
    packet_header: Bytes,
    /// Nanoseconds that a frame takes, and D.
    frame: i64,
    delay: i64,
    /// When the transmitter has sent all that it was given; it was never idle between now and then.
    free_at: i64,
    /// Frames start no later than this, and no later than the losses are known.
    end: i64,
    traced_until: i64,
    losses: FrameLosses,
    queue: Queue,
    repairs: Repairs,
    /// What comes out, in order of time: frames end one after the other.
    due: VecDeque<(Due, u64)>,
    ended: TraceEnd,
    admitted: u64,
    frames: FrameCounts,
    counters: LinkCounters,
    tally: Tally,
    /// Frames sent for the packets delivered.
    frames_delivered: u64,
    log: UnitLog,
}

/// How a [`HybridLink`] is used.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct HybridOptions {
    /// How much may wait.
    pub queue: QueueLimit,
    /// Bytes sent with each packet.
    pub packet_header: Bytes,
    /// Time of the trace of losses at run time 0.
    pub start_offset: Duration,
    /// Repeat the trace of losses.
    pub wrap: bool,
    /// End of the run: no frame starts after it.
    pub duration: Option<Instant>,
}

impl HybridLink {
    /// An empty link at time zero. `seed` is that of the run, `number` that of the link in it.
    ///
    /// # Errors
    /// If there can be no such link, or a trace of losses of a single slot is to repeat.
    pub fn new(
        config: &HybridConfig,
        seed: Seed,
        number: u32,
        options: HybridOptions,
    ) -> Result<Self, LinkError> {
        config.check()?;
        // Of the run's own stream for this link, so that either seed changes the draws.
        let own = seed.rng(Stream::Link(number)).next_u64().wrapping_add(config.seed.0);
        let rng = Seed(own).rng(Stream::Link(number));
        let losses = FrameLosses::new(config, rng, options.start_offset, options.wrap)?;
        let (first, traced_until) = losses.window();
        Ok(Self {
            packet_header: options.packet_header,
            frame: span(config.frame_time()),
            delay: span(config.delay),
            free_at: first,
            end: options.duration.map_or(HORIZON, nanos),
            traced_until,
            losses,
            queue: Queue::new(options.queue),
            repairs: Repairs::default(),
            due: VecDeque::new(),
            ended: TraceEnd::Ahead,
            admitted: 0,
            frames: FrameCounts::default(),
            counters: LinkCounters::default(),
            tally: Tally::default(),
            frames_delivered: 0,
            log: UnitLog::default(),
            config: config.clone(),
        })
    }

    /// Frames that a packet of `size` takes.
    pub fn frames_for(&self, size: Bytes) -> u64 {
        self.config.frames_for(u64::from(size.0) + u64::from(self.packet_header.0))
    }

    /// Frames that start after `now`.
    fn frames_ahead(&self, now: i64) -> u64 {
        // They start at free_at - frame, free_at - 2 frame, ...
        let ahead = (self.free_at - now).max(0);
        ((ahead + self.frame - 1) / self.frame - 1).max(0) as u64
    }

    fn frames_sent(&self, now: i64) -> u64 {
        self.frames.sent - self.frames_ahead(now).min(self.frames.sent)
    }
}

impl Link for HybridLink {
    #[inline]
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        let Packet { id, size, carries } = packet;
        let entered = nanos(now);
        self.counters.offered += 1;
        self.frames.advance(entered);
        self.send_again_until(entered);
        self.queue.advance(entered);
        let count = self.frames_for(size);
        let reason = if count > u64::from(self.config.frames) {
            Some(DropReason::TooLarge)
        } else {
            (!self.queue.has_room(size)).then_some(DropReason::QueueFull)
        };
        if let Some(reason) = reason {
            self.counters.dropped += 1;
            return Admission::Dropped(reason);
        }
        // K <= 65535 and X fits in 32 bits, but the product may not.
        let data_units = count * u64::from(self.config.data);
        let lldus = u32::try_from(data_units).unwrap_or(u32::MAX);
        let transit = Transit {
            packet: id,
            size,
            lldus,
            order: self.admitted,
            entered: now,
            departed: Instant::MAX,
            at: Instant::MAX,
        };
        self.admitted += 1;
        let departed = self.send_new(entered, count, transit, carries);
        if departed.is_some() {
            self.counters.lldus_taken += data_units;
            self.counters.bytes_carried += u64::from(size.0);
        }
        let departure = departed.unwrap_or(i64::MAX);
        if departure > entered {
            self.queue.push(Waiting { departure, size, lldus });
            self.counters.longest_queue = self.counters.longest_queue.max(self.queue.len() as u64);
        }
        Admission::Queued
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Instant> {
        let due = self.due.front().map_or(i64::MAX, |(due, _)| nanos(due.transit.at));
        // Nothing comes of a frame to send again before it has been sent and is there, but one
        // behind it may find that the trace is over.
        let again = self.repairs.first().map_or(i64::MAX, |first| {
            let start = first.ready.max(self.free_at);
            let there = start + self.frame + self.delay;
            match self.ended {
                _ if start <= self.end.min(self.traced_until) => there.min(self.traced_until + 1),
                TraceEnd::Ahead if start <= self.end => start,
                _ => i64::MAX,
            }
        });
        let ended = match self.ended {
            TraceEnd::Due { at, .. } => nanos(at),
            _ => i64::MAX,
        };
        let next = due.min(again).min(ended);
        (next < i64::MAX).then(|| instant(next))
    }

    #[inline]
    fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        self.frames.advance(nanos(now));
        self.send_again_until(nanos(now));
        let next = self.due.front().filter(|(due, _)| due.transit.at <= now);
        if let TraceEnd::Due { packet, at } = self.ended
            && at <= now
            && next.is_none_or(|(due, _)| due.transit.at > at)
        {
            self.ended = TraceEnd::Told;
            return Some(LinkEvent::TraceEnded { packet, at });
        }
        let &(due, sent) = next?;
        self.due.pop_front();
        self.tally.count(&due);
        if !due.lost {
            self.frames_delivered += sent;
        }
        Some(due.event())
    }

    fn queue_len(&self, now: Instant) -> usize {
        self.queue.waiting_at(nanos(now)).len()
    }

    fn counters(&self) -> LinkCounters {
        self.tally.replace_in(self.counters)
    }

    /// A slot is the time of a unit; what a frame in the air has used of its time counts.
    fn usage(&self, until: Instant) -> Usage {
        let until = nanos(until).min(self.end);
        let units = f64::from(self.config.total);
        let slot = self.frame as f64 / units;
        let ahead = (self.free_at - until).max(0) as f64 / self.frame as f64;
        let delivered = self.counters().lldus_delivered;
        Usage {
            slots: until as f64 / slot,
            used: (self.frames.sent as f64 - ahead).max(0.0) * units,
            per_lldu: match delivered {
                0 => units / f64::from(self.config.data),
                lldus => self.frames_delivered as f64 * units / lldus as f64,
            },
            slot: self.config.unit,
        }
    }

    fn details(&self) -> Vec<(&'static str, u64)> {
        let counts = &self.frames;
        let sent = self.frames_sent(counts.now);
        vec![
            ("frames_sent", sent),
            ("frames_sent_again", counts.again),
            ("frames_failed", counts.failed),
            ("frames_given_up", counts.given_up),
            ("units_sent", sent * u64::from(self.config.total)),
            ("units_sent_again", counts.again * u64::from(self.config.total)),
            ("packets_given_up", self.counters().lost),
        ]
    }

    fn catch_up(&mut self, until: Instant) {
        self.frames.advance(nanos(until));
        self.send_again_until(nanos(until));
    }

    /// A unit of the log is a frame: what becomes of its units one by one is not drawn.
    fn log_units(&mut self) {
        self.log.start();
    }

    fn take_units(&mut self) -> Vec<Transmission> {
        self.log.take()
    }
}
