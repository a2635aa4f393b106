//! Steps of numbers, as of a coarse clock.

/// Detects a common step of numbers, as a coarse clock has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StepDetector {
    divisor: u64,
    first: Option<i64>,
    differ: bool,
    /// The largest number.
    pub(super) most: i64,
}

impl StepDetector {
    /// Adds a number.
    pub(super) fn take(&mut self, number: i64) {
        let first = *self.first.get_or_insert(number);
        self.differ |= number != first;
        self.most = self.most.max(number);
        let (mut a, mut b) = (number.unsigned_abs(), self.divisor);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        self.divisor = a;
    }

    /// The step, if it is that of a coarse clock: half a millisecond or more.
    pub(super) fn step(self) -> Option<i64> {
        const COARSE: u64 = 500_000;
        let whole = self.divisor >= COARSE && self.divisor.is_multiple_of(COARSE);
        (self.differ && whole).then_some(self.divisor as i64)
    }
}
