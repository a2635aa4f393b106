//! Turns a checked configuration into a plan: hops, flows and the traces that they need.

mod coding;
mod link;
mod network;
mod phy;
mod proxy;
mod way_back;

pub use coding::PlannedCoding;
pub use link::PlannedLink;
pub(super) use network::check_name;
pub use network::{NetworkEdge, PlannedDemand, PlannedNetwork};
pub use phy::{PlannedChannel, PlannedPhy};
pub use proxy::PlannedProxy;

use super::config::{Config, Run};
use super::flows::flows;
use super::leg::Leg;
use super::path::{Hop, Sections};
use super::traffic::Flow;
use crate::config::{Fault, first_changed_key, join};
use crate::scheme::Scheme;
use crate::units::Duration;

/// The path and the flows of a cell, checked for contradictions.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Hops from the sources to the destination.
    pub forward: Vec<PlannedHop>,
    /// Hops from the destination to the sources.
    pub backward: Vec<PlannedHop>,
    /// The flows, one entry each.
    pub flows: Vec<Flow>,
    /// The number of each flow among those of its entry in the file.
    pub numbers: Vec<u32>,
    /// The nodes and links, if they form a network; its hops are `forward` and `backward`.
    pub network: Option<PlannedNetwork>,
    /// Whether a run ends once every flow has finished.
    pub stop_when_done: bool,
}

/// One hop, or several hops of the return path.
#[derive(Clone, Debug)]
pub enum PlannedHop {
    /// A wired leg.
    Leg(Leg),
    /// A link.
    Link(Box<PlannedLink>),
    /// A proxy. On the return path: the position of one of the forward path's proxies, the last one
    /// first.
    Proxy(PlannedProxy),
    /// A code around the hops that follow.
    Coding(PlannedCoding),
    /// The return path over the first hops of the forward path, as many as given, in reverse: it
    /// takes as long as they do.
    WayBack(usize),
}

/// Limits the effect of a typing error.
const MOST_RUNS: u32 = 1_000_000;

impl Plan {
    /// The plan of `config`. Fails with the first contradiction.
    pub(super) fn new(config: &Config) -> Result<Self, Fault> {
        let Config { run, traffic, .. } = config;
        if run.duration == Duration::ZERO {
            return Err(Fault::new("duration", "is zero; give a time above zero, e.g. \"400 s\""));
        }
        if run.runs == 0 || run.runs > MOST_RUNS {
            return Err(Fault::new("runs", format!("{} runs; give 1 to {MOST_RUNS}", run.runs)));
        }
        let (flows, keys) = flows(traffic)?;
        let stop_when_done =
            run.stop_when_done.unwrap_or_else(|| flows.iter().all(Flow::is_transfer));
        let numbers = keys.chunk_by(|a, b| a == b).flat_map(|own| 0..own.len() as u32).collect();
        network::check_sections(traffic, config.sections.given().next())?;
        if let Some(own) = &traffic.network {
            let (network, [forward, backward]) =
                network::network(own, &flows, &keys, run.duration)?;
            let network = Some(network);
            return Ok(Self { forward, backward, flows, numbers, network, stop_when_done });
        }
        let mut forward = path(config)?;
        proxy::check(&forward, &flows)?;
        let back = way_back::way_back(traffic.back.as_ref(), &forward, run.duration)?;
        if let Some(access) = &traffic.access {
            access.check("access")?;
            forward.push(PlannedHop::Leg(access.clone()));
        }
        let mut backward = Vec::new();
        backward.extend(traffic.access.clone().map(PlannedHop::Leg));
        backward.extend(back);
        Ok(Self { forward, backward, flows, numbers, network: None, stop_when_done })
    }

    /// The links, forward links first. Traces, channels and starts are numbered in this order.
    pub fn links(&self) -> impl Iterator<Item = &PlannedLink> {
        self.hops().filter_map(|hop| match hop {
            PlannedHop::Link(link) => Some(&**link),
            PlannedHop::Leg(_)
            | PlannedHop::Proxy(_)
            | PlannedHop::Coding(_)
            | PlannedHop::WayBack(_) => None,
        })
    }

    fn hops(&self) -> impl Iterator<Item = &PlannedHop> {
        self.forward.iter().chain(&self.backward)
    }
}

/// The forward path, without the access leg.
fn path(config: &Config) -> Result<Vec<PlannedHop>, Fault> {
    let Config { run: Run { duration, .. }, sections, traffic } = config;
    // The scheme "none" has no effect, so it does not count as given.
    let scheme = sections.scheme.clone().filter(|scheme| *scheme != Scheme::None);
    let sections = Sections { scheme, ..sections.clone() };
    if traffic.path.is_empty() {
        let hops = link::link("", &sections, *duration)?;
        return coding::around("", &sections.coding, hops);
    }
    // The link of the return path takes keys from `[link]`.
    let is_taken = traffic.back.as_ref().is_some_and(|back| back.sections.link.is_some());
    let own = sections.link.as_ref().filter(|_| !is_taken).and_then(first_changed_key);
    let of_link = own.map(|name| join("link", &name));
    let given = sections.given().find(|name| !["link", "coding"].contains(name)).map(str::to_owned);
    if let Some(name) = given.or(of_link) {
        let cure = "[[path]] gives the path hop by hop; move it into a hop, or leave [[path]] out";
        return Err(Fault::new(&name, cure));
    }
    let hops = hops("path", &traffic.path, *duration)?;
    coding::around("", &sections.coding, hops)
}

/// The hops of `[[path]]` or `[[return.path]]`.
fn hops(key: &str, hops: &[Hop], duration: Duration) -> Result<Vec<PlannedHop>, Fault> {
    let mut planned = Vec::new();
    let mut stretches = coding::Stretches::new(hops.len());
    for (index, own) in hops.iter().enumerate() {
        let key = format!("{key}.{index}");
        stretches.begin(&key, index, own, &mut planned)?;
        planned.extend(hop(key, own, duration)?);
    }
    stretches.end(hops.len(), &mut planned)?;
    Ok(planned)
}

/// The hops of one entry in the section `key`.
fn hop(key: String, hop: &Hop, duration: Duration) -> Result<Vec<PlannedHop>, Fault> {
    if let Some(pep) = &hop.wire.pep {
        return Ok(proxy::alone(key, hop, pep)?.map(PlannedHop::Proxy).into_iter().collect());
    }
    let Some(leg) = &hop.wire.leg else { return link::link(&key, &hop.sections, duration) };
    if hop.sections.given().any(|name| name != "coding") {
        let cure = "a hop is a leg or a link, not both; make two hops of it";
        return Err(Fault::of(&key, "leg", cure));
    }
    leg.check(&join(&key, "leg"))?;
    Ok(vec![PlannedHop::Leg(leg.clone())])
}
