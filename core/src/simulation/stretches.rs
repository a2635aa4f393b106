//! The ways of a flow that proxies split: stretches, one behind the other.

use crate::link::Propagation;
use crate::simulation::setup::{Hop, LegConfig, Setup};
use crate::units::Duration;

/// Stands on a flow's way between two stretches: who comes here has arrived.
pub(super) const PROXY: u32 = u32::MAX;

/// Where on a flow's ways its stretches begin, by stretch.
#[derive(Clone, Debug)]
pub(super) struct Stretches {
    pub(super) to_receiver: Vec<u16>,
    pub(super) to_sender: Vec<u16>,
}

/// Cuts a way at `cuts`, which rise. A stretch without a hop gets one from `wire`: packets of an
/// end that is there already must not arrive while it is still sending.
pub(super) fn cut(
    way: &[u32],
    cuts: &[usize],
    mut wire: impl FnMut() -> u32,
) -> (Vec<u32>, Vec<u16>) {
    let (mut whole, mut starts) = (Vec::new(), Vec::new());
    let mut begins = 0;
    for &ends in cuts.iter().chain([&way.len()]) {
        if !starts.is_empty() {
            whole.push(PROXY);
        }
        starts.push(whole.len() as u16);
        match &way[begins..ends] {
            [] => whole.push(wire()),
            hops => whole.extend(hops),
        }
        begins = ends;
    }
    (whole, starts)
}

/// A hop for a stretch without one.
pub(super) fn wire() -> LegConfig {
    LegConfig::of_delay(Duration::ZERO)
}

/// The stretch whose window a flow shows: the first with a link, else the one that takes longest.
pub(super) fn main_stretch(setup: &Setup) -> usize {
    let stretch = |hop: usize| setup.proxies.iter().filter(|proxy| proxy.forward <= hop).count();
    let link = setup.forward.iter().position(|hop| matches!(hop, Hop::Link(_)));
    link.map_or_else(
        || {
            let mut delays = vec![Duration::ZERO; setup.proxies.len() + 1];
            for (number, hop) in setup.forward.iter().enumerate() {
                if let Hop::Leg(LegConfig { delay, .. }) = hop {
                    delays[stretch(number)] += longest(delay);
                }
            }
            let longest = delays.iter().max().copied().unwrap_or_default();
            delays.iter().position(|delay| *delay == longest).unwrap_or(0)
        },
        stretch,
    )
}

fn longest(delay: &Propagation) -> Duration {
    delay.longest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_cut_where_proxies_stand() {
        let none = || -> u32 { panic!("every stretch has a hop") };
        assert_eq!(cut(&[7, 8, 9], &[1], none), (vec![7, PROXY, 8, 9], vec![0, 2]));
        let mut wires = 100..;
        let cut = cut(&[7], &[0, 1, 1], || wires.next().unwrap());
        let whole = vec![100, PROXY, 7, PROXY, 101, PROXY, 102];
        assert_eq!(cut, (whole, vec![0, 2, 4, 6]));
    }
}
