//! The slots of a 3GPP link, and what becomes of a transport block in each.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use crate::config::Fault;
use crate::link::clock::{SlotClock, SlotPosition};
use crate::link::{HORIZON, span};
use crate::scheme::ntn::combining::SoftCombining;
use crate::scheme::ntn::config::NtnPhy;
use crate::seed::uniform;
use crate::trace::PhyTrace;
use crate::units::{Duration, Probability};

/// Slots by number, ascending in time.
#[derive(Clone, Debug)]
pub(super) enum BlockSlots {
    Regular { every: i64, decode: i64, bler: Arc<[Probability]>, draws: Box<Draws> },
    Trace(TraceSlots),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Slot {
    pub(super) index: u64,
    pub(super) at: i64,
}

/// The slots of a PHY trace; numbers count on over its cycles.
#[derive(Clone, Debug)]
pub(super) struct TraceSlots {
    trace: Arc<PhyTrace>,
    clock: SlotClock,
    /// The slot that is looked at from: those before it have passed.
    next: SlotPosition,
    nominal: i64,
    soft: Option<Box<Soft>>,
}

/// Soft combining, with one draw for each block.
#[derive(Clone, Debug)]
struct Soft {
    combining: SoftCombining,
    draws: Draws,
}

/// What the receiver has of a block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Received {
    soft: f64,
    /// The block is decoded once its error probability is not above this.
    draw: Option<f64>,
}

impl Soft {
    /// Whether the receiver decodes a block with what it has after a transmission in `slot`.
    fn decodes(&mut self, slot: u64, received: &mut Received) -> bool {
        received.soft = self.combining.add(received.soft, self.combining.at(slot));
        let draw = *received.draw.get_or_insert_with(|| self.draws.uniform(slot));
        draw >= self.combining.bler(received.soft)
    }
}

impl BlockSlots {
    pub(super) fn new(
        phy: &NtnPhy,
        combining: Option<&SoftCombining>,
        offset: Duration,
        wrap: bool,
        rng: ChaCha8Rng,
    ) -> Result<Self, Fault> {
        match phy {
            NtnPhy::Random { slot, decode, bler, .. } => Ok(Self::Regular {
                every: span(*slot),
                decode: span(*decode),
                bler: Arc::clone(bler),
                draws: Box::new(Draws::new(rng)),
            }),
            NtnPhy::Trace(trace) => {
                let soft = combining
                    .map(|own| Box::new(Soft { combining: own.clone(), draws: Draws::new(rng) }));
                TraceSlots::new(trace, offset, wrap)
                    .map(|slots| Self::Trace(TraceSlots { soft, ..slots }))
            }
        }
    }

    /// From the start of a slot until its block is known to be right or wrong.
    pub(super) fn nominal_decoding(&self) -> i64 {
        match self {
            Self::Regular { decode, .. } => *decode,
            Self::Trace(slots) => slots.nominal,
        }
    }

    /// The first slot from number `index` on that is not before `at`; neither may fall.
    pub(super) fn first(&mut self, index: u64, at: i64) -> Option<Slot> {
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
        let Self::Trace(TraceSlots { trace, clock, .. }) = self else { return None };
        if clock.period().is_some() {
            return None;
        }
        let last = trace.t()[trace.len() - 1];
        Some(Slot { index: trace.len() as u64, at: last - clock.offset() })
    }

    /// The decoding time of a block if what is sent in `slot` is the `attempt`-th transmission of
    /// it (from 1) that the receiver uses, which has `received` of it before; `None`: it fails.
    /// Slots must not go backwards.
    pub(super) fn decode(
        &mut self,
        slot: Slot,
        attempt: u32,
        received: &mut Received,
    ) -> Option<i64> {
        match self {
            Self::Regular { decode, bler, draws, .. } => {
                let last = bler.len() - 1;
                let p = bler[last.min(attempt as usize - 1)].get();
                (draws.uniform(slot.index) >= p).then_some(*decode)
            }
            Self::Trace(TraceSlots { soft: Some(soft), nominal, .. }) => {
                soft.decodes(slot.index, received).then_some(*nominal)
            }
            Self::Trace(slots) => {
                let d = slots.trace.d()[(slot.index % slots.trace.len() as u64) as usize];
                (d > 0).then_some(d)
            }
        }
    }

    /// Slots that start from time zero to `until`, that instant included.
    pub(super) fn passed(&self, until: i64) -> u64 {
        match self {
            Self::Regular { .. } if until < 0 => 0,
            Self::Regular { every, .. } => until.unsigned_abs() / every.unsigned_abs() + 1,
            Self::Trace(slots) => slots.passed(until),
        }
    }
}

impl TraceSlots {
    fn new(trace: &Arc<PhyTrace>, offset: Duration, wrap: bool) -> Result<Self, Fault> {
        let t = trace.t();
        let clock = SlotClock::new(t[0], offset, wrap.then(|| trace.period()))?.over(t);
        let nominal = span(trace.nominal_decoding());
        let (trace, next) = (Arc::clone(trace), clock.start());
        Ok(Self { trace, clock, next, nominal, soft: None })
    }

    fn first(&mut self, index: u64, at: i64) -> Option<Slot> {
        let (t, len) = (self.trace.t(), self.trace.len());
        let mut place = self.clock.first_from(t, self.next, at)?;
        if self.clock.number(place, len) < index {
            place.slot += 1;
            place = self.clock.first_from(t, place, at)?;
        }
        self.next = place;
        Some(Slot { index: self.clock.number(place, len), at: t[place.slot] + place.base })
    }

    fn passed(&self, until: i64) -> u64 {
        self.clock.passed(self.trace.t(), until)
    }
}

/// One uniform number for each place, used or not: the behaviour of a link never shifts the draws,
/// so that variants are compared in pairs.
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
        uniform(&mut self.rng)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::seed::{Seed, Stream};
    use crate::trace::Header;
    use crate::units::Bytes;

    proptest! {
        #[test]
        fn the_next_slot_of_a_trace_is_what_a_scan_finds(
            gaps in prop::collection::vec(1i64..30, 1..40),
            idle in prop::option::of(1u64..100),
            offset in 0u64..2_000,
            wrap: bool,
            asked in prop::collection::vec((0i64..200, any::<bool>()), 1..40),
        ) {
            let t: Vec<i64> = gaps.iter().scan(0, |t, gap| { *t += gap; Some(*t) }).collect();
            let span = (t[t.len() - 1] - t[0]) as u64;
            let period = idle.map(|idle| Duration::from_nanos(span + idle));
            let header = Header { period, ..Header::default() };
            let (t_column, d) = (t.clone().into(), vec![1; t.len()].into());
            let trace = Arc::new(PhyTrace::with_header(t_column, d, Bytes(9), header).unwrap());
            let period = trace.period().as_nanos() as i64;
            let wrap = wrap && period > 0;
            let mut slots = TraceSlots::new(&trace, Duration::from_nanos(offset), wrap).unwrap();
            // As many as reach the latest time.
            let cycles = if wrap { 10_000 / period as u64 + 2 } else { 1 };
            let all: Vec<Slot> = (0..cycles * t.len() as u64)
                .map(|index| {
                    let (cycle, place) = (index / t.len() as u64, index as usize % t.len());
                    Slot { index, at: t[place] + cycle as i64 * period - offset as i64 }
                })
                .collect();
            let (mut at, mut index) = (0, 0);
            for (step, taken) in asked {
                at += step;
                let scan = all.iter().copied().find(|slot| slot.index >= index && slot.at >= at);
                prop_assert_eq!(slots.first(index, at), scan);
                if let (Some(slot), true) = (scan, taken) {
                    index = slot.index + 1;
                }
            }
        }

    }

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
