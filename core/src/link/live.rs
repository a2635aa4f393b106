//! Live links: a scheme that runs with the actual traffic (DESIGN section 5).

use std::num::NonZeroU32;

use crate::config::{Fault, delegate};
use crate::link::line::{Counts, Line};
use crate::link::packets::{Amounts, Packets};
use crate::link::slots::{PhySlots, Slot};
use crate::link::{
    Admission, DropReason, Fragmentation, HORIZON, Instrument, Link, LinkCounters, LinkEvent,
    Packet, PacketId, Passed, QueueLimit, TraceLinkConfig, Transmission, UnitLog, Usage, Waits,
    earliest, instant, nanos, only_traces, span,
};
use crate::trace::{Loading, Packing, PhyTrace};
use crate::units::{Bytes, Duration, Instant};

/// A scheme as it uses the slots of a live link. It acts in slots only: an event between two slots
/// is handled in the next slot that the scheme requests.
///
/// Times are run times in ns, excluding propagation. A slot is passed together with its fate; the
/// scheme must not act on the fate before its report would have arrived
/// ([`Feedback`](crate::scheme::Feedback)).
pub trait LiveScheme {
    /// The instant from which the scheme wants a slot; [`NOW`] for the next slot, `None` for none
    /// until new data arrive. `data_wait`: true if new data are waiting.
    fn wants(&self, data_wait: bool) -> Option<i64>;

    /// Offers a slot at or after that instant. Returns whether anything was sent; if not, the
    /// scheme next wants a later slot, none, or this one for another purpose.
    fn carry(&mut self, slot: Slot, line: &mut Line) -> bool;

    /// The earliest time at which a code word that is still being sent may be decoded: an
    /// overtaking unit may make it earlier, but not earlier than its own slot.
    fn undecided(&self) -> Option<i64> {
        None
    }

    /// Processes all decodings at `until` or before; nothing more is sent before `until`.
    fn settle(&mut self, _until: i64, _line: &mut Line) {}

    /// Number of lost copies of reports.
    fn feedback_lost(&self) -> u64 {
        0
    }
}

impl LiveScheme for Box<dyn LiveScheme + Send> {
    delegate! { (**self) =>
        fn wants(&self, data_wait: bool) -> Option<i64>;
        fn carry(&mut self, slot: Slot, line: &mut Line) -> bool;
        fn undecided(&self) -> Option<i64>;
        fn settle(&mut self, until: i64, line: &mut Line);
        fn feedback_lost(&self) -> u64;
    }
}

/// An instant before any slot: a scheme that wants a slot from then on wants the next one.
pub const NOW: i64 = i64::MIN;

/// A live link with its scheme; built by [`LiveBuilder::link`](crate::scheme::LiveBuilder::link).
///
/// Slots are processed one by one, but only once their effects are visible outside. A unit sent in
/// a slot comes out half a round-trip time later at the earliest, so [`Link::poll_timeout`] names
/// that instant, and everything sent until then is processed in one go.
#[derive(Clone, Debug)]
pub(crate) struct LiveLink<S> {
    scheme: S,
    line: Line,
    slots: PhySlots,
    fragmentation: Fragmentation,
    amounts: Amounts,
    /// Bytes of an LLDU that carry packets, of the largest one if they differ.
    payload: NonZeroU32,
    lldu: Bytes,
    /// All slots before this time have been processed; a slot at this time may still be free.
    now: i64,
    /// The next slot that the scheme wants, later than `now`.
    next: Option<Slot>,
    /// When it used a slot last, and the slots that it left unused.
    used_at: i64,
    waits: Waits,
    /// How packets are loaded onto the slots of the trace.
    loading: Loading,
    /// 1 if a slot waits for further packets of the same instant, which share it.
    late: i64,
}

impl<S: LiveScheme> LiveLink<S> {
    /// A link over `phy` that runs `scheme`, empty at time zero.
    ///
    /// # Errors
    /// If the headers leave no room, a trace of a single slot is wrapped, or packets should take an
    /// additional LLDU, of which nobody knows the size.
    pub(crate) fn new(
        scheme: S,
        phy: PhyTrace,
        rtt: Duration,
        usage: TraceLinkConfig,
    ) -> Result<Self, Fault> {
        let one_way = span(rtt.half());
        let end = usage.duration.map_or(HORIZON, nanos);
        let loading = phy.header().loading;
        let fragmentation = usage.fragmentation.over(loading)?;
        fragmentation.payload(phy.sizes().least())?;
        let amounts = match (fragmentation.packing, phy.sizes().column()) {
            (Some(Packing::Bytes), _) => Amounts::Shared,
            (_, Some(_)) if fragmentation.extra_lldu => {
                return Err(only_traces("extra_lldu over LLDUs of different sizes"));
            }
            (_, Some(_)) => Amounts::Bytes,
            _ => Amounts::Units,
        };
        Ok(Self {
            scheme,
            line: Line {
                packets: Packets::new(usage.queue, one_way, amounts),
                counts: Counts::default(),
                log: UnitLog::default(),
                nominal: span(phy.nominal_decoding()),
                one_way,
                header: fragmentation.lldu_header.0,
                is_closed: false,
            },
            payload: fragmentation.payload(phy.lldu())?,
            fragmentation,
            amounts,
            loading,
            late: i64::from(amounts == Amounts::Shared),
            lldu: phy.lldu(),
            slots: PhySlots::new(phy, usage.start_offset, usage.wrap, end)?,
            now: 0,
            next: None,
            used_at: i64::MIN,
            waits: Waits::default(),
        })
    }

    /// Uses the slots up to `now`, except one at `now` that packets of that instant may share.
    #[inline]
    fn advance(&mut self, now: i64) {
        self.advance_through(now, now - self.late);
    }

    /// Uses the slots up to `last`, and settles everything up to `now`.
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

    /// Uses the slots that a packet arriving at `now` cannot use.
    #[inline]
    fn advance_to_arrival(&mut self, now: i64) {
        if self.loading.tick == Duration::ZERO {
            return self.advance(now);
        }
        let trace_time = self.slots.trace_time(now);
        let usable = now + (self.loading.first_usable(trace_time) - trace_time);
        self.advance_through(usable, usable - 1);
    }

    /// Size of a packet in the queue, including the packet header of the trace.
    fn queued(&self, size: Bytes) -> Bytes {
        Bytes(size.0.saturating_add(self.loading.packet_header.0))
    }

    fn use_slots(&mut self, now: i64) {
        while let Some(slot) = self.next
            && slot.t <= now
        {
            let (cursor, columns) = self.slots.split();
            let (scheme, line) = (&mut self.scheme, &mut self.line);
            if scheme.undecided().is_some_and(|at| at <= slot.t) {
                scheme.settle(slot.t, line);
            }
            if scheme.carry(slot, line) {
                cursor.used();
                self.used_at = slot.t;
            }
            let wanted = scheme.wants(line.data_wait());
            self.next = wanted.and_then(|from| cursor.first_from(columns, from.max(slot.t)));
            self.note_wait(wanted, slot.t);
        }
    }

    /// Notes at the time `now` whether packets wait although the scheme does not want the next slot.
    #[inline]
    fn note_wait(&mut self, wanted: Option<i64>, now: i64) {
        let wait = wanted != Some(NOW) && self.line.data_wait();
        if wait != self.waits.wait() {
            let until = if self.used_at == now { now } else { now - 1 };
            self.waits.note(wait, passed(&self.slots, &self.line, until));
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
        let wanted = self.scheme.wants(self.line.data_wait());
        self.next = wanted.and_then(|from| self.slots.first_from(from.max(self.now)));
        self.note_wait(wanted, self.now);
    }

    /// The packet that waits for a slot after the last one, and the time from which it cannot be
    /// sent.
    fn hopeless(&self) -> Option<(PacketId, Instant)> {
        let last = self.slots.last()?;
        let (packet, entered) = self.line.packets.first_waiting()?;
        let at = entered.max(Instant::from_nanos((last + 1).max(0) as u64));
        // The run fails only if its clock passes the last slot before the end of the run.
        (nanos(entered) < self.slots.end()).then_some((packet, at))
    }

    /// The time at which the trace ends while a packet waits.
    fn end_ahead(&self) -> Option<Instant> {
        if !self.line.packets.notices.trace_end_is_ahead() || !self.line.data_wait() {
            return None;
        }
        self.hopeless().map(|(_, at)| at)
    }

    /// The next slot in which a packet may leave the queue, if departures are reported.
    fn may_depart(&self) -> Option<Instant> {
        let packets = &self.line.packets;
        let told = packets.notices.departures_told() && packets.waiting() > 0;
        self.next.filter(|_| told).map(|slot| instant(slot.t + self.late))
    }
}

/// The slots up to `until`, that instant included, and those used; bytes if slots differ in size.
fn passed(slots: &PhySlots, line: &Line, until: i64) -> Passed {
    match slots.differ() {
        true => Passed { slots: slots.bytes_passed(until), used: line.counts.bytes },
        false => Passed { slots: slots.passed(until), used: line.counts.sent },
    }
}

impl<S: LiveScheme> Link for LiveLink<S> {
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        let entered = nanos(now);
        self.advance_to_arrival(entered);
        let amount = match self.amounts {
            Amounts::Units => self.fragmentation.lldus(self.payload, packet.size),
            Amounts::Bytes | Amounts::Shared => self.fragmentation.bytes(packet.size),
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

    /// Exact. Repair transmissions are divided evenly among the data units. If LLDUs differ in
    /// size, bytes are counted, as slots of the largest size.
    fn usage(&self, until: Instant) -> Usage {
        let (counts, until) = (&self.line.counts, nanos(until));
        let (erased, unit) = match self.slots.differ() {
            true => (counts.erased_bytes, f64::from(self.lldu.0)),
            false => (counts.erased, 1.0),
        };
        let slots = |amount: u64| amount as f64 / unit;
        let passed = passed(&self.slots, &self.line, until);
        let used = slots(passed.used);
        let LinkCounters { lldus_taken: data, bytes_carried, .. } = self.line.packets.counters();
        let pads = self.amounts == Amounts::Units;
        // A unit given up was erased as a whole.
        let kept = 1.0 - counts.given_up as f64 / data.max(1) as f64;
        let unfilled = if pads { 0 } else { counts.data_bytes.saturating_sub(bytes_carried) };
        Usage {
            slots: slots(passed.slots),
            used,
            erased: slots(erased),
            waiting: Some(slots(self.waits.unused(passed))),
            per_lldu: if data > 0 { used / data as f64 } else { 0.0 },
            slot: self.lldu,
            pads,
            padding: unfilled as f64 / f64::from(self.lldu.0) * kept,
            repairs: counts.sent_again + counts.repair > 0,
            ..Usage::NONE
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

    fn set_queue(&mut self, limit: QueueLimit) -> bool {
        self.line.packets.set_limit(limit);
        true
    }

    fn take_units(&mut self) -> Vec<Transmission> {
        self.line.log.take()
    }
}
