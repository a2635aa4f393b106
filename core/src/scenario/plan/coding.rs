//! The plan of codes: the hops between their encoders and decoders.

use super::hop::{PlannedCoding, PlannedHop};
use crate::config::{Fault, join};
use crate::link::Coding;
use crate::scenario::path::Hop;

/// `hops` with a code around them, within the proxies at their ends.
pub(super) fn around(
    key: &str,
    coding: &Option<Coding>,
    mut hops: Vec<PlannedHop>,
) -> Result<Vec<PlannedHop>, Fault> {
    let Some(coding) = coding else { return Ok(hops) };
    let key = join(key, "coding");
    coding.check().map_err(|fault| fault.within(&key))?;
    if coding.hops != 1 {
        let cure = "[coding] is around the whole path; leave it out, or give `coding` in a hop";
        return Err(Fault::of(&key, "hops", cure));
    }
    let is_proxy = |hop: &&PlannedHop| matches!(hop, PlannedHop::Proxy(_));
    let first = hops.iter().take_while(is_proxy).count();
    let last = hops.iter().rev().take_while(is_proxy).count();
    let count = hops.len().saturating_sub(first + last);
    let coding = PlannedCoding { coding: coding.clone(), hops: count };
    check_between(&key, &hops[first..first + count])?;
    hops.insert(first, PlannedHop::Coding(coding));
    Ok(hops)
}

/// Checks that nothing between encoder and decoder reads packets.
fn check_between(key: &str, hops: &[PlannedHop]) -> Result<(), Fault> {
    let cure =
        match hops.iter().find(|hop| !matches!(hop, PlannedHop::Leg(_) | PlannedHop::Link(_))) {
            None => return Ok(()),
            Some(PlannedHop::Coding(_)) => "another code is within these hops; give one of them",
            Some(_) => {
                "a proxy between encoder and decoder cannot read packets; end the code before it"
            }
        };
    Err(Fault::new(key, cure))
}

/// Codes of the hops of `[[path]]`, each from its hop on.
pub(super) struct Stretches {
    entries: usize,
    /// The open one: its key, the entry at which it ends, and its place among the planned hops.
    open: Option<(String, usize, usize)>,
}

impl Stretches {
    /// Of a path of this many entries.
    pub(super) fn new(entries: usize) -> Self {
        Self { entries, open: None }
    }

    /// The hops of entry `index` follow in `planned`.
    pub(super) fn begin(
        &mut self,
        key: &str,
        index: usize,
        hop: &Hop,
        planned: &mut Vec<PlannedHop>,
    ) -> Result<(), Fault> {
        self.end(index, planned)?;
        let Some(coding) = &hop.sections.coding else { return Ok(()) };
        let key = join(key, "coding");
        coding.check().map_err(|fault| fault.within(&key))?;
        if let Some((other, _, _)) = &self.open {
            let cure =
                format!("begins between the encoder and the decoder of {other}; give one of them");
            return Err(Fault::new(&key, cure));
        }
        let end = index.saturating_add(coding.hops as usize);
        if end > self.entries {
            let cure = format!("the path has only {} from here on", self.entries - index);
            return Err(Fault::of(&key, "hops", cure));
        }
        self.open = Some((key, end, planned.len()));
        planned.push(PlannedHop::Coding(PlannedCoding { coding: coding.clone(), hops: 0 }));
        Ok(())
    }

    /// Entry `index` begins, or the path ends there.
    pub(super) fn end(&mut self, index: usize, planned: &mut [PlannedHop]) -> Result<(), Fault> {
        let Some((key, _, place)) = self.open.take_if(|(_, end, _)| *end == index) else {
            return Ok(());
        };
        let (before, between) = planned.split_at_mut(place + 1);
        check_between(&key, between)?;
        if let Some(PlannedHop::Coding(coding)) = before.last_mut() {
            coding.hops = between.len();
        }
        Ok(())
    }
}
