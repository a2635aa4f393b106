//! The open-loop link: packets over a link trace.

use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

use crate::config::Fault;
use crate::link::allocator::{Fate, LlduAllocator, Taken};
use crate::link::clock::SlotClock;
use crate::link::counters::Tally;
use crate::link::due::{Due, DueQueue, Notices};
use crate::link::queue::{DepartureQueue, QueueLimit, Waiting};
use crate::link::{
    Admission, DropReason, HORIZON, Instrument, Link, LinkCounters, LinkEvent, Packet, PacketId,
    Transit, Usage, earliest, instant, nanos, no_room, span,
};
use crate::trace::{LinkSizes, LinkTrace, Loading, Packing};
use crate::units::{Bytes, Duration, Instant};

/// A link that carries packets over a link trace (DESIGN section 5, open loop).
///
/// A packet takes consecutive data LLDUs from the first free one at or after its arrival. Packed by
/// bytes, it starts in the last LLDU of the previous packet, if there is room and it arrived in
/// time. If LLDUs differ in size, it takes as many as it needs. It is delivered at `max(t + d') +
/// RTT/2` of them. If one is lost, it is given up at the `max` of `t + d'` and `t + lost`, + RTT/2.
/// If one is censored (even beside a lost one), or the trace has too few left, it stays pending.
/// Its fate is known on arrival, so [`Link::poll`] only returns results in order of time; results
/// of one instant are in order of admission.
#[derive(Clone, Debug)]
pub struct TraceLink {
    trace: Arc<LinkTrace>,
    cursor: LlduAllocator,
    queue: DepartureQueue,
    due: DueQueue,
    fragmentation: Fragmentation,
    payload: NonZeroU32,
    /// Whether packets take whole LLDUs, all of one size.
    is_plain: bool,
    one_way: i64,
    clock: SlotClock,
    /// Bytes of the LLDUs used by packets, if LLDUs differ in size.
    bytes_taken: u64,
    /// 1 if packets may share the LLDU of the instant at which they arrive: a packet in it leaves
    /// the queue after that instant.
    late: i64,
    end: i64,
    notices: Notices,
    admitted: u64,
    counters: LinkCounters,
    tally: Tally,
}

/// How a [`TraceLink`] uses its trace.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TraceLinkConfig {
    /// Limit of the queue.
    pub queue: QueueLimit,
    /// How packets are split into LLDUs.
    pub fragmentation: Fragmentation,
    /// Trace time at time zero of the run; LLDUs before it do not exist. With `wrap` it may be
    /// longer than the trace.
    pub start_offset: Duration,
    /// Repeat the trace with period last slot - first slot + median gap. Repairs do not cross the
    /// boundary between repetitions.
    pub wrap: bool,
    /// End of the run: LLDUs after it are ignored.
    pub duration: Option<Instant>,
}

/// How packets are split into LLDUs. Packed by packets: `ceil((packet + packet header) / (LLDU -
/// LLDU header))`, at least 1, plus one if `extra_lldu`. Packed by bytes: contiguously.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Fragmentation {
    /// Bytes of each LLDU that do not carry packets.
    pub lldu_header: Bytes,
    /// Bytes added to each packet.
    pub packet_header: Bytes,
    /// Count as in Kuhn's CLIFT paper, section IV-A, from n to n + m inclusive: 47 LLDUs of 33
    /// bytes for 1500 bytes instead of 46.
    pub extra_lldu: bool,
    /// How packets share LLDUs; default: the packing of the trace, else none is shared.
    pub packing: Option<Packing>,
}

impl Fragmentation {
    /// The fragmentation over a trace with its own loading.
    ///
    /// # Errors
    /// If packets that share LLDUs should take one additional LLDU each.
    pub(crate) fn over(self, trace: Loading) -> Result<Self, Fault> {
        let packing = self.packing.or(trace.packing).unwrap_or_default();
        if self.extra_lldu && packing == Packing::Bytes {
            let cure = "needs whole LLDUs per packet; remove it, or give packing = \"packet\"";
            return Err(Fault::at(format!("extra_lldu {cure}")));
        }
        let header = self.packet_header.0.saturating_add(trace.packet_header.0);
        Ok(Self { packet_header: Bytes(header), packing: Some(packing), ..self })
    }

    /// Bytes of a packet of `size` on the link.
    #[inline]
    pub(crate) fn bytes(self, size: Bytes) -> u64 {
        u64::from(size.0) + u64::from(self.packet_header.0)
    }

    /// Bytes of an LLDU that carry packets.
    pub(crate) fn payload(self, lldu: Bytes) -> Result<NonZeroU32, Fault> {
        let (lldu, header) = (lldu.0, self.lldu_header.0);
        let payload = lldu.checked_sub(header).and_then(NonZeroU32::new);
        payload.ok_or_else(|| no_room(lldu, header))
    }

    /// Number of LLDUs needed for a packet of `size` bytes.
    #[inline]
    pub(crate) fn lldus(self, payload: NonZeroU32, size: Bytes) -> u64 {
        let lldus = self.bytes(size).div_ceil(u64::from(payload.get())).max(1);
        lldus + u64::from(self.extra_lldu)
    }

    /// LLDUs of `lldu` bytes for a packet of `size` bytes, and the share of their payload that pads
    /// the last of them: 0 if packets share LLDUs.
    ///
    /// # Errors
    /// If LLDU headers leave no room.
    pub(crate) fn padding(self, lldu: Bytes, size: Bytes) -> Result<(u64, f64), Fault> {
        let payload = self.payload(lldu)?;
        let lldus = Self { extra_lldu: false, ..self }.lldus(payload, size);
        let used = self.bytes(size) as f64 / (lldus * u64::from(payload.get())) as f64;
        Ok((lldus, if self.packing == Some(Packing::Bytes) { 0.0 } else { 1.0 - used }))
    }
}

impl TraceLink {
    /// A link over `trace`, empty at time zero.
    ///
    /// Times beyond 2^61 ns are not simulated.
    ///
    /// # Errors
    /// If LLDU headers leave no room, or a trace of a single slot is wrapped.
    pub fn new(trace: Arc<LinkTrace>, config: TraceLinkConfig) -> Result<Self, Fault> {
        let parts = trace.parts();
        let fragmentation = config.fragmentation.over(parts.loading)?;
        let payload = fragmentation.payload(parts.lldu)?;
        if let Some(sizes) = &parts.sizes {
            fragmentation.payload(sizes.lldus.least())?;
        }
        let period = (parts.span.1 - parts.span.0 + parts.gap).max(0) as u64;
        let period = config.wrap.then_some(Duration::from_nanos(period));
        let clock = SlotClock::new(parts.span.0, config.start_offset, period)?.over(&parts.t);
        let end = config.duration.map_or(HORIZON, nanos);
        Ok(Self {
            cursor: LlduAllocator::new(Arc::clone(&trace), clock, end, fragmentation.lldu_header),
            bytes_taken: 0,
            clock,
            late: i64::from(fragmentation.packing == Some(Packing::Bytes)),
            end,
            queue: DepartureQueue::new(config.queue),
            due: DueQueue::default(),
            fragmentation,
            payload,
            is_plain: fragmentation.packing != Some(Packing::Bytes) && parts.sizes.is_none(),
            one_way: span(parts.rtt.half()),
            notices: Notices::default(),
            admitted: 0,
            counters: LinkCounters::default(),
            tally: Tally::default(),
            trace,
        })
    }

    /// Number of data LLDUs needed for a packet of `size` without sharing; if LLDUs differ in size,
    /// of the largest ones.
    #[inline]
    pub fn lldus_for(&self, size: Bytes) -> u64 {
        self.fragmentation.lldus(self.payload, size)
    }

    /// Nothing leaves it sooner than this after its arrival, but the end of the trace may be reported at any
    /// time ([`TraceLink::has_notices`]).
    pub(crate) fn lead(&self) -> Duration {
        Duration::from_nanos(self.one_way as u64)
    }

    /// When the packet came that ends next.
    #[inline]
    pub(crate) fn next_entered(&self) -> Instant {
        self.due.first().map_or(Instant::ZERO, |due| due.transit.entered)
    }

    /// Packets end in their order as long as `ends` says so of the next, `most` at most, but all of the first
    /// instant. The link must tell of nothing else.
    #[inline(always)] // called in one place
    pub(crate) fn end_while(&mut self, most: usize, mut ends: impl FnMut(&Due) -> bool) {
        let Self { due, tally, .. } = self;
        due.take_while(most, |due| {
            let ends = ends(due);
            if ends {
                tally.count(due);
            }
            ends
        });
    }

    /// Whether an event other than the end of a packet comes.
    #[inline]
    pub(crate) fn has_notices(&self) -> bool {
        self.notices.next_at().is_some()
    }

    /// The link trace.
    pub fn trace(&self) -> &Arc<LinkTrace> {
        &self.trace
    }

    /// The earliest run time of an LLDU usable by a packet that arrives at `now`.
    #[inline(always)] // called for every packet: a call costs as much as what it does
    fn first_usable(&self, now: i64) -> i64 {
        let loading = &self.trace.parts().loading;
        if loading.tick == Duration::ZERO {
            return now;
        }
        let trace_time = self.clock.trace_time(now);
        now + (loading.first_usable(trace_time) - trace_time)
    }

    /// Departures up to this time precede an arrival at `now`, which may use LLDUs from `usable` on.
    #[inline]
    fn gone_by(&self, now: i64, usable: i64) -> i64 {
        if usable > now { usable - 1 } else { now - self.late }
    }

    /// Size of a packet in the queue, including the packet header of the trace.
    #[inline]
    fn queued(&self, size: Bytes) -> Bytes {
        Bytes(size.0.saturating_add(self.trace.parts().loading.packet_header.0))
    }

    fn take(&mut self, usable: i64, size: Bytes) -> Taken {
        match self.fragmentation.packing {
            Some(Packing::Bytes) => {
                self.cursor.fill(usable, self.fragmentation.bytes(size), self.payload)
            }
            _ if self.trace.parts().sizes.is_some() => {
                let extra = u64::from(self.fragmentation.extra_lldu);
                self.cursor.take_bytes(usable, self.fragmentation.bytes(size), extra)
            }
            _ => self.cursor.take(usable, self.lldus_for(size)),
        }
    }

    /// A packet that the queue has room for takes LLDUs by whichever rule, with losses or none.
    #[inline(never)] // what few packets need would take the registers of all
    fn enqueue_by_any_rule(&mut self, now: Instant, packet: PacketId, size: Bytes) {
        let taken = self.take(self.first_usable(nanos(now)), size);
        if let Some(sizes) = &self.trace.parts().sizes {
            self.bytes_taken += self.cursor.last_bytes(&sizes.lldus, taken.lldus);
        }
        self.admit(now, packet, size, taken);
    }

    /// Notes a packet that took its LLDUs.
    #[inline(always)] // as `first_usable`
    fn admit(&mut self, now: Instant, packet: PacketId, size: Bytes, taken: Taken) {
        let (entered, queued) = (nanos(now), self.queued(size));
        let Taken { first, lldus, fate } = taken;
        let departure = first.unwrap_or(i64::MAX);
        self.counters.lldus_taken += lldus;
        let lldus = u32::try_from(lldus).unwrap_or(u32::MAX);
        if departure.saturating_add(self.late) > entered {
            self.queue.push(Waiting { departure, size: queued });
            self.counters.longest_queue = self.counters.longest_queue.max(self.queue.len() as u64);
        }
        let order = self.admitted;
        self.admitted += 1;
        if let Some(first) = first {
            self.counters.bytes_carried += u64::from(size.0);
            self.notices.departs(packet, instant(first + self.late));
        }
        let (at, lost) = match fate {
            Fate::Delivered(at) => (at, false),
            Fate::Lost(at) => (at, true),
            Fate::Censored => return,
            Fate::RanOut => return self.ran_out(entered, packet),
        };
        let transit = Transit {
            packet,
            size,
            lldus,
            order,
            entered: now,
            departed: instant(departure),
            at: instant(at + self.one_way),
        };
        self.due.push(Due { transit, lost });
    }

    fn usage_in_bytes(&self, sizes: &LinkSizes, until: i64) -> Usage {
        let (slot, lldus) = (self.trace.parts().lldu, self.counters.lldus_taken);
        let (ahead, passed) = self.cursor.bytes(&sizes.lldus, lldus, until);
        let data = sizes.lldus.before(self.trace.len()) as f64;
        // A slot counts by its bytes, and a byte of data includes its share of the repairs.
        let slots =
            |bytes: u64, share: u64| bytes as f64 * (share as f64 / data) / f64::from(slot.0);
        let on_air = self.bytes_taken.saturating_sub(ahead).min(passed);
        let taken = slots(self.bytes_taken, sizes.used);
        let delivered = self.counters().lldus_delivered;
        Usage {
            slots: slots(passed, sizes.all),
            used: slots(on_air, sizes.used),
            erased: slots(on_air, sizes.used) * self.trace.share_erased(),
            per_lldu: if delivered > 0 { taken / delivered as f64 } else { 0.0 },
            slot,
            padding: on_air as f64 / f64::from(slot.0) * self.share_unfilled(self.bytes_taken),
            repairs: sizes.used as f64 > data,
            ..Usage::NONE
        }
    }

    /// Share of the bytes of the data LLDUs taken, `bytes`, that carries none of a packet.
    fn share_unfilled(&self, bytes: u64) -> f64 {
        (1.0 - self.counters.bytes_carried as f64 / bytes.max(1) as f64).max(0.0)
    }

    fn ran_out(&mut self, now: i64, packet: PacketId) {
        // The run fails only if its clock passes the last slot, which lasts until the next one would
        // start, before the end of the run.
        let parts = self.trace.parts();
        let last = parts.span.1 - self.clock.offset();
        let ends = now.max(last.saturating_add(parts.gap));
        let over = self.clock.period().is_some() || ends >= self.end;
        if !over {
            self.notices.trace_ends(packet, instant(now.max(last + 1)));
        }
    }
}

impl Link for TraceLink {
    #[inline(always)] // called for every packet: a call costs as much as what it does
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        let Packet { id: packet, size, .. } = packet;
        let entered = nanos(now);
        self.counters.offered += 1;
        let usable = self.first_usable(entered);
        self.queue.advance(self.gone_by(entered, usable));
        if !self.queue.has_room(self.queued(size)) {
            self.counters.dropped += 1;
            return Admission::Dropped(DropReason::QueueFull);
        }
        if self.is_plain {
            let lldus = self.lldus_for(size);
            if let Some((first, at)) = self.cursor.take_delivered(usable, lldus) {
                self.admit(now, packet, size, Taken::delivered(first, lldus, at));
                return Admission::Queued;
            }
        }
        self.enqueue_by_any_rule(now, packet, size);
        Admission::Queued
    }

    #[inline(always)] // as `enqueue`
    fn poll_timeout(&self) -> Option<Instant> {
        earliest(self.due.next_at(), self.notices.next_at())
    }

    #[inline(always)] // as `enqueue`
    fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        if self.notices.next_at().is_some()
            && let Some(notice) = self.notices.tell(now, self.due.next_at())
        {
            return Some(notice);
        }
        let due = self.due.pop(now)?;
        self.tally.count(&due);
        Some(due.event())
    }

    fn has_room(&mut self, now: Instant, size: Bytes) -> bool {
        let now = nanos(now);
        self.queue.advance(self.gone_by(now, self.first_usable(now)));
        self.queue.has_room(self.queued(size))
    }

    fn notify_departures(&mut self) {
        self.notices.tell_departures();
    }
}

impl Instrument for TraceLink {
    fn queue_len(&self, now: Instant) -> usize {
        let now = nanos(now);
        self.queue.waiting_at(self.gone_by(now, self.first_usable(now))).len()
    }

    fn counters(&self) -> LinkCounters {
        self.tally.replace_in(self.counters)
    }

    /// Data LLDUs are counted one by one, those that passed and those used by packets; each stands
    /// for its share of the slots that passed. If LLDUs differ in size, bytes are counted, as slots of
    /// the largest size.
    fn usage(&self, until: Instant) -> Usage {
        let parts = self.trace.parts();
        if let Some(sizes) = &parts.sizes {
            return self.usage_in_bytes(sizes, nanos(until).min(self.end));
        }
        let until = nanos(until).min(self.end);
        let Range { start, end } = self.clock.passing(&parts.t, until);
        let passed = end - start;
        let slots = self.trace.slots_before(end) - self.trace.slots_before(start);
        let share_used = parts.slots_used as f64 / parts.slots as f64;
        let per_lldu = if passed > 0 { slots / passed as f64 * share_used } else { 0.0 };
        let ahead = self.cursor.taken_after(until);
        let taken = self.counters.lldus_taken;
        let on_air = taken.saturating_sub(ahead).min(passed);
        let pads = self.fragmentation.packing != Some(Packing::Bytes);
        let unfilled = match pads {
            true => 0.0,
            false => self.share_unfilled(taken * u64::from(parts.lldu.0)),
        };
        Usage {
            slots,
            used: on_air as f64 * per_lldu,
            erased: on_air as f64 * per_lldu * self.trace.share_erased(),
            per_lldu,
            slot: parts.lldu,
            pads,
            padding: on_air as f64 * unfilled,
            repairs: per_lldu > 1.0,
            ..Usage::NONE
        }
    }

    fn set_queue(&mut self, limit: QueueLimit) -> bool {
        self.queue.set_limit(limit);
        true
    }
}

#[cfg(test)]
mod tests;
