//! The slots of a PHY trace in run time.

use crate::config::Fault;
use crate::link::clock::{SlotClock, SlotPosition};
use crate::trace::{PhyTrace, Sizes};
use crate::units::Duration;

/// Iterates over the slots of a PHY trace in order of time; skipping slots has no cost.
#[derive(Clone, Debug)]
pub(crate) struct PhySlots {
    phy: PhyTrace,
    cursor: SlotCursor,
    /// Run time of the last slot, if the trace ends before the run.
    last: Option<i64>,
}

/// Position of the run in the trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotCursor {
    clock: SlotClock,
    /// The first slot that was neither used nor passed.
    next: SlotPosition,
    /// The slot found last.
    found: SlotPosition,
    /// Slots later than this run time are ignored; at most the horizon.
    end: i64,
}

/// A slot of a PHY trace, in run time.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Start time, ns.
    pub t: i64,
    /// Decoding time, ns; 0: erased.
    pub d: i64,
    /// Size of its LLDU.
    pub bytes: u32,
}

/// The columns of a PHY trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns<'a> {
    t: &'a [i64],
    d: &'a [i64],
    sizes: &'a Sizes,
}

impl PhySlots {
    /// The slots from the trace time `offset` on, which is time zero of the run.
    ///
    /// # Errors
    /// If a trace without a period is wrapped.
    pub(crate) fn new(
        phy: PhyTrace,
        offset: Duration,
        wrap: bool,
        end: i64,
    ) -> Result<Self, Fault> {
        let t = &phy.t()[..];
        let clock = SlotClock::new(t[0], offset, wrap.then(|| phy.period()))?.over(t);
        let last = t[t.len() - 1] - clock.offset();
        // The last slot lasts until the next one would start, and so does the trace.
        let ends = || t[0].saturating_add(phy.period().as_nanos() as i64) - clock.offset();
        let last = (!wrap && last < end && ends() < end).then_some(last);
        let next = clock.start();
        Ok(Self { cursor: SlotCursor { clock, next, found: next, end }, last, phy })
    }

    /// The first available slot at or after run time `from` (not negative).
    pub(crate) fn first_from(&mut self, from: i64) -> Option<Slot> {
        let (cursor, columns) = self.split();
        cursor.first_from(columns, from)
    }

    /// The cursor with the columns, for access to many slots.
    #[inline]
    pub(crate) fn split(&mut self) -> (&mut SlotCursor, Columns<'_>) {
        let Self { phy, cursor, .. } = self;
        (cursor, Columns { t: phy.t(), d: phy.d(), sizes: phy.sizes() })
    }

    /// Run time of the last slot, if the trace ends before the run.
    pub(crate) fn last(&self) -> Option<i64> {
        self.last
    }

    /// True if the slots differ in size.
    pub(crate) fn differ(&self) -> bool {
        self.phy.sizes().column().is_some()
    }

    /// The trace time at a run time.
    pub(crate) fn trace_time(&self, run_time: i64) -> i64 {
        self.cursor.clock.trace_time(run_time)
    }

    /// The end of the run.
    pub(crate) fn end(&self) -> i64 {
        self.cursor.end
    }

    /// Number of slots that start from time zero up to `until`.
    pub(crate) fn passed(&self, until: i64) -> u64 {
        self.cursor.clock.passed(self.phy.t(), until.min(self.cursor.end))
    }

    /// Bytes of these slots.
    pub(crate) fn bytes_passed(&self, until: i64) -> u64 {
        let (clock, t) = (&self.cursor.clock, self.phy.t());
        let until = until.min(self.cursor.end);
        let began = clock.began(t, until);
        let before = |count| self.phy.sizes().repeated(count, t.len());
        before(began) - before(began - clock.passed(t, until))
    }
}

impl SlotCursor {
    /// The first available slot at or after run time `from` (not negative).
    #[inline]
    pub(crate) fn first_from(&mut self, columns: Columns<'_>, from: i64) -> Option<Slot> {
        if from > self.end {
            return None;
        }
        let Columns { t, d, sizes } = columns;
        self.found = self.clock.first_from(t, self.next, from)?;
        let SlotPosition { slot, base } = self.found;
        let start = t[slot] + base;
        (start <= self.end).then(|| Slot { t: start, d: d[slot], bytes: sizes.at(slot) })
    }

    /// Marks the slot found last as used, and those before it as passed.
    #[inline]
    pub(crate) fn used(&mut self) {
        self.next = SlotPosition { slot: self.found.slot + 1, ..self.found };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::units::Bytes;

    proptest! {
        #[test]
        fn the_next_slot_and_the_count_agree_with_a_scan(
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
            // Enough cycles to cover the offset and the run.
            let cycles = if wrap { 8000 / period + 2 } else { 1 };
            let all: Vec<i64> = (0..cycles)
                .flat_map(|cycle| t.iter().map(move |t| t + cycle * period - offset as i64))
                .filter(|&t| t >= 0)
                .collect();
            let mut slots = PhySlots::new(phy, Duration::from_nanos(offset), wrap, 5000).unwrap();
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
