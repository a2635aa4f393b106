//! Slots at a varying rate: consecutive slots are one LLDU transmission time apart.

use rand_chacha::ChaCha8Rng;

use crate::budget::{Budget, Refusal};
use crate::seed::uniform;
use crate::trace::error::Fault;
use crate::trace::{Header, PhyTrace, ReadError};
use crate::units::{Bytes, counted};

/// State of the link during an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct State {
    /// Millionths of a bit per second; 0: an outage.
    pub(super) rate: u64,
    /// Delay in ns; `None`: an outage.
    pub(super) delay: Option<i64>,
    pub(super) loss: Loss,
}

/// Losses during an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Loss {
    /// A share, from 0 to 1.
    Share(f64),
    /// A count.
    Packets(u64),
}

impl Default for Loss {
    fn default() -> Self {
        Self::Share(0.0)
    }
}

impl State {
    /// The state whose rate counts what was sent, if the rate of this one is what was received.
    /// `None`: the rate is over 1 Tbit/s. Where all was lost, nothing is known: an outage.
    pub(super) fn sent(self) -> Option<Self> {
        let Loss::Share(lost) = self.loss else { return Some(self) };
        let rate = if lost < 1.0 { (self.rate as f64 / (1.0 - lost)).round() } else { 0.0 };
        (rate <= 1e18).then_some(Self { rate: rate as u64, ..self })
    }

    /// True if nothing gets through.
    pub(super) fn is_outage(&self) -> bool {
        self.rate == 0 || self.delay.is_none()
    }
}

/// Generates slots of equal size.
///
/// A slot starts whenever the link has carried a multiple of an LLDU's bits since the first slot
/// started. The amount carried is an integer (millionths of a bit per second times nanoseconds), so
/// that rounding errors do not accumulate across intervals. Intervals are counted first and slots
/// generated afterwards, so that a request that does not fit into memory is refused in advance.
pub(super) struct SlotGenerator<'a> {
    t: Vec<i64>,
    d: Vec<i64>,
    runs: Vec<Run>,
    /// Slots of all runs.
    planned: u64,
    lldu: Bytes,
    /// Work per slot.
    work: u128,
    /// Work remaining until the next slot starts.
    need: u128,
    losses: Option<ChaCha8Rng>,
    keep_order: bool,
    latest: i64,
    /// Slots that wait for an earlier one, or would if order were kept.
    pub(super) waited: u64,
    /// True if a row lost some but not all of its slots.
    pub(super) drawn: bool,
    /// Intervals with a rate in which no slot started.
    pub(super) idle: u64,
    most: u64,
    budget: &'a Budget<'a>,
}

/// The slots of an interval.
struct Run {
    /// Start of the first slot: whole nanoseconds, and `part` / `rate` of one.
    from: i64,
    part: u64,
    rate: u64,
    count: u64,
    delay: i64,
    share: f64,
}

impl Run {
    /// Start of a slot: whole nanoseconds, and `part` / `rate` of one.
    fn start(&self, slot: u64, work: u128) -> (i64, u64) {
        let rate = u128::from(self.rate);
        let carried = u128::from(self.part) + u128::from(slot) * work;
        (self.from.saturating_add((carried / rate) as i64), (carried % rate) as u64)
    }

    /// The first slot that starts at `t` or later; their number if none does.
    fn first(&self, t: i64, work: u128) -> u64 {
        if t <= self.from {
            return 0;
        }
        let before = u128::from(t.abs_diff(self.from)) * u128::from(self.rate);
        let slot = before.saturating_sub(u128::from(self.part)).div_ceil(work);
        slot.min(u128::from(self.count)) as u64
    }
}

/// Hint if rows have more losses than slots.
const SMALLER: &str = "a smaller LLDU";
/// Slots generated between two checks of the budget: some milliseconds of work.
pub(super) const AT_ONCE: u64 = 1 << 20;

impl<'a> SlotGenerator<'a> {
    /// Slots of `lldu` bytes, at most `most`; without `losses` no slot is erased.
    pub(super) fn new(
        lldu: Bytes,
        losses: Option<ChaCha8Rng>,
        keep_order: bool,
        (most, budget): (u64, &'a Budget<'a>),
    ) -> Self {
        let work = u128::from(lldu.0) * 8 * 1_000_000 * 1_000_000_000;
        Self {
            t: Vec::new(),
            d: Vec::new(),
            runs: Vec::new(),
            planned: 0,
            lldu,
            work,
            need: 0,
            losses,
            keep_order,
            latest: 0,
            waited: 0,
            drawn: false,
            idle: 0,
            most,
            budget,
        }
    }

    /// Adds the slots that start from `from` and before `to`.
    pub(super) fn interval(&mut self, from: i64, to: i64, state: &State) -> Result<(), Fault> {
        let (Some(delay), false) = (state.delay, state.rate == 0) else { return Ok(()) };
        let rate = u128::from(state.rate);
        if rate > self.work {
            return Err(Fault::Text(format!(
                "at this rate an LLDU of {} takes less than 1 ns; check the unit of the rate",
                counted(self.lldu.0, "byte", "bytes")
            )));
        }
        let carried = u128::from(to.abs_diff(from)) * rate;
        let count = match carried.checked_sub(self.need) {
            Some(rest) if rest > 0 => (rest - 1) / self.work + 1,
            _ => {
                self.need -= carried;
                self.idle += u64::from(carried > 0);
                return share(state.loss, 0, SMALLER).map(|_| ());
            }
        };
        let share = share(state.loss, count, SMALLER)?;
        if count > u128::from(self.most.saturating_sub(self.len() as u64)) {
            return Err(Fault::TooMany(self.most));
        }
        self.budget.grow(&mut self.runs, "rows")?;
        self.runs.push(Run {
            from: from + (self.need / rate) as i64,
            part: (self.need % rate) as u64,
            rate: state.rate,
            count: count as u64,
            delay,
            share,
        });
        self.planned += count as u64;
        self.need = self.need + count * self.work - carried;
        Ok(())
    }

    /// Adds one slot at `t`, independently of the rate.
    pub(super) fn single(&mut self, t: i64, state: &State, text: &[u8]) -> Result<(), Fault> {
        let Some(delay) = state.delay else { return Ok(()) };
        if self.t.last().is_some_and(|&last| last >= t) {
            return Err(Fault::unsorted(text));
        }
        let share = share(state.loss, 1, SMALLER)?;
        if self.len() as u64 >= self.most {
            return Err(Fault::TooMany(self.most));
        }
        self.budget.grow(&mut self.t, "slots")?;
        self.budget.grow(&mut self.d, "slots")?;
        self.push(t, delay, share);
        Ok(())
    }

    /// Start of each of these slots of the intervals, in ascending order.
    pub(super) fn times(&self, slots: impl Iterator<Item = u64>) -> Vec<i64> {
        let (mut runs, mut before) = (self.runs.iter().peekable(), 0);
        let time = |slot: u64| {
            while let Some(run) = runs.next_if(|run| before + run.count <= slot) {
                before += run.count;
            }
            runs.peek().map(|run| run.start(slot - before, self.work).0)
        };
        slots.filter_map(time).collect()
    }

    /// Keeps the slots that start within `parts`, in ascending order, which then follow one another.
    pub(super) fn keep(&mut self, parts: &[(i64, i64)]) {
        let (mut kept, mut first, mut moved) = (Vec::new(), 0, 0);
        for run in &self.runs {
            while parts.get(first).is_some_and(|part| part.1 <= run.from) {
                moved += parts[first].1 - parts[first].0;
                first += 1;
            }
            let mut start = moved;
            for &(from, to) in &parts[first..] {
                let slots = run.first(from, self.work)..run.first(to, self.work);
                if slots.is_empty() && slots.start == run.count {
                    break;
                }
                if !slots.is_empty() {
                    let (t, part) = run.start(slots.start, self.work);
                    let count = slots.end - slots.start;
                    kept.push(Run { from: t - from + start, part, count, ..*run });
                }
                start += to - from;
            }
        }
        self.planned = kept.iter().map(|run| run.count).sum();
        self.runs = kept;
    }

    /// Number of slots so far.
    pub(super) fn len(&self) -> usize {
        self.t.len() + self.planned as usize
    }

    /// Generates the slots of all intervals.
    pub(super) fn make(&mut self) -> Result<(), Refusal> {
        if self.planned == 0 {
            return Ok(());
        }
        let planned = std::mem::take(&mut self.planned);
        (self.t, self.d) = self.budget.columns(planned)?;
        self.budget.announce(16 * planned, counted(planned, "slot", "slots"));
        for run in std::mem::take(&mut self.runs) {
            // At least 1 ns, and less than the interval if it has a second slot.
            let (step, rest) = match run.count {
                1 => (0, 0),
                _ => {
                    let rate = u128::from(run.rate);
                    ((self.work / rate) as i64, (self.work % rate) as u64)
                }
            };
            let (mut t, mut part) = (run.from, run.part);
            for place in 0..run.count {
                if place % AT_ONCE == 0 {
                    self.budget.ask()?;
                }
                self.push(t, run.delay, run.share);
                t = t.saturating_add(step);
                // Rates stay below 2^62.
                part += rest;
                if part >= run.rate {
                    (t, part) = (t.saturating_add(1), part - run.rate);
                }
            }
        }
        Ok(())
    }

    /// Builds the trace.
    pub(super) fn finish(mut self, header: Header) -> Result<PhyTrace, ReadError> {
        if self.t.is_empty() {
            return Err(Fault::empty().into());
        }
        self.t.shrink_to_fit();
        self.d.shrink_to_fit();
        Ok(PhyTrace::with_header(self.t.into(), self.d.into(), self.lldu, header)?)
    }

    fn push(&mut self, t: i64, delay: i64, share: f64) {
        self.drawn |= share > 0.0 && share < 1.0;
        // Every slot takes a draw, so that changing the loss of one interval does not affect
        // others.
        let lost = self.losses.as_mut().is_some_and(|rng| uniform(rng) < share);
        let d = match delay.max(1) {
            _ if lost => 0,
            delay => {
                let arrival = t.saturating_add(delay).max(self.latest);
                self.waited += u64::from(arrival - t > delay);
                self.latest = arrival;
                if self.keep_order { arrival - t } else { delay }
            }
        };
        self.t.push(t);
        self.d.push(d);
    }
}

/// Fraction of `slots` that are lost. `cure` is the hint shown if more are lost than exist.
pub(super) fn share(loss: Loss, slots: u128, cure: &str) -> Result<f64, Fault> {
    match loss {
        Loss::Share(share) => Ok(share),
        Loss::Packets(0) => Ok(0.0),
        Loss::Packets(lost) if u128::from(lost) > slots => Err(Fault::Text(format!(
            "{} lost in an interval of {}; check the column, or give {cure}",
            counted(lost, "packet", "packets"),
            counted(slots, "slot", "slots"),
        ))),
        Loss::Packets(lost) => Ok(lost as f64 / slots as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn state(rate: u64) -> State {
        State { rate, delay: Some(7), loss: Loss::default() }
    }

    #[test]
    fn a_partial_slot_continues_across_rows() {
        // 8 bits take 1 ms at 8 kbit/s. Half a slot is carried over an outage and a slower
        // interval.
        let budget = Budget::unlimited();
        let mut maker = SlotGenerator::new(Bytes(1), None, true, (100, &budget));
        let rate = |kbit: u64| kbit * 1_000_000_000;
        maker.interval(0, 1_500_000, &state(rate(8))).unwrap();
        maker.interval(1_500_000, 5_000_000, &state(0)).unwrap();
        maker.interval(5_000_000, 5_500_000, &state(rate(4))).unwrap();
        maker.interval(5_500_000, 8_000_000, &state(rate(8))).unwrap();
        maker.make().unwrap();
        assert_eq!(maker.t, [0, 1_000_000, 5_750_000, 6_750_000, 7_750_000]);
        assert_eq!(maker.d, [7; 5]);
    }

    proptest! {
        /// Compares with the definition in rational arithmetic: slot k starts at the first instant,
        /// in whole nanoseconds, at which k LLDUs have been carried.
        #[test]
        fn slots_start_where_the_integral_of_the_rate_reaches_an_lldu(
            parts in proptest::collection::vec((1i64..5_000_000, 0u64..40_000_000), 1..20),
            lldu in 1u32..2000,
        ) {
            let budget = Budget::unlimited();
            let mut maker = SlotGenerator::new(Bytes(lldu), None, true, (1 << 20, &budget));
            let (mut from, mut carried, mut k) = (0i64, 0u128, 0u128);
            let mut expected = Vec::new();
            let work = u128::from(lldu) * 8 * 1_000_000_000_000_000;
            for (length, kbit) in parts {
                // A number of bits that does not divide evenly.
                let rate = kbit * 1_000_003;
                maker.interval(from, from + length, &state(rate)).unwrap();
                let rate = u128::from(rate);
                while rate > 0 && k * work < carried + rate * length as u128 {
                    expected.push(from + ((k * work - carried) / rate) as i64);
                    k += 1;
                }
                carried += rate * length as u128;
                from += length;
            }
            maker.make().unwrap();
            prop_assert_eq!(maker.t, expected);
        }

        /// Compares with a selection among all slots.
        #[test]
        fn parts_keep_their_slots_and_follow_one_another(
            rows in proptest::collection::vec((1i64..5_000_000, 0u64..40_000_000), 1..20),
            bounds in proptest::collection::btree_set(0i64..60_000_000, 0..8),
        ) {
            let budget = Budget::unlimited();
            let [mut whole, mut kept] =
                [(); 2].map(|()| SlotGenerator::new(Bytes(25), None, true, (1 << 20, &budget)));
            let mut from = 0;
            for (length, kbit) in rows {
                for maker in [&mut whole, &mut kept] {
                    maker.interval(from, from + length, &state(kbit * 1_000_003)).unwrap();
                }
                from += length;
            }
            let bounds = bounds.into_iter().collect::<Vec<_>>();
            let parts: Vec<_> = bounds.chunks_exact(2).map(|part| (part[0], part[1])).collect();
            kept.keep(&parts);
            let count = kept.len();
            let slots = whole.len() as u64;
            let some = [0, 1, slots / 2].into_iter().filter(|&slot| slot < slots).collect::<Vec<_>>();
            let times = whole.times(some.iter().copied());
            whole.make().unwrap();
            kept.make().unwrap();
            let (mut expected, mut moved) = (Vec::new(), 0);
            for (from, to) in parts {
                let inside = whole.t.iter().filter(|&&t| from <= t && t < to);
                expected.extend(inside.map(|t| t - from + moved));
                moved += to - from;
            }
            prop_assert_eq!(kept.t, expected);
            prop_assert_eq!(kept.d.len(), count);
            let some = some.iter().map(|&slot| whole.t[slot as usize]);
            prop_assert_eq!(times, some.collect::<Vec<_>>());
        }

        #[test]
        fn slots_arrive_in_order(delays in proptest::collection::vec(0i64..10_000_000, 1..50)) {
            let budget = Budget::unlimited();
            let mut maker = SlotGenerator::new(Bytes(125), None, true, (1 << 20, &budget));
            for (index, &delay) in delays.iter().enumerate() {
                let from = index as i64 * 1_000_000;
                let state = State { delay: Some(delay), ..state(3_000_000_000_000) };
                maker.interval(from, from + 1_000_000, &state).unwrap();
            }
            maker.make().unwrap();
            let arrivals: Vec<i64> = maker.t.iter().zip(&maker.d).map(|(t, d)| t + d).collect();
            prop_assert!(arrivals.is_sorted());
            let expected = maker.t.iter().scan(0, |latest, &t| {
                *latest = (t + delays[(t / 1_000_000) as usize].max(1)).max(*latest);
                Some(*latest)
            });
            prop_assert_eq!(arrivals, expected.collect::<Vec<i64>>());
        }
    }
}
