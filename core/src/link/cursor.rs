//! Which LLDUs a packet takes, and what becomes of it there.

use std::sync::Arc;

use crate::link::HORIZON;
use crate::trace::LinkTrace;
use crate::units::Duration;

/// Hands out the data LLDUs of a link trace, first come, first served.
///
/// A cycle is one pass through the trace. Run time = trace time + `base`, which grows by the period
/// from cycle to cycle; without wrapping there is one cycle.
#[derive(Clone, Debug)]
pub(super) struct Cursor {
    trace: Arc<LinkTrace>,
    /// The first LLDU of this cycle that no packet took; the trace's length: none is left.
    next: usize,
    base: i64,
    period: Option<i64>,
    /// LLDUs later than this run time are not looked at.
    end: i64,
    /// Data LLDUs per nanosecond of trace, to guess where an instant is.
    density: f64,
}

/// The LLDUs that a packet took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    /// Run time at which the first of them starts; `None`: there was not even one.
    pub(super) first: Option<i64>,
    /// How many there were, at most as many as wanted.
    pub(super) lldus: u64,
    pub(super) fate: Fate,
}

/// What becomes of the packet on them, without the propagation delay.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    Delivered(i64),
    Lost(i64),
    /// An LLDU was still being repaired when the trace ended.
    Censored,
    /// There were too few LLDUs.
    RanOut,
}

impl Cursor {
    /// A cursor at the trace time `offset`, which is time zero of the run.
    ///
    /// `period` is for wrapping and not 0.
    pub(super) fn new(
        trace: Arc<LinkTrace>,
        offset: Duration,
        period: Option<u64>,
        end: i64,
    ) -> Self {
        let first_slot = trace.parts().span.0.max(0) as u64;
        // Whole cycles before the offset have passed; of the one it falls into, seek() skips what
        // lies before time zero.
        let passed = match period {
            Some(period) if offset.as_nanos() > first_slot => {
                (offset.as_nanos() - first_slot) % period + first_slot
            }
            _ => offset.as_nanos(),
        };
        let t = &trace.parts().t;
        let density = match (t.first(), t.last()) {
            (Some(&first), Some(&last)) if first < last => {
                (t.len() - 1) as f64 / (last - first) as f64
            }
            _ => 0.0,
        };
        Self {
            next: 0,
            base: -(passed.min(2 * HORIZON as u64) as i64),
            period: period.filter(|_| !trace.is_empty()).map(|period| period as i64),
            end,
            density,
            trace,
        }
    }

    /// Takes `wanted` (at least 1) consecutive LLDUs from the first free one at or after `now`.
    #[inline]
    pub(super) fn take(&mut self, now: i64, wanted: u64) -> Taken {
        self.seek(now);
        let parts = self.trace.parts();
        let (t, d): (&[i64], &[i64]) = (&parts.t, &parts.d);
        let last_start = self.end - self.base;
        let count = usize::try_from(wanted).unwrap_or(usize::MAX);
        let range = self.next..self.next.saturating_add(count);
        let (Some(t), Some(d)) = (t.get(range.clone()), d.get(range.clone())) else {
            return self.take_piecewise(wanted);
        };
        if t[t.len() - 1] > last_start {
            return self.take_piecewise(wanted);
        }
        let fate = match last_arrival(t, d) {
            Some(at) => Fate::Delivered(self.base + at),
            None => fate_with_losses(&self.trace, range.clone(), self.base),
        };
        self.next = range.end;
        Taken { first: Some(self.base + t[0]), lldus: wanted, fate }
    }

    /// The same across seams, and up to where the LLDUs end.
    #[cold]
    fn take_piecewise(&mut self, wanted: u64) -> Taken {
        let trace = Arc::clone(&self.trace);
        let t = &trace.parts().t[..];
        let mut taken = Taken { first: None, lldus: 0, fate: Fate::Delivered(i64::MIN) };
        while taken.lldus < wanted {
            if self.next == t.len() && !self.next_cycle() {
                break;
            }
            let room = usize::try_from(wanted - taken.lldus).unwrap_or(usize::MAX);
            let piece = &t[self.next..self.next.saturating_add(room).min(t.len())];
            let open = piece.partition_point(|&t| t <= self.end - self.base);
            if open == 0 {
                break;
            }
            taken.first.get_or_insert(self.base + piece[0]);
            let range = self.next..self.next + open;
            taken.fate = taken.fate.and(fate_with_losses(&trace, range, self.base));
            taken.lldus += open as u64;
            self.next += open;
        }
        if taken.lldus < wanted {
            taken.fate = Fate::RanOut;
        }
        taken
    }

    /// Moves on to the first free LLDU at or after `now`, if there is one.
    #[inline]
    fn seek(&mut self, now: i64) {
        let t = &self.trace.parts().t[..];
        if t.get(self.next).is_some_and(|&t| t >= now - self.base) {
            return;
        }
        let Some(&last) = t.last() else { return };
        if now - self.base > last || self.next == t.len() {
            let Some(period) = self.period else {
                self.next = t.len();
                return;
            };
            // Cycles that are over at `now`; the one before a used-up trace is, too.
            let over = (now - self.base - last).max(1);
            self.base += (over + period - 1) / period * period;
            self.next = 0;
        }
        self.next = first_at_or_after(t, self.next, now - self.base, self.density);
    }

    /// Goes over the seam; `false` if there is no further cycle before the end.
    fn next_cycle(&mut self) -> bool {
        match self.period {
            Some(period) if self.base + period <= HORIZON => {
                self.base += period;
                self.next = 0;
                true
            }
            _ => false,
        }
    }
}

impl Fate {
    /// The fate on two lots of LLDUs, given the fates on each.
    fn and(self, other: Self) -> Self {
        match (self, other) {
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
///
/// The sign bit of `missing` gathers that of `d - 1`, which is set for `d = 0` only. Four maxima
/// side by side in scalar registers: x86-64's baseline vectors have no 64-bit comparison, and the
/// one maximum that would be vectorised with a substitute takes twice as long. Times are below
/// 2^61, so the sums cannot wrap; checks would cost a branch each.
#[inline]
fn last_arrival(t: &[i64], d: &[i64]) -> Option<i64> {
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

/// The fate on LLDUs some of which were not delivered.
#[cold]
fn fate_with_losses(trace: &LinkTrace, range: std::ops::Range<usize>, base: i64) -> Fate {
    let parts = trace.parts();
    let mut lost =
        parts.lost[parts.lost.partition_point(|&(i, _)| (i as usize) < range.start)..].iter();
    let (mut latest, mut complete) = (i64::MIN, true);
    for i in range {
        let (t, d) = (parts.t[i], parts.d[i]);
        if d != 0 {
            latest = latest.max(t.saturating_add(d));
            continue;
        }
        complete = false;
        match lost.as_slice().first() {
            Some(&(at, after)) if at as usize == i => {
                latest = latest.max(t.saturating_add(after));
                lost.next();
            }
            _ => return Fate::Censored,
        }
    }
    let at = base + latest.min(2 * HORIZON - 1);
    if complete { Fate::Delivered(at) } else { Fate::Lost(at) }
}

/// The first index from `from` on with `t >= target`, given `t[from..]` holds one.
///
/// Guesses by the mean density, gallops to a bracket, then bisects: near-constant time for a short
/// idle time as for a jump through a long trace, whose LLDUs are almost evenly spaced.
#[inline]
pub(super) fn first_at_or_after(t: &[i64], from: usize, target: i64, density: f64) -> usize {
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
        fn the_search_finds_what_a_scan_finds(
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
