//! What is under way, in order of arrival.

use std::collections::VecDeque;

/// A queue by (time, order of entry) for things that mostly come in the order in which they left.
///
/// Something new moves forward past what comes later, so the cost is how many it overtakes.
#[derive(Clone, Debug)]
pub(super) struct Timeline<T> {
    due: VecDeque<(i64, T)>,
}

impl<T> Timeline<T> {
    pub(super) fn new() -> Self {
        Self { due: VecDeque::new() }
    }

    #[inline]
    pub(super) fn push(&mut self, at: i64, item: T) {
        let mut place = self.due.len();
        while place > 0 && self.due[place - 1].0 > at {
            place -= 1;
        }
        if place == self.due.len() {
            self.due.push_back((at, item));
        } else {
            self.due.insert(place, (at, item));
        }
    }

    #[inline]
    pub(super) fn next_at(&self) -> Option<i64> {
        self.due.front().map(|(at, _)| *at)
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<(i64, T)> {
        self.due.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_and_of_equals_the_one_that_entered_first() {
        let mut timeline = Timeline::new();
        for (at, item) in [(5, 'a'), (3, 'b'), (5, 'c'), (3, 'd'), (9, 'e')] {
            timeline.push(at, item);
        }
        assert_eq!(timeline.next_at(), Some(3));
        let order: String = std::iter::from_fn(|| timeline.pop()).map(|(_, item)| item).collect();
        assert_eq!(order, "bdace");
    }
}
