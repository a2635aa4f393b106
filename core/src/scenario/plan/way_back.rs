//! The plan of the return path.

use super::hop::PlannedHop;
use super::path::hops;
use super::{coding, link, proxy};
use crate::config::Fault;
use crate::scenario::leg::Leg;
use crate::scenario::path::{Return, Way};
use crate::units::Duration;

/// The return path without the access leg: as `[return]` gives it, else one that takes as long as
/// the `forward` hops; with the positions of the proxies.
pub(super) fn way_back(
    back: Option<&Return>,
    forward: &[PlannedHop],
    duration: Duration,
) -> Result<Vec<PlannedHop>, Fault> {
    let as_long = || {
        let hops = forward.iter().map(|hop| match hop {
            PlannedHop::Proxy(_) => 0,
            // The hops of a code count as one.
            PlannedHop::Coding(coding) => 1 - coding.hops as isize,
            _ => 1,
        });
        Ok(vec![PlannedHop::WayBack(hops.sum::<isize>().unsigned_abs())])
    };
    let Some(Return { way: Way { delay, path }, sections }) = back else {
        return as_long();
    };
    if sections.link.as_ref().is_some_and(|link| link.usage.pep.is_some()) {
        let cure =
            "proxies are given on the forward path and apply to the return path too; leave it out";
        return Err(Fault::new("return.link.pep", cure));
    }
    let own = sections.makes_link();
    if path.is_empty() && own.is_none() {
        if let Some(name) = sections.given().next() {
            let cure = "the return path has no link; give [return.trace] or [return.channel]";
            return Err(Fault::of("return", name, cure));
        }
        return match delay {
            Some(_) => {
                let leg = Leg { delay: *delay, ..Leg::default() };
                proxy::around(forward, vec![PlannedHop::Leg(leg)])
            }
            None => as_long(),
        };
    }
    if delay.is_some() {
        let cure = "the return path has its own link, whose round-trip time gives the delay; leave the delay out";
        return Err(Fault::of("return", "delay", cure));
    }
    if path.is_empty() {
        let hops = link::link("return", sections, duration)?;
        return proxy::around(forward, coding::around("return", &sections.coding, hops)?);
    }
    if let Some(name) = sections.given().find(|name| *name != "coding") {
        let cure = "[[return.path]] gives the return path hop by hop; move it into a hop";
        return Err(Fault::of("return", name, cure));
    }
    let hops = hops("return.path", path, duration)?;
    proxy::check_places(forward, &hops)?;
    coding::around("return", &sections.coding, hops)
}
