//! Redundant transmission (Frömmgen et al. 2016; Lopez et al. 2015).

use super::interface::{PathScheduler, PathState, Waiting, fastest};

/// Every path carries every segment.
#[derive(Debug)]
pub(super) struct Redundant;

impl PathScheduler for Redundant {
    fn choose(&mut self, paths: &[PathState], _: Waiting) -> Option<usize> {
        fastest(paths, |path| path.room > 0)
    }

    fn copies(&self) -> bool {
        true
    }
}
