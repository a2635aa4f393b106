//! How packets go onto the slots of a trace, where the trace says so itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::trace::TraceError;
use crate::trace::phy::LATEST;
use crate::units::{Bytes, Duration};

/// What packets share.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Packing {
    /// Nothing: each packet begins a slot of its own, and what it leaves of its last one is padding
    /// (the CLIFT papers).
    #[default]
    Packet,
    /// Slots: a packet begins behind the last byte of the one before it, as long as it was there when
    /// that slot came. What is free in a slot when nothing waits is lost (GSE, RLE, RLC, mahimahi).
    Bytes,
}

impl Packing {
    /// As files and scenarios write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Packet => "packet",
            Self::Bytes => "bytes",
        }
    }

    /// The packing of this name.
    pub fn of(name: &str) -> Option<Self> {
        [Self::Packet, Self::Bytes].into_iter().find(|packing| packing.name() == name)
    }
}

/// How a trace was made to be used. Nothing of it for most traces.
///
/// ```
/// use clift::trace::{Loading, Packing, mahimahi};
/// let phy = mahimahi::read("1\n4\n".as_bytes(), mahimahi::OPPORTUNITY).unwrap();
/// let loading = phy.header().loading;
/// assert_eq!((loading.packing, loading.packet_header.0), (Some(Packing::Bytes), 4));
/// // What arrives at 3.2 ms has to wait for the opportunities of 4 ms and later.
/// assert_eq!(loading.first_usable(3_200_000), 4_000_000);
/// assert_eq!(Loading::default().first_usable(3_200_000), 3_200_000);
/// ```
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Loading {
    /// What packets share (`packing`), unless a link says otherwise.
    pub packing: Option<Packing>,
    /// Bytes sent with each packet (`packet_header_bytes`), which count in the queue, too.
    pub packet_header: Bytes,
    /// The clock that slots were recorded with (`tick_ns`): a packet that arrives within a tick uses
    /// no slot of that tick. 0: time is not divided.
    pub tick: Duration,
    /// Where in trace time a tick starts (`tick_phase_ns`), less than a tick.
    pub phase: Duration,
}

impl Loading {
    /// The first trace time at which a packet that arrives at the trace time `arrival` may use a slot,
    /// ns.
    #[inline]
    pub fn first_usable(&self, arrival: i64) -> i64 {
        let tick = self.tick.as_nanos() as i64;
        if tick == 0 {
            return arrival;
        }
        let phase = self.phase.as_nanos() as i64;
        // Times and ticks are below 2^62, so their sum fits.
        arrival - (arrival - phase).rem_euclid(tick) + tick
    }

    /// That its times are some.
    pub(super) fn check(&self) -> Result<(), TraceError> {
        let fits = self.tick.as_nanos() <= LATEST as u64;
        if fits && (self.phase == Duration::ZERO || self.phase < self.tick) {
            return Ok(());
        }
        Err(TraceError::Tick)
    }

    /// The same for a trace whose time 0 is the trace time `start` of this one.
    pub(super) fn from(&self, start: Duration) -> Self {
        let tick = self.tick.as_nanos();
        if tick == 0 {
            return *self;
        }
        let phase = (self.phase.as_nanos() + tick - start.as_nanos() % tick) % tick;
        Self { phase: Duration::from_nanos(phase), ..*self }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_next_tick_is_the_first_boundary_after_an_arrival(
            tick in 1u64..20, phase in 0u64..20, arrival in 0i64..200, start in 0u64..50
        ) {
            let phase = phase % tick;
            let whole = Loading {
                tick: Duration::from_nanos(tick), phase: Duration::from_nanos(phase), ..Loading::default()
            };
            let tick = tick as i64;
            let scan = (arrival + 1..).find(|at| (at - phase as i64).rem_euclid(tick) == 0).unwrap();
            prop_assert_eq!(whole.first_usable(arrival), scan);
            // Cutting a trace moves nothing against the clock.
            let cut = whole.from(Duration::from_nanos(start));
            prop_assert!(cut.check().is_ok());
            let moved = arrival + start as i64;
            prop_assert_eq!(cut.first_usable(arrival) + start as i64, whole.first_usable(moved));
        }
    }
}
