//! Entries due at known times, in order of time.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// An entry due at an instant; at equal instants the lower rank comes first.
pub(crate) trait Timed {
    /// The type of time.
    type Time: Copy + Default + Ord;

    /// The instant, and the rank among entries due then.
    fn key(&self) -> (Self::Time, u64);
}

/// A priority queue by (time, rank) for entries that mostly become due in insertion order.
///
/// An entry is appended to a ring; entries there that are due later move to a heap, once each. The
/// heap therefore holds only the entries delayed by link-layer repair.
#[derive(Clone, Debug)]
pub(crate) struct Schedule<T: Timed> {
    ring: VecDeque<T>,
    /// Time of the last entry of the ring, if it has any.
    last: T::Time,
    overtaken: BinaryHeap<Late<T>>,
}

impl<T: Timed> Default for Schedule<T> {
    fn default() -> Self {
        Self { ring: VecDeque::new(), last: T::Time::default(), overtaken: BinaryHeap::new() }
    }
}

impl<T: Timed> Schedule<T> {
    /// Inserts an entry; returns whether it is now the first.
    #[inline(always)] // called for every packet: a call costs as much as what it does
    pub(crate) fn push(&mut self, entry: T) -> bool {
        let at = entry.key().0;
        // Nearly always it comes after the others, by its time alone.
        let is_first = (at <= self.last || self.ring.is_empty()) && self.comes_first(&entry);
        self.last = at;
        self.ring.push_back(entry);
        is_first
    }

    /// Makes `entry` the last of the ring once it is appended; returns whether it is the first of all.
    #[inline(never)] // so that `push` does not pay for its registers
    fn comes_first(&mut self, entry: &T) -> bool {
        match self.ring.back() {
            Some(last) if is_after(last, entry) => self.overtake(entry),
            Some(_) => false,
            None => self.overtaken.peek().is_none_or(|late| entry.key() < late.0.key()),
        }
    }

    /// Moves entries due after `entry` to the heap; returns whether none is due before it.
    #[cold]
    fn overtake(&mut self, entry: &T) -> bool {
        while self.ring.back().is_some_and(|last| is_after(last, entry)) {
            self.overtaken.extend(self.ring.pop_back().map(Late));
        }
        self.first().is_none_or(|first| entry.key() < first.key())
    }

    /// Changes entries, but for their time and rank.
    pub(crate) fn change(&mut self, mut change: impl FnMut(&mut T)) {
        let mut late = std::mem::take(&mut self.overtaken).into_vec();
        self.ring.iter_mut().chain(late.iter_mut().map(|late| &mut late.0)).for_each(&mut change);
        self.overtaken = late.into();
    }

    pub(crate) fn len(&self) -> usize {
        self.ring.len() + self.overtaken.len()
    }

    /// The entry due first.
    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        match (self.ring.front(), self.overtaken.peek()) {
            (Some(ring), Some(Late(late))) => {
                Some(if ring.key() < late.key() { ring } else { late })
            }
            (ring, None) => ring,
            (None, late) => late.map(|late| &late.0),
        }
    }

    /// Time of the first entry.
    #[inline(always)]
    pub(crate) fn next_at(&self) -> Option<T::Time> {
        let ring = self.ring.front().map(|entry| entry.key().0);
        match self.overtaken.peek() {
            None => ring,
            Some(Late(late)) => Some(ring.map_or(late.key().0, |at| at.min(late.key().0))),
        }
    }

    /// Removes the first entry if it is due at or before `now`.
    #[inline(always)] // as `push`
    pub(crate) fn pop(&mut self, now: T::Time) -> Option<T> {
        let Some(Late(late)) = self.overtaken.peek().filter(|late| late.0.key().0 <= now) else {
            self.ring.front().filter(|entry| entry.key().0 <= now)?;
            return self.ring.pop_front();
        };
        match self.ring.front() {
            Some(entry) if entry.key() < late.key() => self.ring.pop_front(),
            _ => self.overtaken.pop().map(|late| late.0),
        }
    }

    /// Moves the entries before `limit`, `most` at most, and the first in any case, to `taken`. Only where
    /// none was overtaken.
    pub(crate) fn take_before(&mut self, limit: (T::Time, u64), most: usize, taken: &mut Vec<T>)
    where
        T: Copy,
    {
        let before = self.ring.partition_point(|entry| entry.key() < limit);
        let count = before.min(most).max(1).min(self.ring.len());
        let (front, back) = self.ring.as_slices();
        let of_front = count.min(front.len());
        taken.extend_from_slice(&front[..of_front]);
        taken.extend_from_slice(&back[..count - of_front]);
        self.ring.drain(..count);
    }

    /// Removes entries in their order as long as `take` says so of the first, `most` at most, but all of the
    /// first instant. Those of one instant stay together.
    #[inline(always)] // called in two places
    pub(crate) fn take_while(&mut self, most: usize, mut take: impl FnMut(&T) -> bool) {
        let mut taken = 0;
        for _ in 0..self.whole_instants(most) {
            let in_order = self.overtaken.is_empty();
            let first = if in_order { self.ring.get(taken) } else { self.first() };
            if !first.is_some_and(&mut take) {
                break;
            }
            if in_order {
                taken += 1;
            } else {
                self.pop_first();
            }
        }
        self.ring.drain(..taken);
    }

    /// How many of the first entries are those of whole instants: `most` at most, but all of the first.
    fn whole_instants(&self, most: usize) -> usize {
        if self.len() <= most {
            return self.len();
        }
        let Some(first) = self.first().map(|entry| entry.key().0) else { return 0 };
        let until = |at| self.ring.partition_point(|entry| entry.key().0 <= at);
        if self.overtaken.is_empty() {
            let before = |at| self.ring.partition_point(|entry| entry.key().0 < at);
            let whole = self.ring.get(most).map_or(0, |entry| before(entry.key().0));
            return if whole > 0 { whole } else { until(first) };
        }
        until(first) + self.overtaken.iter().filter(|late| late.0.key().0 == first).count()
    }

    /// Removes the first entry.
    #[inline(always)] // as `push`
    pub(crate) fn pop_first(&mut self) -> Option<T> {
        let Some(Late(late)) = self.overtaken.peek() else {
            return self.ring.pop_front();
        };
        match self.ring.front() {
            Some(entry) if entry.key() < late.key() => self.ring.pop_front(),
            _ => self.overtaken.pop().map(|late| late.0),
        }
    }
}

/// True if `entry` is due after `other`. Times nearly always differ: the ranks are compared only at
/// equal times.
#[inline]
fn is_after<T: Timed>(entry: &T, other: &T) -> bool {
    let ((at, rank), (other_at, other_rank)) = (entry.key(), other.key());
    at > other_at || (at == other_at && rank > other_rank)
}

/// An entry with reversed order, for a max-heap.
#[derive(Clone, Debug)]
struct Late<T>(T);

impl<T: Timed> Ord for Late<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.key().cmp(&self.0.key())
    }
}

impl<T: Timed> PartialOrd for Late<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Timed> PartialEq for Late<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.key() == other.0.key()
    }
}

impl<T: Timed> Eq for Late<T> {}

/// A schedule of items by the time from which they are ready; at equal times in insertion order.
#[derive(Clone, Debug)]
pub(crate) struct ReadyQueue<T> {
    schedule: Schedule<Ready<T>>,
    came: u64,
    /// Cached time of the first item: it is read far more often than it changes.
    next: Option<i64>,
}

#[derive(Clone, Debug)]
struct Ready<T> {
    at: i64,
    place: u64,
    item: T,
}

impl<T> Timed for Ready<T> {
    type Time = i64;

    #[inline]
    fn key(&self) -> (i64, u64) {
        (self.at, self.place)
    }
}

impl<T> ReadyQueue<T> {
    pub(crate) fn new() -> Self {
        Self { schedule: Schedule::default(), came: 0, next: None }
    }

    /// Inserts an item that is ready from `at` on.
    #[inline]
    pub(crate) fn push(&mut self, at: i64, item: T) {
        if self.schedule.push(Ready { at, place: self.came, item }) {
            self.next = Some(at);
        }
        self.came += 1;
    }

    /// Time from which the first item is ready.
    #[inline]
    pub(crate) fn next_at(&self) -> Option<i64> {
        self.next
    }

    /// Removes the first item if it is ready at `now`.
    #[inline]
    pub(crate) fn pop(&mut self, now: i64) -> Option<T> {
        let item = self.schedule.pop(now)?.item;
        self.next = self.schedule.next_at();
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_queue_is_a_stable_sort(steps in prop::collection::vec((0i64..9, 0i64..12, any::<bool>()), 0..60)) {
            let (mut queue, mut plain) = (ReadyQueue::new(), Vec::new());
            let mut now = 0;
            for (number, (step, after, take)) in steps.into_iter().enumerate() {
                now += step;
                queue.push(now + after, number);
                plain.push((now + after, number));
                plain.sort_unstable();
                prop_assert_eq!(queue.next_at(), Some(plain[0].0));
                if take {
                    let ready = plain[0].0 <= now;
                    let expected = ready.then(|| plain.remove(0).1);
                    prop_assert_eq!(queue.pop(now), expected);
                }
                if plain.is_empty() {
                    prop_assert_eq!(queue.next_at(), None);
                }
            }
        }
    }
}
