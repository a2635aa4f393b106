//! The slots of a 3GPP link, and what becomes of a transport block in each.

use std::sync::Arc;

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::link::{HORIZON, LinkError, span};
use crate::scheme::nr::config::NtnPhy;
use crate::trace::PhyTrace;
use crate::units::{Duration, Probability};

/// Slots by number, ascending in time.
#[derive(Clone, Debug)]
pub(super) enum Slots {
    Regular { every: i64, decode: i64, bler: Arc<[Probability]>, draws: Box<Draws> },
    Trace(TraceSlots),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Slot {
    pub(super) index: u64,
    pub(super) at: i64,
}

/// The slots of a PHY trace, `offset` before run time. Slot `cycle x len + i` is the i-th of a
/// repetition.
#[derive(Clone, Debug)]
pub(super) struct TraceSlots {
    trace: Arc<PhyTrace>,
    offset: i64,
    period: Option<i64>,
    nominal: i64,
}

impl Slots {
    pub(super) fn new(
        phy: &NtnPhy,
        offset: Duration,
        wrap: bool,
        rng: ChaCha8Rng,
    ) -> Result<Self, LinkError> {
        match phy {
            NtnPhy::Random { slot, decode, bler, .. } => Ok(Self::Regular {
                every: span(*slot),
                decode: span(*decode),
                bler: Arc::clone(bler),
                draws: Box::new(Draws::new(rng)),
            }),
            NtnPhy::Trace(trace) => TraceSlots::new(trace, offset, wrap).map(Self::Trace),
        }
    }

    /// From the start of a slot until its block is known to be right or wrong.
    pub(super) fn nominal_decoding(&self) -> i64 {
        match self {
            Self::Regular { decode, .. } => *decode,
            Self::Trace(slots) => slots.nominal,
        }
    }

    /// The first slot from number `index` on that is not before `at`.
    pub(super) fn first(&self, index: u64, at: i64) -> Option<Slot> {
        let slot = match self {
            Self::Regular { every, .. } => {
                let index = index.max((at.max(0) as u64).div_ceil(*every as u64));
                let at = i64::try_from(index).ok()?.checked_mul(*every)?;
                Some(Slot { index, at })
            }
            Self::Trace(slots) => slots.first(index, at.max(0)),
        };
        slot.filter(|slot| slot.at <= HORIZON)
    }

    /// One more than the last slot's number and its time, if there is a last one.
    pub(super) fn end(&self) -> Option<Slot> {
        let Self::Trace(TraceSlots { trace, offset, period: None, .. }) = self else {
            return None;
        };
        let last = trace.t()[trace.len() - 1];
        Some(Slot { index: trace.len() as u64, at: last - offset })
    }

    /// The decoding time of a block if what is sent in `slot` is the `attempt`-th transmission of it
    /// (from 1) that the receiver uses; `None`: it fails. Slots must not go backwards.
    pub(super) fn decode(&mut self, slot: Slot, attempt: u32) -> Option<i64> {
        match self {
            Self::Regular { decode, bler, draws, .. } => {
                let last = bler.len() - 1;
                let p = bler[last.min(attempt as usize - 1)].get();
                (draws.uniform(slot.index) >= p).then_some(*decode)
            }
            Self::Trace(slots) => {
                let d = slots.trace.d()[(slot.index % slots.trace.len() as u64) as usize];
                (d > 0).then_some(d)
            }
        }
    }

    /// Slots from time zero to `until`, at the mean rate.
    pub(super) fn passed(&self, until: i64) -> f64 {
        match self {
            Self::Regular { every, .. } => until.max(0) as f64 / *every as f64,
            Self::Trace(slots) => slots.passed(until),
        }
    }
}

impl TraceSlots {
    fn new(trace: &Arc<PhyTrace>, offset: Duration, wrap: bool) -> Result<Self, LinkError> {
        let span_of_slots = trace.t()[trace.len() - 1] - trace.t()[0];
        let period = match trace.header().period {
            Some(period) => span(period),
            None => span_of_slots + span(trace.median_gap()),
        };
        if wrap && period == 0 {
            return Err(LinkError::NoPeriod);
        }
        Ok(Self {
            offset: span(offset),
            period: wrap.then_some(period),
            nominal: span(trace.nominal_decoding()),
            trace: Arc::clone(trace),
        })
    }

    fn first(&self, index: u64, at: i64) -> Option<Slot> {
        let t: &[i64] = self.trace.t();
        let len = t.len() as u64;
        let target = at + self.offset;
        let now = match self.period {
            Some(period) if target > t[0] => ((target - t[0]) / period) as u64,
            _ => 0,
        };
        // Number `index` may lie in a later repetition than the time does, never the other way.
        let (cycle, from) = match index / len {
            later if later > now => (later, index % len),
            same if same == now => (now, index % len),
            _ => (now, 0),
        };
        let start = i64::try_from(cycle).ok()?.checked_mul(self.period.unwrap_or(0))?;
        if self.period.is_none() && index >= len {
            return None;
        }
        let place = first_at_or_after(t, from as usize, target - start);
        if place == t.len() {
            let next = (self.period.is_some()).then_some(cycle + 1)?;
            return self.slot(next, 0);
        }
        self.slot(cycle, place)
    }

    fn slot(&self, cycle: u64, place: usize) -> Option<Slot> {
        let start = i64::try_from(cycle).ok()?.checked_mul(self.period.unwrap_or(0))?;
        let at = self.trace.t()[place].checked_add(start)? - self.offset;
        Some(Slot { index: cycle * self.trace.len() as u64 + place as u64, at })
    }

    fn passed(&self, until: i64) -> f64 {
        let t = self.trace.t();
        let (first, last) = (t[0] - self.offset, t[t.len() - 1] - self.offset);
        if t.len() == 1 {
            return f64::from(u8::from(first >= 0 && first <= until));
        }
        let gap = span(self.trace.median_gap());
        let length = self.period.unwrap_or(last - first + gap);
        let end = if self.period.is_some() { i64::MAX } else { last + gap };
        let slot = length as f64 / t.len() as f64;
        (until.min(end) - first.max(0)).max(0) as f64 / slot
    }
}

/// The first index from `from` on with `t >= target`, `t.len()` if there is none. Looks near first:
/// a busy link wants the next slot.
fn first_at_or_after(t: &[i64], from: usize, target: i64) -> usize {
    let (mut low, mut step) = (from, 1);
    while low < t.len() && t[low] < target {
        let high = (low + step).min(t.len());
        if high == t.len() || t[high] >= target {
            return low + 1 + t[low + 1..high].partition_point(|&t| t < target);
        }
        low = high;
        step *= 2;
    }
    low
}

/// One uniform number for each place, whether it is used or not: what a link does never shifts what
/// it meets, so that variants are compared in pairs.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    rng: ChaCha8Rng,
    /// The place whose number comes next.
    next: u64,
}

impl Draws {
    pub(super) fn new(rng: ChaCha8Rng) -> Self {
        Self { rng, next: 0 }
    }

    /// The number of a place, from 0 to below 1.
    pub(super) fn uniform(&mut self, place: u64) -> f64 {
        if place != self.next {
            // A number is two words of the stream.
            self.rng.set_word_pos(2 * u128::from(place));
        }
        self.next = place + 1;
        (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::units::Bytes;

    proptest! {
        #[test]
        fn the_next_slot_of_a_trace_is_what_a_scan_finds(
            gaps in prop::collection::vec(1i64..30, 1..40),
            offset in 0u64..2_000,
            wrap: bool,
            index in 0u64..120,
            at in 0i64..2_000,
        ) {
            let t: Vec<i64> = gaps.iter().scan(0, |t, gap| { *t += gap; Some(*t) }).collect();
            let d = vec![1; t.len()];
            let trace = Arc::new(PhyTrace::new(t.clone().into(), d.into(), Bytes(9)).unwrap());
            let wrap = wrap && t.len() > 1;
            let slots = TraceSlots::new(&trace, Duration::from_nanos(offset), wrap).unwrap();
            let period = slots.period.unwrap_or(0);
            // As many of 2 ns as reach the latest time, and more than the highest number.
            let cycles = if wrap { 2_100 } else { 1 };
            let scan = (0..cycles * t.len() as u64)
                .map(|index| {
                    let (cycle, place) = (index / t.len() as u64, index as usize % t.len());
                    Slot { index, at: t[place] + cycle as i64 * period - offset as i64 }
                })
                .find(|slot| slot.index >= index && slot.at >= at);
            prop_assert_eq!(slots.first(index, at), scan);
        }
    }
}

#[cfg(test)]
mod tests_1 {
    use super::*;
    use crate::seed::{Seed, Stream};

    #[test]
    fn a_place_has_its_number_whichever_were_used_before_it() {
        let draws = || Draws::new(Seed(3).rng(Stream::Link(0)));
        let mut all = draws();
        let every: Vec<f64> = (0..300).map(|place| all.uniform(place)).collect();
        let mut some = draws();
        for place in [0, 1, 5, 6, 7, 130, 131, 299, 4] {
            assert_eq!(some.uniform(place).to_bits(), every[place as usize].to_bits());
        }
    }
}
