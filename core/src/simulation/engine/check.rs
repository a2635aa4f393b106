//! What cannot be run.

use crate::simulation::setup::{Application, Hop, Setup, SetupError, Transport};
use crate::units::Duration;

pub(super) fn check(setup: &Setup) -> Result<(), SetupError> {
    if setup.flows.is_empty() {
        return Err(SetupError::NoFlow);
    }
    if setup.duration == Duration::ZERO {
        return Err(SetupError::NoTime);
    }
    for (number, flow) in setup.flows.iter().enumerate() {
        let packet = match &flow.transport {
            Transport::Tcp(tcp) => {
                tcp.check()?;
                tcp.packet
            }
            Transport::Datagram { packet } => *packet,
        };
        for hop in &setup.forward {
            if let Hop::Link(link) = hop {
                link.check_packet(packet)?;
            }
        }
        let Application::Bulk = flow.application else { continue };
        if let Transport::Datagram { .. } = flow.transport {
            return Err(SetupError::BulkDatagrams { flow: number });
        }
        let paced = flow.source_leg.iter().any(|leg| leg.rate.is_some())
            || setup.forward.iter().any(|hop| match hop {
                Hop::Leg(leg) => leg.rate.is_some(),
                Hop::Link(_) => true,
            });
        let bounded = matches!(&flow.transport, Transport::Tcp(tcp) if tcp.cwnd_max.is_some());
        if !paced && !bounded {
            return Err(SetupError::Unlimited);
        }
    }
    Ok(())
}
