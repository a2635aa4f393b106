//! Path schedulers: which path carries the next segment. A scheduler is one file and one row.

mod blocking_estimation;
mod earliest_completion;
mod interface;
mod least_linger;
mod least_rtt;
mod redundant;
mod round_robin;

pub use interface::{PathScheduler, PathState, Waiting};

use rand_chacha::ChaCha8Rng;

use crate::config::{Chosen, ChosenRow, Row};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};
    use crate::units::Duration;

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
