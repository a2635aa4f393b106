//! From a checked configuration to what is run: hops, flows and the traces that they need.

mod link;
mod phy;
mod way_back;

pub use link::{PlannedLink, PlannedMedium};
pub use phy::{PlannedChannel, PlannedPhy};

use super::config::Config;
use super::flows::flows;
use super::leg::Leg;
use super::path::Hop;
use super::traffic::Flow;
use crate::config::Fault;
use crate::scheme::Scheme;
use crate::units::Duration;

/// The path and the flows of a cell, without contradictions.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Hops from the sources to the destination.
    pub forward: Vec<PlannedHop>,
    /// Hops from the destination to the sources.
    pub backward: Vec<PlannedHop>,
    /// The flows, one entry each.
    pub flows: Vec<Flow>,
    /// Whether a run ends once every flow has finished.
    pub stop_when_done: bool,
}

/// One hop, or several of the way back.
#[derive(Clone, Debug)]
pub enum PlannedHop {
    /// A wired leg.
    Leg(Leg),
    /// A link.
    Link(Box<PlannedLink>),
    /// What takes as long as so many hops of the way there, its first ones, in reverse.
    WayBack(usize),
}

/// Bounds what a typing error can ask for.
const MOST_RUNS: u32 = 1_000_000;

impl Plan {
    /// The plan of `config`, or the first contradiction in it.
    pub(super) fn new(config: &Config) -> Result<Self, Fault> {
        if config.duration == Duration::ZERO {
            return Err(Fault::new("duration", "is zero; give a time above zero, e.g. \"400 s\""));
        }
        if config.runs == 0 || config.runs > MOST_RUNS {
            return Err(Fault::new("runs", format!("{} runs; give 1 to {MOST_RUNS}", config.runs)));
        }
        let flows = flows(config)?;
        let mut forward = path(config)?;
        let shared = forward.len();
        if let Some(access) = &config.access {
            access.check("access")?;
            forward.push(PlannedHop::Leg(access.clone()));
        }
        let mut backward = Vec::new();
        backward.extend(config.access.clone().map(PlannedHop::Leg));
        backward.extend(way_back::way_back(config, shared)?);
        let stop_when_done =
            config.stop_when_done.unwrap_or_else(|| flows.iter().all(Flow::is_transfer));
        Ok(Self { forward, backward, flows, stop_when_done })
    }

    /// The links, the forward ones first: the order of their inputs, channels and starts.
    pub fn links(&self) -> impl Iterator<Item = &PlannedLink> {
        self.hops().filter_map(|hop| match hop {
            PlannedHop::Link(link) => Some(&**link),
            PlannedHop::Leg(_) | PlannedHop::WayBack(_) => None,
        })
    }

    fn hops(&self) -> impl Iterator<Item = &PlannedHop> {
        self.forward.iter().chain(&self.backward)
    }
}

/// The way there, without the access leg.
fn path(config: &Config) -> Result<Vec<PlannedHop>, Fault> {
    if config.path.is_empty() {
        let whole = Hop {
            leg: None,
            trace: config.trace.clone(),
            channel: config.channel.clone(),
            link_trace: config.link_trace.clone(),
            scheme: (config.scheme != Scheme::None).then(|| config.scheme.clone()),
            hybrid: config.hybrid.clone(),
            ntn: config.ntn.clone(),
            adaptive_harq: config.adaptive_harq.clone(),
            link: Some(config.link.clone()),
        };
        return link::link("", &whole, config);
    }
    let given = [
        ("trace", config.trace.is_some()),
        ("channel", config.channel.is_some()),
        ("link_trace", config.link_trace.is_some()),
        ("scheme", config.scheme != Scheme::None),
        ("hybrid", config.hybrid.is_some()),
        ("ntn", config.ntn.is_some()),
        ("adaptive_harq", config.adaptive_harq.is_some()),
        ("link.delays", config.link.delays.is_some()),
        ("link.feedback_trace", config.link.feedback_trace.is_some()),
        ("link.feedback_channel", config.link.feedback_channel.is_some()),
    ];
    if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
        let cure = "[[path]] gives the path hop by hop; move it into a hop, or leave [[path]] out";
        return Err(Fault::new(name, cure));
    }
    hops("path", &config.path, config)
}

/// The hops of `[[path]]` or `[[return.path]]`.
fn hops(key: &str, hops: &[Hop], config: &Config) -> Result<Vec<PlannedHop>, Fault> {
    let mut planned = Vec::new();
    for (index, hop) in hops.iter().enumerate() {
        let key = format!("{key}.{index}");
        let Some(leg) = &hop.leg else {
            planned.extend(link::link(&key, hop, config)?);
            continue;
        };
        let link = hop.trace.is_some()
            || hop.channel.is_some()
            || hop.link_trace.is_some()
            || hop.scheme.is_some()
            || hop.hybrid.is_some()
            || hop.ntn.is_some()
            || hop.adaptive_harq.is_some()
            || hop.link.is_some();
        if link {
            let cure = "a hop is a leg or a link, not both; make two [[path]] entries of it";
            return Err(Fault::of(&key, "leg", cure));
        }
        leg.check(&format!("{key}.leg"))?;
        planned.push(PlannedHop::Leg(leg.clone()));
    }
    Ok(planned)
}
