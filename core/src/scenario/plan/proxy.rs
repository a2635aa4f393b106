//! The plan of proxies: their positions on the forward and return path.

use super::hop::{PlannedHop, PlannedProxy};
use crate::config::{Fault, join};
use crate::scenario::path::Hop;
use crate::scenario::traffic::Flow;
use crate::transport::tcp::{Pep, ProxyConfig};

/// The proxy that a hop with the key `pep` describes, if it is switched on.
pub(super) fn alone(key: String, hop: &Hop, pep: &Pep) -> Result<Option<PlannedProxy>, Fault> {
    if hop.wire.leg.is_some() || hop.sections.given().next().is_some() {
        let cure = "a proxy stands between hops; give it its own [[path]] entry";
        return Err(Fault::of(&key, "pep", cure));
    }
    let key = join(&key, "pep");
    Ok(pep.proxy().map(|config| PlannedProxy { key, config }))
}

/// Checks that every flow supports the proxies.
pub(super) fn check(forward: &[PlannedHop], flows: &[Flow]) -> Result<(), Fault> {
    for proxy in proxies(forward) {
        for flow in flows {
            let converses = flow.application.is_session();
            let checked = flow.transport.protocol().check_proxy(&proxy.config, converses);
            checked.map_err(|fault| fault.within(&proxy.key))?;
        }
    }
    Ok(())
}

fn proxies(hops: &[PlannedHop]) -> impl DoubleEndedIterator<Item = &PlannedProxy> {
    hops.iter().filter_map(|hop| match hop {
        PlannedHop::Proxy(proxy) => Some(proxy),
        _ => None,
    })
}

/// Inserts the proxies into a return path `back` that does not position them: `back` then runs
/// between the proxies at the sources and those at the destination.
pub(super) fn around(
    forward: &[PlannedHop],
    back: Vec<PlannedHop>,
) -> Result<Vec<PlannedHop>, Fault> {
    let is_proxy = |hop: &&PlannedHop| matches!(hop, PlannedHop::Proxy(_));
    let first = forward.iter().take_while(is_proxy).count();
    let last = forward[first..].iter().rev().take_while(is_proxy).count();
    let between = &forward[first..forward.len() - last];
    if let Some(PlannedProxy { key, .. }) = proxies(between).next() {
        let cure = "stands between hops, and [return] does not give its position on the return path; \
                    give the hops in [[return.path]], with pep = true for the proxy";
        return Err(Fault::new(key, cure));
    }
    let mut hops: Vec<_> = forward[forward.len() - last..].iter().rev().cloned().collect();
    hops.extend(back);
    hops.extend(forward[..first].iter().rev().cloned());
    Ok(hops)
}

/// Checks that a return path given hop by hop has a position for each proxy.
pub(super) fn check_places(forward: &[PlannedHop], back: &[PlannedHop]) -> Result<(), Fault> {
    if let Some(proxy) = proxies(back).find(|proxy| proxy.config != ProxyConfig::default()) {
        let cure = "only marks the position of a proxy on the return path; give true here, and its settings \
                    on the forward path";
        return Err(Fault::new(&proxy.key, cure));
    }
    let (there, places) = (proxies(forward).count(), proxies(back).count());
    if there == places {
        return Ok(());
    }
    let message = format!(
        "the forward path has {there} proxies, the return path {places}; give pep = true at the position \
         of each"
    );
    Err(Fault::of("return", "path", message))
}
