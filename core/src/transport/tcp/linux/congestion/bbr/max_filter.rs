//! Approximate maximum over a sliding window in constant memory, by Kathleen Nichols' algorithm
//! (Linux: `lib/win_minmax.c`): the best value, the best since then, and the best since that one.

/// A value and the time of its measurement.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    at: u64,
    value: u64,
}

/// Running maximum over the last `window` units of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct MaxFilter {
    window: u64,
    /// Best, second and third best value, in order of time.
    best: [Measured; 3],
}

impl MaxFilter {
    /// An empty filter.
    pub(super) fn new(window: u64) -> Self {
        Self { window, best: [Measured::default(); 3] }
    }

    /// The maximum; 0 before the first value.
    pub(super) fn get(&self) -> u64 {
        self.best[0].value
    }

    /// Adds a value. `at` never decreases.
    pub(super) fn update(&mut self, at: u64, value: u64) {
        let new = Measured { at, value };
        let [best, second, third] = &mut self.best;
        if value >= best.value || at - third.at > self.window {
            self.best = [new; 3];
            return;
        }
        if value >= second.value {
            (*second, *third) = (new, new);
        } else if value >= third.value {
            *third = new;
        }
        self.expire(new);
    }

    /// Replaces the best value by the second and third when it is too old. Keeps the three apart in
    /// time, so that a replacement exists.
    fn expire(&mut self, new: Measured) {
        let [best, second, third] = self.best;
        let age = new.at - best.at;
        if age > self.window {
            self.best = [second, third, new];
            if new.at - self.best[0].at > self.window {
                self.best = [third, new, new];
            }
        } else if second.at == best.at && age > self.window / 4 {
            self.best = [best, new, new];
        } else if third.at == second.at && age > self.window / 2 {
            self.best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The estimate never exceeds the true maximum of the window and is never below the newest
        /// value. It is exact while the maximum is young, and for monotonic sequences.
        #[test]
        fn estimates_the_maximum(steps in prop::collection::vec((0u64..4, 0u64..1000), 1..300)) {
            let mut filter = MaxFilter::new(10);
            let (mut now, mut seen) = (0, Vec::new());
            for (step, value) in steps {
                now += step;
                seen.push((now, value));
                filter.update(now, value);
                let since = |age: u64| seen.iter().filter(move |&&(at, _)| at + age >= now);
                let exact = since(10).map(|&(_, value)| value).max().unwrap();
                prop_assert!((value..=exact).contains(&filter.get()));
                let overall = seen.iter().map(|&(_, value)| value).max().unwrap();
                if since(10).any(|&(_, value)| value == overall) {
                    prop_assert_eq!(filter.get(), overall);
                }
            }
        }
    }

    #[test]
    fn a_fall_shows_after_one_window() {
        let mut filter = MaxFilter::new(10);
        filter.update(0, 100);
        (1..=10).for_each(|at| filter.update(at, 50));
        assert_eq!(filter.get(), 100);
        filter.update(11, 50);
        assert_eq!(filter.get(), 50);
        filter.update(11, 70);
        assert_eq!(filter.get(), 70);
    }
}
