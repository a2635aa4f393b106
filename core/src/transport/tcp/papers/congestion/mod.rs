//! The congestion controls of profile `papers`: as ns-2's `Agent/TCP/Linux` has them, modules of
//! Linux 2.6.22 and before.

mod cubic;
mod hybla;
#[cfg(test)]
mod properties;
mod reno;
mod westwood;

pub(crate) use cubic::Cubic;
pub(crate) use hybla::Hybla;
pub(crate) use reno::Reno;
pub(crate) use westwood::Westwood;

use crate::transport::tcp::congestion::Ack;
use crate::units::{Duration, Instant};

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
