//! A lone flow runs ahead: what is certain to arrive arrives in one go.
//!
//! The packets of a flow that shares its way with no other go round: from the sender over its nodes to
//! the receiver, and back over others. Each node and each end hears of one other only. What is on a leg
//! without overtaking reaches its far end, no matter what happens elsewhere meanwhile. So does what leaves a
//! link before a packet could that was not sent so far. All of it is worked off at once, as conservative
//! parallel simulation does (Chandy and Misra, 1979), up to the next event that concerns everything: a
//! change, a sample, data from the application. Each node and each end sees the same events in the same
//! order as one by one, so that results are the same to the bit.

use super::{Engine, RunError};
use crate::link::due::Due;
use crate::link::{Admission, Link, LinkEvent, Packet, PacketId};
use crate::simulation::agenda::SourceId;
use crate::simulation::leg::Passage;
use crate::simulation::observer::Wants;
use crate::simulation::path::{AnyLink, LegNode, LinkNode, ManagedNode, Node, Told};
use crate::simulation::route::offered;
use crate::simulation::socket::Socket;
use crate::transport::Outbox;
use crate::transport::train::{Arrival, Key, RANK_BITS, Rank, Train};
use crate::units::{Duration, Instant};

/// What a run keeps that works off events ahead of others.
pub(super) struct Ahead {
    nodes: Vec<Neighbours>,
    /// When each source had its last event.
    clocks: Vec<Instant>,
    /// Whether somebody may see in which order events are worked off.
    one_by_one: bool,
    train: Train,
}

/// Where the packets of a node come from and go to.
struct Neighbours {
    /// The sources whose events put packets on it.
    feeders: Vec<SourceId>,
    /// What leaves it sooner than this after its feeders' last event is certain; `None`: all that is on it.
    lead: Option<Duration>,
    /// The socket that its packets reach, if that is what comes behind it.
    socket: Option<u32>,
    /// Number of the stop behind it, or of the first one on the way of that socket.
    place: u32,
    /// The node there.
    target: usize,
}

/// Packets that are worked off in one go at most: their state stays near.
const MOST: usize = 64;

impl Ahead {
    /// That of an engine before its first event; `None`: its flow is not alone.
    pub(super) fn new(engine: &Engine<'_>) -> Option<Self> {
        let Engine { nodes, sockets, flows, ways, agenda, .. } = engine;
        let lone = flows.len() == 1 && sockets.len() == 2 && ways.starts.len() == 2;
        let Wants { events, packets, senders, units } = engine.wants;
        // Queues and controls from outside may look at one another, those of QUIC among them.
        let own_queue = |node: &Node| matches!(node, Node::Managed(own) if own.leg.is_own());
        let tcp = engine.setup.flows.first().and_then(|flow| flow.transport.tcp());
        let may_share =
            nodes.iter().any(own_queue) || tcp.is_none_or(|tcp| tcp.congestion.is_own());
        let one_by_one = events || packets || senders || units || may_share;
        let is_single = flows.first().is_none_or(|flow| flow.session.is_none());
        let last = engine.end.as_nanos().checked_mul(2 << RANK_BITS)?;
        let fixed = engine.setup.routing.rerouting.is_none();
        if !(lone && is_single && fixed && agenda.holds(last)) {
            return None;
        }
        let mut neighbours: Vec<Option<Neighbours>> = nodes.iter().map(|_| None).collect();
        for (socket, peer) in [(0, 1), (1, 0)] {
            // An end sends when its timer expires, when the application writes, when a packet arrives.
            let to_here = ways.nodes(sockets[peer].first).last()?;
            let timer = engine.timer_source(socket as u32);
            let mut feeders = vec![timer, engine.application(0), SourceId(to_here.number)];
            let begins = sockets[socket].first;
            for (stop, place) in ways.nodes(begins).zip(begins + 1..) {
                let behind = ways.stops[place as usize];
                let socket = behind.is_end.then_some(behind.number);
                let place = socket.map_or(place, |socket| sockets[socket as usize].first);
                let own = Neighbours {
                    feeders: std::mem::replace(&mut feeders, vec![SourceId(stop.number)]),
                    lead: nodes[stop.number as usize].lead()?,
                    socket,
                    place,
                    target: ways.stops[place as usize].number as usize,
                };
                if neighbours[stop.number as usize].replace(own).is_some() {
                    return None;
                }
            }
        }
        let nodes = neighbours.into_iter().collect::<Option<_>>()?;
        let clocks = vec![Instant::ZERO; agenda.len()];
        Some(Self { nodes, clocks, one_by_one, train: Train::default() })
    }

    /// An event of `source` happens at `now`; says whether later ones may follow it at once.
    #[inline]
    pub(super) fn begin(&mut self, source: SourceId, now: Instant) -> bool {
        let clock = &mut self.clocks[source.0 as usize];
        *clock = now.max(*clock);
        !self.one_by_one
    }
}

impl Node {
    /// What leaves it sooner than this after a packet came is certain before that; `None`: all that is on
    /// it is. `None` outside: nothing is.
    fn lead(&self) -> Option<Option<Duration>> {
        match self {
            Self::Leg(node) => node.leg.keeps_order().then_some(None),
            Self::Link(LinkNode { link: AnyLink::Trace(link), .. }) => Some(Some(link.lead())),
            Self::Managed(node) => node.leg.lead().map(Some),
            Self::Link(_) => None,
        }
    }
}

/// How far a node may be worked off.
#[derive(Clone, Copy)]
struct Scope {
    /// Its next event, which is certain in any case.
    now: Instant,
    /// Its feeders' last event.
    fed: Instant,
    /// Events before this are certain.
    horizon: Key,
    /// How many at most, and how many packets.
    most: usize,
}

/// What was taken out of a node.
struct Unloaded {
    /// Events of the run.
    events: usize,
    /// The next one.
    next: Option<Key>,
    /// When the trace of a link ended while a packet waited.
    ended: Option<Instant>,
}

impl Node {
    /// Takes out what arrives within `scope`. What is given up is freed.
    fn unload(
        &mut self,
        scope: Scope,
        arrivals: &mut Vec<Arrival>,
        packets: &mut Outbox,
    ) -> Unloaded {
        match self {
            Self::Leg(node) => node.unload(scope, arrivals),
            Self::Link(node) => node.unload(scope, arrivals, packets),
            Self::Managed(node) => node.unload(scope, arrivals, packets),
        }
    }

    /// Takes in packets at this stop of their way; those that it does not take in are freed. Its next event,
    /// if that changes.
    fn load(&mut self, coming: Coming<'_>, place: u32, packets: &mut Outbox) -> Option<Key> {
        match self {
            Self::Leg(node) => node.load(coming, place, packets),
            Self::Link(node) => node.load(coming, packets),
            Self::Managed(node) => node.load(coming, packets),
        }
    }
}

/// Packets that come to a node, in order: when each comes, and its number.
#[derive(Clone, Copy)]
struct Coming<'a>(&'a [Instant], &'a [u32]);

impl Coming<'_> {
    fn each(self) -> impl Iterator<Item = (Instant, u32)> {
        self.0.iter().copied().zip(self.1.iter().copied())
    }
}

impl LegNode {
    fn unload(&mut self, scope: Scope, arrivals: &mut Vec<Arrival>) -> Unloaded {
        let Scope { horizon, most, .. } = scope;
        self.take_before(horizon, most, arrivals);
        Unloaded { events: arrivals.len(), next: self.next(), ended: None }
    }

    fn load(&mut self, coming: Coming<'_>, place: u32, packets: &mut Outbox) -> Option<Key> {
        let mut news = None;
        for (now, id) in coming.each() {
            let packet = &packets[id];
            match self.leg.offer(now, packet.size, packet.len > 0) {
                // Packets of one instant may have one rank: they keep their order.
                Passage::Arrives(at) => {
                    if self.push(at, Rank::Packet.at(now), id, place) {
                        news = Some((at, Rank::Packet.at(now)));
                    }
                }
                Passage::Lost | Passage::Dropped => packets.free(id),
            }
        }
        news
    }
}

impl LinkNode {
    fn unload(
        &mut self,
        scope: Scope,
        arrivals: &mut Vec<Arrival>,
        packets: &mut Outbox,
    ) -> Unloaded {
        let Scope { mut now, horizon, most, .. } = scope;
        if self.has_notices() {
            return self.unload_notices(now, arrivals, packets);
        }
        let (mut events, mut rank) = (1, 0);
        self.end_while(most, |&Due { transit, lost }| {
            if transit.at > now {
                let key = (transit.at, Rank::Link.at(now.max(transit.entered)));
                if key >= horizon || events >= most {
                    return None;
                }
                (now, rank) = key;
                events += 1;
            }
            let packet = transit.packet.0 as u32;
            match lost {
                false => arrivals.push(Arrival::at_end((now, rank), packet)),
                true => packets.free(packet),
            }
            Some(now)
        });
        Unloaded { events, next: self.next(), ended: None }
    }

    /// What happens at `now` on a link that tells of more than the ends of packets.
    #[cold]
    fn unload_notices(
        &mut self,
        now: Instant,
        arrivals: &mut Vec<Arrival>,
        packets: &mut Outbox,
    ) -> Unloaded {
        let mut ended = None;
        loop {
            match self.poll(now) {
                Some(LinkEvent::Delivered(transit)) => {
                    arrivals.push(Arrival::at_end((now, 0), transit.packet.0 as u32));
                }
                Some(LinkEvent::Lost(transit)) => packets.free(transit.packet.0 as u32),
                Some(LinkEvent::TraceEnded { at, .. }) => ended = Some(at),
                Some(LinkEvent::Departed { .. } | LinkEvent::Marked { .. }) | None => {}
            }
            let next = self.next();
            if next.is_none_or(|(at, _)| at > now) {
                return Unloaded { events: 1, next, ended };
            }
        }
    }

    fn load(&mut self, coming: Coming<'_>, packets: &mut Outbox) -> Option<Key> {
        let before = self.next();
        let AnyLink::Trace(link) = &mut self.link else { return None };
        for (now, id) in coming.each() {
            let packet = Packet::new(PacketId(id.into()), packets[id].size);
            if link.enqueue(now, packet) != Admission::Queued {
                packets.free(id);
            }
        }
        self.next().filter(|_| self.next() != before)
    }

    /// Whether it tells of more than the ends of packets.
    fn has_notices(&self) -> bool {
        !matches!(&self.link, AnyLink::Trace(link) if !link.has_notices())
    }
}

impl ManagedNode {
    fn unload(
        &mut self,
        scope: Scope,
        arrivals: &mut Vec<Arrival>,
        packets: &mut Outbox,
    ) -> Unloaded {
        let Scope { mut now, fed, horizon, most } = scope;
        // Its queue may do what no packet to come can change.
        self.catch_up(fed.max(now));
        while let Some(told) = self.pop_early() {
            match told {
                Told::Marked { packet } => packets.mark(packet),
                Told::Dropped { packet, .. } => packets.free(packet),
                Told::Arrived { .. } | Told::Lost { .. } => {}
            }
        }
        let (mut events, mut rank) = (1, 0);
        self.end_while(most, |key, packet, lost| {
            if key.0 > now {
                if key >= horizon || events >= most {
                    return false;
                }
                (now, rank) = key;
                events += 1;
            }
            match lost {
                false => arrivals.push(Arrival::at_end((now, rank), packet)),
                true => packets.free(packet),
            }
            true
        });
        Unloaded { events, next: self.next(), ended: None }
    }

    fn load(&mut self, coming: Coming<'_>, packets: &mut Outbox) -> Option<Key> {
        let before = self.next();
        for (now, id) in coming.each() {
            if !self.offer(now, &offered(id, 0, &packets[id])) {
                packets.free(id);
            }
        }
        self.next().filter(|_| self.next() != before)
    }
}

impl Engine<'_> {
    /// What happens at a node at `now`, and later as far as it is certain.
    pub(super) fn run_ahead(&mut self, number: usize, now: Instant) -> Result<(), RunError> {
        let end = self.end;
        let timers = [0, 1].map(|socket| self.timer_source(socket));
        let Some(scope) = self.scope(number, now) else { return Ok(()) };
        let Self { ahead: Some(ahead), nodes, sockets, flows, packets, agenda, .. } = self else {
            return Ok(());
        };
        let Ahead { nodes: neighbours, clocks, train, .. } = ahead;
        let Neighbours { socket, place, target, .. } = neighbours[number];
        let Ok([from, to]) = nodes.get_disjoint_mut([number, target]) else { return Ok(()) };
        train.clear();
        let Unloaded { events, next, ended } = from.unload(scope, &mut train.arrivals, packets);
        if let Some(at) = ended.filter(|&at| at < end) {
            return Err(RunError::TraceEnded { at });
        }
        agenda.put(SourceId(number as u32), next);
        // An end whose last packets were lost may still have its timer expire before they would have arrived.
        if let Some(arrival) = train.arrivals.last() {
            clocks[number] = arrival.key.0;
        }
        match socket {
            None => train.pass(packets),
            Some(number) => {
                let Socket { endpoint, alarm, end, .. } = &mut sockets[number as usize];
                train.alarm = *alarm;
                endpoint.answer_all(train, packets);
                *alarm = train.alarm;
                let (timer, end) = (timers[number as usize], *end);
                agenda.put(timer, alarm.look().map(|at| (at, alarm.key().1)));
                let is_last = flows[0].arrived_all(train, end, packets, sockets);
                self.unfinished -= usize::from(is_last);
                packets.free_all(train.arrivals.iter().map(|arrival| arrival.packet));
            }
        }
        let all = packets.take_sent();
        let news = to.load(Coming(&train.sent, &all), place, packets);
        packets.give_back(all);
        if let Some((at, rank)) = news {
            agenda.set(SourceId(target as u32), at, rank);
        }
        // The caller counts one.
        self.events += events as u64 - 1 + train.alarms;
        Ok(())
    }

    /// How far a node may be worked off from `now` on.
    fn scope(&self, number: usize, now: Instant) -> Option<Scope> {
        let Ahead { nodes, clocks, .. } = self.ahead.as_ref()?;
        let Neighbours { feeders, lead, socket, .. } = &nodes[number];
        let end = socket.map(|socket| self.sockets[socket as usize].end);
        let most = self.flows[0].at_once(end, &self.sockets).min(MOST);
        let fed = feeders.iter().map(|feeder| clocks[feeder.0 as usize]).max()?;
        // They have no other event before `now`.
        let certain = lead.map(|lead| (fed.max(now) + lead, 0));
        // The application and what concerns everything.
        let others = (self.application(0).0..clocks.len() as u32).map(SourceId);
        let barrier = others.filter_map(|source| self.agenda.of(source)).min();
        let last = (self.end + Duration::from_nanos(1), 0);
        let horizon = certain.into_iter().chain(barrier).fold(last, Key::min);
        Some(Scope { now, fed, horizon, most })
    }
}
