//! The two-state semi-Markov model of Recommendation ITU-R P.681.

use super::gaussian::{phi, quantile};
use super::loo::Loo;
use super::shadowing::{Draws, Law, ramp};

/// Good and bad events in turn, each with a duration and a mean level of its own
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
            psi_db: (self.psi[0] * level_db + self.psi[1]).max(0.0),
            multipath_db: self.multipath[0] * level_db + self.multipath[1],
        }
    }

    /// Mean duration of the truncated lognormal law, in metres.
    pub fn mean_duration_m(&self) -> f64 {
        let start = (libm::log(self.shortest_m) - self.mu) / self.sigma;
        libm::exp(self.mu + 0.5 * self.sigma * self.sigma) * phi(self.sigma - start) / phi(-start)
    }

    /// P(duration <= `metres`).
    pub fn duration_cdf(&self, metres: f64) -> f64 {
        if metres <= self.shortest_m {
            return 0.0;
        }
        let start = (libm::log(self.shortest_m) - self.mu) / self.sigma;
        let here = (libm::log(metres) - self.mu) / self.sigma;
        1.0 - phi(-here) / phi(-start)
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
