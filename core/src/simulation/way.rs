//! One direction of a path as a single link, for hosts other than our engine.

use std::collections::VecDeque;

use slab::Slab;

use crate::config::Fault;
use crate::link::counters::Tally;
use crate::link::{
    Admission, BuiltLink, Instrument, InstrumentedLink, Link, LinkCounters, LinkEvent, Packet,
    PacketId, QueueLimit, Transit, Usage, earliest,
};
use crate::queue::Aqm;
use crate::seed::Seed;
use crate::simulation::leg_link::leg_link;
use crate::simulation::setup::{Hop, Loss};
use crate::simulation::units::{UnitCounts, Units};
use crate::units::{Bytes, Duration, Ecn, Instant};

/// Hops one behind the other, driven as one link: what comes out of one enters the next.
///
/// A packet that a later hop's queue drops counts as lost, for it was admitted. Departures are those
/// of the first hop, which is what a host can push back on. [`Transit::lldus`] are those of the hop
/// with the least capacity; the queueing delay is the sum of the hops'.
///
/// ```
/// use clift::link::{Link, LinkEvent, Packet, PacketId};
/// use clift::scenario::{Scenario, Store};
/// use clift::simulation::Way;
/// use clift::trace::Folder;
/// use clift::units::{Bytes, Instant};
///
/// let text = r#"
///     [[path]]
///     leg = { rate = "8 Mbit/s", delay = "5 ms" }
///     [[path]]
///     leg = { delay = "20 ms" }
/// "#;
/// let scenario = Scenario::parse("legs.toml", text, &[], &clift::Registry::new())?;
/// let setup = scenario.cells()[0].setup(0, &Store::new(Folder::new("")))?;
/// let mut way = Way::new(&setup.forward, setup.seed, 0)?;
/// let _ = way.enqueue(Instant::ZERO, Packet::new(PacketId(7), Bytes(1000)));
/// // A byte takes a microsecond; the first hop says that it is to be polled at 6 ms.
/// assert_eq!(way.poll_timeout(), Some(Instant::from_nanos(6_000_000)));
/// assert_eq!(way.poll(Instant::from_nanos(6_000_000)), None);
/// let event = way.poll(Instant::from_nanos(26_000_000));
/// assert!(matches!(event, Some(LinkEvent::Delivered(transit)) if transit.packet.0 == 7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Way {
    hops: Vec<BuiltLink>,
    /// Whether the only hop is driven as it is: it knows packets by the host's numbers.
    plain: bool,
    /// The hop whose slots and LLDUs count: of those with slots, the one with the least capacity.
    narrowest: usize,
    packets: Carried,
    out: VecDeque<Passed>,
    /// The units of packets, by hop; empty unless they are counted.
    counts: Vec<UnitCounts>,
    offered: u64,
    dropped: u64,
    admitted: u64,
    tally: Tally,
    streams: bool,
}

/// Time over which capacities are compared if the end of the run is unknown.
const LONG: Instant = Instant::from_nanos(3_600_000_000_000);

/// An event of a way, and what is known of the packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passed {
    /// The event.
    pub event: LinkEvent,
    /// The hop that tells it, from 0.
    pub hop: usize,
    /// Units sent for the packet, if it is delivered or lost and they are counted
    /// ([`Way::count_units`]).
    pub units: Units,
}

impl Way {
    /// The way over `hops`, empty at time zero. `first` is the number of the first of them among the
    /// hops of the run, those forward before those backward: it decides the random draws, which are
    /// then those of the engine's run with the same seed.
    ///
    /// # Errors
    /// If the link cannot be built.
    pub fn new(hops: &[Hop], seed: Seed, first: u32) -> Result<Self, Fault> {
        Self::until(hops, seed, first, None)
    }

    /// The same for a run that ends at `end`.
    pub(super) fn until(
        hops: &[Hop],
        seed: Seed,
        first: u32,
        end: Option<Instant>,
    ) -> Result<Self, Fault> {
        let links = Hop::numbered(hops, first).map(|(hop, number)| match hop {
            Hop::Leg(leg) => Ok(leg_link(leg, seed, number)),
            Hop::Link(link) => link.build(seed, number, end),
        });
        let plain = match hops {
            [Hop::Leg(leg)] => leg.aqm == Aqm::None,
            [Hop::Link(link)] => link.aqm == Aqm::None,
            _ => false,
        };
        let links = links.collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            narrowest: narrowest(&links, end.unwrap_or(LONG)),
            hops: links,
            plain,
            streams: hops.iter().any(Hop::reads_streams),
            ..Self::default()
        })
    }

    /// Whether a hop looks at what a packet carries of a stream, so that [`Packet::carries`] must be
    /// true.
    pub fn reads_streams(&self) -> bool {
        self.streams
    }

    /// The hops as instruments.
    pub fn hops(&self) -> impl ExactSizeIterator<Item = &(dyn InstrumentedLink + Send)> {
        self.hops.iter().map(|hop| &**hop)
    }

    /// Counts the units of packets from now on; `hops` are those that the way was made of.
    pub fn count_units(&mut self, hops: &[Hop]) {
        self.counts = hops.iter().map(UnitCounts::of).collect();
        self.hops.iter_mut().for_each(|hop| hop.log_units());
    }

    /// [`Link::poll`], with what is known of the packet.
    pub fn poll_passed(&mut self, now: Instant) -> Option<Passed> {
        if let (true, [only]) = (self.plain, &mut self.hops[..]) {
            let event = only.poll(now)?;
            return Some(Passed { event, hop: 0, units: self.units(0, &event) });
        }
        if self.out.is_empty() {
            self.run(now);
        }
        let passed = self.out.pop_front()?;
        self.tally.record(&passed.event);
        Some(passed)
    }

    /// Units that a hop sent for the packet of its event.
    fn units(&mut self, hop: usize, event: &LinkEvent) -> Units {
        let (LinkEvent::Delivered(transit) | LinkEvent::Lost(transit)) = event else {
            return Units::default();
        };
        let Some(counts) = self.counts.get_mut(hop) else { return Units::default() };
        counts.count(transit, &self.hops[hop].take_units())
    }

    /// Works off what happened up to `now` in every hop, so that instruments are as of then.
    pub fn catch_up(&mut self, now: Instant) {
        if !self.plain {
            self.run(now);
        }
        self.hops.iter_mut().for_each(|hop| hop.catch_up(now));
    }

    /// Packets offered, dropped by the first hop's queue, delivered and lost; LLDUs of the hop with
    /// the least capacity; maximum of the hops' queues; sums over their buffers.
    pub fn counters(&self) -> LinkCounters {
        if let (true, [only]) = (self.plain, &self.hops[..]) {
            return only.counters();
        }
        let hops = self.hops.iter().map(|hop| hop.counters());
        let start = LinkCounters::default();
        let all = hops.enumerate().fold(start, |all, (number, hop)| LinkCounters {
            longest_queue: all.longest_queue.max(hop.longest_queue),
            held: all.held + hop.held,
            flushes: all.flushes + hop.flushes,
            ..if number == self.narrowest { hop } else { all }
        });
        let (offered, dropped) = (self.offered, self.dropped);
        self.tally.replace_in(LinkCounters { offered, dropped, ..all })
    }

    /// Moves packets from hop to hop up to `now`. Of one instant the last hop goes first: what is due
    /// is polled before a packet arrives.
    fn run(&mut self, now: Instant) {
        while let Some((at, hop)) = self.next() {
            if at > now {
                break;
            }
            while let Some(event) = self.hops[hop].poll(at) {
                self.pass_on(hop, at, event);
            }
        }
    }

    fn next(&self) -> Option<(Instant, usize)> {
        let due = self.hops.iter().enumerate().rev();
        due.filter_map(|(hop, link)| Some((link.poll_timeout()?, hop))).min_by_key(|(at, _)| *at)
    }

    fn pass_on(&mut self, mut hop: usize, now: Instant, mut event: LinkEvent) {
        let units = self.units(hop, &event);
        if let LinkEvent::Delivered(transit) | LinkEvent::Lost(transit) = &event {
            self.packets.add(transit, units, hop == self.narrowest);
        }
        match event {
            LinkEvent::Delivered(transit) if hop + 1 < self.hops.len() => {
                hop += 1;
                let packet = Packet { id: transit.packet, ..self.packets.of(transit.packet) };
                if let Admission::Queued = self.hops[hop].enqueue(now, packet) {
                    return;
                }
                event = LinkEvent::Lost(transit);
            }
            LinkEvent::Departed { .. } if hop > 0 => return,
            _ => {}
        }
        let (event, units) = self.packets.named(event);
        self.out.push_back(Passed { event, hop, units });
    }
}

impl Link for Way {
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        if let (true, [only]) = (self.plain, &mut self.hops[..]) {
            return only.enqueue(now, packet);
        }
        self.run(now);
        self.offered += 1;
        let Some(first) = self.hops.first_mut() else {
            let transit = at_once(now, packet, self.admitted);
            self.admitted += 1;
            let event = LinkEvent::Delivered(transit);
            self.out.push_back(Passed { event, hop: 0, units: Units::default() });
            return Admission::Queued;
        };
        let id = self.packets.put(now, packet, self.admitted);
        let admission = first.enqueue(now, Packet { id, ..packet });
        match admission {
            Admission::Queued => self.admitted += 1,
            Admission::Dropped(_) => {
                self.dropped += 1;
                self.packets.free(id);
            }
        }
        admission
    }

    fn poll_timeout(&self) -> Option<Instant> {
        if let (true, [only]) = (self.plain, &self.hops[..]) {
            return only.poll_timeout();
        }
        let told = self.out.front().map(|passed| passed.event.at());
        earliest(told, self.next().map(|(at, _)| at))
    }

    fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        // Its event is the caller's as it stands: to write one down and read it at once elsewhere would cost
        // more than all else here.
        if let (true, [only]) = (self.plain, &mut self.hops[..]) {
            return only.poll(now);
        }
        self.poll_passed(now).map(|passed| passed.event)
    }

    fn has_room(&mut self, now: Instant, size: Bytes) -> bool {
        if !self.plain {
            self.run(now);
        }
        self.hops.first_mut().is_none_or(|first| first.has_room(now, size))
    }

    fn notify_departures(&mut self) {
        if let Some(first) = self.hops.first_mut() {
            first.notify_departures();
        }
    }
}

impl Hop {
    /// Whether it looks at what a packet carries of a stream: a buffer that orders by TCP's sequence
    /// numbers, or losses that count packets with data.
    pub fn reads_streams(&self) -> bool {
        match self {
            Self::Leg(leg) => matches!(leg.loss, Loss::Data { .. }),
            Self::Link(link) => link.reads_streams(),
        }
    }
}

/// Of a stretch as one link: the queues of all hops, the slots of the hop with the least capacity.
impl Instrument for Way {
    fn queue_len(&self, now: Instant) -> usize {
        self.hops.iter().map(|hop| hop.queue_len(now)).sum()
    }

    fn counters(&self) -> LinkCounters {
        Self::counters(self)
    }

    fn usage(&self, until: Instant) -> Usage {
        self.hops.get(self.narrowest).map_or(Usage::NONE, |hop| hop.usage(until))
    }

    fn details(&self) -> Vec<(&'static str, u64)> {
        let mut sums: Vec<(&'static str, u64)> = Vec::new();
        for (name, count) in self.hops.iter().flat_map(|hop| hop.details()) {
            match sums.iter_mut().find(|sum| sum.0 == name) {
                Some(sum) => sum.1 += count,
                None => sums.push((name, count)),
            }
        }
        sums
    }

    fn catch_up(&mut self, until: Instant) {
        Self::catch_up(self, until);
    }

    /// The queue before the hop with the least capacity.
    fn set_queue(&mut self, limit: QueueLimit) -> bool {
        self.hops.get_mut(self.narrowest).is_some_and(|hop| hop.set_queue(limit))
    }
}

/// Number of the hop that passes the fewest bytes up to `end`, of those with slots; 0 without any.
fn narrowest(hops: &[BuiltLink], end: Instant) -> usize {
    let bytes = hops.iter().map(|hop| {
        let usage = hop.usage(end);
        usage.slots * f64::from(usage.slot.0)
    });
    let slotted = bytes.enumerate().filter(|(_, bytes)| *bytes > 0.0);
    slotted.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(number, _)| number)
}

/// A packet that takes no time.
pub(super) fn at_once(now: Instant, packet: Packet, order: u64) -> Transit {
    let Packet { id, size, .. } = packet;
    Transit { packet: id, size, lldus: 0, order, entered: now, departed: now, at: now }
}

/// The packets on a way, by the number that its hops know them by.
#[derive(Debug, Default)]
struct Carried {
    packets: Slab<OnWay>,
}

/// A packet on a way, with what its hops reported so far.
#[derive(Clone, Copy, Debug)]
struct OnWay {
    packet: Packet,
    entered: Instant,
    order: u64,
    units: Units,
    /// LLDUs of the narrowest hop.
    lldus: u32,
    /// Time in queues.
    waited: Duration,
}

impl Carried {
    fn put(&mut self, entered: Instant, packet: Packet, order: u64) -> PacketId {
        let (units, waited) = (Units::default(), Duration::ZERO);
        let packet = OnWay { packet, entered, order, units, lldus: 0, waited };
        PacketId(self.packets.insert(packet) as u64)
    }

    /// An event by the host's name for the packet. A delivery and a loss end its way, with its units.
    fn named(&mut self, event: LinkEvent) -> (LinkEvent, Units) {
        let event = match event {
            LinkEvent::Delivered(transit) => {
                let (transit, units) = self.take(transit);
                return (LinkEvent::Delivered(transit), units);
            }
            LinkEvent::Lost(transit) => {
                let (transit, units) = self.take(transit);
                return (LinkEvent::Lost(transit), units);
            }
            LinkEvent::Departed { packet, at } => {
                LinkEvent::Departed { packet: self.name(packet), at }
            }
            LinkEvent::Marked { packet, at } => LinkEvent::Marked { packet: self.mark(packet), at },
            LinkEvent::TraceEnded { packet, at } => {
                LinkEvent::TraceEnded { packet: self.name(packet), at }
            }
        };
        (event, Units::default())
    }

    /// A packet crossed a hop, or was lost there.
    fn add(&mut self, transit: &Transit, units: Units, is_narrowest: bool) {
        let place = &mut self.packets[transit.packet.0 as usize];
        place.units = place.units.and(units);
        place.waited += transit.departed.saturating_since(transit.entered);
        if is_narrowest {
            place.lldus = transit.lldus;
        }
    }

    fn name(&self, id: PacketId) -> PacketId {
        self.packets[id.0 as usize].packet.id
    }

    /// A hop marked a packet; says what the host calls it.
    fn mark(&mut self, id: PacketId) -> PacketId {
        let packet = &mut self.packets[id.0 as usize].packet;
        packet.ecn = Ecn::Ce;
        packet.id
    }

    fn of(&self, id: PacketId) -> Packet {
        self.packets[id.0 as usize].packet
    }

    /// The end of a packet's way, by the host's name for it.
    fn take(&mut self, transit: Transit) -> (Transit, Units) {
        let OnWay { packet: Packet { id, size, .. }, entered, order, units, lldus, waited } =
            self.packets.remove(transit.packet.0 as usize);
        let departed = entered + waited;
        let at = transit.at;
        (Transit { packet: id, size, lldus, order, entered, departed, at }, units)
    }

    fn free(&mut self, id: PacketId) {
        self.packets.remove(id.0 as usize);
    }
}
