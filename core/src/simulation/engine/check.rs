//! What cannot be run.

use crate::simulation::setup::{Hop, Setup, SetupError};
use crate::transport::FlowControl;
use crate::units::Duration;

pub(super) fn check(setup: &Setup) -> Result<(), SetupError> {
    if setup.flows.is_empty() {
        return Err(SetupError::NoFlow);
    }
    if setup.duration == Duration::ZERO {
        return Err(SetupError::NoTime);
    }
    for (number, flow) in setup.flows.iter().enumerate() {
        flow.transport.check()?;
        flow.application.check_over(&*flow.transport)?;
        for hop in &setup.forward {
            if let Hop::Link(link) = hop {
                link.check_packet(flow.transport.packet())?;
            }
        }
        if !flow.application.never_ends() {
            continue;
        }
        let paced = flow.source_leg.iter().any(|leg| leg.rate.is_some())
            || setup.forward.iter().any(|hop| match hop {
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
