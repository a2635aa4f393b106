//! What waits until an instant, first come first served.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// A queue by (instant, order of coming) for what mostly gets ready in the order in which it came:
/// a ring, and a heap for what something that came later overtakes.
#[derive(Clone, Debug)]
pub(crate) struct ReadyQueue<T> {
    ring: VecDeque<Entry<T>>,
    overtaken: BinaryHeap<Entry<T>>,
    came: u64,
}

#[derive(Clone, Debug)]
struct Entry<T> {
    ready: i64,
    place: u64,
    item: T,
}

impl<T> ReadyQueue<T> {
    pub(crate) fn new() -> Self {
        Self { ring: VecDeque::new(), overtaken: BinaryHeap::new(), came: 0 }
    }

    /// Puts in what is ready from `ready` on.
    #[inline]
    pub(crate) fn push(&mut self, ready: i64, item: T) {
        while self.ring.back().is_some_and(|last| last.ready > ready) {
            self.overtaken.extend(self.ring.pop_back());
        }
        let place = self.came;
        self.came += 1;
        self.ring.push_back(Entry { ready, place, item });
    }

    /// When the first is ready.
    #[inline]
    pub(crate) fn next_at(&self) -> Option<i64> {
        let ring = self.ring.front().map(|entry| entry.ready);
        match self.overtaken.peek() {
            None => ring,
            Some(late) => Some(ring.map_or(late.ready, |ready| ready.min(late.ready))),
        }
    }

    /// Takes out the first if it is ready at `now`.
    #[inline]
    pub(crate) fn pop(&mut self, now: i64) -> Option<T> {
        let ring = self.ring.front().filter(|entry| entry.ready <= now);
        match (ring, self.overtaken.peek().filter(|entry| entry.ready <= now)) {
            (None, None) => None,
            (Some(ring), late) if late.is_none_or(|late| ring.key() < late.key()) => {
                self.ring.pop_front().map(|entry| entry.item)
            }
            _ => self.overtaken.pop().map(|entry| entry.item),
        }
    }
}

impl<T> Entry<T> {
    fn key(&self) -> (i64, u64) {
        (self.ready, self.place)
    }
}

/// Ordered so that the earliest is the greatest, as a heap wants it.
impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Entry<T> {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_stable_sort(steps in prop::collection::vec((0i64..9, 0i64..12, any::<bool>()), 0..60)) {
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
