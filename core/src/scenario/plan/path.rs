//! The plan of a path, hop by hop.

use super::hop::PlannedHop;
use super::{coding, link, proxy};
use crate::config::{Fault, first_changed_key, join};
use crate::scenario::config::{Config, Run};
use crate::scenario::kinds::Sections;
use crate::scenario::path::Hop;
use crate::scheme::Scheme;
use crate::units::Duration;

/// The forward path, without the access leg.
pub(super) fn path(config: &Config) -> Result<Vec<PlannedHop>, Fault> {
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
pub(super) fn hops(key: &str, hops: &[Hop], duration: Duration) -> Result<Vec<PlannedHop>, Fault> {
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
pub(super) fn hop(key: String, hop: &Hop, duration: Duration) -> Result<Vec<PlannedHop>, Fault> {
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
