//! Earliest completion first (ECF: Lim, Nahum, Towsley, Gibbens 2017, algorithm 1).

use super::interface::{PathScheduler, PathState, Waiting, fastest};

/// Tolerance of the decision to wait (section 5.1 of the paper).
const BETA: f64 = 0.25;

/// Waits for the fastest path if it would complete all waiting data before a slower one delivers
/// its first segment.
#[derive(Debug, Default)]
pub(super) struct EarliestCompletion {
    is_waiting: bool,
}

impl PathScheduler for EarliestCompletion {
    fn choose(&mut self, paths: &[PathState], waiting: Waiting) -> Option<usize> {
        let first = fastest(paths, |_| true)?;
        if paths[first].room > 0 {
            return Some(first);
        }
        let second = fastest(paths, |path| path.room > 0)?;
        let (fast, slow) = (&paths[first], &paths[second]);
        let seconds = |path: &PathState| path.srtt.as_secs_f64();
        let left = waiting.segments as f64;
        let rounds = 1.0 + left / fast.cwnd.max(1) as f64;
        let margin = fast.deviation.max(slow.deviation).as_secs_f64();
        let patience = 1.0 + if self.is_waiting { BETA } else { 0.0 };
        if rounds * seconds(fast) >= patience * (seconds(slow) + margin) {
            self.is_waiting = false;
            return Some(second);
        }
        // A part of a window takes a round trip too.
        let slow_time = (left / slow.cwnd.max(1) as f64).max(1.0) * seconds(slow);
        if slow_time >= 2.0 * seconds(fast) + margin {
            self.is_waiting = true;
            return None;
        }
        Some(second)
    }
}
