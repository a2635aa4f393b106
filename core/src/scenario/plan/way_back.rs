//! The plan of the way back.

use super::{PlannedHop, hops, link};
use crate::config::Fault;
use crate::scenario::leg::Leg;
use crate::scenario::path::{Return, Way};
use crate::units::Duration;

/// The way back without the access leg: what `[return]` says of it, else as long as the `shared` hops
/// of the way there.
pub(super) fn way_back(
    back: Option<&Return>,
    shared: usize,
    duration: Duration,
) -> Result<Vec<PlannedHop>, Fault> {
    let Some(Return { way: Way { delay, path }, sections }) = back else {
        return Ok(vec![PlannedHop::WayBack(shared)]);
    };
    let own = sections.makes_link();
    if path.is_empty() && own.is_none() {
        if let Some(name) = sections.given().next() {
            let cure = "there is no link for it; give [return.trace] or [return.channel]";
            return Err(Fault::of("return", name, cure));
        }
        return Ok(vec![match delay {
            Some(_) => PlannedHop::Leg(Leg { delay: *delay, ..Leg::default() }),
            None => PlannedHop::WayBack(shared),
        }]);
    }
    if delay.is_some() {
        let cure = "the way back has a link of its own, whose round-trip time says it; leave the delay out";
        return Err(Fault::of("return", "delay", cure));
    }
    if path.is_empty() {
        return link::link("return", sections, duration);
    }
    if let Some(name) = own {
        let cure = "[[return.path]] gives the way hop by hop; move it into a hop";
        return Err(Fault::of("return", name, cure));
    }
    hops("return.path", path, duration)
}
