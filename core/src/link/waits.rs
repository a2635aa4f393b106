//! Slots that pass unused while packets wait.

/// Counts the slots of a link that pass unused while packets wait. It needs no reason for each: a link
/// only tells when packets begin and cease to wait.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waits {
    /// What had passed when packets began to wait.
    since: Option<Passed>,
    unused: u64,
}

/// Slots that have passed, and those of them that were used; bytes if slots differ in size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed {
    pub(crate) slots: u64,
    pub(crate) used: u64,
}

impl Waits {
    /// Whether packets wait.
    #[inline]
    pub(crate) fn wait(&self) -> bool {
        self.since.is_some()
    }

    /// From `now` on packets wait, or none does.
    #[inline]
    pub(crate) fn note(&mut self, wait: bool, now: Passed) {
        if wait != self.wait() {
            self.unused = self.unused(now);
            self.since = wait.then_some(now);
        }
    }

    /// Slots that have passed unused by `now`.
    pub(crate) fn unused(&self, now: Passed) -> u64 {
        self.unused + self.since.map_or(0, |since| now.unused_since(since))
    }

    /// Counts what has passed by `now`, so that [`Waits::counted`] has it.
    pub(crate) fn settle(&mut self, now: Passed) {
        self.unused = self.unused(now);
        self.since = self.since.map(|_| now);
    }

    /// Slots that had passed unused when packets last began or ceased to wait, or were counted.
    pub(crate) fn counted(&self) -> u64 {
        self.unused
    }
}

impl Passed {
    /// Slots that passed unused after `before`.
    fn unused_since(self, before: Self) -> u64 {
        let passed = self.slots.saturating_sub(before.slots);
        passed.saturating_sub(self.used.saturating_sub(before.used))
    }
}
