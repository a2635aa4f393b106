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

/// Nanoseconds of a tick of tokio's timers.
const TICK: u64 = 1_000_000;
/// By which Linux wakes a task later than it asked for (`PR_SET_TIMERSLACK`): so bursts do not keep
/// their place within a tick.
const SLACK: u64 = 50_000;

/// When a timer that is `due` rings for a task that goes to sleep `now`. quinn's timers are tokio's,
/// which count in whole milliseconds: they are due at the next tick, and the task sleeps for the
/// ticks from the one that has begun. So they ring up to two milliseconds late, which is what lets
/// quinn's bursts apart at rates at which they would follow one another more closely.
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
    fn timers_ring_in_whole_milliseconds() {
        let rings = |now, due| rings(Instant::from_nanos(now), Instant::from_nanos(due)).as_nanos();
        assert_eq!(rings(0, 1_600_000), 2_050_000);
        assert_eq!(rings(400_000, 1_900_000), 2_450_000);
        assert_eq!(rings(400_000, 2_000_000), 2_450_000);
        assert_eq!(rings(400_000, 2_000_001), 3_450_000);
        assert_eq!(rings(400_000, 400_001), 1_450_000);
        // What is over already is worked off at once.
        assert_eq!(rings(400_000, 300_000), 400_000);
    }
}
