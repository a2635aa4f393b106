//! The slots of a PHY trace in run time.

use crate::link::HORIZON;
use crate::link::cursor::first_at_or_after;
use crate::trace::PhyTrace;
use crate::units::Duration;

/// Hands out the slots of a PHY trace in order of time; what is skipped costs nothing.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    phy: PhyTrace,
    offset: i64,
    cursor: Cursor,
    /// The run time of the last slot there will be, if the trace ends before the run does.
    last: Option<i64>,
}

/// Where in the trace the run is.
///
/// A cycle is one pass through the trace. Run time = trace time + `base`, which grows by the period
/// from cycle to cycle; without wrapping there is one cycle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor {
    /// The first slot of this cycle that was not used or passed over.
    next: usize,
    base: i64,
    /// The slot that was found last, and the base of its cycle.
    found: (usize, i64),
    period: Option<i64>,
    /// Slots later than this run time are not looked at; at most the horizon.
    end: i64,
    /// Slots per nanosecond of trace, to guess where an instant is.
    density: f64,
}

/// A slot, in run time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// When it starts.
    pub(crate) t: i64,
    /// Decoding time; 0: erased.
    pub(crate) d: i64,
}

impl Slots {
    /// The slots from the trace time `offset` on, which is time zero of the run. Wrapping is for
    /// traces with a period above 0.
    pub(crate) fn new(phy: PhyTrace, offset: Duration, wrap: bool, end: i64) -> Self {
        let t = &phy.t()[..];
        let (first, last) = (t[0], t[t.len() - 1]);
        let period = wrap.then(|| phy.period().as_nanos() as i64);
        let offset = offset.as_nanos().min(2 * HORIZON as u64 - 1) as i64;
        // Whole cycles before the offset have passed; what lies before time zero of the one it
        // falls into is never asked for.
        let passed = match period {
            Some(period) if offset > first => (offset - first) % period + first,
            _ => offset,
        };
        let density = if first < last { (t.len() - 1) as f64 / (last - first) as f64 } else { 0.0 };
        let cursor = Cursor { next: 0, base: -passed, found: (0, -passed), period, end, density };
        let last = (!wrap && last - offset < end).then_some(last - offset);
        Self { phy, offset, cursor, last }
    }

    /// The first slot at or after the run time `from` (not negative) that is still to be had.
    pub(crate) fn first_from(&mut self, from: i64) -> Option<Slot> {
        self.cursor.first_from((self.phy.t(), self.phy.d()), from)
    }

    /// The same, for whoever uses none of them.
    pub(crate) fn look_from(&self, from: i64) -> Option<Slot> {
        let mut cursor = self.cursor;
        cursor.first_from((self.phy.t(), self.phy.d()), from)
    }

    /// The cursor, and `t` and `d` that it runs over: looked up once for many slots.
    #[inline]
    pub(crate) fn split(&mut self) -> (&mut Cursor, (&[i64], &[i64])) {
        (&mut self.cursor, (self.phy.t(), self.phy.d()))
    }

    /// The run time of the last slot there will be, if the trace ends before the run does.
    pub(crate) fn last(&self) -> Option<i64> {
        self.last
    }

    /// The end of the run.
    pub(crate) fn end(&self) -> i64 {
        self.cursor.end
    }

    /// How many slots start from time zero up to `until`.
    pub(crate) fn passed(&self, until: i64) -> u64 {
        let up_to = self.before(self.offset + until.min(self.cursor.end) + 1);
        up_to - self.before(self.offset)
    }

    /// How many slots start before the trace time `instant`, cycles included.
    fn before(&self, instant: i64) -> u64 {
        let t = &self.phy.t()[..];
        let cycles = match self.cursor.period {
            Some(period) => (instant - 1 - t[0]).max(0) / period,
            None => 0,
        };
        let within = instant - cycles * self.cursor.period.unwrap_or(0);
        cycles as u64 * t.len() as u64 + t.partition_point(|&t| t < within) as u64
    }
}

impl Cursor {
    /// The first slot of (`t`, `d`) at or after the run time `from` (not negative) that is still
    /// to be had.
    #[inline]
    pub(crate) fn first_from(&mut self, (t, d): (&[i64], &[i64]), from: i64) -> Option<Slot> {
        if from > self.end {
            return None;
        }
        self.found = match t.get(self.next) {
            Some(&t) if t >= from - self.base => (self.next, self.base),
            _ => self.search(t, from)?,
        };
        let (index, base) = self.found;
        let start = t[index] + base;
        (start <= self.end).then(|| Slot { t: start, d: d[index] })
    }

    fn search(&self, t: &[i64], from: i64) -> Option<(usize, i64)> {
        let (mut next, mut base) = (self.next, self.base);
        let last = t[t.len() - 1];
        if next == t.len() || from - base > last {
            let period = self.period?;
            // Cycles that are over by then; the one before a used-up trace is, too.
            let over = (from - base - last).max(1);
            base += (over + period - 1) / period * period;
            next = 0;
        }
        Some((first_at_or_after(t, next, from - base, self.density), base))
    }

    /// The slot that was found last is used; those before it have passed.
    #[inline]
    pub(crate) fn used(&mut self) {
        (self.next, self.base) = (self.found.0 + 1, self.found.1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::units::Bytes;

    proptest! {
        #[test]
        fn the_next_slot_and_the_count_are_those_of_a_scan(
            gaps in prop::collection::vec(1i64..50, 2..40),
            start in 0i64..60,
            offset in 0u64..3000,
            wrap in any::<bool>(),
            asked in prop::collection::vec((0i64..200, any::<bool>()), 1..40),
        ) {
            let t: Vec<i64> = gaps.iter().scan(start, |t, gap| { *t += gap; Some(*t) }).collect();
            let d = vec![1; t.len()];
            let phy = PhyTrace::new(t.clone().into(), d.into(), Bytes(33)).unwrap();
            let period = phy.period().as_nanos() as i64;
            // Enough to cover the offset and the run.
            let cycles = if wrap { 8000 / period + 2 } else { 1 };
            let all: Vec<i64> = (0..cycles)
                .flat_map(|cycle| t.iter().map(move |t| t + cycle * period - offset as i64))
                .filter(|&t| t >= 0)
                .collect();
            let mut slots = Slots::new(phy, Duration::from_nanos(offset), wrap, 5000);
            let (mut from, mut used) = (0, -1);
            for (step, use_it) in asked {
                from += step;
                let scan = all.iter().copied().find(|&t| t >= from && t > used && t <= 5000);
                let slot = slots.first_from(from);
                prop_assert_eq!(slot.map(|slot| slot.t), scan);
                let count = all.iter().filter(|&&t| t <= from.min(5000)).count() as u64;
                prop_assert_eq!(slots.passed(from), count);
                if let (Some(slot), true) = (slot, use_it) {
                    slots.split().0.used();
                    used = slot.t;
                }
            }
        }
    }
}
