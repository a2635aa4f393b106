//! The congestion controls of profile `papers`: as ns-2's `Agent/TCP/Linux` has them, modules of
//! Linux 2.6.22 and before.

mod cubic;
mod hybla;
#[cfg(test)]
mod properties;
mod reno;
mod westwood;

use crate::transport::tcp::config::{CongestionAlgorithm, TcpConfig};
use crate::transport::tcp::congestion::compound::Compound;
use crate::transport::tcp::congestion::{Ack, CongestionControl};
use crate::units::{Duration, Instant};

/// The algorithm that `config` names.
pub(super) fn control(config: &TcpConfig) -> Box<dyn CongestionControl> {
    match config.congestion {
        CongestionAlgorithm::NewReno => Box::new(reno::Reno),
        CongestionAlgorithm::Cubic => Box::new(cubic::Cubic::new()),
        CongestionAlgorithm::Hybla => Box::new(hybla::Hybla::new()),
        CongestionAlgorithm::Westwood => Box::new(westwood::Westwood::new(config.mss().0)),
        CongestionAlgorithm::Compound => Box::new(Compound::new()),
        other => panic!("TcpConfig::check refuses {other} in profile papers"),
    }
}

/// The clock's resolution: a tick of ns-2's kernel code.
const TICK: Duration = Duration::from_millis(1);

/// Ticks since time zero, rounded down.
fn ticks(now: Instant) -> u64 {
    now.as_nanos() / TICK.as_nanos()
}

/// Eight times the smoothed round-trip time in ticks, as ns-2 and Linux keep it; 0: unknown.
fn srtt8(ack: &Ack) -> u64 {
    ack.srtt.map_or(0, |srtt| srtt.as_nanos() * 8 / TICK.as_nanos())
}
