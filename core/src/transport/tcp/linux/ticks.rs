//! Kernel ticks and the timer wheel. Linux counts timers in `jiffies`, and its timer wheel never
//! fires early: a timer fires on the tick after the requested one, and distant timers fire on
//! coarser ticks (`calc_index` and `calc_wheel_index` in `kernel/time/timer.c`). Pacing and SACK
//! compression use high-resolution timers and are not affected.

use crate::units::{Duration, Instant};

/// A tick in nanoseconds: `CONFIG_HZ` is 250.
const TICK: u64 = 4_000_000;
/// The wheel has 64 buckets per level; each level is eight times as coarse as the previous one.
const BUCKETS: u64 = 64;
const COARSER: u32 = 3;
const LEVELS: u32 = 9;

/// The tick clock, if timers run on ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ticks {
    on: bool,
}

impl Ticks {
    pub(super) fn new(on: bool) -> Self {
        Self { on }
    }

    /// Duration of a tick in milliseconds. Without ticks it is 1 ms, as in a kernel with
    /// `CONFIG_HZ` 1000.
    pub(super) fn millis(self) -> u64 {
        if self.on { TICK / 1_000_000 } else { 1 }
    }

    /// A duration less one tick.
    pub(super) fn less_one(self, time: Duration) -> Duration {
        if self.on { Duration::from_nanos(time.as_nanos().saturating_sub(TICK)) } else { time }
    }

    /// When a timer set at `now` for `at` expires.
    #[inline]
    pub(super) fn expiry(self, now: Instant, at: Instant) -> Instant {
        if !self.on {
            return at;
        }
        let wait = at.saturating_since(now).as_nanos().div_ceil(TICK);
        let wanted = now.as_nanos() / TICK + wait;
        let beyond = |level: &u32| wait >= (BUCKETS - 1) << (COARSER * level);
        let shift = COARSER * (0..LEVELS - 1).take_while(beyond).count() as u32;
        Instant::from_nanos((((wanted >> shift) + 1) << shift) * TICK)
    }

    /// The start of the tick that contains `time`.
    #[inline]
    pub(super) fn floor(self, time: Instant) -> Instant {
        if self.on { Instant::from_nanos(time.as_nanos() / TICK * TICK) } else { time }
    }

    /// A duration in whole ticks, rounded down.
    #[inline]
    pub(super) fn whole(self, time: Duration) -> Duration {
        if self.on { Duration::from_nanos(time.as_nanos() / TICK * TICK) } else { time }
    }

    /// A duration in whole ticks, rounded up (`usecs_to_jiffies`).
    #[inline]
    pub(super) fn ceil(self, time: Duration) -> Duration {
        if self.on { Duration::from_nanos(time.as_nanos().div_ceil(TICK) * TICK) } else { time }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1000)
    }

    /// Up to 62 ticks ahead timers fire on any tick, up to 503 ticks on every eighth, and never
    /// early.
    #[test]
    fn the_timer_wheel_rounds_up() {
        let expiry = |now, wait| Ticks::new(true).expiry(at(now), at(now + wait)).as_nanos() / 1000;
        assert_eq!(expiry(0, 4_000), 8_000);
        assert_eq!(expiry(3_999, 4_000), 8_000);
        assert_eq!(expiry(4_000, 4_001), 16_000);
        assert_eq!(expiry(0, 248_000), 252_000);
        // 63 ticks: the next multiple of eight is 64; 64 ticks: 72.
        assert_eq!(expiry(0, 252_000), 256_000);
        assert_eq!(expiry(0, 256_000), 288_000);
        // 504 ticks: the next multiple of 64 is 512.
        assert_eq!(expiry(0, 2_016_000), 2_048_000);
        for wait in (1..3_000_000).step_by(977) {
            let late = expiry(12_345, wait) - 12_345 - wait;
            assert!(late <= if wait <= 248_000 { 8_000 } else { 260_000 }, "{wait}: {late}");
        }
    }

    #[test]
    fn without_ticks_times_are_exact() {
        let ticks = Ticks::new(false);
        assert_eq!(ticks.expiry(at(0), at(1)), at(1));
        assert_eq!(
            (ticks.floor(at(7)), ticks.ceil(Duration::from_micros(7))),
            (at(7), Duration::from_micros(7))
        );
    }
}
