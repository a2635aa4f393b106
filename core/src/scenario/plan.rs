//! From a checked configuration to what is run: hops, flows and the traces that they need.

use super::adaptive_harq::AdaptiveHarq;
use super::channel::Slots;
use super::config::{Config, Hop, Leg, Link, Overlap, Trace};
use super::erasures::Erasures;
use super::error::Problem;
use super::flows::flows;
use super::hybrid::Hybrid;
use super::limit::Start;
use super::ntn::Ntn;
use super::traffic::{ApplicationKind, Flow};
use crate::scheme::Scheme;
use crate::units::{Duration, Probability};

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

/// One hop.
#[derive(Clone, Debug)]
pub enum PlannedHop {
    /// A wired leg.
    Leg(Leg),
    /// A link.
    Link(Box<PlannedLink>),
    /// What takes as long as the forward hop of this number, whose delay varies.
    WayBack(usize),
}

/// A link: what carries its packets, and how it is used.
#[derive(Clone, Debug)]
pub struct PlannedLink {
    /// The section that speaks of it: "" for the scenario itself, "return", "path.1".
    pub key: String,
    /// What carries its packets.
    pub medium: PlannedMedium,
    /// The link.
    pub link: Link,
}

/// What carries the packets of a link.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PlannedMedium {
    /// A link trace: every slot of the PHY trace is used, and a scheme repairs it beforehand.
    Trace {
        /// Where the slots come from.
        phy: PlannedPhy,
        /// The link-layer reliability scheme.
        scheme: Scheme,
    },
    /// Hybrid FEC/ARQ-SR.
    Hybrid {
        /// The link.
        hybrid: Box<Hybrid>,
        /// Where the losses of its units come from, if not from its own law.
        losses: Option<PlannedPhy>,
    },
    /// A 3GPP link.
    Ntn {
        /// The link.
        ntn: Box<Ntn>,
        /// Where the fates of its blocks come from, if not from its own law.
        phy: Option<PlannedPhy>,
    },
    /// Adaptive HARQ.
    AdaptiveHarq {
        /// The link.
        harq: Box<AdaptiveHarq>,
        /// Length of its channel.
        length: Duration,
    },
    /// A live link: the scheme runs with the traffic over the PHY trace.
    Live {
        /// Where the slots come from.
        phy: PlannedPhy,
        /// The link-layer reliability scheme.
        scheme: Scheme,
    },
}

/// A PHY trace from a file, from a model, or from a file with erasures from a model on top.
#[derive(Clone, Debug)]
pub struct PlannedPhy {
    /// The PHY trace from a file.
    pub trace: Option<Trace>,
    /// The erasures from a model.
    pub erasures: Option<PlannedErasures>,
}

/// Erasures, and the slots to make where no trace has them.
#[derive(Clone, Debug)]
pub struct PlannedErasures {
    /// The model.
    pub model: Erasures,
    /// The slots of a channel that stands alone.
    pub slots: Option<Slots>,
    /// A seed of their own.
    pub seed: Option<u64>,
    /// Whether each run has its own draw.
    pub redraw: bool,
}

/// Bounds what a typing error can ask for.
const MOST_RUNS: u32 = 1_000_000;

impl Plan {
    /// The plan of `config`, or the first contradiction in it.
    pub(super) fn new(config: &Config) -> Result<Self, Problem> {
        if config.duration == Duration::ZERO {
            return Err(Problem::at("duration", "is zero; give a time above zero, e.g. \"400 s\""));
        }
        if config.runs == 0 || config.runs > MOST_RUNS {
            return Err(Problem::at(
                "runs",
                format!("{} runs; give 1 to {MOST_RUNS}", config.runs),
            ));
        }
        let flows = flows(config)?;
        let forward = forward(config)?;
        let backward = backward(config, &forward)?;
        let stop_when_done = config.stop_when_done.unwrap_or_else(|| {
            flows.iter().all(|flow| flow.application.kind == ApplicationKind::File)
        });
        Ok(Self { forward, backward, flows, stop_when_done })
    }

    /// The links, the forward ones first: the order of their inputs, channels and starts.
    pub fn links(&self) -> impl Iterator<Item = &PlannedLink> {
        self.forward.iter().chain(&self.backward).filter_map(|hop| match hop {
            PlannedHop::Link(link) => Some(&**link),
            PlannedHop::Leg(_) | PlannedHop::WayBack(_) => None,
        })
    }
}

impl PlannedLink {
    /// How long a signal is under way from one end to the other; `None`: it varies.
    pub fn one_way(&self) -> Option<Duration> {
        match &self.medium {
            PlannedMedium::Trace { .. } | PlannedMedium::Live { .. } => Some(self.link.rtt.half()),
            PlannedMedium::Hybrid { hybrid, .. } => Some(hybrid.delay),
            PlannedMedium::Ntn { ntn, .. } => {
                // Of a preset that was checked.
                Some(ntn.config(None).map_or(Duration::ZERO, |config| config.way_back.longest()))
            }
            PlannedMedium::AdaptiveHarq { harq, .. } => harq.fixed_delay(),
        }
    }

    /// The PHY trace under it, if it has one.
    pub fn phy(&self) -> Option<&PlannedPhy> {
        match &self.medium {
            PlannedMedium::Trace { phy, .. } | PlannedMedium::Live { phy, .. } => Some(phy),
            PlannedMedium::Hybrid { losses, .. } => losses.as_ref(),
            PlannedMedium::Ntn { phy, .. } => phy.as_ref(),
            PlannedMedium::AdaptiveHarq { .. } => None,
        }
    }
}

fn forward(config: &Config) -> Result<Vec<PlannedHop>, Problem> {
    let mut hops = if config.path.is_empty() {
        let whole = Hop {
            leg: None,
            trace: config.trace.clone(),
            channel: config.channel.clone(),
            scheme: Some(config.scheme),
            hybrid: config.hybrid.clone(),
            ntn: config.ntn.clone(),
            adaptive_harq: config.adaptive_harq.clone(),
            link: Some(config.link.clone()),
        };
        vec![link("", &whole, config)?]
    } else {
        let given = [
            ("trace", config.trace.is_some()),
            ("channel", config.channel.is_some()),
            ("scheme", config.scheme != Scheme::None),
            ("hybrid", config.hybrid.is_some()),
            ("ntn", config.ntn.is_some()),
            ("adaptive_harq", config.adaptive_harq.is_some()),
        ];
        if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
            let cure =
                "[[path]] gives the path hop by hop; move it into a hop, or leave [[path]] out";
            return Err(Problem::at(name, cure));
        }
        hops("path", &config.path, config)?
    };
    if let Some(access) = &config.access {
        check_leg("access", access)?;
        hops.push(PlannedHop::Leg(access.clone()));
    }
    Ok(hops)
}

fn backward(config: &Config, forward: &[PlannedHop]) -> Result<Vec<PlannedHop>, Problem> {
    let mut way = Vec::new();
    way.extend(config.access.clone().map(PlannedHop::Leg));
    let back = config.back.clone().unwrap_or_default();
    let given = [
        ("trace", back.trace.is_some()),
        ("channel", back.channel.is_some()),
        ("hybrid", back.hybrid.is_some()),
        ("ntn", back.ntn.is_some()),
        ("adaptive_harq", back.adaptive_harq.is_some()),
    ];
    let own = given.iter().find(|(_, given)| *given).map(|(name, _)| name);
    if back.path.is_empty() && own.is_none() {
        if back.scheme.is_some() {
            let cure = "there is no link for it; give [return.trace] or [return.channel]";
            return Err(Problem::new("return", "scheme", cure));
        }
        let fixed = |delay| PlannedHop::Leg(Leg { delay, ..Leg::default() });
        match back.delay {
            Some(delay) => way.push(fixed(delay)),
            None => {
                let varying: Vec<_> = varying(forward).map(PlannedHop::WayBack).collect();
                let delay = half_round_trip(forward, config);
                if varying.is_empty() || delay > Duration::ZERO {
                    way.push(fixed(delay));
                }
                way.extend(varying);
            }
        }
        return Ok(way);
    }
    if back.delay.is_some() {
        let cure = "the way back has a link of its own, whose round-trip time says it; leave the delay out";
        return Err(Problem::new("return", "delay", cure));
    }
    if !back.path.is_empty() {
        if let Some(name) = own {
            let cure = "[[return.path]] gives the way hop by hop; move it into a hop";
            return Err(Problem::new("return", name, cure));
        }
        way.extend(hops("return.path", &back.path, config)?);
        return Ok(way);
    }
    let hop = Hop {
        leg: None,
        trace: back.trace,
        channel: back.channel,
        scheme: back.scheme,
        hybrid: back.hybrid,
        ntn: back.ntn,
        adaptive_harq: back.adaptive_harq,
        link: back.link,
    };
    way.push(link("return", &hop, config)?);
    Ok(way)
}

/// The numbers of the hops whose delay varies.
fn varying(forward: &[PlannedHop]) -> impl Iterator<Item = usize> {
    let varies =
        |hop: &PlannedHop| matches!(hop, PlannedHop::Link(link) if link.one_way().is_none());
    forward.iter().enumerate().filter(move |(_, hop)| varies(hop)).map(|(number, _)| number)
}

/// Half the round-trip time of every link, and the delay of every leg but the access legs; without
/// what varies.
fn half_round_trip(forward: &[PlannedHop], config: &Config) -> Duration {
    let shared = forward.len() - usize::from(config.access.is_some());
    forward[..shared].iter().fold(Duration::ZERO, |sum, hop| {
        sum + match hop {
            PlannedHop::Leg(leg) => leg.delay,
            PlannedHop::Link(link) => link.one_way().unwrap_or_default(),
            PlannedHop::WayBack(_) => Duration::ZERO,
        }
    })
}

fn hops(key: &str, hops: &[Hop], config: &Config) -> Result<Vec<PlannedHop>, Problem> {
    let planned = hops.iter().enumerate().map(|(index, hop)| {
        let key = format!("{key}.{index}");
        let Some(leg) = &hop.leg else { return link(&key, hop, config) };
        let link = hop.trace.is_some()
            || hop.channel.is_some()
            || hop.scheme.is_some()
            || hop.hybrid.is_some()
            || hop.ntn.is_some()
            || hop.adaptive_harq.is_some()
            || hop.link.is_some();
        if link {
            let cure = "a hop is a leg or a link, not both; make two [[path]] entries of it";
            return Err(Problem::new(&key, "leg", cure));
        }
        check_leg(&format!("{key}.leg"), leg)?;
        Ok(PlannedHop::Leg(leg.clone()))
    });
    planned.collect()
}

pub(super) fn check_leg(key: &str, leg: &Leg) -> Result<(), Problem> {
    if leg.loss == Probability::ONE {
        return Err(Problem::new(key, "loss", "everything is lost; give less than 1"));
    }
    Ok(())
}

fn link(key: &str, hop: &Hop, config: &Config) -> Result<PlannedHop, Problem> {
    let link = hop.link.clone().unwrap_or_default();
    check_link(&super::tree::join(key, "link"), &link)?;
    let traced = hop.trace.is_some() || hop.channel.is_some();
    check_kind(key, hop)?;
    let medium = if let Some(ntn) = &hop.ntn {
        ntn.check(key, hop.scheme, &link, traced)?;
        let phy = traced.then(|| phy(key, hop, &link, config)).transpose()?;
        PlannedMedium::Ntn { ntn: Box::new(ntn.clone()), phy }
    } else if let Some(hybrid) = &hop.hybrid {
        hybrid.check(key, hop.scheme, &link, traced)?;
        let losses = traced.then(|| phy(key, hop, &link, config)).transpose()?;
        PlannedMedium::Hybrid { hybrid: Box::new(hybrid.clone()), losses }
    } else if let Some(harq) = &hop.adaptive_harq {
        let beside = match (&hop.trace, &hop.channel) {
            (Some(_), _) => Some("trace"),
            (None, Some(_)) => Some("channel"),
            (None, None) => None,
        };
        let length = harq.check(key, hop.scheme, &link, beside, config.duration)?;
        PlannedMedium::AdaptiveHarq { harq: Box::new(harq.clone()), length }
    } else {
        let phy = phy(key, hop, &link, config)?;
        let scheme = hop.scheme.unwrap_or(Scheme::None);
        match link.live {
            false => PlannedMedium::Trace { phy, scheme },
            true => PlannedMedium::Live { phy, scheme },
        }
    };
    Ok(PlannedHop::Link(Box::new(PlannedLink { key: key.to_owned(), medium, link })))
}

fn check_kind(key: &str, hop: &Hop) -> Result<(), Problem> {
    let kinds = [
        ("hybrid", hop.hybrid.is_some()),
        ("ntn", hop.ntn.is_some()),
        ("adaptive_harq", hop.adaptive_harq.is_some()),
    ];
    let mut given = kinds.iter().filter(|(_, given)| *given).map(|(name, _)| name);
    if let (Some(one), Some(other)) = (given.next(), given.next()) {
        let cure = format!("a link is of one kind; leave [{other}] or [{one}] out");
        return Err(Problem::new(key, other, cure));
    }
    Ok(())
}

fn phy(key: &str, hop: &Hop, link: &Link, config: &Config) -> Result<PlannedPhy, Problem> {
    let channel_key = super::tree::join(key, "channel");
    let erasures = match (&hop.trace, &hop.channel) {
        (None, None) => {
            let cure = "nothing to send over; give [trace] with a file, [channel] with a model, [hybrid], [ntn], [adaptive_harq], or [[path]]";
            return Err(Problem::at(key, cure));
        }
        (trace, Some(channel)) => {
            let (model, slots) = channel.planned(&channel_key, trace.is_some(), config.duration)?;
            let redraw = channel.redraw.unwrap_or(link.start != Start::Random);
            Some(PlannedErasures { model, slots, seed: channel.seed, redraw })
        }
        (Some(_), None) => None,
    };
    if let Some(trace) = &hop.trace {
        check_trace(&super::tree::join(key, "trace"), trace)?;
    }
    Ok(PlannedPhy { trace: hop.trace.clone(), erasures })
}

fn check_trace(key: &str, trace: &Trace) -> Result<(), Problem> {
    if trace.file.is_empty() {
        return Err(Problem::new(key, "file", "is empty; name a trace file"));
    }
    if trace.share == 0 {
        return Err(Problem::new(key, "share", "keeps no slot at all; give 1 or more"));
    }
    if trace.lldu.is_some_and(|lldu| lldu.0 == 0) {
        return Err(Problem::new(
            key,
            "lldu",
            "an LLDU of 0 bytes carries nothing; give 1 B or more",
        ));
    }
    Ok(())
}

fn check_link(key: &str, link: &Link) -> Result<(), Problem> {
    if link.reorder.as_ref().is_some_and(|reorder| reorder.packets == Some(0)) {
        let cure = "a buffer of 0 packets holds nothing; give 1 or more, or leave `reorder` out";
        return Err(Problem::new(key, "reorder.packets", cure));
    }
    if let Some(name) = link.live_key() {
        let cure = "is for links that run with their traffic; add live = true, or leave it out";
        return Err(Problem::new(key, name, cure));
    }
    if link.live && link.overlap == Overlap::Papers {
        let cure = "\"papers\" is how ns-2 read link traces; a live link sends unit by unit, so leave it out";
        return Err(Problem::new(key, "overlap", cure));
    }
    Ok(())
}
