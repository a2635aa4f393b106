//! The path scheduler of Linux (`mptcp_subflow_get_send` in `net/mptcp/protocol.c`).

use super::interface::{PathScheduler, PathState, Waiting};

/// Segments of a burst (`MPTCP_SEND_BURST_SIZE`, 64 KB without headers).
const BURST: u64 = 45;

/// The path whose send buffer empties first at its mean pacing rate, a burst at a time. If that
/// buffer is full, data wait, even if another path has room.
#[derive(Debug, Default)]
pub(super) struct LeastLinger {
    /// Mean pacing rate of each path, by its number, segments per second; 0: none yet.
    paces: Vec<f64>,
    /// The path that a burst goes to, and how many of its segments are left.
    burst: (usize, u64),
}

impl LeastLinger {
    fn pace(&mut self, path: &PathState) -> &mut f64 {
        if self.paces.len() <= path.number {
            self.paces.resize(path.number + 1, 0.0);
        }
        let mean = &mut self.paces[path.number];
        if *mean == 0.0 {
            *mean = path.pace;
        }
        mean
    }
}

impl PathScheduler for LeastLinger {
    fn choose(&mut self, paths: &[PathState], waiting: Waiting) -> Option<usize> {
        let (number, left) = self.burst;
        let goes_on = |path: &PathState| left > 0 && path.number == number && path.room > 0;
        if let Some(at) = paths.iter().position(goes_on) {
            self.burst.1 -= 1;
            return Some(at);
        }
        let mut lingers = |path: &PathState| path.queued as f64 / *self.pace(path);
        let all: Vec<f64> = paths.iter().map(&mut lingers).collect();
        let at = (0..all.len()).min_by(|&a, &b| all[a].total_cmp(&all[b]))?;
        let path = &paths[at];
        if path.room == 0 {
            return None;
        }
        let (burst, queued) = (waiting.room.min(BURST), path.queued as f64);
        let mean = self.pace(path);
        *mean = (*mean * queued + path.pace * burst as f64) / (queued + burst as f64);
        self.burst = (path.number, burst.saturating_sub(1));
        Some(at)
    }

    fn buffers(&self) -> bool {
        true
    }
}
