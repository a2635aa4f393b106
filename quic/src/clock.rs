//! The engine's time as the crate's: one base, and nanoseconds since.

use std::time;

use clift::units::Instant;

/// Converts both ways.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    base: time::Instant,
}

impl Clock {
    /// A clock that begins now. Only differences of its times are ever looked at.
    #[allow(clippy::disallowed_methods)] // there is no other way to a `std::time::Instant`
    pub(crate) fn new() -> Self {
        Self { base: time::Instant::now() }
    }

    pub(crate) fn at(self, now: Instant) -> time::Instant {
        self.base + time::Duration::from_nanos(now.as_nanos())
    }

    pub(crate) fn back(self, at: time::Instant) -> Instant {
        let nanos = at.saturating_duration_since(self.base).as_nanos();
        Instant::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}
