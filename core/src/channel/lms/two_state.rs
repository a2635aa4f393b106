//! The two-state semi-Markov model of Recommendation ITU-R P.681.

use super::gaussian::{phi, quantile};
use super::loo::Loo;
use super::shadowing::{Draws, Law, Segment, between, ramp};

/// Good and bad events in turn, each with its own duration and mean level
/// (ITU-R P.681, "mixed state propagation").
#[derive(Clone, Debug, PartialEq)]
pub struct TwoState {
    /// The good and the bad state.
    pub states: [EventState; 2],
    /// A transition takes `slope` |difference of mean levels in dB| + `offset` metres (f1).
    pub transition_slope: f64,
    /// Its constant part in metres (f2).
    pub transition_offset_m: f64,
}

/// One state of [`TwoState`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventState {
    /// Duration in metres: lognormal with this mean of the natural logarithm ...
    pub mu: f64,
    /// ... and this standard deviation ...
    pub sigma: f64,
    /// ... drawn again until it is at least this long.
    pub shortest_m: f64,
    /// Mean level M_A of the direct path in dB: normal with this mean ...
    pub level_mean_db: f64,
    /// ... and this standard deviation ...
    pub level_sd_db: f64,
    /// ... drawn again until it is between this quantile and its mirror image.
    pub level_tail: f64,
    /// Multipath power MP = h1 M_A + h2, in dB.
    pub multipath: [f64; 2],
    /// Spread of the direct path within the event: Sigma_A = g1 M_A + g2, at least 0, in dB.
    pub psi: [f64; 2],
}

impl EventState {
    fn at(&self, level_db: f64) -> Loo {
        Loo {
            direct_db: level_db,
            // The linear fit of P.681 may fall below 0 at the edge of its range; a deviation does
            // not.
            psi_db: (self.psi[0] * level_db + self.psi[1]).max(0.0),
            multipath_db: self.multipath[0] * level_db + self.multipath[1],
        }
    }

    /// Mean duration of the truncated lognormal law, in metres.
    pub fn mean_duration_m(&self) -> f64 {
        let start = (libm::log(self.shortest_m) - self.mu) / self.sigma;
        libm::exp(self.mu + 0.5 * self.sigma * self.sigma) * phi(self.sigma - start) / phi(-start)
    }

    /// The duration of the event at a random place: each weighs its length, which makes a
    /// lognormal law one with the mean of the logarithm `mu + sigma^2`.
    fn duration_at_random_place(&self, draws: &mut Draws) -> f64 {
        loop {
            let x = self.mu + self.sigma * self.sigma + self.sigma * draws.normal();
            let length = libm::exp(x);
            if length >= self.shortest_m {
                return length;
            }
        }
    }

    /// Levels of equal probability.
    fn levels(&self, count: usize) -> impl Iterator<Item = f64> {
        let kept = 1.0 - 2.0 * self.level_tail;
        (0..count).map(move |cell| {
            let p = self.level_tail + kept * (cell as f64 + 0.5) / count as f64;
            self.level_mean_db + self.level_sd_db * quantile(p)
        })
    }
}

impl TwoState {
    pub(super) fn event(&self, state: usize, draws: &mut Draws) -> Loo {
        let state = &self.states[state];
        let bound = -quantile(state.level_tail);
        loop {
            let x = draws.normal();
            // ITU-R P.681 truncates the level: drawn again beyond the quantile on either side.
            if x.abs() <= bound {
                return state.at(state.level_mean_db + state.level_sd_db * x);
            }
        }
    }

    pub(super) fn duration(&self, state: usize, draws: &mut Draws) -> f64 {
        let state = &self.states[state];
        loop {
            let length = libm::exp(state.mu + state.sigma * draws.normal());
            if length >= state.shortest_m {
                return length;
            }
        }
    }

    pub(super) fn transition(&self, from: &Loo, to: &Loo) -> f64 {
        let difference = (from.direct_db - to.direct_db).abs();
        (self.transition_slope * difference + self.transition_offset_m).max(0.0)
    }

    /// Draws a random place: its event, the distance left in it, and whether it is the transition
    /// into that event's state (`true`).
    ///
    /// Drawn from the stationary law itself. A long way driven before the start would not do: with
    /// sigma = 2.47 (urban and suburban at 70 degrees) a good event at a random place has a median
    /// length of 33 km.
    pub(super) fn at_random_place(&self, draws: &mut Draws) -> (Segment, bool) {
        let means = self.states.map(|state| state.mean_duration_m());
        let longest = self.longest_transition();
        loop {
            // Each kind weighs its mean length; a transition at first its longest.
            let place = draws.uniform() * (means[0] + means[1] + 2.0 * longest);
            if place < means[0] + means[1] {
                let state = usize::from(place >= means[0]);
                let loo = self.event(state, draws);
                let left = self.states[state].duration_at_random_place(draws) * draws.uniform();
                return (Segment::stay(state, loo, left), false);
            }
            // Transitions into the two states alternate, so each is half of them.
            let to = usize::from(draws.uniform() < 0.5);
            let (from_loo, to_loo) = (self.event(1 - to, draws), self.event(to, draws));
            let length = self.transition(&from_loo, &to_loo);
            // Rejection: a transition was weighed by the longest one, so it is accepted with the
            // share of its length.
            if draws.uniform() * longest < length {
                let driven = draws.uniform();
                let from = between(&from_loo, &to_loo, driven);
                let length_m = length * (1.0 - driven);
                return (Segment { from, to: to_loo, length_m, state: to }, true);
            }
        }
    }

    /// Between the levels that make the longest transition.
    fn longest_transition(&self) -> f64 {
        let [good, bad] = self.states.map(|state| {
            let reach = -quantile(state.level_tail) * state.level_sd_db;
            (state.level_mean_db - reach, state.level_mean_db + reach)
        });
        let apart = (good.0 - bad.1).max(bad.0 - good.1).max(0.0);
        let furthest = (good.1 - bad.0).abs().max((bad.1 - good.0).abs());
        [apart, furthest]
            .map(|difference| self.transition_slope * difference + self.transition_offset_m)
            .into_iter()
            .fold(0.0, f64::max)
    }

    /// Events weigh what they last; levels are those of equal probability.
    pub(super) fn law(&self) -> Law {
        const LEVELS: usize = 12;
        let mut parts = Vec::new();
        for state in &self.states {
            let weight = state.mean_duration_m() / LEVELS as f64;
            parts.extend(state.levels(LEVELS).map(|level| (weight, state.at(level))));
        }
        let [good, bad] = &self.states;
        const PAIRS: usize = 4;
        for good_level in good.levels(PAIRS) {
            for bad_level in bad.levels(PAIRS) {
                let (from, to) = (good.at(good_level), bad.at(bad_level));
                // There and back.
                let weight = 2.0 * self.transition(&from, &to) / (PAIRS * PAIRS) as f64;
                ramp(&mut parts, from, to, weight);
            }
        }
        Law::normalised(parts)
    }
}
