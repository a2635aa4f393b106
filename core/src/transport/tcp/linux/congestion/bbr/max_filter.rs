//! The maximum over a sliding window in constant memory, as Kathleen Nichols' algorithm estimates
//! it (Linux: `lib/win_minmax.c`): the best value, the best since, and the best since that one.

/// A value and when it was measured.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    at: u64,
    value: u64,
}

/// Running maximum of the last `window` units of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct MaxFilter {
    window: u64,
    /// Best, second and third best, in the order of their times.
    best: [Measured; 3],
}

impl MaxFilter {
    /// Nothing measured yet.
    pub(super) fn new(window: u64) -> Self {
        Self { window, best: [Measured::default(); 3] }
    }

    /// The maximum, 0 before anything was measured.
    pub(super) fn get(&self) -> u64 {
        self.best[0].value
    }

    /// A value measured at a time that never falls.
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

    /// Lets the second and third move up when the best is too old; keeps them apart in time, so
    /// that there is something to move up.
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
        /// Never above the true maximum of the window, never below the newest value, exact while
        /// the maximum is young, and exact where values only fall or only rise.
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
    fn a_fall_is_seen_once_the_window_is_over() {
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
