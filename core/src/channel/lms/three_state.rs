//! The three-state model of Perez-Fontan: a Markov chain over distance.

use super::loo::Loo;
use super::shadowing::{Draws, Law, ramp};

/// A chain of states with Loo levels; each state draws its successor every frame length
/// (F. Perez-Fontan et al., IEEE Trans. Veh. Tech. 50(6), 2001).
///
/// A change of state takes the additional length [`Self::transition_m`], over which the parameters
/// go from those of one state to those of the other.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreeState {
    /// The states: line of sight, shadowed, deeply shadowed (an environment may lack the first).
    pub states: Vec<ChainState>,
    /// Length of a transition in metres.
    pub transition_m: f64,
}

/// One state of [`ThreeState`].
#[derive(Clone, Debug, PartialEq)]
pub struct ChainState {
    /// Probability of each state for the next frame.
    pub next: Vec<f64>,
    /// Level within the state.
    pub loo: Loo,
    /// Frame length in metres: how far the state lasts at least.
    pub frame_m: f64,
}

impl ThreeState {
    pub(super) fn state(&self, state: usize) -> Loo {
        self.states[state].loo
    }

    /// Frames in a row follow the geometric law.
    pub(super) fn duration(&self, state: usize, draws: &mut Draws) -> f64 {
        let (staying, frame) = (self.states[state].next[state], self.states[state].frame_m);
        let more = libm::floor(libm::log1p(-draws.uniform()) / libm::log(staying));
        (1.0 + more) * frame
    }

    /// The state after this one, which is another one.
    pub(super) fn next(&self, state: usize, draws: &mut Draws) -> usize {
        let row = &self.states[state].next;
        let mut place = draws.uniform() * (1.0 - row[state]);
        let mut last = state;
        for (other, &probability) in row.iter().enumerate().filter(|&(other, _)| other != state) {
            if probability > 0.0 {
                last = other;
                if place < probability {
                    break;
                }
                place -= probability;
            }
        }
        last
    }

    /// Stationary probability of each state for a frame.
    pub fn frame_shares(&self) -> Vec<f64> {
        let count = self.states.len();
        let mut share = vec![1.0 / count as f64; count];
        for _ in 0..4000 {
            let mut after = vec![0.0; count];
            for (state, &share) in self.states.iter().zip(&share) {
                for (after, &probability) in after.iter_mut().zip(&state.next) {
                    *after += share * probability;
                }
            }
            let sum: f64 = after.iter().sum();
            share = after.into_iter().map(|share| share / sum).collect();
        }
        share
    }

    /// States weigh the distance they take, transitions theirs.
    pub(super) fn law(&self) -> Law {
        let shares = self.frame_shares();
        let mut parts = Vec::new();
        for (from, (state, share)) in self.states.iter().zip(&shares).enumerate() {
            parts.push((share * state.frame_m, state.loo));
            for (to, &probability) in state.next.iter().enumerate() {
                if to != from && probability > 0.0 {
                    let weight = share * probability * self.transition_m;
                    ramp(&mut parts, state.loo, self.states[to].loo, weight);
                }
            }
        }
        Law::normalised(parts)
    }
}
