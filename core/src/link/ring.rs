//! A queue in a ring, first in, first out.

/// A queue with a power of two of places, so that an entry is found by masking its number: to append
/// and to remove one costs a third of what a `VecDeque` takes, and every packet passes two or three.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    places: Box<[T]>,
    /// Number of the first entry; numbers wrap, and only their differences count.
    first: usize,
    /// Number of the next entry to be appended.
    next: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { places: Box::default(), first: 0, next: 0 }
    }
}

impl<T: Default> Ring<T> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.next.wrapping_sub(self.first)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first == self.next
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.places.get(self.place(self.first)) }
    }

    #[inline]
    pub(crate) fn back(&self) -> Option<&T> {
        let last = self.next.wrapping_sub(1);
        if self.is_empty() { None } else { self.places.get(self.place(last)) }
    }

    #[inline(always)] // called for every packet: a call costs as much as what it does
    pub(crate) fn push_back(&mut self, entry: T) {
        if self.len() == self.places.len() {
            self.grow();
        }
        let place = self.place(self.next);
        self.places[place] = entry;
        self.next = self.next.wrapping_add(1);
    }

    #[inline(always)] // as `push_back`
    pub(crate) fn pop_front(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let place = self.place(self.first);
        self.first = self.first.wrapping_add(1);
        self.places.get_mut(place).map(std::mem::take)
    }

    pub(crate) fn pop_back(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        self.next = self.next.wrapping_sub(1);
        let place = self.place(self.next);
        self.places.get_mut(place).map(std::mem::take)
    }

    /// Number of entries for which `before` holds: they precede the others.
    pub(crate) fn partition_point(&self, before: impl Fn(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match before(&self.places[self.place(self.first.wrapping_add(middle))]) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    #[inline]
    fn place(&self, number: usize) -> usize {
        number & self.places.len().wrapping_sub(1)
    }

    #[cold]
    fn grow(&mut self) {
        let held = self.len();
        let count = (2 * held).max(8);
        let mut places = Vec::with_capacity(count);
        places.extend(std::iter::from_fn(|| self.pop_front()));
        places.resize_with(count, T::default);
        *self = Self { places: places.into(), first: 0, next: held };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_a_deque(steps in prop::collection::vec(0u8..8, 0..400)) {
            let (mut ring, mut deque) = (Ring::default(), VecDeque::new());
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    0..=4 => {
                        ring.push_back(number);
                        deque.push_back(number);
                    }
                    5 => prop_assert_eq!(ring.pop_back(), deque.pop_back()),
                    _ => prop_assert_eq!(ring.pop_front(), deque.pop_front()),
                }
                prop_assert_eq!((ring.len(), ring.is_empty()), (deque.len(), deque.is_empty()));
                prop_assert_eq!((ring.front(), ring.back()), (deque.front(), deque.back()));
                for limit in [0, number / 2, number] {
                    let expected = deque.partition_point(|&entry| entry < limit);
                    prop_assert_eq!(ring.partition_point(|&entry| entry < limit), expected);
                }
            }
        }
    }
}
