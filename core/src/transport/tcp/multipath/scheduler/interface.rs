//! What a path scheduler knows and decides.

use std::fmt::Debug;

use crate::units::Duration;

/// A path that may carry data, as a scheduler sees it. Windows count segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PathState {
    /// Number of the path.
    pub number: usize,
    /// Smoothed round-trip time.
    pub srtt: Duration,
    /// Mean deviation of the round-trip time (RFC 6298).
    pub deviation: Duration,
    /// Congestion window.
    pub cwnd: u64,
    /// Segments in flight.
    pub in_flight: u64,
    /// Segments that the path takes at once; 0: its window is full, or it paces. If segments
    /// [wait in send buffers](PathScheduler::buffers), those that its buffer takes.
    pub room: u64,
    /// Segments that the path has been given and that are not acknowledged.
    pub queued: u64,
    /// Rate at which Linux would pace the path, segments per second.
    pub pace: f64,
}

/// The data that wait to be sent.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Waiting {
    /// Segments that the application has supplied and no path has; `u64::MAX`: without end.
    pub segments: u64,
    /// The shared receive window, in segments.
    pub window: u64,
    /// Segments that the receive window still allows.
    pub room: u64,
}

/// Chooses paths for segments.
///
/// ```
/// use clift::transport::tcp::{PathScheduler, PathState, Waiting};
///
/// /// The path with the largest free part of its window.
/// #[derive(Debug)]
/// struct Widest;
///
/// impl PathScheduler for Widest {
///     fn choose(&mut self, paths: &[PathState], _: Waiting) -> Option<usize> {
///         let widest = (0..paths.len()).max_by_key(|&at| paths[at].room)?;
///         (paths[widest].room > 0).then_some(widest)
///     }
/// }
/// ```
pub trait PathScheduler: Debug + Send {
    /// The index in `paths` of the path that carries the next segment: one with room. `None`: the
    /// segment waits until a window opens. `paths` holds the paths that are open, in order of their
    /// numbers, without those that seem to have failed.
    fn choose(&mut self, paths: &[PathState], waiting: Waiting) -> Option<usize>;

    /// Indices in `paths` of further paths that carry the same segment; those without room are
    /// left out. Called after [`PathScheduler::choose`] returned `first` for new data.
    fn also(&mut self, _paths: &[PathState], _first: usize) -> Vec<usize> {
        Vec::new()
    }

    /// Whether a path takes more segments than its window has room for: they wait in its send
    /// buffer. Linux lets that grow to twice the largest window, counted with the overhead of a
    /// segment in memory (`tcp_sndbuf_expand`), which is 3.2 windows of data.
    fn buffers(&self) -> bool {
        false
    }

    /// Whether every path carries every segment. [`PathScheduler::choose`] is then not called for
    /// new data.
    fn copies(&self) -> bool {
        false
    }
}

/// The index of the fastest path of those that `fit`; of equal ones, the first.
pub(super) fn fastest(paths: &[PathState], fit: impl Fn(&PathState) -> bool) -> Option<usize> {
    (0..paths.len()).filter(|&at| fit(&paths[at])).min_by_key(|&at| paths[at].srtt)
}
