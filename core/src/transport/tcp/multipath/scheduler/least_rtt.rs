//! The path of least round-trip time, as MPTCP implementations do by default.

use super::interface::{PathScheduler, PathState, Waiting, fastest};

/// The fastest path with room.
#[derive(Debug)]
pub(super) struct LeastRtt;

impl PathScheduler for LeastRtt {
    fn choose(&mut self, paths: &[PathState], _: Waiting) -> Option<usize> {
        fastest(paths, |path| path.room > 0)
    }
}
