//! The endpoints of a run, and the ways between them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::simulation::rerouting::Rerouting;
use crate::simulation::setup::{Flow, Hop, LegConfig, Setup};
use crate::transport::train::Alarm;
use crate::transport::{End, Endpoint, EndpointChange, Timetable};
use crate::units::{Duration, Instant};

/// An endpoint at its host.
pub(super) struct Socket {
    pub(super) endpoint: Box<dyn Endpoint>,
    pub(super) flow: u32,
    pub(super) end: End,
    /// Number of the way that packets take from here; the ways of further paths follow it.
    pub(super) way: u32,
    /// Number of the first stop of that way.
    pub(super) first: u32,
    /// Whether proxies split its flow.
    pub(super) splits: bool,
    /// Whether nothing happens between the arrival of a packet and the answer: it stands at no proxy
    /// and belongs to no session, and nobody watches.
    pub(super) is_plain: bool,
    /// Its timer.
    pub(super) alarm: Alarm,
    /// The proxy whose socket it is, of those of its flow; `None`: it is the application's.
    pub(super) proxy: Option<u32>,
}

/// The routes of flows, and the names of the parts of a run. Empty: every flow crosses all hops, in
/// order, and nothing has a name.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Routing {
    /// The hops that each flow crosses.
    pub ways: Vec<Ways>,
    /// Hops of the further paths of flows over several, by the number of the flow.
    pub further: BTreeMap<usize, Vec<Ways>>,
    /// Routes that change during the run; `None`: none does.
    pub rerouting: Option<Rerouting>,
    /// Handovers of hops that terminals know beforehand, by the number of the hop.
    pub timetables: BTreeMap<u32, Timetable>,
    /// Name of each flow; empty: none has one.
    pub flow_names: Vec<Arc<str>>,
    /// Name of each hop, forward ones first; empty: none has one. A hop with a name draws from streams of
    /// its name, any other from those of its number.
    pub hop_names: Vec<Arc<str>>,
}

impl Routing {
    /// Tells the ends of a connection over these paths of the handovers on them.
    pub(super) fn foretell<'a>(
        &self,
        ends: &mut [Box<dyn Endpoint>],
        paths: impl Iterator<Item = &'a Ways>,
    ) {
        if self.timetables.is_empty() {
            return;
        }
        for (path, ways) in (0..).zip(paths) {
            let hops = ways.to_receiver.iter().chain(&ways.to_sender);
            let known = hops.filter_map(|hop| self.timetables.get(hop));
            let handovers: Vec<_> = known.flat_map(Timetable::handovers).copied().collect();
            if handovers.is_empty() {
                continue;
            }
            let change = EndpointChange::Foresee { path, timetable: Timetable::new(handovers) };
            for end in &mut *ends {
                end.change(Instant::ZERO, &change);
            }
        }
    }
}

/// The hops that a flow crosses, by their numbers; backward hops follow the forward ones.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Ways {
    /// From the sender to the receiver.
    pub to_receiver: Vec<u32>,
    /// From the receiver to the sender.
    pub to_sender: Vec<u32>,
}

impl Ways {
    /// The ways of the connections one behind the other that the proxies make of a flow. A connection
    /// without a hop gets one from `wire`: packets of an end that is there already must not arrive
    /// while it is still sending.
    pub(super) fn split(
        &self,
        setup: &Setup,
        flow: &Flow,
        mut wire: impl FnMut() -> u32,
    ) -> Vec<Self> {
        let own = usize::from(flow.source_leg.is_some());
        let there = setup.proxies.iter().map(|proxy| proxy.forward + own);
        let back = setup.proxies.iter().rev().map(|proxy| proxy.backward);
        let there = cut(&self.to_receiver, there, &mut wire);
        let back = cut(&self.to_sender, back, &mut wire).into_iter().rev();
        there
            .into_iter()
            .zip(back)
            .map(|(to_receiver, to_sender)| Self { to_receiver, to_sender })
            .collect()
    }
}

/// Cuts a way at `cuts`, which rise.
fn cut(
    way: &[u32],
    cuts: impl Iterator<Item = usize>,
    mut wire: impl FnMut() -> u32,
) -> Vec<Vec<u32>> {
    let mut begins = 0;
    let pieces = cuts.chain([way.len()]).map(|ends| {
        match &way[std::mem::replace(&mut begins, ends)..ends] {
            [] => vec![wire()],
            hops => hops.to_vec(),
        }
    });
    pieces.collect()
}

/// A hop for a connection without one.
pub(super) fn wire() -> LegConfig {
    LegConfig::of_delay(Duration::ZERO)
}

/// The connection between proxies whose window a flow shows: the first with a link, else the one that
/// takes longest.
pub(super) fn main_connection(setup: &Setup) -> usize {
    let place = |hop: usize| setup.proxies.iter().filter(|proxy| proxy.forward <= hop).count();
    if let Some(link) = setup.forward.iter().position(|hop| matches!(hop, Hop::Link(_))) {
        return place(link);
    }
    let mut delays = vec![Duration::ZERO; setup.proxies.len() + 1];
    for (number, hop) in setup.forward.iter().enumerate() {
        if let Hop::Leg(LegConfig { delay, .. }) = hop {
            delays[place(number)] += delay.longest();
        }
    }
    let longest = delays.iter().max().copied().unwrap_or_default();
    delays.iter().position(|delay| *delay == longest).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_cut_where_proxies_stand() {
        let none = || -> u32 { panic!("every piece has a hop") };
        assert_eq!(cut(&[7, 8, 9], [1].into_iter(), none), [vec![7], vec![8, 9]]);
        let mut wires = 100..;
        let cut = cut(&[7], [0, 1, 1].into_iter(), || wires.next().unwrap());
        assert_eq!(cut, [[100], [7], [101], [102]]);
    }
}
