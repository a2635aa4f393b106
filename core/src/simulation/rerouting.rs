//! Routes that follow the delays of a network while they change.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::simulation::graph::{Graph, Routes};
use crate::simulation::route::Stop;
use crate::simulation::setup::{Hop, Setup};
use crate::simulation::socket::Socket;
use crate::transport::End;
use crate::units::{Duration, Instant};

/// Routes of smallest delay, chosen again at equal intervals by the delays of that instant, as routers
/// of a constellation do. A packet stays on its link, then follows the routes of then. A choice comes
/// before all other events of its instant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rerouting {
    /// The interval; the first choice after that of the start is one interval later.
    pub every: Duration,
    /// The links: first node, last node, and hops.
    pub links: Vec<(u32, u32, Range<u32>)>,
    /// First and last node of each flow of the setup, to its receiver and back; `None`: its route is
    /// given.
    pub flows: Vec<[Option<(u32, u32)>; 2]>,
}

impl Rerouting {
    /// The links with their delays at `now`.
    pub(super) fn graph(&self, setup: &Setup, now: Instant) -> Graph {
        let delay = |hop| hop_of(setup, hop).delay().at(now);
        let sum = |hops: &Range<u32>| hops.clone().map(delay).fold(Duration::ZERO, |a, b| a + b);
        Graph::by_delay(self.links.iter().map(|(from, to, hops)| (*from, *to, sum(hops))))
    }

    /// Whether every route from one node to another has a rate.
    pub(super) fn is_paced(&self, setup: &Setup, from: u32, to: u32) -> bool {
        let has_rate = |hop| match hop_of(setup, hop) {
            Hop::Leg(leg) => leg.rate.is_some(),
            Hop::Link(_) => true,
        };
        let unpaced = self.links.iter().filter(|(_, _, hops)| !hops.clone().any(has_rate));
        let graph =
            Graph::by_fewest_links(unpaced.map(|(from, to, _)| (*from, *to, Duration::ZERO)));
        graph.routes().way(from, to).is_err()
    }
}

fn hop_of(setup: &Setup, hop: u32) -> &Hop {
    let hop = hop as usize;
    setup.forward.get(hop).unwrap_or_else(|| &setup.backward[hop - setup.forward.len()])
}

/// One choice of routes: moves ways, and the packets on them, to the routes of now.
pub(super) struct Rerouter<'a> {
    own: &'a Rerouting,
    routes: Routes<'a>,
    stops: &'a mut Vec<Stop>,
    /// The nodes between which packets to each socket are routed.
    nodes: Vec<Option<(u32, u32)>>,
    /// The stop of a hop on the way to a socket from now on.
    known: BTreeMap<(u32, u32), u32>,
}

impl<'a> Rerouter<'a> {
    /// `origins`: for each flow of the run the one of the setup.
    pub(super) fn new(
        own: &'a Rerouting,
        graph: &'a Graph,
        stops: &'a mut Vec<Stop>,
        sockets: &[Socket],
        origins: &[usize],
    ) -> Self {
        let nodes = |socket: &Socket| {
            own.flows.get(origins[socket.flow as usize])?[usize::from(socket.end == End::Sender)]
        };
        let nodes = sockets.iter().map(nodes).collect();
        Self { own, routes: graph.routes(), stops, nodes, known: BTreeMap::new() }
    }

    /// The first stop from now on of the way that begins at the stop `first`.
    pub(super) fn way(&mut self, first: u32) -> u32 {
        let end = self.end(first);
        let Some((from, _)) = self.nodes[end.number as usize] else { return first };
        let Some(hops) = self.onward(from, end) else { return first };
        let begins = self.settle(first, &hops, end);
        for (place, &hop) in (begins..).zip(&hops) {
            self.known.insert((end.number, hop), place);
        }
        begins
    }

    /// The stop from now on of a packet at the stop `place`.
    pub(super) fn place(&mut self, place: u32) -> u32 {
        let Stop { number: hop, is_end, .. } = self.stops[place as usize];
        let end = self.end(place);
        if is_end || self.nodes[end.number as usize].is_none() {
            return place;
        }
        if let Some(&known) = self.known.get(&(end.number, hop)) {
            return known;
        }
        let link = self.own.links.iter().find(|(_, _, hops)| hops.contains(&hop));
        let Some((_, to, own)) = link else { return place };
        let Some(onward) = self.onward(*to, end) else { return place };
        let hops: Vec<u32> = (hop..own.end).chain(onward).collect();
        let settled = self.settle(place, &hops, end);
        self.known.insert((end.number, hop), settled);
        settled
    }

    /// The end of the way on which a stop lies.
    fn end(&self, place: u32) -> Stop {
        let mut after = self.stops[place as usize..].iter();
        // Every way ends at a socket.
        *after.find(|stop| stop.is_end).unwrap_or(&self.stops[place as usize])
    }

    /// The hops from a node to a socket.
    fn onward(&mut self, from: u32, end: Stop) -> Option<Vec<u32>> {
        let (_, to) = self.nodes[end.number as usize]?;
        // Whether there is a route does not depend on the delays.
        let links = self.routes.way(from, to).ok()?;
        Some(links.iter().flat_map(|&link| self.own.links[link as usize].2.clone()).collect())
    }

    /// The first stop of a way over `hops`: `place`, if that is this way already.
    fn settle(&mut self, place: u32, hops: &[u32], end: Stop) -> u32 {
        let now = &self.stops[place as usize..];
        let same = now.iter().zip(hops).all(|(stop, &hop)| !stop.is_end && stop.number == hop);
        if same && now.get(hops.len()).is_some_and(|stop| stop.is_end) {
            return place;
        }
        let begins = self.stops.len() as u32;
        let stop = |&number: &u32| Stop { number, is_end: false, ..end };
        self.stops.extend(hops.iter().map(stop).chain([end]));
        begins
    }
}
