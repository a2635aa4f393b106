//! The carrier as a link: queues of the terminals, and slots.

use std::collections::VecDeque;
use std::sync::Arc;

use slab::Slab;

use super::channel::Channels;
use super::config::{CarrierConfig, CarrierOptions};
use super::scheduler::Scheduler;
use super::terminals::Terminals;
use crate::link::counters::Tally;
use crate::link::{
    Admission, DropReason, Instrument, Link, LinkCounters, LinkEvent, Packet, PacketId, Passed,
    QueueLimit, STALLED, TraceLinkConfig, Transit, Usage, Waits, earliest, instant, nanos, span,
};
use crate::seed::{Seed, Stream};
use crate::units::{BitRate, Bytes, Instant};

/// A carrier that terminals share. Slot n begins at n times the duration of a slot, and what it
/// carries arrives one propagation delay after its end.
///
/// Slots are processed one after the other, but only those in which something may be sent, and only
/// once time has passed their start: packets of that instant share the slot.
#[derive(Debug)]
pub struct CarrierLink {
    options: CarrierOptions,
    grid: SlotGrid,
    /// The terminal of each flow.
    flows: Arc<[u32]>,
    queue: QueueLimit,
    header: u32,
    delay: i64,
    scheduler: Box<dyn Scheduler>,
    channels: Channels,
    view: Terminals,
    queues: Vec<TerminalQueue>,
    /// The slots of a frame, and the number of the frame.
    plan: Vec<Option<u32>>,
    planned: Option<u64>,
    /// All slots before this one have passed.
    next: u64,
    /// Packets in the carrier.
    packets: Slab<Held>,
    /// Parts of lost slots, with the time from which they are sent again; in order.
    returning: VecDeque<(i64, u32, Part)>,
    /// Ends of packets, in order.
    ends: VecDeque<LinkEvent>,
    /// Departures of packets, in order, if asked for.
    departures: Option<VecDeque<(i64, PacketId)>>,
    counters: LinkCounters,
    tally: Tally,
    details: Details,
    waits: Waits,
}

/// The times of the slots: `slots` of them take `nanos`, in lowest terms, so that products mostly fit
/// into 64 bits.
#[derive(Clone, Copy, Debug)]
struct SlotGrid {
    nanos: u64,
    slots: u64,
}

#[derive(Clone, Debug, Default)]
struct TerminalQueue {
    /// Packets of which bytes wait to be sent for the first time.
    packets: VecDeque<u32>,
    /// Bytes of the first of them that have been sent.
    sent: u32,
    /// Bytes to be sent again, ready.
    again: VecDeque<Part>,
    /// Bytes of the packets that wait as a whole.
    bytes: u64,
}

/// A packet in the carrier.
#[derive(Clone, Copy, Debug)]
struct Held {
    transit: Transit,
    /// Bytes with headers.
    bytes: u32,
    /// Bytes that have neither arrived nor been given up.
    missing: u32,
    is_lost: bool,
}

/// A part of a packet in a slot.
#[derive(Clone, Copy, Debug)]
struct Part {
    packet: u32,
    bytes: u32,
    /// How often it was sent before.
    tries: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Details {
    /// Slots that carried something.
    used: u64,
    /// Parts of packets in slots.
    parts: u64,
    /// Slots assigned to a terminal that had nothing to send.
    idle: u64,
    lost: u64,
    bytes_again: u64,
    /// Bytes of the slots that arrived: without anything, or of headers; and what fades took.
    padding: u64,
    faded: u64,
}

impl SlotGrid {
    /// Of slots of at most 65,535 bytes.
    fn new(slot: Bytes, rate: BitRate) -> Self {
        let (bits, rate) = (u64::from(slot.0) * 8_000_000_000, rate.bits_per_second());
        let (mut divisor, mut rest) = (bits, rate);
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        Self { nanos: bits / divisor, slots: rate / divisor }
    }

    /// Start of a slot, exact to the nanosecond.
    fn start(self, slot: u64) -> i64 {
        scale(slot, self.nanos, self.slots) as i64
    }

    /// The first slot that begins at `time` or later.
    fn slot_from(self, time: i64) -> u64 {
        let slot = scale(time.max(0) as u64, self.slots, self.nanos);
        (slot..).find(|&slot| self.start(slot) >= time).unwrap_or(slot)
    }
}

/// `number` times `by`, divided by `over` and rounded down.
fn scale(number: u64, by: u64, over: u64) -> u64 {
    match number.checked_mul(by) {
        Some(product) => product / over,
        None => (u128::from(number) * u128::from(by) / u128::from(over)) as u64,
    }
}

impl CarrierLink {
    pub(super) fn new(
        config: &CarrierConfig,
        usage: TraceLinkConfig,
        seed: Seed,
        number: u32,
    ) -> Self {
        let CarrierConfig { options, terminals: flows } = config;
        let count = options.terminals as usize;
        let rng = seed.rng(Stream::OwnScheduler(number));
        let scheduler = options.scheduler.parameters().build(options, rng);
        Self {
            grid: SlotGrid::new(options.slot, options.rate),
            flows: Arc::clone(flows),
            queue: usage.queue,
            header: usage.fragmentation.packet_header.0,
            delay: span(options.delay),
            channels: Channels::new(options, seed, number),
            view: Terminals::new(count, options.slot.0),
            queues: vec![TerminalQueue::default(); count],
            plan: vec![None; scheduler.slots()],
            scheduler,
            planned: None,
            next: 0,
            packets: Slab::new(),
            returning: VecDeque::new(),
            ends: VecDeque::new(),
            departures: None,
            counters: LinkCounters::default(),
            tally: Tally::default(),
            details: Details::default(),
            waits: Waits::default(),
            options: options.clone(),
        }
    }

    fn terminal(&self, flow: u32) -> usize {
        let own = self.flows.get(flow as usize).copied().unwrap_or(flow);
        (own % self.options.terminals) as usize
    }

    /// Processes the slots that begin before `until`.
    fn advance(&mut self, until: i64) {
        let frame = self.plan.len() as u64;
        loop {
            let ready = self.returning.front().map(|&(ready, ..)| ready);
            if self.view.is_empty() && !self.scheduler.is_busy(self.next / frame) {
                let from = ready.unwrap_or(i64::MAX).min(until);
                self.next = self.next.max(self.grid.slot_from(from));
            }
            let start = self.grid.start(self.next);
            if start >= until {
                return;
            }
            while let Some(&(ready, terminal, part)) = self.returning.front()
                && ready <= start
            {
                self.returning.pop_front();
                self.queues[terminal as usize].again.push_back(part);
                self.view.add(terminal as usize, u64::from(part.bytes));
            }
            self.note_wait();
            self.plan_frame(self.next / frame, start);
            if let Some(terminal) = self.plan[(self.next % frame) as usize] {
                self.use_slot(self.next, start, terminal as usize);
            }
            self.next += 1;
            self.note_wait();
        }
    }

    /// Notes whether packets wait before the next slot.
    #[inline]
    fn note_wait(&mut self) {
        let now = self.passed();
        self.waits.note(!self.view.is_empty(), now);
    }

    fn passed(&self) -> Passed {
        Passed { slots: self.next, used: self.details.used }
    }

    /// Has the scheduler assign the slots of a frame, unless it has done so.
    fn plan_frame(&mut self, frame: u64, now: i64) {
        if self.planned == Some(frame) {
            return;
        }
        self.planned = Some(frame);
        if self.channels.fade() {
            let waiting: Vec<usize> = self.view.all_waiting().collect();
            for terminal in waiting {
                let faded = self.channels.faded(terminal, now);
                self.view.set_room(terminal, faded.unwrap_or(self.options.slot.0));
            }
        }
        self.plan.fill(None);
        self.scheduler.assign(frame, &self.view, &mut self.plan);
    }

    fn use_slot(&mut self, slot: u64, start: i64, terminal: usize) {
        if self.view.waiting(terminal) == 0 {
            self.details.idle += 1;
            return;
        }
        let faded = self.channels.faded(terminal, start);
        let mut room = faded.unwrap_or(self.options.slot.0);
        let is_lost = self.channels.loses(terminal, slot, faded.is_some());
        let end = self.grid.start(slot + 1);
        let (arrives, reported) = (end + self.delay, end + 2 * self.delay);
        self.details.used += 1;
        self.details.lost += u64::from(is_lost);
        let all = room;
        while room > 0
            && let Some(part) = self.next_part(terminal, room, start)
        {
            room -= part.bytes;
            self.details.parts += 1;
            self.packets[part.packet as usize].transit.lldus += 1;
            if is_lost && part.tries < self.options.retransmissions {
                let part = Part { tries: part.tries + 1, ..part };
                self.returning.push_back((reported, terminal as u32, part));
                continue;
            }
            let held = &mut self.packets[part.packet as usize];
            held.missing -= part.bytes;
            held.is_lost |= is_lost;
            if held.missing == 0 {
                let transit = Transit { at: instant(arrives), ..held.transit };
                let is_lost = held.is_lost;
                if !is_lost {
                    self.details.padding += u64::from(held.bytes.saturating_sub(transit.size.0));
                }
                self.packets.remove(part.packet as usize);
                self.counters.lldus_taken += u64::from(transit.lldus);
                self.ends.push_back(match is_lost {
                    true => LinkEvent::Lost(transit),
                    false => LinkEvent::Delivered(transit),
                });
            }
        }
        if !is_lost {
            self.details.padding += u64::from(room);
            self.details.faded += u64::from(self.options.slot.0.saturating_sub(all));
        }
        self.view.take(terminal, u64::from(all - room));
        self.scheduler.served(terminal, all - room);
    }

    /// Takes what a terminal sends next, at most `room` bytes.
    fn next_part(&mut self, terminal: usize, room: u32, now: i64) -> Option<Part> {
        let queue = &mut self.queues[terminal];
        if let Some(first) = queue.again.front_mut() {
            let part = Part { bytes: first.bytes.min(room), ..*first };
            first.bytes -= part.bytes;
            if first.bytes == 0 {
                queue.again.pop_front();
            }
            self.details.bytes_again += u64::from(part.bytes);
            return Some(part);
        }
        let &packet = queue.packets.front()?;
        let held = &mut self.packets[packet as usize];
        if queue.sent == 0 {
            held.transit.departed = instant(now);
            queue.bytes -= u64::from(held.bytes);
            self.counters.bytes_carried += u64::from(held.transit.size.0);
            if let Some(departures) = &mut self.departures {
                departures.push_back((now + 1, held.transit.packet));
            }
        }
        let bytes = (held.bytes - queue.sent).min(room);
        queue.sent += bytes;
        if queue.sent == held.bytes {
            queue.packets.pop_front();
            queue.sent = 0;
        }
        Some(Part { packet, bytes, tries: 0 })
    }

    /// Whether a packet of `size` has room in the queue of a terminal.
    fn has_room_at(&self, terminal: usize, size: Bytes) -> bool {
        let queue = &self.queues[terminal];
        self.queue.has_room(queue.waiting(), queue.bytes, size)
    }
}

impl TerminalQueue {
    /// Packets that wait as a whole.
    fn waiting(&self) -> usize {
        self.packets.len() - usize::from(self.sent > 0)
    }
}

impl Link for CarrierLink {
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        let entered = nanos(now);
        self.advance(entered);
        // Requests at the start of a frame do not know of packets that come later.
        let frame = self.plan.len() as u64;
        if !self.next.is_multiple_of(frame) {
            self.plan_frame(self.next / frame, self.grid.start(self.next - self.next % frame));
        }
        self.counters.offered += 1;
        let terminal = self.terminal(packet.flow);
        let bytes = packet.size.0.saturating_add(self.header).max(1);
        if !self.has_room_at(terminal, Bytes(bytes)) {
            self.counters.dropped += 1;
            return Admission::Dropped(DropReason::QueueFull);
        }
        let order = self.counters.offered - self.counters.dropped - 1;
        let transit = Transit {
            packet: packet.id,
            size: packet.size,
            lldus: 0,
            order,
            entered: now,
            departed: now,
            at: now,
        };
        let held = Held { transit, bytes, missing: bytes, is_lost: false };
        let place = self.packets.insert(held) as u32;
        let queue = &mut self.queues[terminal];
        queue.packets.push_back(place);
        queue.bytes += u64::from(bytes);
        let length = queue.waiting() as u64;
        self.counters.longest_queue = self.counters.longest_queue.max(length);
        self.view.add(terminal, u64::from(bytes));
        self.note_wait();
        Admission::Queued
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let ready = self.returning.front().map(|&(ready, ..)| ready);
        let is_active =
            !self.view.is_empty() || self.scheduler.is_busy(self.next / self.plan.len() as u64);
        let slot = match is_active {
            true => Some(self.next),
            false => ready.map(|ready| self.next.max(self.grid.slot_from(ready))),
        };
        // What a slot carries arrives a propagation delay after its end.
        let seen = slot.map(|slot| instant(self.grid.start(slot + 1) + self.delay));
        let known = earliest(seen, self.ends.front().map(LinkEvent::at));
        let Some(departures) = &self.departures else { return known };
        let departs = departures.front().map(|&(at, _)| at);
        let may = slot.map(|slot| self.grid.start(slot) + 1);
        earliest(known, earliest(departs, may).map(instant))
    }

    fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        self.advance(nanos(now));
        let departure = self.departures.as_ref().and_then(|all| all.front().copied());
        if let Some((at, packet)) = departure.filter(|&(at, _)| instant(at) <= now)
            && self.ends.front().is_none_or(|end| instant(at) <= end.at())
        {
            self.departures.as_mut().map(VecDeque::pop_front);
            return Some(LinkEvent::Departed { packet, at: instant(at) });
        }
        self.ends.front().filter(|end| end.at() <= now)?;
        let event = self.ends.pop_front();
        event.iter().for_each(|event| self.tally.record(event));
        event
    }

    fn has_room(&mut self, now: Instant, size: Bytes) -> bool {
        self.advance(nanos(now));
        let size = Bytes(size.0.saturating_add(self.header));
        (0..self.queues.len()).all(|terminal| self.has_room_at(terminal, size))
    }

    fn notify_departures(&mut self) {
        self.departures = Some(VecDeque::new());
    }
}

impl Instrument for CarrierLink {
    fn queue_len(&self, _: Instant) -> usize {
        self.queues.iter().map(TerminalQueue::waiting).sum()
    }

    fn counters(&self) -> LinkCounters {
        self.tally.replace_in(self.counters)
    }

    fn usage(&self, until: Instant) -> Usage {
        let Details { used, parts, lost, padding, faded, .. } = self.details;
        let slots = |bytes: u64| bytes as f64 / f64::from(self.options.slot.0);
        Usage {
            slots: self.grid.slot_from(nanos(until)) as f64,
            used: used as f64,
            erased: lost as f64,
            waiting: Some(self.waits.unused(self.passed()) as f64),
            per_lldu: if parts > 0 { used as f64 / parts as f64 } else { 1.0 },
            slot: self.options.slot,
            padding: slots(padding),
            faded: slots(faded),
            ..Usage::NONE
        }
    }

    fn details(&self) -> Vec<(&'static str, u64)> {
        let Details { idle, lost, bytes_again, .. } = self.details;
        vec![
            ("slots_unused", idle),
            (STALLED, self.waits.unused(self.passed())),
            ("slots_lost", lost),
            ("bytes_sent_again", bytes_again),
        ]
    }

    fn catch_up(&mut self, until: Instant) {
        self.advance(nanos(until));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn slots_begin_when_their_bits_are_due(
            bytes in 1u32..65_536,
            rate in prop_oneof![1u64..1_000_000_000_000, Just(2_000_000), Just(1_000_000_000)],
            slot in 0u64..1 << 30,
            time in 0i64..1 << 45,
        ) {
            let rate = BitRate::from_bits_per_second(rate).unwrap();
            let grid = SlotGrid::new(Bytes(bytes), rate);
            let bits = u128::from(slot) * u128::from(bytes) * 8_000_000_000;
            prop_assert_eq!(grid.start(slot), (bits / u128::from(rate.bits_per_second())) as i64);
            let first = grid.slot_from(time);
            prop_assert!(grid.start(first) >= time);
            prop_assert!(first == 0 || grid.start(first - 1) < time);
        }
    }
}
