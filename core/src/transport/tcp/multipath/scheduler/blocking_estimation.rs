//! Blocking estimation (BLEST: Ferlin, Alay, Mehani, Boreli 2016, equations (1) to (3)).

use super::interface::{PathScheduler, PathState, Waiting, fastest};

/// Waits for the fastest path if, during a round trip of the slower path, the fastest could send
/// more than the shared receive window leaves beside what is on the slower path.
#[derive(Debug)]
pub(super) struct BlockingEstimation;

impl PathScheduler for BlockingEstimation {
    fn choose(&mut self, paths: &[PathState], waiting: Waiting) -> Option<usize> {
        let first = fastest(paths, |_| true)?;
        if paths[first].room > 0 {
            return Some(first);
        }
        let second = fastest(paths, |path| path.room > 0)?;
        let (fast, slow) = (&paths[first], &paths[second]);
        let rounds = slow.srtt.as_secs_f64() / fast.srtt.as_secs_f64();
        // Its window grows by one segment each round trip.
        let sent = (fast.cwnd as f64 + (rounds - 1.0) / 2.0) * rounds;
        let left = waiting.window.saturating_sub(slow.in_flight + 1);
        (sent <= left as f64).then_some(second)
    }
}
