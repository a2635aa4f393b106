//! Round robin.

use super::interface::{PathScheduler, PathState, Waiting};

/// The paths with room in turn, one segment each.
#[derive(Debug, Default)]
pub(super) struct RoundRobin {
    /// Number of the path whose turn is next.
    next: usize,
}

impl PathScheduler for RoundRobin {
    fn choose(&mut self, paths: &[PathState], _: Waiting) -> Option<usize> {
        let fits = |at: &usize| paths[*at].room > 0;
        let turn = paths.partition_point(|path| path.number < self.next);
        let at = (turn..paths.len()).chain(0..turn).find(fits)?;
        self.next = paths[at].number + 1;
        Some(at)
    }
}
