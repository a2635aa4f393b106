//! Attempts that are known before they are made, for a log.

use super::instant;
use crate::link::{StreamRange, Transit, Transmission, TransmissionKind, nanos};
use crate::units::Instant;

/// Attempts for a log, off unless asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct PlannedLog {
    planned: Option<Vec<Transmission>>,
}

impl PlannedLog {
    /// Writes from now on.
    pub(super) fn start(&mut self) {
        self.planned.get_or_insert_default();
    }

    /// All attempts at a packet; the last has an `arrival` if it decodes it.
    #[inline]
    pub(super) fn note(
        &mut self,
        transit: &Transit,
        arrival: impl Fn() -> Option<Instant>,
        carries: Option<StreamRange>,
        start: impl Fn(i64) -> i64,
    ) {
        let Some(planned) = &mut self.planned else { return };
        let arrival = arrival();
        planned.extend((0..transit.lldus).map(|attempt| Transmission {
            arrival: arrival.filter(|_| attempt + 1 == transit.lldus),
            ..unit(start(i64::from(attempt)), transit.order, attempt, carries)
        }));
    }

    /// Those made up to `until`, by time.
    pub(super) fn take(&mut self, until: i64) -> Vec<Transmission> {
        let Some(planned) = &mut self.planned else { return Vec::new() };
        let ahead = planned.extract_if(.., |unit| nanos(unit.at) > until).collect();
        let mut sent = std::mem::replace(planned, ahead);
        sent.sort_by_key(|unit| unit.at);
        sent
    }
}

/// An attempt in a log, as if it did not decode.
pub(super) fn unit(
    at: i64,
    order: u64,
    attempt: u32,
    carries: Option<StreamRange>,
) -> Transmission {
    Transmission {
        at: instant(at),
        kind: if attempt == 0 { TransmissionKind::New } else { TransmissionKind::Repair },
        unit: order,
        attempt,
        arrival: None,
        packets: (order, order),
        carries,
    }
}
