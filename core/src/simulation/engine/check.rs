//! What cannot be run.

use crate::simulation::change::ChangeKind;
use crate::simulation::setup::{Hop, Setup, SetupError};
use crate::transport::FlowControl;
use crate::units::Duration;

pub(super) fn check(setup: &Setup) -> Result<(), SetupError> {
    if setup.duration == Duration::ZERO {
        return Err(SetupError::NoTime);
    }
    check_proxies(setup)?;
    for change in &setup.changes {
        let (place, places) = match change.what {
            ChangeKind::Control { flow, .. } => (flow, setup.flows.len()),
            ChangeKind::Queue { hop, .. } => (hop, setup.forward.len()),
            ChangeKind::KeepWindow { .. } => continue,
        };
        if place >= places {
            return Err(SetupError::ChangePlace(place));
        }
    }
    for (number, flow) in setup.flows.iter().enumerate() {
        flow.transport.check()?;
        flow.application.check_over(&*flow.transport)?;
        let mut hops: Vec<&Hop> = setup.forward.iter().collect();
        if let Some(ways) = setup.routing.ways.get(number) {
            let all: Vec<&Hop> = setup.forward.iter().chain(&setup.backward).collect();
            let further = setup.routing.further.get(&number);
            let every = std::iter::once(ways).chain(further.into_iter().flatten());
            let every = every.flat_map(|ways| &ways.to_receiver);
            hops = every.map(|&hop| all[hop as usize]).collect();
        }
        let paths = 1 + setup.routing.further.get(&number).map_or(0, Vec::len);
        if flow.transport.paths() != paths {
            let transport = flow.transport.paths();
            return Err(SetupError::Paths { flow: number, transport, routes: paths });
        }
        for hop in &hops {
            if let Hop::Link(link) = hop {
                link.check_packet(flow.transport.packet())?;
            }
        }
        if !flow.application.never_ends() {
            continue;
        }
        if let Some(own) = &setup.routing.rerouting
            && let Some(Some((from, to))) = own.flows.get(number).map(|ways| ways[0])
            && flow.transport.flow_control() == FlowControl::Acknowledgements
            && !own.is_paced(setup, from, to)
        {
            return Err(SetupError::Unlimited);
        }
        let paced = flow.source_leg.iter().any(|leg| leg.rate.is_some())
            || hops.iter().any(|hop| match hop {
                Hop::Leg(leg) => leg.rate.is_some(),
                Hop::Link(_) => true,
            });
        match flow.transport.flow_control() {
            FlowControl::None => return Err(SetupError::BulkDatagrams { flow: number }),
            FlowControl::Acknowledgements if !paced => return Err(SetupError::Unlimited),
            FlowControl::Acknowledgements | FlowControl::Window => {}
        }
    }
    Ok(())
}

/// Proxies stand somewhere, in the same order there and back, and every flow can have them.
fn check_proxies(setup: &Setup) -> Result<(), SetupError> {
    let (mut behind, mut ahead) = (0, setup.backward.len());
    for (number, proxy) in setup.proxies.iter().enumerate() {
        let forward = behind..=setup.forward.len();
        if !setup.routing.ways.is_empty()
            || !forward.contains(&proxy.forward)
            || proxy.backward > ahead
        {
            return Err(SetupError::ProxyPlace { proxy: number });
        }
        (behind, ahead) = (proxy.forward, proxy.backward);
        for flow in &setup.flows {
            let converses = flow.application.is_session();
            let checked = flow.transport.check_proxy(&proxy.config, converses);
            checked.map_err(|fault| SetupError::Proxy { proxy: number, fault })?;
        }
    }
    Ok(())
}
