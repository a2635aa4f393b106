//! How packets are loaded onto the slots of a trace, where the trace specifies it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::trace::Fault;
use crate::trace::column::LATEST;
use crate::units::{Bytes, Duration};

/// How packets share LLDUs.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Packing {
    /// Nothing: each packet starts in a new slot, and the remainder of its last slot is padding
    /// (the CLIFT papers).
    #[default]
    Packet,
    /// Slots: a packet starts after the last byte of the previous packet, if it had arrived when
    /// that slot started. Free space in a slot is lost if no packet waits (GSE, RLE, RLC,
    /// mahimahi).
    Bytes,
}

impl Packing {
    /// Name in files and scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Self::Packet => "packet",
            Self::Bytes => "bytes",
        }
    }

    /// The packing with this name.
    pub fn of(name: &str) -> Option<Self> {
        [Self::Packet, Self::Bytes].into_iter().find(|packing| packing.name() == name)
    }
}

/// How packets are loaded onto the slots of a trace. Empty for most traces.
///
/// ```
/// use clift::budget::Budget;
/// use clift::trace::{Loading, Packing, mahimahi};
/// let phy = mahimahi::read("1\n4\n".as_bytes(), mahimahi::OPPORTUNITY, &Budget::unlimited()).unwrap();
/// let loading = phy.header().loading;
/// assert_eq!((loading.packing, loading.packet_header.0), (Some(Packing::Bytes), 4));
/// // A packet that arrives at 3.2 ms waits for the opportunities from 4 ms on.
/// assert_eq!(loading.first_usable(3_200_000), 4_000_000);
/// assert_eq!(Loading::default().first_usable(3_200_000), 3_200_000);
/// ```
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Loading {
    /// How packets share LLDUs (`packing`), unless the link specifies it.
    pub packing: Option<Packing>,
    /// Bytes added to each packet (`packet_header_bytes`), which also count in the queue.
    pub packet_header: Bytes,
    /// Clock with which the slots were recorded (`tick_ns`): a packet that arrives within a tick
    /// cannot use slots of that tick. 0: no clock.
    pub tick: Duration,
    /// Start of a tick in trace time (`tick_phase_ns`), less than a tick.
    pub phase: Duration,
}

impl Loading {
    /// The earliest trace time, in ns, at which a packet that arrives at trace time `arrival` may
    /// use a slot.
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

    /// Checks that the tick and its phase are valid.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let fits = self.tick.as_nanos() <= LATEST as u64;
        if fits && (self.phase == Duration::ZERO || self.phase < self.tick) {
            return Ok(());
        }
        Err(Fault::new(
            "tick_ns must be at most 2^61, and tick_phase_ns below it; \
             remove both if arrivals are not tied to a clock",
        ))
    }

    /// The same loading for a trace whose time 0 is the trace time `start` of this one.
    pub(super) fn starting_at(&self, start: Duration) -> Self {
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
            // Cutting a trace does not move it relative to the clock.
            let cut = whole.starting_at(Duration::from_nanos(start));
            prop_assert!(cut.check().is_ok());
            let moved = arrival + start as i64;
            prop_assert_eq!(cut.first_usable(arrival) + start as i64, whole.first_usable(moved));
        }
    }
}
