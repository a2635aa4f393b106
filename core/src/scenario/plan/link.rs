//! The plan of a link: what carries its packets, and how it is used.

use std::path::PathBuf;

use super::PlannedHop;
use super::phy::{PlannedPhy, Sections};
use crate::config::Fault;
use crate::config::join;
use crate::scenario::adaptive_harq::AdaptiveHarq;
use crate::scenario::config::Config;
use crate::scenario::hybrid::Hybrid;
use crate::scenario::leg::Leg;
use crate::scenario::limit::Start;
use crate::scenario::link::Link;
use crate::scenario::ntn::Ntn;
use crate::scenario::path::Hop;
use crate::scheme::Scheme;
use crate::units::Duration;

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
    /// A link trace that is there.
    Held(PathBuf),
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
        /// The PHY trace of the way back, if that is what loses its reports.
        feedback: Option<Box<PlannedPhy>>,
    },
}

impl PlannedLink {
    /// The PHY trace under it, if it has one.
    pub fn phy(&self) -> Option<&PlannedPhy> {
        match &self.medium {
            PlannedMedium::Trace { phy, .. } | PlannedMedium::Live { phy, .. } => Some(phy),
            PlannedMedium::Hybrid { losses: phy, .. } | PlannedMedium::Ntn { phy, .. } => {
                phy.as_ref()
            }
            PlannedMedium::Held(_) | PlannedMedium::AdaptiveHarq { .. } => None,
        }
    }
}

/// A link in the section `key`, and the leg behind it if it has `delays`.
pub(super) fn link(key: &str, hop: &Hop, config: &Config) -> Result<Vec<PlannedHop>, Fault> {
    let link = hop.link.clone().unwrap_or_default();
    link.check(&join(key, "link"))?;
    let medium = medium(key, hop, &link, config)?;
    let behind = link.delays.is_some().then(|| Leg {
        delays: link.delays.clone(),
        keep_order: link.keep_order,
        ..Leg::default()
    });
    let planned = PlannedLink { key: key.to_owned(), medium, link };
    let mut hops = vec![PlannedHop::Link(Box::new(planned))];
    hops.extend(behind.map(PlannedHop::Leg));
    Ok(hops)
}

fn medium(key: &str, hop: &Hop, link: &Link, config: &Config) -> Result<PlannedMedium, Fault> {
    check_kind(key, hop)?;
    let redraw = link.start != Start::Random;
    let sections = Sections {
        trace: (join(key, "trace"), hop.trace.as_ref()),
        channel: (join(key, "channel"), hop.channel.as_ref()),
    };
    let phy = || sections.planned(config.duration, redraw);
    let traced = sections.are_given();
    if let Some(ntn) = &hop.ntn {
        ntn.check(key, hop.scheme.as_ref(), link, traced)?;
        let phy = traced.then(phy).transpose()?;
        return Ok(PlannedMedium::Ntn { ntn: Box::new(ntn.clone()), phy });
    }
    if let Some(hybrid) = &hop.hybrid {
        hybrid.check(key, hop.scheme.as_ref(), link, traced)?;
        let losses = traced.then(phy).transpose()?;
        return Ok(PlannedMedium::Hybrid { hybrid: Box::new(hybrid.clone()), losses });
    }
    if let Some(harq) = &hop.adaptive_harq {
        let beside = match (&hop.trace, &hop.channel) {
            (Some(_), _) => Some("trace"),
            (None, Some(_)) => Some("channel"),
            (None, None) => None,
        };
        let length = harq.check(key, hop.scheme.as_ref(), link, beside, config.duration)?;
        return Ok(PlannedMedium::AdaptiveHarq { harq: Box::new(harq.clone()), length });
    }
    if let Some(name) = &hop.link_trace {
        if let Some(given) =
            sections.given().or(hop.scheme.as_ref().map(|_| "scheme")).or(link.of_scheme())
        {
            let cure = "`link_trace` says what becomes of every LLDU; leave one of them out";
            return Err(Fault::of(key, given, cure));
        }
        return Ok(PlannedMedium::Held(name.clone()));
    }
    if !traced {
        let cure = "nothing to send over; give [trace] with a file, [channel] with a model, [hybrid], [ntn], [adaptive_harq], or [[path]]";
        return Err(Fault::new(key, cure));
    }
    if link.rtt.is_some() || hop.trace.is_none() {
        link.check_feedback(&join(key, "link"), link.rtt(None))?;
    }
    let (phy, scheme) = (phy()?, hop.scheme.clone().unwrap_or(Scheme::None));
    if !link.live {
        return Ok(PlannedMedium::Trace { phy, scheme });
    }
    let back = Sections {
        trace: (join(key, "link.feedback_trace"), link.feedback_trace.as_ref()),
        channel: (join(key, "link.feedback_channel"), link.feedback_channel.as_ref()),
    };
    let feedback = back.are_given().then(|| back.planned(config.duration, redraw)).transpose()?;
    Ok(PlannedMedium::Live { phy, scheme, feedback: feedback.map(Box::new) })
}

fn check_kind(key: &str, hop: &Hop) -> Result<(), Fault> {
    let kinds = [
        ("hybrid", hop.hybrid.is_some()),
        ("ntn", hop.ntn.is_some()),
        ("adaptive_harq", hop.adaptive_harq.is_some()),
    ];
    let mut given = kinds.iter().filter(|(_, given)| *given).map(|(name, _)| name);
    if let (Some(one), Some(other)) = (given.next(), given.next()) {
        let cure = format!("a link is of one kind; leave [{other}] or [{one}] out");
        return Err(Fault::of(key, other, cure));
    }
    Ok(())
}
