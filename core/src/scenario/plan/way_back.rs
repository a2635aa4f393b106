//! The plan of the way back.

use super::{PlannedHop, hops, link, proxy};
use crate::config::Fault;
use crate::scenario::leg::Leg;
use crate::scenario::path::{Return, Way};
use crate::units::Duration;

/// The way back without the access leg: what `[return]` says of it, else as long as the `forward` hops
/// of the way there; with the places of the proxies.
pub(super) fn way_back(
    back: Option<&Return>,
    forward: &[PlannedHop],
    duration: Duration,
) -> Result<Vec<PlannedHop>, Fault> {
    let as_long = || {
        let hops = forward.iter().filter(|hop| !matches!(hop, PlannedHop::Proxy(_)));
        Ok(vec![PlannedHop::WayBack(hops.count())])
    };
    let Some(Return { way: Way { delay, path }, sections }) = back else {
        return as_long();
    };
    if sections.link.as_ref().is_some_and(|link| link.usage.pep.is_some()) {
        let cure =
            "proxies are given on the way there, and stand on the way back too; leave it out";
        return Err(Fault::new("return.link.pep", cure));
    }
    let own = sections.makes_link();
    if path.is_empty() && own.is_none() {
        if let Some(name) = sections.given().next() {
            let cure = "there is no link for it; give [return.trace] or [return.channel]";
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
        let cure = "the way back has a link of its own, whose round-trip time says it; leave the delay out";
        return Err(Fault::of("return", "delay", cure));
    }
    if path.is_empty() {
        return proxy::around(forward, link::link("return", sections, duration)?);
    }
    if let Some(name) = own {
        let cure = "[[return.path]] gives the way hop by hop; move it into a hop";
        return Err(Fault::of("return", name, cure));
    }
    let hops = hops("return.path", path, duration)?;
    proxy::check_places(forward, &hops)?;
    Ok(hops)
}
