//! Erasure coding above the link: an encoder before a link, a decoder behind it.
//!
//! Real packets are not coded. A decoder can rebuild a packet if the equations that arrived determine
//! it, which depends on their coefficients alone; the decoder here solves the same equations without
//! the payload.

mod config;
mod decoder;
mod encoder;
mod system;
#[cfg(test)]
mod tests;

pub use config::{Code, Coding};

use std::collections::VecDeque;

use crate::config::delegate;
use crate::link::counters::Tally;
use crate::link::{
    Admission, DropReason, Instrument, Link, LinkCounters, LinkEvent, Packet, PacketId,
    Propagation, QueueLimit, Usage, earliest,
};
use crate::seed::{KeyedRandom, Seed, Stream};
use crate::units::{Bytes, Duration, Ecn, Instant};
use decoder::{Decoder, Told};
use encoder::{Coefficients, Encoder, Repair, Report};

/// The link `L` between the encoder and the decoder of an erasure code (RFC 8680: forward erasure
/// correction above the network layer).
///
/// Source packets pass at once, systematically. Repair packets follow them into the queue of `L`.
/// [`LinkEvent::Delivered`] of a rebuilt packet has the time at which it was rebuilt and released. A
/// packet that a queue of `L` drops is admitted, for repair packets may bring it back; if they do
/// not, it is reported as lost and counts as dropped.
///
/// ```
/// use clift::link::{Coded, Coding, InstrumentedLink, Link, Propagation};
/// use clift::seed::Seed;
/// fn protected(link: impl InstrumentedLink, back: Propagation) -> impl Link {
///     Coded::around(link, &Coding { window: 32, ..Coding::default() }, back, Seed(1), 0)
/// }
/// ```
#[derive(Debug)]
pub struct Coded<L> {
    inner: L,
    encoder: Encoder,
    decoder: Decoder,
    header: u32,
    reports: Reports,
    /// Packets on the link, from the number `base` on.
    on_link: VecDeque<Option<OnLink>>,
    base: u64,
    /// The last source packet.
    last: Packet,
    tells_departures: bool,
    offered: u64,
    dropped: u64,
    repairs_dropped: u64,
    /// Bytes and LLDUs of repair packets that crossed the link.
    repaired: (u64, u64),
    tally: Tally,
}

/// A packet on the link.
#[derive(Clone, Copy, Debug)]
enum OnLink {
    /// A source packet, and the first packet that what is sent later can cover.
    Source {
        number: u64,
        first: u64,
    },
    Repair(Repair),
}

/// The way of reports from the decoder to the encoder.
#[derive(Debug)]
struct Reports {
    /// Time between reports; `None`: the encoder wants none.
    interval: Option<Duration>,
    back: Propagation,
    /// When the next one is sent.
    due: Option<Instant>,
    /// Those on their way, with their arrival.
    on_the_way: VecDeque<(Instant, Report)>,
    sent: u64,
}

impl<L: Link + Instrument> Coded<L> {
    /// `inner` between an encoder and a decoder. Reports take `back`, unless `coding` gives their
    /// time. `number` tells the links of a run apart.
    pub fn around(
        mut inner: L,
        coding: &Coding,
        back: Propagation,
        seed: Seed,
        number: u32,
    ) -> Self {
        inner.notify_departures();
        let coefficients = match coding.code {
            Code::Rlc => Coefficients::Random(KeyedRandom::of(seed.rng(Stream::Coding(number)))),
            Code::Block => Coefficients::Cauchy,
        };
        Self {
            inner,
            encoder: Encoder::new(coding),
            decoder: Decoder::new(coefficients, coding.window, coding.in_order, coding.hold),
            header: coding.header.0,
            reports: Reports {
                interval: coding.wants_reports().then_some(coding.report),
                back: coding.feedback.map_or(back, Propagation::Fixed),
                due: None,
                on_the_way: VecDeque::new(),
                sent: 0,
            },
            on_link: VecDeque::new(),
            base: 0,
            last: Packet::new(PacketId(0), Bytes(0)),
            tells_departures: false,
            offered: 0,
            dropped: 0,
            repairs_dropped: 0,
            repaired: (0, 0),
            tally: Tally::default(),
        }
    }

    /// Size of a packet with the header of the code.
    fn with_header(&self, size: Bytes) -> Bytes {
        Bytes(size.0.saturating_add(self.header))
    }

    /// Number of the next packet put onto the link.
    fn number(&self) -> u64 {
        self.base + self.on_link.len() as u64
    }

    fn next(&self) -> Option<Instant> {
        let reports = earliest(self.reports.due, self.reports.on_the_way.front().map(|one| one.0));
        let timers = earliest(self.encoder.flush_at(), self.decoder.deadline());
        earliest(earliest(reports, timers), self.inner.poll_timeout())
    }

    /// Works off what is due up to `now`, in order of time. At one instant packets arrive first.
    fn run(&mut self, now: Instant) {
        while let Some(at) = self.next().filter(|at| *at <= now) {
            while let Some(event) = self.inner.poll(at) {
                self.handle(event);
            }
            let is_more = !self.on_link.is_empty();
            self.decoder.expire(at, is_more);
            if self.reports.due.is_some_and(|due| due <= at) {
                self.reports.send(self.decoder.report(), at);
            }
            while let Some(report) = self.reports.arrived(at) {
                let count = self.encoder.hear(report);
                self.send_repairs(count, at);
            }
            let count = self.encoder.flush(at);
            self.send_repairs(count, at);
        }
    }

    /// Puts `count` repair packets over the source packets so far onto the link.
    fn send_repairs(&mut self, count: u64, now: Instant) {
        for index in 0..count {
            let number = self.number();
            let Some((repair, size)) = self.encoder.repair(index, number) else { return };
            let packet =
                Packet { id: PacketId(number), size, carries: None, ecn: Ecn::NotEct, ..self.last };
            let is_queued = self.inner.enqueue(now, packet) == Admission::Queued;
            self.put(is_queued.then_some(OnLink::Repair(repair)));
            self.repairs_dropped += u64::from(!is_queued);
        }
        if count > 0 {
            self.encoder.close();
        }
    }

    fn handle(&mut self, event: LinkEvent) {
        let out = |event| Told { event, is_drop: false };
        match event {
            LinkEvent::Delivered(transit) => {
                let number = transit.packet.0;
                match self.take(number) {
                    Some(OnLink::Source { number: source, first }) => {
                        self.decoder.arrived(source, &transit, first, number);
                    }
                    Some(OnLink::Repair(repair)) => {
                        self.repaired.0 += u64::from(transit.size.0);
                        self.repaired.1 += u64::from(transit.lldus);
                        self.decoder.repaired(&repair, transit.lldus, transit.at, number);
                    }
                    None => {}
                }
                self.reports.want(transit.at);
            }
            LinkEvent::Lost(transit) => match self.take(transit.packet.0) {
                Some(OnLink::Source { number, .. }) => {
                    self.decoder.departed(number, transit.departed);
                    self.decoder.lost(number, transit.lldus, transit.at);
                }
                Some(OnLink::Repair(_)) => {
                    self.repaired.0 += u64::from(transit.size.0);
                    self.repaired.1 += u64::from(transit.lldus);
                }
                None => {}
            },
            LinkEvent::Departed { packet, at } => {
                if let Some(number) = self.source(packet) {
                    self.decoder.departed(number, at);
                    let packet = self.decoder.untold(number);
                    let told = packet.filter(|_| self.tells_departures);
                    let event = told.map(|packet| out(LinkEvent::Departed { packet, at }));
                    self.decoder.out.extend(event);
                }
            }
            LinkEvent::Marked { packet, at } => {
                let number = self.source(packet);
                let packet = number.and_then(|number| self.decoder.untold(number));
                let event = packet.map(|packet| out(LinkEvent::Marked { packet, at }));
                self.decoder.out.extend(event);
            }
            LinkEvent::TraceEnded { packet, at } => {
                let number = self.source(packet);
                let packet = number.and_then(|number| self.decoder.untold(number));
                let packet = packet.unwrap_or(self.last.id);
                self.decoder.out.push_back(out(LinkEvent::TraceEnded { packet, at }));
            }
        }
    }

    /// The number of a source packet on the link.
    fn source(&self, packet: PacketId) -> Option<u64> {
        let place = usize::try_from(packet.0.checked_sub(self.base)?).ok()?;
        match self.on_link.get(place)?.as_ref()? {
            OnLink::Source { number, .. } => Some(*number),
            OnLink::Repair(_) => None,
        }
    }

    /// Puts a packet onto the link; `None`: its queue dropped it.
    fn put(&mut self, packet: Option<OnLink>) {
        self.on_link.push_back(packet);
        self.drop_gone();
    }

    /// Takes a packet off the link.
    fn take(&mut self, number: u64) -> Option<OnLink> {
        let place = usize::try_from(number.checked_sub(self.base)?).ok()?;
        let packet = self.on_link.get_mut(place)?.take();
        self.drop_gone();
        packet
    }

    fn drop_gone(&mut self) {
        while let Some(None) = self.on_link.front() {
            self.on_link.pop_front();
            self.base += 1;
        }
    }
}

impl Reports {
    /// A packet arrived, of which the next report tells.
    fn want(&mut self, now: Instant) {
        if let (Some(interval), None) = (self.interval, self.due) {
            self.due = Some(now + interval);
        }
    }

    /// Takes out a report that has arrived by `now`.
    fn arrived(&mut self, now: Instant) -> Option<Report> {
        self.on_the_way.front().filter(|one| one.0 <= now)?;
        self.on_the_way.pop_front().map(|one| one.1)
    }

    fn send(&mut self, report: Report, now: Instant) {
        self.due = None;
        self.sent += 1;
        let before = self.on_the_way.back().map_or(Instant::ZERO, |one| one.0);
        self.on_the_way.push_back((before.max(now + self.back.at(now)), report));
    }
}

impl<L: Link + Instrument> Link for Coded<L> {
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        self.run(now);
        self.offered += 1;
        let (id, size) = (PacketId(self.number()), self.with_header(packet.size));
        let is_dropped = match self.inner.enqueue(now, Packet { id, size, ..packet }) {
            Admission::Queued => false,
            Admission::Dropped(DropReason::QueueFull) => true,
            too_large @ Admission::Dropped(_) => {
                self.dropped += 1;
                return too_large;
            }
        };
        let (number, first) = self.encoder.take(now, size);
        let on_link = OnLink::Source { number, first };
        self.put((!is_dropped).then_some(on_link));
        self.last = packet;
        if is_dropped && self.tells_departures {
            let event = LinkEvent::Departed { packet: packet.id, at: now };
            self.decoder.out.push_back(Told { event, is_drop: false });
        }
        self.decoder.sent(now, &packet, is_dropped);
        let count = self.encoder.due();
        self.send_repairs(count, now);
        Admission::Queued
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let told = self.decoder.out.front().map(|told| told.event.at());
        earliest(told, self.next())
    }

    fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        if self.decoder.out.is_empty() {
            self.run(now);
        }
        let Told { event, is_drop } = self.decoder.out.pop_front()?;
        if is_drop {
            self.dropped += 1;
        } else {
            self.tally.record(&event);
        }
        Some(event)
    }

    fn has_room(&mut self, now: Instant, size: Bytes) -> bool {
        self.run(now);
        self.inner.has_room(now, self.with_header(size))
    }

    fn notify_departures(&mut self) {
        self.tells_departures = true;
    }
}

impl<L: Link + Instrument> Instrument for Coded<L> {
    fn counters(&self) -> LinkCounters {
        let inner = self.inner.counters();
        let (own, counts) = (self.tally.replace_in(inner), self.decoder.counts);
        LinkCounters {
            offered: self.offered,
            dropped: self.dropped,
            held: inner.held + counts.held,
            lldus_delivered: own.lldus_delivered.saturating_add_signed(counts.late_lldus),
            ..own
        }
    }

    /// Repair packets count as used for the source packets delivered.
    fn usage(&self, until: Instant) -> Usage {
        let usage = self.inner.usage(until);
        let (all, own) = (self.inner.counters().lldus_delivered, self.counters().lldus_delivered);
        let each = if own > 0 { all.max(own) as f64 / own as f64 } else { 1.0 };
        let (bytes, lldus) = self.repaired;
        let coding = match usage.pads {
            true => lldus * u64::from(usage.slot.0),
            false => bytes + self.inner.counters().delivered * u64::from(self.header),
        };
        Usage { per_lldu: usage.per_lldu * each, coding: coding as f64, ..usage }
    }

    fn details(&self) -> Vec<(&'static str, u64)> {
        let counts = self.decoder.counts;
        let mut details = self.inner.details();
        details.extend([
            ("repair_packets_sent", self.encoder.made() - self.repairs_dropped),
            ("repair_packets_dropped", self.repairs_dropped),
            ("repair_packets_useless", counts.useless),
            ("packets_recovered", counts.recovered),
            ("packets_undecodable", counts.undecodable),
            ("decoding_delay_us", counts.delay / counts.recovered.max(1) / 1000),
            ("coding_reports", self.reports.sent),
        ]);
        details
    }

    delegate! { self.inner =>
        fn queue_len(&self, now: Instant) -> usize;
        fn catch_up(&mut self, until: Instant);
        fn set_queue(&mut self, limit: QueueLimit) -> bool;
    }
}
