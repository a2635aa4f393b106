//! The plan of a network: nodes, links and the flows between them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::hop::PlannedHop;
use super::path::hop;
use crate::config::{Fault, check_name, nearest};
use crate::scenario::config::Traffic;
use crate::scenario::network::{Network, NetworkLink, RouteChoice};
use crate::scenario::path::Hop;
use crate::scenario::traffic::Flow;
use crate::simulation::{Graph, RouteError};
use crate::transport::tcp::Multipath;
use crate::units::Duration;

/// A network, checked: every flow has a route in both directions.
#[derive(Clone, Debug)]
pub struct PlannedNetwork {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// The links; those that another link gives as its other direction follow the others.
    pub links: Vec<NetworkEdge>,
    /// How routes are chosen.
    pub routing: RouteChoice,
    /// After which time they are chosen again; `None`: they do not change.
    pub reroute_every: Option<Duration>,
    /// The routes of each flow.
    pub demands: Vec<PlannedDemand>,
}

/// A link between two nodes, in one direction.
#[derive(Clone, Debug)]
pub struct NetworkEdge {
    /// Name of the link; its two directions share it.
    pub name: String,
    /// The node at which it begins.
    pub from: u32,
    /// The node at which it ends.
    pub to: u32,
    /// Its hops, counted over the forward and then the backward hops of the plan.
    pub hops: Range<usize>,
}

impl NetworkEdge {
    /// First node, last node, and hops.
    pub(in crate::scenario) fn routed(&self) -> (u32, u32, Range<u32>) {
        (self.from, self.to, self.hops.start as u32..self.hops.end as u32)
    }
}

/// The nodes of a flow, and the links that it gives.
#[derive(Clone, Debug)]
pub struct PlannedDemand {
    /// The node of its sender.
    pub from: u32,
    /// The node of its receiver.
    pub to: u32,
    /// Numbers of the links to the receiver, if the flow gives them.
    pub route: Option<Vec<u32>>,
    /// Numbers of the links back to the sender, if the flow gives them.
    pub return_route: Option<Vec<u32>>,
    /// Numbers of the links of its further paths, to the receiver and back.
    pub further: Vec<[Vec<u32>; 2]>,
}

impl PlannedDemand {
    /// First and last node to the receiver and back; `None`: the flow gives the route.
    pub(in crate::scenario) fn routed(&self) -> [Option<(u32, u32)>; 2] {
        let Self { from, to, route, return_route, .. } = self;
        [(route, (*from, *to)), (return_route, (*to, *from))]
            .map(|(given, nodes)| given.is_none().then_some(nodes))
    }
}

/// Hops in the two directions of a network.
type Hops = [Vec<PlannedHop>; 2];

/// The plan of a network and its hops. `flows` have one entry each, `keys` their sections.
pub(super) fn network(
    network: &Network,
    flows: &[Flow],
    keys: &[String],
    duration: Duration,
) -> Result<(PlannedNetwork, Hops), Fault> {
    if network.links.is_empty() {
        return Err(Fault::new("network.links", "is empty; give [network.links.NAME]"));
    }
    let name = "network.reroute_every";
    if network.reroute_every == Some(Duration::ZERO) {
        return Err(Fault::new(name, "is zero; give a time above zero, e.g. \"15 s\""));
    }
    if network.reroute_every.is_some() && network.routing != RouteChoice::Delay {
        let cure =
            "routes of fewest links do not change; give `routing = \"delay\"`, or leave it out";
        return Err(Fault::new(name, cure));
    }
    let nodes: BTreeSet<&str> =
        network.links.values().flat_map(|link| [&*link.ends.from, &*link.ends.to]).collect();
    let numbers: BTreeMap<&str, u32> = nodes.iter().copied().zip(0..).collect();
    let (mut links, mut back_links) = (Vec::new(), Vec::new());
    let mut hops: Hops = Default::default();
    for (name, link) in &network.links {
        let key = format!("network.links.{name}");
        check_name(name).map_err(|fault| fault.within("network.links"))?;
        let NetworkLink { ends, wire, sections } = link;
        for (end, node) in [("from", &ends.from), ("to", &ends.to)] {
            check_node(node).map_err(|fault| fault.within(end).within(&key))?;
        }
        if ends.from == ends.to {
            let cure = format!("the link begins and ends at {}; name two nodes", ends.to);
            return Err(Fault::of(&key, "to", cure));
        }
        let mut add = |(from, to): (&str, &str), key: &str, own: &Hop, direction: usize| {
            let begin = hops[direction].len();
            if own.sections.coding.is_some() {
                let cure = "a code is around hops of a path; leave it out in a network";
                return Err(Fault::of(key, "coding", cure));
            }
            let mut planned = hop(key.to_owned(), own, duration)?;
            if let Some(PlannedHop::Proxy(proxy)) =
                planned.iter().find(|hop| matches!(hop, PlannedHop::Proxy(_)))
            {
                let cure = "proxies stand on a path, not in a network; leave it out";
                return Err(Fault::new(&proxy.key, cure));
            }
            for hop in &mut planned {
                if let PlannedHop::Link(link) = hop {
                    link.named = Some((name.clone(), direction as u32));
                }
            }
            hops[direction].extend(planned);
            Ok(NetworkEdge {
                name: name.clone(),
                from: numbers[from],
                to: numbers[to],
                hops: begin..hops[direction].len(),
            })
        };
        let own = Hop { wire: wire.clone(), sections: sections.clone() };
        links.push(add((&ends.from, &ends.to), &key, &own, 0)?);
        let back = match (&ends.back, ends.duplex) {
            (Some(_), true) => {
                let cure = "`return` gives the other direction; leave `duplex` out";
                return Err(Fault::of(&key, "duplex", cure));
            }
            (Some(back), false) => Some((format!("{key}.return"), back)),
            (None, true) => Some((key, &own)),
            (None, false) => None,
        };
        if let Some((key, back)) = back {
            back_links.push(add((&ends.to, &ends.from), &key, back, 1)?);
        }
    }
    for mut link in back_links {
        link.hops = link.hops.start + hops[0].len()..link.hops.end + hops[0].len();
        links.push(link);
    }
    let mut planned = PlannedNetwork {
        nodes: nodes.into_iter().map(str::to_owned).collect(),
        links,
        routing: network.routing,
        reroute_every: network.reroute_every,
        demands: Vec::new(),
    };
    for (flow, key) in flows.iter().zip(keys) {
        let demand = planned.demand(flow).map_err(|fault| fault.within(key))?;
        planned.demands.push(demand);
    }
    planned.check(keys)?;
    Ok((planned, hops))
}

/// Checks the name of a node, which stands in pictures and tables.
fn check_node(name: &str) -> Result<(), Fault> {
    // These change the direction in which the text around them is shown.
    let turns = |letter| matches!(letter, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if name.trim().is_empty() || name.contains(|c: char| c.is_control() || turns(c)) {
        let cure = "name the node by text that can be printed, in one line";
        return Err(Fault::at(format!("{name:?}: {cure}")));
    }
    Ok(())
}

/// Checks that a scenario with a network has no other path, and one without has no flow with
/// nodes.
pub(super) fn check_sections(traffic: &Traffic, given: Option<&str>) -> Result<(), Fault> {
    if traffic.network.is_none() {
        for (index, flow) in traffic.flow.iter().enumerate() {
            let given = [
                ("from", flow.from.is_some()),
                ("to", flow.to.is_some()),
                ("route", flow.route.is_some()),
                ("return_route", flow.return_route.is_some()),
                ("paths", flow.paths.is_some()),
                ("path_scheduler", flow.path_scheduler.is_some()),
            ];
            let cure = "applies to a flow in a [network]; give one, or leave it out";
            Fault::refuse(given, cure).map_err(|fault| fault.within(&format!("flow.{index}")))?;
        }
        return Ok(());
    }
    let access = traffic.flow.iter().position(|flow| flow.access.is_some());
    let other = given.map(str::to_owned);
    let other = other.or((!traffic.path.is_empty()).then(|| "path".to_owned()));
    let other = other.or(traffic.back.as_ref().map(|_| "return".to_owned()));
    let other = other.or(traffic.access.as_ref().map(|_| "access".to_owned()));
    if let Some(name) = other.or(access.map(|flow| format!("flow.{flow}.access"))) {
        let cure = "[network] has all links; make it a link there, or leave [network] out";
        return Err(Fault::new(&name, cure));
    }
    if traffic.flow.is_empty() {
        let cure = "[network] needs flows with nodes; give [[flow]] with `from` and `to`";
        let name = if traffic.flows.is_some() { "flows" } else { "network" };
        return Err(Fault::new(name, cure));
    }
    Ok(())
}

impl PlannedNetwork {
    /// Routes over the links, with the delay of each.
    pub fn graph(&self, delay: impl Fn(&NetworkEdge) -> Duration) -> Graph {
        let links = self.links.iter().map(|link| (link.from, link.to, delay(link)));
        match self.routing {
            RouteChoice::Links => Graph::by_fewest_links(links),
            RouteChoice::Delay => Graph::by_delay(links),
        }
    }

    /// The nodes of a flow, and the routes that it gives.
    fn demand(&self, flow: &Flow) -> Result<PlannedDemand, Fault> {
        let node = |name: &str, given: &Option<String>| {
            let Some(node) = given else {
                return Err(Fault::new(name, "is missing; name a node of [network]"));
            };
            let found = self.nodes.iter().position(|own| own == node);
            found.map(|number| number as u32).ok_or_else(|| {
                let known = self.nodes.join(", ");
                Fault::new(name, unknown("node", node, &known, self.nodes.iter()))
            })
        };
        let (from, to) = (node("from", &flow.from)?, node("to", &flow.to)?);
        if from == to {
            return Err(Fault::new("to", "is the node at which the flow begins; name another"));
        }
        let route = |name: &str, given: &Option<Vec<String>>, from: u32| {
            let links = given.as_ref().map(|names| self.given_route(names, from)).transpose();
            links.map_err(|fault| fault.within(name))
        };
        let mut paths = self.paths(flow, from)?.into_iter();
        let first = paths.next();
        Ok(PlannedDemand {
            from,
            to,
            route: match &first {
                Some([there, _]) => Some(there.clone()),
                None => route("route", &flow.route, from)?,
            },
            return_route: match first {
                Some([_, back]) => Some(back),
                None => route("return_route", &flow.return_route, to)?,
            },
            further: paths.collect(),
        })
    }

    /// The links of each path of a flow over several, there and back.
    fn paths(&self, flow: &Flow, from: u32) -> Result<Vec<[Vec<u32>; 2]>, Fault> {
        let Some(paths) = &flow.paths else {
            if flow.path_scheduler.is_some() {
                let cure = "applies to a flow with `paths`; give them, or leave it out";
                return Err(Fault::new("path_scheduler", cure));
            }
            return Ok(Vec::new());
        };
        if !(2..=Multipath::MOST_PATHS).contains(&paths.len()) {
            let (count, most) = (paths.len(), Multipath::MOST_PATHS);
            let message = format!("{count} paths; give 2 to {most}, or `route` for one");
            return Err(Fault::new("paths", message));
        }
        let routes =
            [("route", flow.route.is_some()), ("return_route", flow.return_route.is_some())];
        Fault::refuse(routes, "`paths` gives the routes; leave one of them out")?;
        if flow.transport.kind.protocol.name() != "tcp" {
            let cure = "several paths need protocol = \"tcp\"; set it, or leave `paths` out";
            return Err(Fault::new("transport.protocol", cure));
        }
        if flow.application.is_session() {
            let cure = "several paths carry data in one direction; give bulk data, a file or a \
                        constant rate";
            return Err(Fault::new("application", cure));
        }
        flow.protocol().check().map_err(|fault| fault.within("transport"))?;
        let path = |names: &Vec<String>| -> Result<[Vec<u32>; 2], Fault> {
            let there = self.given_route(names, from)?;
            let back = there.iter().rev().map(|&link| self.other_direction(link));
            let back = back.collect::<Result<_, _>>()?;
            Ok([there, back])
        };
        let of = |(number, names): (usize, &Vec<String>)| {
            path(names).map_err(|fault| fault.within(&number.to_string()).within("paths"))
        };
        paths.iter().enumerate().map(of).collect()
    }

    /// The number of the same link in the other direction.
    fn other_direction(&self, link: u32) -> Result<u32, Fault> {
        let own = &self.links[link as usize];
        let opposite = |other: &NetworkEdge| {
            other.name == own.name && (other.from, other.to) == (own.to, own.from)
        };
        let number = self.links.iter().position(opposite);
        number.map(|number| number as u32).ok_or_else(|| {
            let cure = "acknowledgements return over it; make it duplex, or give its `return`";
            Fault::at(format!("link {} has one direction; {cure}", own.name))
        })
    }

    /// The numbers of the links with these names, each in the direction that begins where the route
    /// has arrived.
    fn given_route(&self, names: &[String], from: u32) -> Result<Vec<u32>, Fault> {
        let mut at = from;
        let mut numbers = Vec::new();
        for name in names {
            let mut both = (0..).zip(&self.links).filter(|(_, link)| link.name == *name).peekable();
            if both.peek().is_none() {
                let links: BTreeSet<&String> = self.links.iter().map(|link| &link.name).collect();
                let known: Vec<&str> = links.iter().map(|name| name.as_str()).collect();
                let known = known.join(", ");
                return Err(Fault::at(unknown("link", name, &known, links.into_iter())));
            }
            let Some((number, link)) = both.find(|(_, link)| link.from == at) else {
                let at = &self.nodes[at as usize];
                let cure = "list the links in their order from the first node to the last";
                return Err(Fault::at(format!("link {name} does not begin at {at}; {cure}")));
            };
            numbers.push(number);
            at = link.to;
        }
        Ok(numbers)
    }

    /// Checks that every flow has a route in both directions. Which routes exist does not depend on
    /// the delays.
    fn check(&self, keys: &[String]) -> Result<(), Fault> {
        let graph = self.graph(|_| Duration::ZERO);
        let mut routes = graph.routes();
        let name = |node: u32| &self.nodes[node as usize];
        for (demand, key) in self.demands.iter().zip(keys) {
            let further = demand.further.iter();
            let further = further.map(|[there, _]| ("paths", demand.from, demand.to, Some(there)));
            let several = !demand.further.is_empty();
            let [there, back] = if several { ["paths"; 2] } else { ["route", "return_route"] };
            let ways = [
                (there, demand.from, demand.to, demand.route.as_ref()),
                (back, demand.to, demand.from, demand.return_route.as_ref()),
            ];
            for (field, from, to, given) in ways.into_iter().chain(further) {
                let fault = |error| match error {
                    RouteError::NoWay { from, to } => {
                        let (from, to) = (name(from), name(to));
                        let cure = "add links, or make links duplex";
                        Fault::new("to", format!("no links lead from {from} to {to}; {cure}"))
                    }
                    RouteError::Elsewhere { at, to } => {
                        let (at, to) = (name(at), name(to));
                        let message = format!("ends at {at}, not at {to}; add the links there");
                        Fault::new(field, message)
                    }
                    RouteError::Loop { at } => {
                        let message = format!("visits {} twice; leave the loop out", name(at));
                        Fault::new(field, message)
                    }
                    error @ RouteError::Broken { .. } => Fault::new(field, error.to_string()),
                };
                match given {
                    Some(way) => graph.check(way, from, to),
                    None => routes.way(from, to).map(drop),
                }
                .map_err(|error| fault(error).within(key))?;
            }
        }
        Ok(())
    }
}

/// Message for a name that the network does not have.
fn unknown<'a>(
    what: &str,
    name: &str,
    known: &str,
    names: impl Iterator<Item = &'a String>,
) -> String {
    let near = nearest(name, names.map(String::as_str));
    let near = near.map_or(String::new(), |near| format!(" (did you mean {near}?)"));
    format!("no {what} `{name}`; the network has {known}{near}")
}
