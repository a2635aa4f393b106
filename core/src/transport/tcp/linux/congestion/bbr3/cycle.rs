//! The state of the cycle of ProbeBW (`probe_bw`).

use super::UNIT;
use super::bounds::UNBOUNDED;
use crate::transport::tcp::congestion::Window;
use crate::units::{Duration, Instant};

/// Limit of the doublings of the slope while probing.
const MOST_DOUBLINGS: u32 = 30;

/// The phases of section 5.3.3.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ProbePhase {
    Down,
    Cruise,
    Refill,
    Up,
}

impl ProbePhase {
    /// Pacing gain in 1/256.
    pub(super) fn gain(self) -> u64 {
        match self {
            Self::Down => UNIT * 91 / 100,
            Self::Cruise | Self::Refill => UNIT,
            Self::Up => UNIT * 5 / 4,
        }
    }
}

/// What the ACKs that arrive now refer to.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Acks {
    #[default]
    OfNoProbe,
    Refilling,
    /// A probe that began less than a round trip ago, a probe in progress, a probe that has ended.
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// State of the probing cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    pub(super) acks: Acks,
    /// Start of the Down or Up phase.
    pub(super) began: Instant,
    pub(super) wait: Duration,
    pub(super) rounds_since_probe: u64,
    /// True if losses are attributed to a probe; each probe reacts once.
    pub(super) samples_are_of_probe: bool,
    pub(super) prior_was_too_high: bool,
    /// True if the last probe stopped because it reached the bound.
    pub(super) met_bound: bool,
    /// Growth of `inflight_hi`: one segment per `up_count` acknowledged; the rate doubles each
    /// round trip.
    pub(super) up_count: u64,
    pub(super) up_acked: u64,
    pub(super) up_rounds: u32,
}

impl Default for Cycle {
    fn default() -> Self {
        Self {
            acks: Acks::default(),
            began: Instant::ZERO,
            wait: Duration::ZERO,
            rounds_since_probe: 0,
            samples_are_of_probe: false,
            prior_was_too_high: false,
            met_bound: false,
            up_count: UNBOUNDED,
            up_acked: 0,
            up_rounds: 0,
        }
    }
}

impl Cycle {
    pub(super) fn count_round(&mut self) {
        self.rounds_since_probe = (self.rounds_since_probe + 1).min(255);
    }

    /// Ends a probe for another reason.
    pub(super) fn stop_probe(&mut self) {
        self.acks = Acks::ProbeStopping;
    }

    /// The bound grows twice as fast in the next round trip.
    pub(super) fn steepen(&mut self, window: &Window) {
        self.up_count = (u64::from(window.cwnd()) >> self.up_rounds).max(1);
        self.up_rounds = (self.up_rounds + 1).min(MOST_DOUBLINGS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 5.3.3.6: in each round trip of a probe half as many ACKs raise the bound by one, until
    /// every ACK does.
    #[test]
    fn a_probe_grows_twice_as_fast_in_each_round_trip() {
        let window = Window::of(100, u32::MAX);
        let mut cycle = Cycle::default();
        let counts: Vec<u64> = (0..40)
            .map(|_| {
                cycle.steepen(&window);
                cycle.up_count
            })
            .collect();
        assert_eq!(counts[..8], [100, 50, 25, 12, 6, 3, 1, 1]);
        assert!(counts[8..].iter().all(|&count| count == 1));
    }
}
