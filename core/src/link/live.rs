//! Live links: a scheme that runs with the packets that really arrive (DESIGN section 5).

use std::num::NonZeroU32;

use crate::link::line::{Counts, Line};
use crate::link::packets::Packets;
use crate::link::slots::{Slot, Slots};
use crate::link::{
    Admission, DropReason, Fragmentation, HORIZON, Instrument, Link, LinkCounters, LinkError,
    LinkEvent, Packet, PacketId, TraceLinkConfig, Transmission, UnitLog, Usage, earliest, instant,
    nanos, span,
};
use crate::trace::{Loading, Packing, PhyTrace};
use crate::units::{Bytes, Duration, Instant};

/// What a scheme does with the slots of a live link. It decides at slots only: what is due between
/// two of them is looked at in the next that it wants.
///
/// Times are run times in ns, propagation not counted. A slot is handed over with what becomes of
/// it; a scheme must not act on that before its report would have come
/// ([`Feedback`](crate::scheme::Feedback)).
pub trait LiveScheme {
    /// The instant from which on it wants a slot, [`NOW`] for the next one, `None` for none before
    /// new data come. `data_wait`: whether there are any now.
    fn wants(&self, data_wait: bool) -> Option<i64>;

    /// Has a slot at or after that instant. Says whether it sent anything; if not, it wants a later
    /// one next, or none, or this one for something else.
    fn carry(&mut self, slot: Slot, line: &mut Line) -> bool;

    /// The earliest instant at which a code word would be decoded of which more is being sent: an
    /// overtaking unit can still make it earlier, but not earlier than its own slot.
    fn undecided(&self) -> Option<i64> {
        None
    }

    /// Decodes what is decoded at `until` or before; nothing is sent before `until` any more.
    fn settle(&mut self, _until: i64, _line: &mut Line) {}

    /// Copies of reports that were lost.
    fn feedback_lost(&self) -> u64 {
        0
    }
}

/// An instant before any slot: who wants a slot from then on wants the next one.
pub const NOW: i64 = i64::MIN;

/// A live link with its scheme; [`LiveBuilder::link`](crate::scheme::LiveBuilder::link) makes one.
///
/// What happened is worked off slot by slot, but only once it can be seen from outside: nothing that
/// is sent in a slot comes out before half a round-trip time later, so [`Link::poll_timeout`] names
/// that instant, and what was sent until then is worked off in one go.
#[derive(Clone, Debug)]
pub(crate) struct LiveLink<S> {
    scheme: S,
    line: Line,
    slots: Slots,
    fragmentation: Fragmentation,
    payload: NonZeroU32,
    lldu: Bytes,
    /// Up to here everything has been worked off; a slot at this instant may still be free.
    now: i64,
    /// The next slot that the scheme wants, later than `now`.
    next: Option<Slot>,
    /// How the trace is to be used.
    loading: Loading,
    /// 1 if a slot waits for what else comes at its instant and shares it.
    late: i64,
}

impl<S: LiveScheme> LiveLink<S> {
    /// A link over `phy` that runs `scheme`, empty at time zero.
    ///
    /// # Errors
    /// If the headers leave no room, or a trace of a single slot is to repeat.
    pub(crate) fn new(
        scheme: S,
        phy: PhyTrace,
        rtt: Duration,
        usage: TraceLinkConfig,
    ) -> Result<Self, LinkError> {
        let one_way = span(rtt.half());
        let end = usage.duration.map_or(HORIZON, nanos);
        let loading = phy.header().loading;
        let fragmentation = usage.fragmentation.over(loading)?;
        let payload = fragmentation.payload(phy.lldu())?;
        let shared = fragmentation.packing == Some(Packing::Bytes);
        let unit = shared.then(|| u64::from(payload.get()));
        Ok(Self {
            scheme,
            line: Line {
                packets: Packets::new(usage.queue, one_way, unit),
                counts: Counts::default(),
                log: UnitLog::default(),
                nominal: span(phy.nominal_decoding()),
                one_way,
            },
            fragmentation,
            payload,
            loading,
            late: i64::from(shared),
            lldu: phy.lldu(),
            slots: Slots::new(phy, usage.start_offset, usage.wrap, end)?,
            now: 0,
            next: None,
        })
    }

    /// Uses the slots up to `now`, but not one at `now` that packets of that instant may share.
    #[inline]
    fn advance(&mut self, now: i64) {
        self.advance_through(now, now - self.late);
    }

    /// Uses the slots up to `last`, and settles what is up to `now`.
    #[inline]
    fn advance_through(&mut self, now: i64, last: i64) {
        if self.next.is_some_and(|slot| slot.t <= last) {
            self.use_slots(last);
        }
        self.settle(now);
        self.now = self.now.max(now);
        if self.line.packets.notices.trace_end_is_ahead()
            && let Some((packet, at)) = self.hopeless().filter(|(_, at)| nanos(*at) <= self.now)
        {
            self.line.packets.notices.trace_ends(packet, at);
        }
    }

    /// Uses the slots that a packet cannot use which arrives at `now`.
    #[inline]
    fn advance_to_arrival(&mut self, now: i64) {
        if self.loading.tick == Duration::ZERO {
            return self.advance(now);
        }
        let trace_time = self.slots.trace_time(now);
        let usable = now + (self.loading.first_usable(trace_time) - trace_time);
        self.advance_through(usable, usable - 1);
    }

    /// What a packet counts for in the queue: a trace's own header is on it before.
    fn queued(&self, size: Bytes) -> Bytes {
        Bytes(size.0.saturating_add(self.loading.packet_header.0))
    }

    fn use_slots(&mut self, now: i64) {
        let (cursor, columns) = self.slots.split();
        let (scheme, line) = (&mut self.scheme, &mut self.line);
        while let Some(slot) = self.next
            && slot.t <= now
        {
            if scheme.undecided().is_some_and(|at| at <= slot.t) {
                scheme.settle(slot.t, line);
            }
            if scheme.carry(slot, line) {
                cursor.used();
            }
            let wanted = scheme.wants(line.data_wait());
            self.next = wanted.and_then(|from| cursor.first_from(columns, from.max(slot.t)));
        }
    }

    #[inline]
    fn settle(&mut self, until: i64) {
        if self.scheme.undecided().is_some_and(|at| at <= until) {
            self.scheme.settle(until, &mut self.line);
        }
    }

    #[inline]
    fn look_for_slot(&mut self) {
        self.next = self
            .scheme
            .wants(self.line.data_wait())
            .and_then(|from| self.slots.first_from(from.max(self.now)));
    }

    /// The packet that waits for a slot after the last, and since when that is hopeless.
    fn hopeless(&self) -> Option<(PacketId, Instant)> {
        let last = self.slots.last()?;
        let (packet, entered) = self.line.packets.first_waiting()?;
        let at = entered.max(Instant::from_nanos((last + 1).max(0) as u64));
        // The run is in error only if its clock passes the last slot before it is over.
        (nanos(entered) < self.slots.end()).then_some((packet, at))
    }

    /// When the trace will end on a packet that waits.
    fn end_ahead(&self) -> Option<Instant> {
        if !self.line.packets.notices.trace_end_is_ahead() || !self.line.data_wait() {
            return None;
        }
        self.hopeless().map(|(_, at)| at)
    }

    /// The next slot in which a packet may leave the queue, if that is to be told.
    fn may_depart(&self) -> Option<Instant> {
        let packets = &self.line.packets;
        let told = packets.notices.departures_told() && packets.waiting() > 0;
        self.next.filter(|_| told).map(|slot| instant(slot.t + self.late))
    }
}

impl<S: LiveScheme> Link for LiveLink<S> {
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        let entered = nanos(now);
        self.advance_to_arrival(entered);
        let amount = match self.fragmentation.packing {
            Some(Packing::Bytes) => self.fragmentation.bytes(packet.size),
            _ => self.fragmentation.lldus(self.payload, packet.size),
        };
        let queued = self.queued(packet.size);
        if !self.line.packets.offer(now, packet, amount, queued) {
            return Admission::Dropped(DropReason::QueueFull);
        }
        self.look_for_slot();
        self.advance(entered);
        self.line.packets.note_queue();
        Admission::Queued
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let happens = earliest(self.next.map(|slot| slot.t + 1), self.scheme.undecided());
        let seen = |at: i64| Instant::from_nanos(at.saturating_add(self.line.one_way) as u64);
        let known = earliest(self.line.packets.next_due(), self.end_ahead());
        earliest(earliest(happens.map(seen), known), self.may_depart())
    }

    fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        self.advance(nanos(now));
        self.line.packets.pop(now)
    }

    fn has_room(&mut self, now: Instant, size: Bytes) -> bool {
        self.advance_to_arrival(nanos(now));
        self.line.packets.has_room(self.queued(size))
    }

    fn notify_departures(&mut self) {
        self.line.packets.notices.tell_departures();
    }
}

impl<S: LiveScheme> Instrument for LiveLink<S> {
    fn queue_len(&self, _now: Instant) -> usize {
        self.line.packets.waiting()
    }

    fn counters(&self) -> LinkCounters {
        self.line.packets.counters()
    }

    /// Exact. What was sent for repair is shared out evenly over the data units.
    fn usage(&self, until: Instant) -> Usage {
        let used = self.line.counts.sent as f64;
        let data = self.line.packets.counters().lldus_taken;
        Usage {
            slots: self.slots.passed(nanos(until)) as f64,
            used,
            beside: 0.0,
            per_lldu: if data > 0 { used / data as f64 } else { 0.0 },
            slot: self.lldu,
        }
    }

    fn details(&self) -> Vec<(&'static str, u64)> {
        self.line.counts.named(self.scheme.feedback_lost())
    }

    fn catch_up(&mut self, until: Instant) {
        self.advance_through(nanos(until), nanos(until));
    }

    fn log_units(&mut self) {
        self.line.log.start();
    }

    fn take_units(&mut self) -> Vec<Transmission> {
        self.line.log.take()
    }
}
