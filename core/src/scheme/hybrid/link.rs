//! The link: frames are sent, decided and counted.

use std::collections::VecDeque;

use rand::Rng;

use crate::config::Fault;
use crate::link::counters::Tally;
use crate::link::due::{Due, Notices};
use crate::link::queue::{DepartureQueue, Waiting};
use crate::link::{
    Admission, DropReason, HORIZON, Instrument, Link, LinkCounters, LinkEvent, Packet, PacketId,
    StreamRange, TraceLinkConfig, Transit, Transmission, TransmissionKind, UnitLog, Usage, instant,
    nanos, span,
};
use crate::scheme::hybrid::config::{HybridConfig, HybridOptions};
use crate::scheme::hybrid::losses::FrameLosses;
use crate::scheme::hybrid::repair::{Again, Repair, Repairs};
use crate::seed::{Seed, Stream};
use crate::units::{Bytes, Instant};

/// A link that runs hybrid FEC/ARQ-SR (Al Fawal 2003, section 2; DESIGN section 5).
///
/// Packets are sent one after the other, frame by frame. A frame is decoded if K of its N units
/// arrive, at its last bit + D. Otherwise its NACK is at the sender 2D after its last bit was sent,
/// and it is sent again as soon as the frame being sent is out, ahead of new frames, in order of
/// the NACKs, at most delta times. A packet is delivered when the last of its frames is decoded. If
/// a frame fails for the last time, the packet is given up when that frame's last bit is there; its
/// other frames go on. With [`HybridOptions::n_first`], a frame sent for the first time has that
/// many units, and N when it is sent again; each transmission is decoded alone.
///
/// Waiting frames are sent without a pause, so the fate of a packet is computed when it arrives, up
/// to the NACKs that come when nothing else waits to be sent. Packets come out as they
/// are completed; [`Behind::reordered`](crate::link::Behind::reordered)
/// restores their order, and
/// [`LinkConfig`](crate::scheme::LinkConfig) adds it if `in_order` is set.
///
/// ```
/// use clift::link::{Link, LinkEvent};
/// use clift::scheme::{HybridConfig, HybridLink, HybridOptions};
/// use clift::link::{Packet, PacketId, TraceLinkConfig};
/// use clift::seed::Seed;
/// use clift::units::{Bytes, Instant, Probability};
///
/// let options = HybridOptions { loss: Some(Probability::ZERO), ..HybridOptions::default() };
/// let config = HybridConfig { options, losses: None };
/// let mut link = HybridLink::new(&config, TraceLinkConfig::default(), Seed(1), 0)?;
/// let _ = link.enqueue(Instant::ZERO, Packet::new(PacketId(7), Bytes(1500)));
/// // 6 frames of 12 x 25 bytes at 2 Mbit/s: 7.2 ms, and 200 ms on the way.
/// let due = link.poll_timeout().unwrap();
/// assert_eq!(due, Instant::from_nanos(207_200_000));
/// assert!(matches!(link.poll(due), Some(LinkEvent::Delivered(_))));
/// # Ok::<(), clift::config::Fault>(())
/// ```
#[derive(Clone, Debug)]
pub struct HybridLink {
    options: HybridOptions,
    packet_header: Bytes,
    /// Of a frame sent for the first time, and again.
    forms: [Form; 2],
    /// D in nanoseconds.
    delay: i64,
    /// When the transmitter has sent all that it was given; it was never idle between now and then.
    free_at: i64,
    /// Frames start no later than this, and no later than the losses are known.
    end: i64,
    traced_until: i64,
    losses: FrameLosses,
    queue: DepartureQueue,
    repairs: Repairs,
    /// Events to be reported, in order of time: frames end one after the other.
    due: VecDeque<(Due, u64)>,
    notices: Notices,
    admitted: u64,
    frames: FrameCounts,
    counters: LinkCounters,
    tally: Tally,
    /// Units sent for the packets delivered.
    units_delivered: u64,
    log: UnitLog,
}

impl HybridLink {
    /// An empty link at time zero. `seed` is that of the run, `number` that of the link in it.
    ///
    /// # Errors
    /// If the link is not valid, or a trace of losses with a single slot is wrapped.
    pub fn new(
        config: &HybridConfig,
        usage: TraceLinkConfig,
        seed: Seed,
        number: u32,
    ) -> Result<Self, Fault> {
        let options = &config.options;
        options.check().map_err(|fault| Fault::at(format!("hybrid link: {}", fault.message())))?;
        // Of the run's own stream for this link, so that either seed changes the draws.
        let own = seed.rng(Stream::Link(number)).next_u64().wrapping_add(options.seed);
        let rng = Seed(own).rng(Stream::Link(number));
        let losses = FrameLosses::new(config, rng, usage.start_offset, usage.wrap)?;
        let (first, traced_until) = losses.window();
        Ok(Self {
            packet_header: usage.fragmentation.packet_header,
            forms: [options.first_units(), options.n]
                .map(|units| Form { units: u64::from(units), time: span(options.time_of(units)) }),
            delay: span(options.delay),
            free_at: first,
            end: usage.duration.map_or(HORIZON, nanos),
            traced_until,
            losses,
            queue: DepartureQueue::new(usage.queue),
            repairs: Repairs::default(),
            due: VecDeque::new(),
            notices: Notices::default(),
            admitted: 0,
            frames: FrameCounts::default(),
            counters: LinkCounters::default(),
            tally: Tally::default(),
            units_delivered: 0,
            log: UnitLog::default(),
            options: options.clone(),
        })
    }

    /// Frames that a packet of `size` takes.
    pub fn frames_for(&self, size: Bytes) -> u64 {
        self.options.frames_for(u64::from(size.0) + u64::from(self.packet_header.0))
    }

    /// Frames that began by `now`: sent for the first time, and again.
    fn frames_sent(&self, now: i64) -> [u64; 2] {
        let [first, again] = self.forms.map(|form| form.time);
        let given = [self.frames.new, self.frames.sent - self.frames.new];
        let (later, last) = self.frames.repeated(now);
        // The transmitter is not idle before `free_at`. Repeated frames take their part of this
        // time; the frame on the air and new frames share the rest.
        let left = (self.free_at - now - later as i64 * again).max(0);
        let ahead = match last.map(|start| start + again - now) {
            Some(on_air) if on_air > 0 => (left - on_air).max(0) / first,
            _ => (left - 1).max(0) / first,
        };
        [given[0] - (ahead as u64).min(given[0]), given[1] - later]
    }

    fn units(&self, frames: [u64; 2]) -> u64 {
        frames[0] * self.forms[0].units + frames[1] * self.forms[1].units
    }
}

/// A transmission of a frame.
#[derive(Clone, Copy, Debug)]
struct Form {
    units: u64,
    /// Nanoseconds.
    time: i64,
}

impl Link for HybridLink {
    #[inline]
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        let Packet { id, size, carries, .. } = packet;
        let entered = nanos(now);
        self.counters.offered += 1;
        self.frames.advance(entered);
        self.send_again_until(entered);
        self.queue.advance(entered);
        let count = self.frames_for(size);
        // A packet is at most X frames (Al Fawal 2003): a larger one never fits, with an empty
        // queue either.
        let reason = if count > u64::from(self.options.frames) {
            Some(DropReason::TooLarge)
        } else {
            (!self.queue.has_room(size)).then_some(DropReason::QueueFull)
        };
        if let Some(reason) = reason {
            self.counters.dropped += 1;
            return Admission::Dropped(reason);
        }
        // K <= 65535 and X fits in 32 bits, but the product may not.
        let data_units = count * u64::from(self.options.k);
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
        if let Some(departed) = departed {
            self.notices.departs(id, instant(departed));
            self.counters.lldus_taken += data_units;
            self.counters.bytes_carried += u64::from(size.0);
        }
        let departure = departed.unwrap_or(i64::MAX);
        if departure > entered {
            self.queue.push(Waiting { departure, size });
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
            let there = start + self.forms[1].time + self.delay;
            if start <= self.end.min(self.traced_until) {
                there.min(self.traced_until + 1)
            } else if self.notices.trace_end_is_ahead() && start <= self.end {
                start
            } else {
                i64::MAX
            }
        });
        let notice = self.notices.next_at().map_or(i64::MAX, nanos);
        let next = due.min(again).min(notice);
        (next < i64::MAX).then(|| instant(next))
    }

    #[inline]
    fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        self.frames.advance(nanos(now));
        self.send_again_until(nanos(now));
        let next = self.due.front().map(|(due, _)| due.transit.at);
        if let Some(notice) = self.notices.tell(now, next) {
            return Some(notice);
        }
        next.filter(|&at| at <= now)?;
        let (due, units) = self.due.pop_front()?;
        self.tally.count(&due);
        if !due.lost {
            self.units_delivered += units;
        }
        Some(due.event())
    }

    fn has_room(&mut self, now: Instant, size: Bytes) -> bool {
        self.queue.advance(nanos(now));
        self.queue.has_room(size)
    }

    fn notify_departures(&mut self) {
        self.notices.tell_departures();
    }
}

impl Instrument for HybridLink {
    fn queue_len(&self, now: Instant) -> usize {
        self.queue.waiting_at(nanos(now)).len()
    }

    fn counters(&self) -> LinkCounters {
        self.tally.replace_in(self.counters)
    }

    /// A slot is the time of a unit. A frame that is being sent counts for the time used so far.
    fn usage(&self, until: Instant) -> Usage {
        let until = nanos(until).min(self.end);
        let [first, again] = self.forms.map(|form| form.time as f64);
        let units = f64::from(self.options.n);
        let slot = again / units;
        let ahead = (self.free_at - until).max(0) as f64 / again;
        let repeated = (self.frames.sent - self.frames.new) as f64;
        let sent = self.frames.new as f64 * (first / again) + repeated;
        let per_lldu = match self.counters().lldus_delivered {
            0 => units / f64::from(self.options.k),
            lldus => self.units_delivered as f64 / lldus as f64,
        };
        Usage {
            slots: until as f64 / slot,
            used: (sent - ahead).max(0.0) * units,
            erased: self.units(self.frames.failed) as f64,
            per_lldu,
            slot: self.options.unit,
            pads: true,
            repairs: per_lldu > 1.0,
            ..Usage::NONE
        }
    }

    fn details(&self) -> Vec<(&'static str, u64)> {
        let counts = &self.frames;
        let sent = self.frames_sent(counts.now);
        vec![
            ("frames_sent", sent[0] + sent[1]),
            ("frames_sent_again", sent[1]),
            ("frames_failed", counts.failed[0] + counts.failed[1]),
            ("frames_given_up", counts.given_up),
            ("units_sent", self.units(sent)),
            ("units_sent_again", self.units([0, sent[1]])),
            ("packets_given_up", self.counters().lost),
        ]
    }

    fn catch_up(&mut self, until: Instant) {
        self.frames.advance(nanos(until));
        self.send_again_until(nanos(until));
    }

    /// A unit of the log is a frame, because its single units are not drawn.
    fn log_units(&mut self) {
        self.log.start();
    }

    fn take_units(&mut self) -> Vec<Transmission> {
        self.log.take()
    }
}

impl HybridLink {
    /// Sends again what starts up to `now`: the transmitter had nothing else to do until then.
    #[inline]
    fn send_again_until(&mut self, now: i64) {
        while let Some(first) = self.repairs.first() {
            let start = first.ready.max(self.free_at);
            // Repeated frames go ahead of new ones but do not interrupt one (Al Fawal 2003, section
            // 2).
            if start > now || !self.send_first_again(start) {
                return;
            }
        }
    }

    /// Sends the first frame of those to send again; false: its start is out of reach.
    fn send_first_again(&mut self, start: i64) -> bool {
        if start > self.end.min(self.traced_until) {
            if let Some(&Again { packet, .. }) = self.repairs.first() {
                let packet = self.repairs.packet(packet).transit.packet;
                self.ran_out(start, packet);
            }
            return false;
        }
        let Some(first) = self.repairs.pop_first() else { return false };
        let Again { packet, frame, times, .. } = first;
        self.frames.note(start, Note::Again);
        let again = self.forms[1].units;
        let repair = self.repairs.packet(packet);
        repair.units += again;
        let (order, carries) = (repair.transit.order, repair.carries);
        let sent = Frame { start, number: frame, times: times + 1, order, carries };
        if self.send(sent) {
            self.decoded(packet);
        } else {
            self.failed(packet, sent);
        }
        true
    }

    /// Sends the `count` new frames of a packet; `None`: they are out of reach.
    fn send_new(
        &mut self,
        now: i64,
        count: u64,
        mut transit: Transit,
        carries: Option<StreamRange>,
    ) -> Option<i64> {
        let (mut departed, mut under_repair) = (None, None);
        let units = self.forms[0].units;
        for sent in 0..count {
            let start = self.next_start(now);
            if start > self.end.min(self.traced_until) {
                self.ran_out(start, transit.packet);
                return departed;
            }
            if departed.is_none() {
                departed = Some(start);
                transit.departed = instant(start);
            }
            let (number, order) = (self.frames.new, transit.order);
            self.frames.new += 1;
            let frame = Frame { start, number, times: 0, order, carries };
            let decodes = self.send(frame);
            match (under_repair, decodes) {
                (None, true) => {}
                (Some(packet), true) => {
                    self.repairs.packet(packet).units += units;
                    self.decoded(packet);
                }
                (Some(packet), false) => {
                    self.repairs.packet(packet).units += units;
                    self.failed(packet, frame);
                }
                (None, false) => {
                    let (open, units) = (count - sent, (sent + 1) * units);
                    let repair = Repair { transit, carries, open, given_up: false, units };
                    let packet = self.repairs.open(repair);
                    under_repair = Some(packet);
                    self.failed(packet, frame);
                }
            }
        }
        if under_repair.is_none() {
            transit.at = instant(self.free_at + self.delay);
            self.due.push_back((Due { transit, lost: false }, count * units));
        }
        departed
    }

    /// When a new frame can start that is there at `now`, after all that goes ahead of it.
    #[inline]
    fn next_start(&mut self, now: i64) -> i64 {
        loop {
            let start = self.free_at.max(now);
            match self.repairs.first() {
                Some(first) if first.ready <= start => {
                    if !self.send_first_again(start) {
                        return start;
                    }
                }
                _ => return start,
            }
        }
    }

    /// Puts a frame on the air; whether it is decoded.
    #[inline]
    fn send(&mut self, frame: Frame) -> bool {
        self.frames.sent += 1;
        let again = frame.times > 0;
        self.free_at = frame.start + self.forms[usize::from(again)].time;
        let decodes = self.losses.decodes(frame.start, again);
        let there = self.free_at + self.delay;
        self.log.note(|| frame.transmission(decodes.then_some(there)));
        decodes
    }

    /// The frame just sent completes `packet`, unless others are still open.
    fn decoded(&mut self, packet: u32) {
        let at = instant(self.free_at + self.delay);
        let repair = self.repairs.packet(packet);
        repair.open -= 1;
        if repair.open > 0 {
            return;
        }
        let Repair { transit, given_up, units, .. } = *repair;
        self.repairs.close(packet);
        if !given_up {
            self.due.push_back((Due { transit: Transit { at, ..transit }, lost: false }, units));
        }
    }

    /// The frame just sent was not decoded.
    fn failed(&mut self, packet: u32, frame: Frame) {
        let Frame { start, number, times, .. } = frame;
        self.frames.note(start, Note::Failed(times));
        if times < self.options.persistency {
            let ready = self.free_at + 2 * self.delay;
            self.repairs.push(Again { ready, packet, frame: number, times });
            return;
        }
        self.frames.note(start, Note::GivenUp);
        let at = instant(self.free_at + self.delay);
        let repair = self.repairs.packet(packet);
        repair.open -= 1;
        if !repair.given_up {
            repair.given_up = true;
            let transit = Transit { at, ..repair.transit };
            let units = repair.units;
            self.due.push_back((Due { transit, lost: true }, units));
        }
        if self.repairs.packet(packet).open == 0 {
            self.repairs.close(packet);
        }
    }

    /// A frame of `packet` would start at `start` and cannot.
    #[cold]
    fn ran_out(&mut self, start: i64, packet: PacketId) {
        let early = self.traced_until < start && start <= self.end;
        if early {
            self.notices.trace_ends(packet, instant(start));
        }
    }
}

/// A frame that starts to be sent.
#[derive(Clone, Copy, Debug)]
struct Frame {
    start: i64,
    /// In the order of first transmissions, from 0.
    number: u64,
    /// How often it was sent before.
    times: u32,
    /// Its packet's place among those admitted, and what that carries.
    order: u64,
    carries: Option<StreamRange>,
}

impl Frame {
    fn transmission(self, arrival: Option<i64>) -> Transmission {
        let again = self.times > 0;
        Transmission {
            at: instant(self.start),
            kind: if again { TransmissionKind::Again } else { TransmissionKind::New },
            unit: self.number,
            attempt: self.times,
            arrival: arrival.map(instant),
            packets: (self.order, self.order),
            carries: self.carries,
        }
    }
}

/// Frames sent, and events up to `now`.
#[derive(Clone, Debug, Default)]
struct FrameCounts {
    /// All that were decided, those that start after `now` included.
    sent: u64,
    /// Those sent for the first time.
    new: u64,
    /// When the last frame that was sent again began.
    last_again: Option<i64>,
    /// Of first transmissions, and of others.
    failed: [u64; 2],
    given_up: u64,
    now: i64,
    /// Events of frames that start after `now`, in order.
    ahead: VecDeque<(i64, Note)>,
}

/// Event of a frame that a counter records.
#[derive(Clone, Copy, Debug)]
enum Note {
    /// It was sent before.
    Again,
    /// It is not decoded; how often it was sent before.
    Failed(u32),
    /// It is not decoded and will not be sent again.
    GivenUp,
}

impl FrameCounts {
    /// Notes something about the frame that starts at `start`.
    fn note(&mut self, start: i64, note: Note) {
        if start > self.now {
            self.ahead.push_back((start, note));
        } else {
            self.count(start, note);
        }
    }

    /// Advances the time to `now`.
    #[inline]
    fn advance(&mut self, now: i64) {
        self.now = self.now.max(now);
        while let Some(&(start, note)) = self.ahead.front()
            && start <= now
        {
            self.ahead.pop_front();
            self.count(start, note);
        }
    }

    /// Frames sent again that begin after `now`, and when the last before them began.
    fn repeated(&self, now: i64) -> (u64, Option<i64>) {
        let ahead = self.ahead.iter().filter(|(_, note)| matches!(note, Note::Again));
        let begun = ahead.clone().map(|&(start, _)| start).take_while(|&start| start <= now);
        let later = ahead.filter(|(start, _)| *start > now).count() as u64;
        (later, begun.last().or(self.last_again))
    }

    fn count(&mut self, start: i64, note: Note) {
        match note {
            Note::Again => self.last_again = Some(start),
            Note::Failed(times) => self.failed[usize::from(times > 0)] += 1,
            Note::GivenUp => self.given_up += 1,
        }
    }
}
