//! Which state the terminal drives through, over distance: the slow part of the channel.

use std::collections::VecDeque;

use rand_chacha::ChaCha8Rng;

use super::gaussian::Normals;
use super::loo::Loo;
use super::three_state::ThreeState;
use super::trees::IsolatedTrees;
use super::two_state::TwoState;
use crate::seed::uniform;

/// A model of the states along a road.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Shadowing {
    /// One state for ever.
    Steady(Loo),
    /// Good and bad events, each with its own levels (ITU-R P.681).
    TwoState(TwoState),
    /// A Markov chain of three states (Perez-Fontan).
    ThreeState(ThreeState),
    /// A clear road past single trees.
    Trees(IsolatedTrees),
}

/// A stretch of road: parameters go linearly from `from` to `to` (in dB, over distance).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Parameters where it begins.
    pub from: Loo,
    /// Parameters where it ends.
    pub to: Loo,
    /// Metres; infinite for a state that never ends.
    pub length_m: f64,
    /// Number of the state, for a transition that of the state it leads to.
    pub state: usize,
}

impl Segment {
    /// Whether this is the way from one state to another.
    pub fn is_transition(&self) -> bool {
        self.from != self.to
    }

    pub(super) fn stay(state: usize, loo: Loo, length_m: f64) -> Self {
        Self { from: loo, to: loo, length_m, state }
    }
}

/// A law of the level at a random place: weights (they add up to 1) of Loo laws.
#[derive(Clone, Debug, PartialEq)]
pub struct Law(pub Vec<(f64, Loo)>);

impl Law {
    /// From weights of any sum.
    pub(super) fn normalised(mut parts: Vec<(f64, Loo)>) -> Self {
        let sum: f64 = parts.iter().map(|(weight, _)| weight).sum();
        parts.iter_mut().for_each(|(weight, _)| *weight /= sum);
        Self(parts)
    }

    /// Mean of the envelope's square.
    pub fn mean_power(&self) -> f64 {
        self.0.iter().map(|(weight, loo)| weight * loo.mean_power()).sum()
    }

    /// P(envelope <= `r`).
    pub fn cdf(&self, r: f64) -> f64 {
        self.0.iter().map(|(weight, loo)| weight * loo.cdf(r)).sum()
    }
}

/// Adds the transition from one law to another, of weight `weight`, in `STEPS` places.
pub(super) fn ramp(parts: &mut Vec<(f64, Loo)>, from: Loo, to: Loo, weight: f64) {
    const STEPS: usize = 8;
    for step in 0..STEPS {
        let place = (step as f64 + 0.5) / STEPS as f64;
        parts.push((weight / STEPS as f64, between(&from, &to, place)));
    }
}

/// Linear interpolation of the parameters in dB.
pub(super) fn between(from: &Loo, to: &Loo, place: f64) -> Loo {
    let mix = |a: f64, b: f64| a + (b - a) * place;
    Loo {
        direct_db: mix(from.direct_db, to.direct_db),
        psi_db: mix(from.psi_db, to.psi_db),
        multipath_db: mix(from.multipath_db, to.multipath_db),
    }
}

impl Shadowing {
    /// The closed-form law of the level at a random place.
    pub fn law(&self) -> Law {
        match self {
            Self::Steady(loo) => Law(vec![(1.0, *loo)]),
            Self::TwoState(model) => model.law(),
            Self::ThreeState(model) => model.law(),
            Self::Trees(model) => model.law(),
        }
    }
}

/// The stream of a channel's generator that its road takes (and the next one).
pub(super) fn road_stream(rng: &ChaCha8Rng) -> ChaCha8Rng {
    let mut rng = rng.clone();
    rng.set_stream(1);
    rng
}

/// The road, segment by segment, without end.
#[derive(Clone, Debug)]
pub(super) struct Road {
    shadowing: Shadowing,
    draws: Draws,
    /// The state that comes next, and its parameters once they are drawn.
    state: usize,
    level: Loo,
    /// Segments that were decided on already.
    waiting: VecDeque<Segment>,
}

/// Uniform and normal draws of one stream.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    uniform: ChaCha8Rng,
    normal: Normals,
}

impl Draws {
    pub(super) fn uniform(&mut self) -> f64 {
        uniform(&mut self.uniform)
    }

    pub(super) fn normal(&mut self) -> f64 {
        self.normal.draw()
    }

    /// Exponential with this mean.
    pub(super) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log1p(-self.uniform())
    }
}

impl Road {
    /// Metres driven before the start, so that it is a random place: a hundred times as far as a
    /// chain of three states remembers, and many trees.
    fn run_up_m(&self) -> f64 {
        const LEAST: f64 = 20_000.0;
        match &self.shadowing {
            Shadowing::Trees(model) => LEAST.max(20.0 * (model.gap.0 + model.crossing.0)),
            _ => LEAST,
        }
    }

    pub(super) fn new(shadowing: Shadowing, rng: ChaCha8Rng) -> Self {
        let mut other = rng.clone();
        other.set_stream(rng.get_stream() + 1);
        let draws = Draws { uniform: rng, normal: Normals::new(other) };
        let start = Loo { direct_db: 0.0, psi_db: 0.0, multipath_db: -200.0 };
        let mut road = Self { shadowing, draws, state: 0, level: start, waiting: VecDeque::new() };
        match &road.shadowing {
            Shadowing::TwoState(model) => {
                let (segment, moving) = model.at_random_place(&mut road.draws);
                road.begin_with(segment, moving);
            }
            _ => {
                road.enter_first();
                road.run_up();
            }
        }
        road
    }

    fn begin_with(&mut self, segment: Segment, moving: bool) {
        (self.state, self.level) = (segment.state, segment.to);
        self.waiting.push_back(segment);
        if moving {
            let stay = self.stay();
            self.waiting.push_back(stay);
        }
    }

    fn enter_first(&mut self) {
        self.level = match &self.shadowing {
            Shadowing::Steady(loo) => *loo,
            // Starts at a random place already.
            Shadowing::TwoState(model) => model.event(0, &mut self.draws),
            Shadowing::ThreeState(model) => model.state(0),
            Shadowing::Trees(model) => model.clear(),
        };
        let stay = self.stay();
        self.waiting.push_back(stay);
    }

    /// How long the state just entered lasts.
    fn stay(&mut self) -> Segment {
        let length = match &self.shadowing {
            Shadowing::Steady(_) => f64::INFINITY,
            Shadowing::TwoState(model) => model.duration(self.state, &mut self.draws),
            Shadowing::ThreeState(model) => model.duration(self.state, &mut self.draws),
            Shadowing::Trees(model) => model.duration(self.state, &mut self.draws),
        };
        Segment::stay(self.state, self.level, length)
    }

    /// The next stretch: states and transitions take turns.
    pub(super) fn segment(&mut self) -> Segment {
        if let Some(segment) = self.waiting.pop_front() {
            return segment;
        }
        let before = self.level;
        let length = match &self.shadowing {
            Shadowing::Steady(_) => 0.0,
            Shadowing::TwoState(model) => {
                self.state = 1 - self.state;
                self.level = model.event(self.state, &mut self.draws);
                model.transition(&before, &self.level)
            }
            Shadowing::ThreeState(model) => {
                self.state = model.next(self.state, &mut self.draws);
                self.level = model.state(self.state);
                model.transition_m
            }
            Shadowing::Trees(model) => {
                self.state = 1 - self.state;
                self.level = model.event(self.state, &mut self.draws);
                0.5 * model.crossing.0
            }
        };
        let stay = self.stay();
        self.waiting.push_back(stay);
        Segment { from: before, to: self.level, length_m: length, state: self.state }
    }

    /// Leaves the run-up behind, and cuts the segment in which the start lies.
    fn run_up(&mut self) {
        let mut rest = self.run_up_m();
        loop {
            let segment = self.segment();
            if segment.length_m > rest {
                let place = rest / segment.length_m;
                let left = Segment {
                    from: between(&segment.from, &segment.to, place),
                    length_m: segment.length_m - rest,
                    ..segment
                };
                self.waiting.push_front(left);
                return;
            }
            rest -= segment.length_m;
        }
    }
}
