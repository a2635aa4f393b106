//! Allocation of LLDUs to packets, and the resulting fates.

use std::num::NonZeroU32;
use std::sync::Arc;

use crate::link::HORIZON;
use crate::link::clock::{SlotClock, SlotPosition};
use crate::trace::{LinkTrace, Sizes};
use crate::units::Bytes;

/// Allocates the data LLDUs of a link trace to packets, in order of arrival.
#[derive(Clone, Debug)]
pub(super) struct LlduAllocator {
    trace: Arc<LinkTrace>,
    clock: SlotClock,
    /// The first free LLDU.
    next: SlotPosition,
    /// The LLDU after the last allocated one.
    taken: SlotPosition,
    /// LLDUs later than this run time are ignored.
    end: i64,
    /// Remainder of the last packet's last LLDU, if packets share LLDUs.
    open: Option<Open>,
    /// Bytes of each LLDU that do not carry packets.
    header: u64,
}

/// A partly filled LLDU.
#[derive(Clone, Copy, Debug)]
struct Open {
    place: SlotPosition,
    /// Its run time.
    t: i64,
    /// Free bytes, at least 1.
    left: u64,
}

/// The LLDUs allocated to a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    /// Run time at which the first of them starts; `None` if no LLDU was left.
    pub(super) first: Option<i64>,
    /// Number of LLDUs that no earlier packet had started, at most the number requested.
    pub(super) lldus: u64,
    pub(super) fate: Fate,
}

/// The fate of a packet on its LLDUs, excluding propagation delay.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    Delivered(i64),
    Lost(i64),
    /// An LLDU was still under repair at the end of the trace.
    Censored,
    /// Too few LLDUs were left.
    RanOut,
}

impl LlduAllocator {
    /// A cursor over the LLDUs of `trace`, at the times given by `clock`.
    pub(super) fn new(trace: Arc<LinkTrace>, clock: SlotClock, end: i64, header: Bytes) -> Self {
        let header = u64::from(header.0);
        Self { clock, next: clock.start(), taken: clock.start(), end, open: None, header, trace }
    }

    /// Number of allocated LLDUs later than run time `until`. They are contiguous, because every
    /// packet took the first free LLDU.
    pub(super) fn taken_after(&self, until: i64) -> u64 {
        let t = &self.trace.parts().t[..];
        self.clock.number(self.taken, t.len()).saturating_sub(self.clock.began(t, until))
    }

    /// Bytes of LLDUs with different `sizes`: of those of `taken` that start after run time
    /// `until`, and of all that started until then.
    pub(super) fn bytes(&self, sizes: &Sizes, taken: u64, until: i64) -> (u64, u64) {
        let t = &self.trace.parts().t[..];
        let ahead = self.last_bytes(sizes, self.taken_after(until).min(taken));
        let began = self.clock.began(t, until);
        let passed = self.clock.passed(t, until);
        let before = |count| sizes.repeated(count, self.trace.len());
        (ahead, before(began) - before(began - passed))
    }

    /// Bytes of the `count` LLDUs allocated last; those of a packet are contiguous.
    pub(super) fn last_bytes(&self, sizes: &Sizes, count: u64) -> u64 {
        let end = self.clock.number(self.taken, self.trace.len());
        let before = |count| sizes.repeated(count, self.trace.len());
        before(end) - before(end - count)
    }

    /// Allocates `bytes` of LLDUs of `payload` bytes: from the end of the last packet if its LLDU
    /// starts at
    /// `now` or later, else from the first free LLDU that does.
    pub(super) fn fill(&mut self, now: i64, bytes: u64, payload: NonZeroU32) -> Taken {
        let mut rest = bytes.max(1);
        let shared = self.open.take().filter(|open| open.t >= now).map(|open| {
            let used = rest.min(open.left);
            rest -= used;
            let left = open.left - used;
            self.open = (left > 0).then_some(Open { left, ..open });
            let SlotPosition { slot, base } = open.place;
            let fate = fate_with_losses(&self.trace, slot..slot + 1, base);
            Taken { first: Some(open.t), lldus: 0, fate }
        });
        if let (Some(shared), 0) = (shared, rest) {
            return shared;
        }
        let (wanted, room) = self.room_for(now, rest, payload);
        let taken = self.take(now, wanted);
        let taken = shared.map_or(taken, |shared| shared.and(taken));
        let left = room - rest;
        if left > 0 && !matches!(taken.fate, Fate::RanOut) {
            let place = SlotPosition { slot: self.next.slot - 1, ..self.next };
            let t = self.trace.parts().t[place.slot] + place.base;
            self.open = Some(Open { place, t, left });
        }
        taken
    }

    /// Number of LLDUs from the first free one at or after `now` needed for `bytes` (at least 1),
    /// and their total capacity; one more than the LLDUs left if those are too few. `payload`:
    /// capacity of an LLDU, if all are equal.
    #[inline]
    fn room_for(&mut self, now: i64, bytes: u64, payload: NonZeroU32) -> (u64, u64) {
        if self.trace.parts().sizes.is_none() {
            let wanted = bytes.div_ceil(u64::from(payload.get()));
            return (wanted, wanted * u64::from(payload.get()));
        }
        self.seek(now);
        self.room_of_sizes(bytes)
    }

    fn room_of_sizes(&self, bytes: u64) -> (u64, u64) {
        let Some(sizes) = &self.trace.parts().sizes else { return (1, bytes) };
        let (lldus, slot) = (self.trace.len(), self.next.slot);
        // Capacity of the LLDUs from the first of a cycle.
        let held = |count: usize| sizes.lldus.before(count) - self.header * count as u64;
        let (whole, begun) = (held(lldus), held(slot));
        let mut missing = bytes + begun;
        let mut wanted = 0;
        if missing > whole {
            if self.clock.period().is_none() || whole == 0 {
                return ((lldus - slot) as u64 + 1, bytes);
            }
            let cycles = (missing - 1) / whole;
            (missing, wanted) = (missing - cycles * whole, cycles * lldus as u64);
        }
        let (mut low, mut high) = (0, lldus);
        while low < high {
            let middle = (low + high) / 2;
            (low, high) = if held(middle) < missing { (middle + 1, high) } else { (low, middle) };
        }
        (wanted + low as u64 - slot as u64, bytes + held(low) - missing)
    }

    /// As [`LlduAllocator::take`], for LLDUs of different sizes: those needed for `bytes`, plus
    /// `extra`.
    pub(super) fn take_bytes(&mut self, now: i64, bytes: u64, extra: u64) -> Taken {
        self.seek(now);
        let (wanted, _) = self.room_of_sizes(bytes.max(1));
        self.take(now, wanted + extra)
    }

    /// Allocates `wanted` (at least 1) consecutive LLDUs, from the first free one at or after
    /// `now`.
    #[inline(always)] // called for every packet: a call costs as much as what it does
    pub(super) fn take(&mut self, now: i64, wanted: u64) -> Taken {
        match self.take_delivered(now, wanted) {
            Some((first, at)) => Taken::delivered(first, wanted, at),
            None => self.take_piecewise(wanted),
        }
    }

    /// As [`LlduAllocator::take`], if the LLDUs are in one piece and are all delivered: the start of the
    /// first one, and the time at which the last arrives. Otherwise none is allocated.
    #[inline(always)] // as `take`
    pub(super) fn take_delivered(&mut self, now: i64, wanted: u64) -> Option<(i64, i64)> {
        let parts = self.trace.parts();
        let (t, d): (&[i64], &[i64]) = (&parts.t, &parts.d);
        self.next = self.sought(t, now);
        let SlotPosition { slot, base } = self.next;
        let end = slot.saturating_add(usize::try_from(wanted).unwrap_or(usize::MAX));
        let (t, d) = (t.get(slot..end)?, d.get(slot..end)?);
        let (&first, &last) = (t.first()?, t.last()?);
        if last > self.end - base {
            return None;
        }
        let at = last_arrival(t, d)?;
        self.next.slot = end;
        self.taken = self.next;
        Some((base + first, base + at))
    }

    /// As [`LlduAllocator::take`] from where that is, with losses, across repetitions of the trace and up
    /// to its end.
    #[cold]
    fn take_piecewise(&mut self, wanted: u64) -> Taken {
        let trace = Arc::clone(&self.trace);
        let t = &trace.parts().t[..];
        let mut taken = Taken { first: None, lldus: 0, fate: Fate::Delivered(i64::MIN) };
        while taken.lldus < wanted {
            if self.next.slot == t.len() {
                let Some(next) = self.clock.next_cycle(self.next) else { break };
                self.next = next;
            }
            let SlotPosition { slot, base } = self.next;
            let room = usize::try_from(wanted - taken.lldus).unwrap_or(usize::MAX);
            let piece = &t[slot..slot.saturating_add(room).min(t.len())];
            let open = piece.partition_point(|&t| t <= self.end - base);
            // LLDUs after the end of the run are out of its sight, even if the trace has them.
            if open == 0 {
                break;
            }
            taken.first.get_or_insert(base + piece[0]);
            taken.fate = taken.fate.and(fate_with_losses(&trace, slot..slot + open, base));
            taken.lldus += open as u64;
            self.next.slot += open;
            self.taken = self.next;
        }
        if taken.lldus < wanted {
            taken.fate = Fate::RanOut;
        }
        taken
    }

    /// Advances to the first free LLDU at or after `now`, if there is one.
    fn seek(&mut self, now: i64) {
        self.next = self.sought(&self.trace.parts().t, now);
    }

    /// The first free LLDU at or after `now`, if there is one, of those at `t`.
    #[inline(always)] // as `take`
    fn sought(&self, t: &[i64], now: i64) -> SlotPosition {
        let next = self.next;
        if t.get(next.slot).is_some_and(|&t| t >= now - next.base) {
            return next;
        }
        let place = self.clock.first_from(t, next, now);
        place.unwrap_or(SlotPosition { slot: t.len(), ..next })
    }
}

impl Taken {
    /// `lldus` that are all delivered: the first starts at `first`, the last arrives at `at`.
    #[inline]
    pub(super) fn delivered(first: i64, lldus: u64, at: i64) -> Self {
        Self { first: Some(first), lldus, fate: Fate::Delivered(at) }
    }

    /// These LLDUs followed by `others`.
    fn and(self, others: Self) -> Self {
        Self { first: self.first, lldus: others.lldus, fate: self.fate.and(others.fate) }
    }
}

impl Fate {
    /// The combined fate on two groups of LLDUs.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            // An undecided LLDU outweighs a lost one: the time at which the packet ends is not
            // known.
            (Self::RanOut, _) | (_, Self::RanOut) => Self::RanOut,
            (Self::Censored, _) | (_, Self::Censored) => Self::Censored,
            (Self::Delivered(a), Self::Delivered(b)) => Self::Delivered(a.max(b)),
            (Self::Delivered(a) | Self::Lost(a), Self::Delivered(b) | Self::Lost(b)) => {
                Self::Lost(a.max(b))
            }
        }
    }
}

/// The largest `t + d`, or `None` if a `d` is 0.
#[inline(always)] // as `take`
fn last_arrival(t: &[i64], d: &[i64]) -> Option<i64> {
    match (t, d) {
        (&[t], &[d]) => (d > 0).then(|| t.wrapping_add(d)),
        _ => last_of_several(t, d),
    }
}

/// [`last_arrival`] of several slots.
///
/// `missing` collects the sign bit of `d - 1`, which is set only for `d = 0`. Four maxima are kept
/// side by side in scalar registers: x86-64's baseline vectors have no 64-bit comparison, and a
/// single maximum, vectorised with a substitute, takes twice as long. Times are below 2^61, so that
/// the sums cannot wrap; overflow checks would cost a branch each.
fn last_of_several(t: &[i64], d: &[i64]) -> Option<i64> {
    let ((t_fours, t_rest), (d_fours, d_rest)) = (t.as_chunks::<4>(), d.as_chunks::<4>());
    let (mut latest, mut missing) = ([i64::MIN; 4], 0);
    for (t, d) in t_fours.iter().zip(d_fours) {
        for lane in 0..4 {
            latest[lane] = latest[lane].max(t[lane].wrapping_add(d[lane]));
            missing |= d[lane].wrapping_sub(1);
        }
    }
    for ((&t, &d), latest) in t_rest.iter().zip(d_rest).zip(&mut latest) {
        *latest = (*latest).max(t.wrapping_add(d));
        missing |= d.wrapping_sub(1);
    }
    let [a, b, c, d] = latest;
    (missing >= 0).then_some(a.max(b).max(c.max(d)))
}

/// The fate on LLDUs of which some were not delivered.
///
/// A lost LLDU ended at its start or later, so that its start does not affect the maximum.
#[cold]
fn fate_with_losses(trace: &LinkTrace, range: std::ops::Range<usize>, base: i64) -> Fate {
    let parts = trace.parts();
    let lost = &parts.lost[parts.lost.partition_point(|&(i, _)| (i as usize) < range.start)..];
    let (t, d) = (&parts.t[range.clone()], &parts.d[range.clone()]);
    let (mut missing, mut repaired) = (0, i64::MIN);
    for (&t, &d) in t.iter().zip(d) {
        missing += usize::from(d == 0);
        repaired = repaired.max(t.saturating_add(d));
    }
    let lost = &lost[..missing.min(lost.len())];
    if lost.len() < missing || lost.last().is_some_and(|&(i, _)| i as usize >= range.end) {
        return Fate::Censored;
    }
    let given_up = lost.iter().map(|&(i, after)| parts.t[i as usize].saturating_add(after)).max();
    let latest = given_up.map_or(repaired, |given_up| repaired.max(given_up));
    let at = base + latest.min(2 * HORIZON - 1);
    if missing == 0 { Fate::Delivered(at) } else { Fate::Lost(at) }
}
