//! Converts the engine's time to the crate's `std::time::Instant`, relative to a base, and back.

use std::time;

use clift::units::Instant;

/// Converts times in both directions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    base: time::Instant,
}

impl Clock {
    /// A clock that begins now. Only differences between its times are used.
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

/// Nanoseconds of a tick of tokio's timers.
const TICK: u64 = 1_000_000;
/// Delay of Linux between a timer's expiry and the task's wake-up (`PR_SET_TIMERSLACK`). Because of
/// it, bursts do not stay aligned within a tick.
const SLACK: u64 = 50_000;

/// Wake-up time of a task that goes to sleep at `now` for a timer `due`. quinn uses tokio's timers,
/// which count whole milliseconds: a timer expires at the next tick, and the task sleeps for the
/// ticks from the one in progress. Wake-ups are therefore up to two milliseconds late. This
/// separates quinn's bursts at rates at which they would otherwise follow one another more closely.
pub(crate) fn rings(now: Instant, due: Instant) -> Instant {
    let (now, due) = (now.as_nanos(), due.as_nanos());
    if due <= now {
        return Instant::from_nanos(now);
    }
    let ticks = due.div_ceil(TICK) - now / TICK;
    Instant::from_nanos(now.saturating_add(ticks.saturating_mul(TICK)).saturating_add(SLACK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_expire_in_whole_milliseconds() {
        let rings = |now, due| rings(Instant::from_nanos(now), Instant::from_nanos(due)).as_nanos();
        assert_eq!(rings(0, 1_600_000), 2_050_000);
        assert_eq!(rings(400_000, 1_900_000), 2_450_000);
        assert_eq!(rings(400_000, 2_000_000), 2_450_000);
        assert_eq!(rings(400_000, 2_000_001), 3_450_000);
        assert_eq!(rings(400_000, 400_001), 1_450_000);
        // An expired timer wakes the task at once.
        assert_eq!(rings(400_000, 300_000), 400_000);
    }
}
