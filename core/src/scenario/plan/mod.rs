//! Turns a checked configuration into a plan: hops, flows and the traces that they need.

mod coding;
mod hop;
mod link;
mod network;
mod path;
mod proxy;
mod way_back;

pub use hop::{PlannedCoding, PlannedHop, PlannedLink, PlannedProxy};
pub use network::{NetworkEdge, PlannedDemand, PlannedNetwork};

use super::config::Config;
use super::flows::flows;
use super::traffic::Flow;
use crate::config::Fault;
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
        let mut forward = path::path(config)?;
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
