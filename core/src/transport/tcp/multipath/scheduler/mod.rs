//! Path schedulers: which path carries the next segment. A scheduler is one file and one row.

mod blocking_estimation;
mod earliest_completion;
mod least_linger;
mod least_rtt;
mod redundant;
mod round_robin;

use std::fmt::Debug;

use rand_chacha::ChaCha8Rng;

use crate::config::{Chosen, ChosenRow, Row};
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

/// Builds a scheduler for a connection; the generator is for its own random draws.
pub type BuildScheduler = dyn Fn(ChaCha8Rng) -> Box<dyn PathScheduler> + Sync;

/// A kind of path scheduler: one entry of the registry.
#[derive(Clone, Copy)]
pub struct PathSchedulerKind {
    /// Name used in configurations.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// Description in one sentence.
    pub summary: &'static str,
    /// Builds the scheduler.
    pub build: &'static BuildScheduler,
}

static BUILT_IN: [PathSchedulerKind; 6] = [
    PathSchedulerKind {
        name: "least rtt",
        aliases: &["min_rtt"],
        summary: "The path of least smoothed round-trip time whose window has room.",
        build: &|_| Box::new(least_rtt::LeastRtt),
    },
    PathSchedulerKind {
        name: "earliest completion",
        aliases: &["ecf"],
        summary: "Waits for the fastest path if it completes the waiting data earlier than a slower \
                  path with room (ECF, Lim et al. 2017).",
        build: &|_| Box::<earliest_completion::EarliestCompletion>::default(),
    },
    PathSchedulerKind {
        name: "blocking estimation",
        aliases: &["blest"],
        summary: "Waits for the fastest path if a segment on a slower one would block the shared \
                  receive window (BLEST, Ferlin et al. 2016, with a constant lambda of 1).",
        build: &|_| Box::new(blocking_estimation::BlockingEstimation),
    },
    PathSchedulerKind {
        name: "least linger",
        aliases: &["linux"],
        summary: "The path whose send buffer empties first at its pacing rate, as in Linux.",
        build: &|_| Box::<least_linger::LeastLinger>::default(),
    },
    PathSchedulerKind {
        name: "round robin",
        aliases: &[],
        summary: "One segment after the other to the paths with room, in turn.",
        build: &|_| Box::<round_robin::RoundRobin>::default(),
    },
    PathSchedulerKind {
        name: "redundant",
        aliases: &[],
        summary: "Every path carries every segment that has not been acknowledged.",
        build: &|_| Box::new(redundant::Redundant),
    },
];

impl Row for PathSchedulerKind {
    const PART: &'static str = "a path scheduler";
    const BUILT_IN: &'static [Self] = &BUILT_IN;

    fn name(&self) -> &'static str {
        self.name
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }
}

impl ChosenRow for PathSchedulerKind {
    const SCHEMA: &'static str = "PathScheduler";
}

/// A path scheduler. Configurations give its name; the default is "least rtt".
///
/// ```
/// use clift::transport::tcp::PathSchedulerChoice;
/// assert_eq!("ecf".parse::<PathSchedulerChoice>(), "earliest completion".parse());
/// assert_eq!(PathSchedulerChoice::default().name(), "least rtt");
/// ```
pub type PathSchedulerChoice = Chosen<PathSchedulerKind>;

impl PathSchedulerChoice {
    pub(super) fn build(self, rng: ChaCha8Rng) -> Box<dyn PathScheduler> {
        (self.0.build)(rng)
    }
}

/// The index of the fastest path of those that `fit`; of equal ones, the first.
fn fastest(paths: &[PathState], fit: impl Fn(&PathState) -> bool) -> Option<usize> {
    (0..paths.len()).filter(|&at| fit(&paths[at])).min_by_key(|&at| paths[at].srtt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};

    fn path(srtt: u64, cwnd: u64, room: u64) -> PathState {
        let (srtt, deviation) = (Duration::from_millis(srtt), Duration::from_millis(1));
        PathState { srtt, deviation, cwnd, in_flight: cwnd - room, room, ..PathState::default() }
    }

    fn choose(name: &str, paths: &[PathState], segments: u64) -> Option<usize> {
        let waiting = Waiting { segments, window: 100, room: 100 };
        build(name).choose(paths, waiting)
    }

    fn build(name: &str) -> Box<dyn PathScheduler> {
        name.parse::<PathSchedulerChoice>().unwrap().build(Seed(1).rng(Stream::Flow(0)))
    }

    #[test]
    fn the_fastest_path_with_room_is_used_first() {
        let both = [path(600, 10, 5), path(50, 10, 1)];
        for name in ["least rtt", "earliest completion", "blocking estimation"] {
            assert_eq!(choose(name, &both, u64::MAX), Some(1), "{name}");
            assert_eq!(choose(name, &[path(50, 10, 0)], u64::MAX), None, "{name}");
        }
        assert_eq!(choose("least rtt", &[path(600, 10, 5), path(50, 10, 0)], 1), Some(0));
    }

    /// Lim et al. 2017, section 4: the last segments of a transfer leave sooner on a fast path that
    /// is full than on a slow one; many segments do not.
    #[test]
    fn earliest_completion_waits_at_the_end() {
        let full = [path(600, 10, 5), path(50, 10, 0)];
        assert_eq!(choose("earliest completion", &full, 5), None);
        assert_eq!(choose("earliest completion", &full, u64::MAX), Some(0));
        // 200 segments take 21 round trips of 50 ms on the fast path.
        assert_eq!(choose("earliest completion", &full, 200), Some(0));
    }

    /// Ferlin et al. 2016, equations (1) to (3): in 600 ms the fast path could send more than the
    /// window allows beside the segment on the slow path.
    #[test]
    fn blocking_estimation_waits_if_the_window_would_block() {
        let full = [path(600, 10, 5), path(50, 10, 0)];
        assert_eq!(choose("blocking estimation", &full, u64::MAX), None);
        let small = [path(100, 10, 5), path(50, 10, 0)];
        assert_eq!(choose("blocking estimation", &small, u64::MAX), Some(0));
    }

    /// 100 segments at 1000 a second linger 100 ms, 20 at 100 a second 200 ms. A burst of 45 stays
    /// on its path; the full buffer of the path that empties first keeps data waiting.
    #[test]
    fn the_send_buffer_that_empties_first_is_filled() {
        let mut linger = build("least linger");
        let at =
            |number, queued, pace, room| PathState { number, queued, pace, ..path(50, 100, room) };
        let both = [at(0, 100, 1000.0, 50), at(1, 20, 100.0, 50)];
        let waiting = Waiting { segments: u64::MAX, window: 100, room: 100 };
        assert_eq!(linger.choose(&both, waiting), Some(0));
        let longer = [at(0, 300, 1000.0, 50), at(1, 20, 100.0, 50)];
        let burst = (0..45).map(|_| linger.choose(&longer, waiting));
        assert_eq!(burst.filter(|&chosen| chosen == Some(0)).count(), 44);
        let full = [at(0, 100, 1000.0, 0), at(1, 20, 100.0, 50)];
        assert_eq!(build("least linger").choose(&full, waiting), None);
    }

    #[test]
    fn round_robin_takes_turns() {
        let mut turns = build("round robin");
        let both = [path(600, 10, 5), PathState { number: 1, ..path(50, 10, 1) }];
        let mut next = || turns.choose(&both, Waiting::default());
        assert_eq!([next(), next(), next()], [Some(0), Some(1), Some(0)]);
    }

    #[test]
    fn an_unknown_name_gets_the_known_ones() {
        use crate::config::{self, Value};
        let fault = config::read::<PathSchedulerChoice>(&Value::text("round-robin")).unwrap_err();
        let known = "least rtt, earliest completion, blocking estimation, least linger, round robin, \
                     redundant";
        let expected =
            format!("unknown value `round-robin`, one of {known} (did you mean round robin?)");
        assert_eq!(fault.to_string(), expected);
    }
}
