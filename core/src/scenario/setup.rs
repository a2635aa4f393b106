//! Turns a cell into a setup for the engine; requests the traces of its links as it needs them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cell::Cell;
use super::flows::MOST_FLOWS;
use super::handovers::timetable;
use super::leg::Leg;
use super::link::{Link, Overlap};
use super::link_kind::Making;
use super::plan::{NetworkEdge, PlannedCoding, PlannedDemand, PlannedHop, PlannedLink};
use super::reorder::Reorder;
use super::traces::{SetupFault, Traces};
use super::traffic;
use crate::application::Until;
use crate::config::Fault;
use crate::link::{Coding, TraceClock};
use crate::scheme::{LinkConfig, Medium};
use crate::simulation::{Flow, Hop, LegConfig, Proxy, Rerouting, Routing, Setup, Stretch, Ways};
use crate::transport::Timetable;
use crate::units::{Duration, Instant};

/// The medium that carries a link's packets, and the trace time at which it starts.
pub(super) type Started = (Arc<dyn Medium>, Duration);
impl Cell {
    /// The engine's input for one replication.
    ///
    /// # Errors
    /// If a trace cannot be made, or a key does not fit the traces.
    pub fn setup(&self, replication: u32, traces: &dyn Traces) -> Result<Setup, SetupFault> {
        let maker = Maker { cell: self, replication, traces };
        let (flows, numbers) = maker.flows()?;
        let mut links = maker.started(&self.terminals(&flows, &numbers))?.into_iter();
        let Hops { hops: forward, proxies: places, timetables } =
            maker.hops(&self.plan.forward, &mut links, (&[], &[]))?;
        let there = (&forward[..], &places[..]);
        let Hops { hops: backward, proxies: mut back, timetables: on_return } =
            maker.hops(&self.plan.backward, &mut links, there)?;
        let on_return = on_return.into_iter().map(|(hop, own)| (hop + forward.len(), own));
        let known = timetables.into_iter().chain(on_return);
        back.reverse();
        let planned = self.plan.forward.iter().filter_map(|hop| match hop {
            PlannedHop::Proxy(proxy) => Some(proxy.config.clone()),
            _ => None,
        });
        let proxies = planned.zip(places).zip(back);
        let proxies =
            proxies.map(|((config, forward), backward)| Proxy { config, forward, backward });
        let mut routing = maker.routing(&forward, &backward, &numbers)?;
        for (hop, own) in known {
            let all = routing.timetables.entry(hop as u32).or_default();
            *all = Timetable::new([all.handovers(), own.handovers()].concat());
        }
        Ok(Setup {
            seed: self.seed(replication),
            duration: self.config.run.duration,
            stop_when_done: self.plan.stop_when_done,
            forward,
            backward,
            proxies: proxies.collect(),
            flows,
            routing,
            changes: Vec::new(),
        })
    }

    /// The medium of each link of a replication, and the trace time at which it starts.
    ///
    /// # Errors
    /// If a trace cannot be made, or a key does not fit the traces.
    pub(super) fn started(
        &self,
        replication: u32,
        traces: &dyn Traces,
    ) -> Result<Vec<Started>, SetupFault> {
        Maker { cell: self, replication, traces }.started(&Arc::default())
    }

    /// The terminal of each connection of a run, before the number of terminals is known.
    fn terminals(&self, flows: &[Flow], numbers: &[FlowNumber]) -> Arc<[u32]> {
        let numbers = numbers.iter().map(|flow| self.plan.numbers[flow.planned]);
        let each = flows.iter().zip(numbers);
        // Only a session has several connections.
        let count =
            |flow: &Flow| if flow.application.is_session() { flow.connections() } else { 1 };
        each.flat_map(|(flow, number)| std::iter::repeat_n(number, count(flow))).collect()
    }
}

/// Hops in one direction.
struct Hops {
    hops: Vec<Hop>,
    /// How many hops stand before each proxy.
    proxies: Vec<usize>,
    /// Handovers that a terminal knows beforehand, with the number of the hop.
    timetables: Vec<(usize, Timetable)>,
}

/// Makes one replication of a cell.
struct Maker<'a> {
    cell: &'a Cell,
    replication: u32,
    traces: &'a dyn Traces,
}

impl Maker<'_> {
    /// Builds hops. `links` are the media and start times of the remaining links; `there` are the
    /// forward hops that a return path may mirror, with the number of hops before each proxy.
    fn hops(
        &self,
        planned: &[PlannedHop],
        links: &mut impl Iterator<Item = Started>,
        (there, places): (&[Hop], &[usize]),
    ) -> Result<Hops, SetupFault> {
        let (mut hops, mut proxies) = (Vec::new(), Vec::new());
        let mut timetables: Vec<(usize, Timetable)> = Vec::new();
        // Delays behind a link use the clock of its trace.
        let mut clock: Option<TraceClock> = None;
        // The code around the hops from a place on, up to another one.
        let mut coded: Option<(&Coding, usize, usize)> = None;
        let mut rest = planned.iter().peekable();
        while let Some(planned) = rest.next() {
            match planned {
                PlannedHop::Coding(PlannedCoding { coding, hops: count }) => {
                    coded = Some((coding, hops.len(), hops.len() + count));
                    continue;
                }
                PlannedHop::Leg(leg) => {
                    hops.push(Hop::Leg(match clock.take() {
                        Some(clock) => self.leg(leg, clock)?,
                        None => leg.config(self.traces)?,
                    }));
                }
                PlannedHop::Proxy(_) => proxies.push(hops.len()),
                PlannedHop::WayBack(first) => {
                    way_back(&there[..*first], places, &mut hops, &mut proxies);
                }
                PlannedHop::Link(planned) => {
                    let Some((medium, start)) = links.next() else { continue };
                    let span = medium.span();
                    let cycle = |(first, end): (u64, u64)| {
                        (Instant::from_nanos(first), Duration::from_nanos(end - first))
                    };
                    let cycle = span.filter(|_| planned.link.usage.wrap).map(cycle);
                    clock = planned.link.usage.delays.is_some().then_some((start, cycle));
                    let moved = span.and_then(|_| medium.on_clock((start, cycle)));
                    let medium = moved.unwrap_or(medium);
                    let own = link(planned, medium, start);
                    let behind = match rest.peek() {
                        Some(PlannedHop::Leg(leg)) => clock.map(|clock| self.leg(leg, clock)),
                        _ => None,
                    };
                    let behind = behind.transpose()?.map(|leg| leg.delay);
                    let duration = self.cell.config.run.duration;
                    let known = timetable(&planned.link, &own, behind.as_ref(), duration);
                    let known = known.map_err(|fault| fault.within("link").within(&planned.key))?;
                    timetables.extend(known.map(|known| (hops.len(), known)));
                    hops.push(Hop::Link(own));
                }
            }
            if let Some((coding, begin, end)) = coded
                && hops.len() == end
            {
                let between = hops.split_off(begin);
                hops.push(Stretch::coded(between, coding.clone()));
                timetables.iter_mut().for_each(|(hop, _)| *hop = begin.min(*hop));
                coded = None;
            }
        }
        Ok(Hops { hops, proxies, timetables })
    }

    /// A leg on the clock of a trace.
    fn leg(&self, leg: &Leg, clock: TraceClock) -> Result<LegConfig, SetupFault> {
        let leg = leg.config(self.traces)?;
        Ok(LegConfig { delay: leg.delay.on_clock(clock), ..leg })
    }

    /// The medium of each link, and the trace time at which it starts; `terminals`: that of each
    /// connection.
    fn started(&self, terminals: &Arc<[u32]>) -> Result<Vec<Started>, SetupFault> {
        let links = self.cell.plan.links().enumerate();
        let media: Result<Vec<_>, _> =
            links.map(|(index, link)| self.medium(index, link, terminals)).collect();
        let media = media?;
        let spans: Vec<_> = media.iter().map(|medium| medium.span()).collect();
        let starts = self.cell.starts(self.replication, &spans)?;
        Ok(media.into_iter().zip(starts).collect())
    }

    /// The medium of the link number `index`.
    fn medium(
        &self,
        index: usize,
        link: &PlannedLink,
        terminals: &Arc<[u32]>,
    ) -> Result<Arc<dyn Medium>, SetupFault> {
        let Self { cell, replication, traces } = *self;
        let making = Making {
            link: &link.link,
            traces,
            duration: cell.config.run.duration,
            phy: link.phy.as_ref(),
            seeds: cell.seeds(index, link, replication),
            return_delay: cell.return_delay(index),
            terminals,
        };
        link.kind.medium(&making).map_err(|fault| match fault {
            SetupFault::Key(fault) => fault.within(link.section).within(&link.key).into(),
            made @ SetupFault::Trace(_) => made,
        })
    }

    /// The flows, and for each the number of its plan and its number there.
    fn flows(&self) -> Result<(Vec<Flow>, Vec<FlowNumber>), SetupFault> {
        let Self { cell, replication, traces } = *self;
        let (mut flows, mut numbers) = (Vec::new(), Vec::new());
        for (number, planned) in cell.plan.flows.iter().enumerate() {
            let flow = self.flow(planned)?;
            let Some(arrivals) = &planned.arrivals else {
                flows.push(flow);
                numbers.push(FlowNumber { planned: number, arrival: None });
                continue;
            };
            let span = (planned.start, planned.end.unwrap_or(cell.config.run.duration));
            let draws = (cell.seed(replication), number as u32);
            let room = MOST_FLOWS as usize - flows.len();
            let starts = arrivals.starts(span, draws, room + 1, traces)?;
            if starts.len() > room {
                let message = format!("more than {MOST_FLOWS} flows arrive; let fewer arrive");
                return Err(Fault::new("flow", message).into());
            }
            for (arrival, start) in starts.into_iter().enumerate() {
                flows.push(Flow { start: Instant::ZERO + start, ..flow.clone() });
                numbers.push(FlowNumber { planned: number, arrival: Some(arrival) });
            }
        }
        Ok((flows, numbers))
    }

    fn flow(&self, flow: &traffic::Flow) -> Result<Flow, SetupFault> {
        let leg = flow.access.as_ref().map(|leg| leg.config(self.traces));
        let mut application = flow.application.application(|file| self.traces.page(file))?;
        if let Some(end) = flow.end.filter(|_| flow.arrivals.is_none()) {
            application = Arc::new(Until { application, end: Instant::ZERO + end });
        }
        Ok(Flow {
            start: Instant::ZERO + flow.start,
            transport: flow.protocol(),
            application,
            source_leg: leg.transpose()?,
        })
    }

    /// The routes of the flows, and the names of flows and hops.
    fn routing(
        &self,
        forward: &[Hop],
        backward: &[Hop],
        flows: &[FlowNumber],
    ) -> Result<Routing, SetupFault> {
        let plan = &self.cell.plan;
        let flow_names = flow_names(&plan.flows, flows);
        let Some(network) = &plan.network else {
            return Ok(Routing { flow_names, ..Routing::default() });
        };
        let all: Vec<&Hop> = forward.iter().chain(backward).collect();
        let add = |sum: Duration, hop: &&Hop| sum + hop.delay().at(Instant::ZERO);
        let graph = network.graph(|edge| all[edge.hops.clone()].iter().fold(Duration::ZERO, add));
        let mut routes = graph.routes();
        let mut hops = |given: &Option<Vec<u32>>, from, to| -> Result<Vec<u32>, Fault> {
            let links = given.clone().map_or_else(|| routes.way(from, to), Ok);
            let links = links.map_err(|error| Fault::new("network", error.to_string()))?;
            let hops = links.iter().flat_map(|&link| network.links[link as usize].hops.clone());
            Ok(hops.map(|hop| hop as u32).collect())
        };
        let mut of = |[there, back]: [&Option<Vec<u32>>; 2], from, to| -> Result<Ways, Fault> {
            Ok(Ways { to_receiver: hops(there, from, to)?, to_sender: hops(back, to, from)? })
        };
        let (mut ways, mut further) = (Vec::new(), Vec::new());
        for PlannedDemand { from, to, route, return_route, further: others } in &network.demands {
            ways.push(of([route, return_route], *from, *to)?);
            let others = others
                .iter()
                .map(|[there, back]| of([&Some(there.clone()), &Some(back.clone())], *from, *to));
            further.push(others.collect::<Result<Vec<_>, _>>()?);
        }
        let names = network.links.iter().flat_map(|link| {
            (0..link.hops.len()).map(|place| match place {
                0 => link.name.as_str().into(),
                _ => format!("{}-delays", link.name).into(),
            })
        });
        Ok(Routing {
            ways: flows.iter().map(|flow| ways[flow.planned].clone()).collect(),
            further: flows
                .iter()
                .map(|flow| further[flow.planned].clone())
                .enumerate()
                .filter(|(_, others)| !others.is_empty())
                .collect(),
            rerouting: network.reroute_every.map(|every| Rerouting {
                every,
                links: network.links.iter().map(NetworkEdge::routed).collect(),
                flows: flows.iter().map(|flow| network.demands[flow.planned].routed()).collect(),
            }),
            flow_names,
            hop_names: names.collect(),
            ..Routing::default()
        })
    }
}

/// Number of a flow in the plan, and that of its arrival, if it arrives.
#[derive(Clone, Copy, Debug)]
struct FlowNumber {
    planned: usize,
    arrival: Option<usize>,
}

/// Names of the flows, if one of them has a name. Flows of one entry are numbered; a flow without a
/// name has its number.
fn flow_names(planned: &[traffic::Flow], flows: &[FlowNumber]) -> Vec<Arc<str>> {
    if planned.iter().all(|flow| flow.name.is_none()) {
        return Vec::new();
    }
    let mut counts = BTreeMap::new();
    let names = flows.iter().enumerate().map(|(number, flow)| {
        let own = &planned[flow.planned];
        let Some(name) = &own.name else { return number.to_string().into() };
        if own.count == 1 && flow.arrival.is_none() {
            return name.as_str().into();
        }
        let count = counts.entry(name.as_str()).or_insert(0);
        let numbered = format!("{name}-{count}").into();
        *count += 1;
        numbered
    });
    names.collect()
}

/// Builds the return path from the forward hops `there`. Each section between proxies takes as long
/// as on the forward path.
fn way_back(there: &[Hop], places: &[usize], hops: &mut Vec<Hop>, proxies: &mut Vec<usize>) {
    let mut end = there.len();
    for &place in places.iter().rev() {
        let place = place.min(end);
        if place < end {
            hops.extend(Hop::way_back(&there[place..end]));
        }
        proxies.push(hops.len());
        end = place;
    }
    if end > 0 || places.is_empty() {
        hops.extend(Hop::way_back(&there[..end]));
    }
}

fn link(planned: &PlannedLink, medium: Arc<dyn Medium>, start_offset: Duration) -> LinkConfig {
    let Link { slots, usage, .. } = &planned.link;
    LinkConfig {
        medium,
        queue: usage.queue,
        aqm: usage.aqm.clone(),
        start_offset,
        wrap: usage.wrap,
        fragmentation: planned.link.fragmentation(),
        overlap_papers: slots.overlap == Overlap::Papers,
        reorder: usage.reorder.as_ref().map(Reorder::config),
        coding: None,
    }
}
