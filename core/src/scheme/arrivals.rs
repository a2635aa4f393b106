//! When a block of a code becomes decodable.

use super::BlockCode;

/// The arrival times (`t + d`) of a block's units, in order of their slots.
#[derive(Default)]
pub(super) struct Arrivals(Vec<i64>);

impl Arrivals {
    #[inline]
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds the units of (t, d) that were not erased.
    #[inline]
    pub(super) fn extend(&mut self, slots: impl ExactSizeIterator<Item = (i64, i64)>) {
        // Every unit is written and only those that arrived are kept: no branch to mispredict.
        let mut end = self.0.len();
        self.0.resize(end + slots.len(), 0);
        for (t, d) in slots {
            self.0[end] = t + d;
            end += usize::from(d > 0);
        }
        self.0.truncate(end);
    }

    /// When a code word is decodable that has every `depth`-th of the slots (`t`, `d`) from `first` on:
    /// [`Arrivals::kth`] of it alone. Empties these.
    #[inline]
    pub(super) fn of_word(
        &mut self,
        (t, d): (&[i64], &[i64]),
        (first, depth): (usize, usize),
        code: BlockCode,
    ) -> Option<i64> {
        let (data, d) = (code.data(), &d[..t.len()]);
        let (mut count, mut at, mut latest, mut overtakes) = (0, 0, 0, false);
        // One pass without a list and without a branch, as long as no unit overtakes another one. By
        // index, which every profile compiles to a plain loop.
        let mut slot = first;
        while slot < t.len() {
            let time = if d[slot] > 0 { t[slot].wrapping_add(d[slot]) } else { latest };
            overtakes |= time < latest;
            at = if count < data { time } else { at };
            count += usize::from(d[slot] > 0);
            latest = time;
            slot += depth;
        }
        self.clear();
        if !overtakes {
            return (count >= data).then_some(at);
        }
        self.extend((first..t.len()).step_by(depth).map(|slot| (t[slot], d[slot])));
        let at = self.kth(code);
        self.clear();
        at
    }

    /// Adds units that were put aside.
    #[inline]
    pub(super) fn restore(&mut self, times: impl Iterator<Item = i64>) {
        self.0.extend(times);
    }

    #[inline]
    pub(super) fn times(&self) -> &[i64] {
        &self.0
    }

    /// The moment the k-th of them arrived: the k-th smallest. `None` if fewer arrived.
    #[inline]
    pub(super) fn kth(&mut self, code: BlockCode) -> Option<i64> {
        let last = code.data() - 1;
        if self.0.len() <= last {
            return None;
        }
        // A later unit seldom overtakes an earlier one.
        if self.0.is_sorted() {
            Some(self.0[last])
        } else {
            Some(*self.0.select_nth_unstable(last).1)
        }
    }
}
