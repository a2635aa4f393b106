//! Position of the slots of a trace in run time: an offset, and cycles if the trace repeats.

use std::ops::Range;

use crate::config::Fault;
use crate::link::HORIZON;
use crate::units::Duration;

/// The slots of a trace in run time, one pass through the trace (a cycle) after another.
///
/// Run time 0 is the trace time `offset`: whole cycles before it have passed, slots before it do
/// not exist. A trace that repeats starts again one period after its first slot, so that the gap to
/// the repetition is given by the trace's header, or is the median gap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotClock {
    /// The first slot of the trace, in trace time.
    first: i64,
    offset: i64,
    /// Run time of trace time 0 in the cycle that contains run time 0.
    base: i64,
    period: Option<i64>,
    /// Slots per nanosecond of trace, to estimate the position of an instant.
    density: f64,
}

/// A slot: its index in its cycle (the length of the trace if none is left), and the run time of
/// trace time 0 of that cycle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct SlotPosition {
    pub(crate) slot: usize,
    pub(crate) base: i64,
}

impl SlotClock {
    /// A clock for slots from trace time `first`, which repeat after `period`, if given.
    ///
    /// # Errors
    /// If the period is zero.
    pub(crate) fn new(
        first: i64,
        offset: Duration,
        period: Option<Duration>,
    ) -> Result<Self, Fault> {
        if period == Some(Duration::ZERO) {
            let cure = "a trace of one slot cannot be wrapped; give one of at least two slots";
            return Err(Fault::at(cure));
        }
        let period = period.map(|period| period.as_nanos() as i64);
        let offset = offset.as_nanos().min(2 * HORIZON as u64 - 1) as i64;
        let mut clock = Self { first, offset, base: 0, period, density: 0.0 };
        clock.base = -clock.folded(offset);
        Ok(clock)
    }

    /// This clock with the density of the slots `t`, for a search that assumes even spacing.
    pub(crate) fn over(self, t: &[i64]) -> Self {
        let density = match (t.first(), t.last()) {
            (Some(&first), Some(&last)) if first < last => {
                (t.len() - 1) as f64 / (last - first) as f64
            }
            _ => 0.0,
        };
        Self { density, ..self }
    }

    /// Maps a trace time to the first cycle of a trace that repeats.
    #[inline]
    fn folded(&self, time: i64) -> i64 {
        match self.period {
            Some(period) if time > self.first => (time - self.first) % period + self.first,
            _ => time,
        }
    }

    /// The trace time at a run time.
    #[inline]
    pub(crate) fn trace_time(&self, run_time: i64) -> i64 {
        self.folded(run_time - self.base)
    }

    pub(crate) fn period(&self) -> Option<i64> {
        self.period
    }

    /// The trace time at run time 0.
    pub(crate) fn offset(&self) -> i64 {
        self.offset
    }

    /// The first slot of the cycle that run time 0 falls into.
    pub(crate) fn start(&self) -> SlotPosition {
        SlotPosition { slot: 0, base: self.base }
    }

    /// The first slot of `t` from `place` on that starts at or after run time `from`; `None` after
    /// the end of the trace.
    #[inline]
    pub(crate) fn first_from(
        &self,
        t: &[i64],
        place: SlotPosition,
        from: i64,
    ) -> Option<SlotPosition> {
        match t.get(place.slot) {
            Some(&t) if t >= from - place.base => Some(place),
            _ => self.search(t, place, from),
        }
    }

    #[inline]
    fn search(&self, t: &[i64], place: SlotPosition, from: i64) -> Option<SlotPosition> {
        let SlotPosition { mut slot, mut base } = place;
        let last = *t.last()?;
        if slot == t.len() || from - base > last {
            let period = self.period?;
            // Skip the cycles that have ended by then, and the one before an exhausted trace.
            let over = (from - base - last).max(1);
            base += (over + period - 1) / period * period;
            slot = 0;
        }
        Some(SlotPosition { slot: first_at_or_after(t, slot, from - base, self.density), base })
    }

    /// The last slot of `t` from `place` on that starts at or before run time `at`; `place` if none
    /// does.
    #[inline]
    pub(crate) fn last_until(&self, t: &[i64], place: SlotPosition, at: i64) -> SlotPosition {
        let SlotPosition { mut slot, mut base } = place;
        if let Some(period) = self.period
            && at - base - self.first >= period
        {
            base += (at - base - self.first) / period * period;
            slot = 0;
        }
        let ahead = &t[slot + 1..];
        let near = ahead.len().min(NEAR);
        let begun = |&t: &i64| t <= at - base;
        let mut slots = ahead[..near].iter().take_while(|t| begun(t)).count();
        if slots == near {
            slots += ahead[near..].partition_point(begun);
        }
        SlotPosition { slot: slot + slots, base }
    }

    /// The first slot of the next cycle, if it starts before the horizon.
    pub(crate) fn next_cycle(&self, place: SlotPosition) -> Option<SlotPosition> {
        let base = place.base + self.period?;
        (base <= HORIZON).then_some(SlotPosition { slot: 0, base })
    }

    /// The number of the slot at `place`, counted over all cycles of a trace of `len` slots.
    pub(crate) fn number(&self, place: SlotPosition, len: usize) -> u64 {
        let cycle = self.period.map_or(0, |period| (place.base + self.offset) / period);
        cycle as u64 * len as u64 + place.slot as u64
    }

    /// The [`SlotClock::number`]s of the slots of `t` that start from run time 0 up to `until`.
    pub(crate) fn passing(&self, t: &[i64], until: i64) -> Range<u64> {
        self.before(t, self.offset)..self.before(t, self.offset + until + 1)
    }

    /// How many slots of `t` start from run time 0 up to `until`.
    pub(crate) fn passed(&self, t: &[i64], until: i64) -> u64 {
        let Range { start, end } = self.passing(t, until);
        end - start
    }

    /// Number of slots that start up to run time `until`, including those before run time 0 and in
    /// earlier cycles: the [`SlotClock::number`] of the next one.
    pub(crate) fn began(&self, t: &[i64], until: i64) -> u64 {
        self.before(t, self.offset + until + 1)
    }

    /// Number of slots that start before the trace time `instant`, including earlier cycles.
    fn before(&self, t: &[i64], instant: i64) -> u64 {
        let cycles = self.period.map_or(0, |period| (instant - 1 - self.first).max(0) / period);
        let within = instant - cycles * self.period.unwrap_or(0);
        let place = match t.last() {
            Some(&last) if within <= last => first_at_or_after(t, 0, within, self.density),
            _ => t.len(),
        };
        cycles as u64 * t.len() as u64 + place as u64
    }
}

/// Number of slots checked one by one before bisection.
const NEAR: usize = 4;

/// The first index from `from` on with `t >= target`; `t[from..]` must contain one.
///
/// Estimates the position from the mean density, gallops to a bracket, then bisects. The cost is
/// nearly the same for a short idle time and for a jump through a long trace, because LLDUs are
/// almost evenly spaced.
#[inline]
fn first_at_or_after(t: &[i64], from: usize, target: i64, density: f64) -> usize {
    if t[from] >= target {
        return from;
    }
    let last = t.len() - 1;
    let ahead = ((target - t[from]) as f64 * density) as usize;
    let guess = from.saturating_add(ahead).clamp(from + 1, last);
    let (mut low, mut high, mut step) = (guess, guess, 1);
    // Bracket: t[low] < target <= t[high].
    if t[guess] < target {
        high = guess + 1;
        while t[high] < target {
            low = high;
            step *= 2;
            high = (high + step).min(last);
        }
    } else {
        low = guess - 1;
        while t[low] >= target {
            high = low;
            step *= 2;
            low = low.saturating_sub(step).max(from);
        }
    }
    low + 1 + t[low + 1..high].partition_point(|&t| t < target)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_search_agrees_with_a_scan(
            gaps in prop::collection::vec(prop_oneof![9 => 1i64..20, 1 => 1i64..100_000], 1..400),
            from in 0usize..400,
            target in 0i64..2_000_000,
            density in prop_oneof![Just(0.0), Just(f64::MAX), 0.0..1.0],
        ) {
            let t: Vec<i64> = gaps.iter().scan(0, |t, gap| { *t += gap; Some(*t) }).collect();
            let from = from % t.len();
            let target = target % (t[t.len() - 1] + 1);
            let scan = (from..t.len()).find(|&i| t[i] >= target).unwrap();
            prop_assert_eq!(first_at_or_after(&t, from, target, density), scan);
        }
    }
}
