//! The plan of proxies: where they stand there and back.

use super::PlannedHop;
use crate::config::{Fault, join};
use crate::scenario::path::Hop;
use crate::scenario::traffic::Flow;
use crate::transport::tcp::{Pep, ProxyConfig};

/// A proxy that splits TCP.
#[derive(Clone, Debug)]
pub struct PlannedProxy {
    /// The key that speaks of it: "path.1.pep", "link.pep".
    pub key: String,
    /// What it is like.
    pub config: ProxyConfig,
}

/// The proxy that a hop with the key `pep` is, if it is switched on.
pub(super) fn alone(key: String, hop: &Hop, pep: &Pep) -> Result<Option<PlannedProxy>, Fault> {
    if hop.wire.leg.is_some() || hop.sections.given().next().is_some() {
        let cure = "a proxy stands between hops; give it a [[path]] entry of its own";
        return Err(Fault::of(&key, "pep", cure));
    }
    let key = join(&key, "pep");
    Ok(pep.proxy().map(|config| PlannedProxy { key, config }))
}

/// That every flow can have them.
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

/// The proxies of the way there around a way `back` that says nothing of them: it lies beside what is
/// between those at the sources and those at the destination.
pub(super) fn around(
    forward: &[PlannedHop],
    back: Vec<PlannedHop>,
) -> Result<Vec<PlannedHop>, Fault> {
    let is_proxy = |hop: &&PlannedHop| matches!(hop, PlannedHop::Proxy(_));
    let first = forward.iter().take_while(is_proxy).count();
    let last = forward[first..].iter().rev().take_while(is_proxy).count();
    let between = &forward[first..forward.len() - last];
    if let Some(PlannedProxy { key, .. }) = proxies(between).next() {
        let cure = "stands between hops, and [return] does not say where it stands on the way back; \
                    give the hops in [[return.path]], with pep = true for the proxy";
        return Err(Fault::new(key, cure));
    }
    let mut hops: Vec<_> = forward[forward.len() - last..].iter().rev().cloned().collect();
    hops.extend(back);
    hops.extend(forward[..first].iter().rev().cloned());
    Ok(hops)
}

/// That a way back that is given hop by hop has a place for each proxy.
pub(super) fn check_places(forward: &[PlannedHop], back: &[PlannedHop]) -> Result<(), Fault> {
    if let Some(proxy) = proxies(back).find(|proxy| proxy.config != ProxyConfig::default()) {
        let cure = "only marks where a proxy stands on the way back; give true, and what it is like \
                    on the way there";
        return Err(Fault::new(&proxy.key, cure));
    }
    let (there, places) = (proxies(forward).count(), proxies(back).count());
    if there == places {
        return Ok(());
    }
    let message = format!(
        "there are {there} proxies on the way there and {places} here; give pep = true in the place \
         of each"
    );
    Err(Fault::of("return", "path", message))
}
