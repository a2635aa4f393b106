//! A clear road past single trees: fades that come one by one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gaussian::quantile;
use super::loo::Loo;
use super::shadowing::{Draws, Law, ramp};
use crate::units::{Decibels, Metres};

/// Fades of a triangular profile (in dB over distance) with exponential gaps: what an otherwise
/// clear road past single trees does to the direct path.
///
/// Not a standard's model: it is the plainest one with events as isolated as table 1 of Kuhn 2014
/// asks for.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct IsolatedTrees {
    /// Mean distance between fades.
    pub gap: Metres,
    /// Length of a fade: half of it goes down, half up.
    pub crossing: Metres,
    /// Mean of the deepest attenuation of the direct path in a fade.
    pub depth: Decibels,
    /// Standard deviation of the depth over fades.
    pub spread: Decibels,
    /// Mean power of the multipath, everywhere.
    pub multipath: Decibels,
}

impl IsolatedTrees {
    pub(super) fn clear(&self) -> Loo {
        self.at(0.0)
    }

    fn at(&self, attenuation_db: f64) -> Loo {
        Loo { direct_db: -attenuation_db, psi_db: 0.0, multipath_db: self.multipath.0 }
    }

    /// State 0 is clear, state 1 the deepest point of a fade.
    pub(super) fn event(&self, state: usize, draws: &mut Draws) -> Loo {
        if state == 0 {
            return self.clear();
        }
        self.at((self.depth.0 + self.spread.0 * draws.normal()).max(0.0))
    }

    pub(super) fn duration(&self, state: usize, draws: &mut Draws) -> f64 {
        if state == 0 { draws.exponential(self.gap.0) } else { 0.0 }
    }

    pub(super) fn law(&self) -> Law {
        const DEPTHS: usize = 12;
        let mut parts = vec![(self.gap.0, self.clear())];
        for cell in 0..DEPTHS {
            let x = quantile((cell as f64 + 0.5) / DEPTHS as f64);
            let deepest = self.at((self.depth.0 + self.spread.0 * x).max(0.0));
            ramp(&mut parts, self.clear(), deepest, self.crossing.0 / DEPTHS as f64);
        }
        Law::normalised(parts)
    }
}
