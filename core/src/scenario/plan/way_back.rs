//! The plan of the way back.

use super::{PlannedHop, hops, link};
use crate::config::Fault;
use crate::scenario::config::Config;
use crate::scenario::leg::Leg;
use crate::scenario::path::{Hop, Return};

/// The way back without the access leg: what `[return]` says of it, else as long as the `shared` hops
/// of the way there.
pub(super) fn way_back(config: &Config, shared: usize) -> Result<Vec<PlannedHop>, Fault> {
    let back = config.back.clone().unwrap_or_default();
    let own = kind(&back);
    if back.path.is_empty() && own.is_none() {
        return Ok(vec![delay(&back, shared)?]);
    }
    if back.delay.is_some() {
        let cure = "the way back has a link of its own, whose round-trip time says it; leave the delay out";
        return Err(Fault::of("return", "delay", cure));
    }
    if back.path.is_empty() {
        let hop = Hop {
            leg: None,
            trace: back.trace,
            channel: back.channel,
            link_trace: back.link_trace,
            scheme: back.scheme,
            hybrid: back.hybrid,
            ntn: back.ntn,
            adaptive_harq: back.adaptive_harq,
            link: back.link,
        };
        return link::link("return", &hop, config);
    }
    if let Some(name) = own {
        let cure = "[[return.path]] gives the way hop by hop; move it into a hop";
        return Err(Fault::of("return", name, cure));
    }
    hops("return.path", &back.path, config)
}

/// What a link of its own is made from.
fn kind(back: &Return) -> Option<&'static str> {
    let given = [
        ("trace", back.trace.is_some()),
        ("channel", back.channel.is_some()),
        ("link_trace", back.link_trace.is_some()),
        ("hybrid", back.hybrid.is_some()),
        ("ntn", back.ntn.is_some()),
        ("adaptive_harq", back.adaptive_harq.is_some()),
    ];
    given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
}

/// A way back without a link.
fn delay(back: &Return, shared: usize) -> Result<PlannedHop, Fault> {
    let idle = [("scheme", back.scheme.is_some()), ("link", back.link.is_some())];
    if let Some((name, _)) = idle.iter().find(|(_, given)| *given) {
        let cure = "there is no link for it; give [return.trace] or [return.channel]";
        return Err(Fault::of("return", name, cure));
    }
    Ok(match back.delay {
        Some(_) => PlannedHop::Leg(Leg { delay: back.delay, ..Leg::default() }),
        None => PlannedHop::WayBack(shared),
    })
}
