//! The closed-form distribution of the level at a random position, in cells of half a decibel.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock};

use super::shadowing::{Law, Shadowing};
use crate::sync::lock;

const LOWEST_DB: f64 = -60.0;
const CELL_DB: f64 = 0.5;
const CELLS: usize = 180;
/// Number of cached distributions: a study uses few environments.
const KEPT: usize = 16;

/// The most recently used distributions of this process.
///
/// Computing one takes most of a second, and it is the same for every Es/N0, seed and transport.
static KNOWN: Mutex<VecDeque<Arc<LevelCdf>>> = Mutex::new(VecDeque::new());

/// P(level <= x) at the middle of each cell, computed on first use.
pub(super) struct LevelCdf {
    shadowing: Shadowing,
    /// The reference of the level, in dB.
    reference_db: f64,
    law: Law,
    below: [OnceLock<f64>; CELLS],
}

/// An interval of levels, in dB.
pub(super) struct Cell<'a> {
    pub from_db: f64,
    pub to_db: f64,
    of: &'a LevelCdf,
    below: &'a OnceLock<f64>,
}

impl LevelCdf {
    /// The distribution of the levels of `shadowing` relative to `reference_db`.
    pub(super) fn of(shadowing: &Shadowing, reference_db: f64) -> Arc<Self> {
        let mut known = lock(&KNOWN);
        let found = known
            .iter()
            .position(|one| one.shadowing == *shadowing && one.reference_db == reference_db);
        let one = match found.and_then(|place| known.remove(place)) {
            Some(one) => one,
            None => Arc::new(Self {
                shadowing: shadowing.clone(),
                reference_db,
                law: shadowing.law(),
                below: [const { OnceLock::new() }; CELLS],
            }),
        };
        known.push_front(Arc::clone(&one));
        known.truncate(KEPT);
        one
    }

    /// The upper end of the highest cell.
    pub(super) fn top_db() -> f64 {
        level_db(CELLS)
    }

    /// The cells, in ascending order.
    pub(super) fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        self.below.iter().enumerate().map(|(number, below)| Cell {
            from_db: level_db(number),
            to_db: level_db(number + 1),
            of: self,
            below,
        })
    }
}

impl Cell<'_> {
    /// P(level <= middle of the cell).
    pub(super) fn below(&self) -> f64 {
        let middle_db = self.from_db + CELL_DB / 2.0;
        let amplitude = || libm::exp10((middle_db + self.of.reference_db) / 20.0);
        *self.below.get_or_init(|| self.of.law.cdf(amplitude()))
    }
}

fn level_db(number: usize) -> f64 {
    LOWEST_DB + number as f64 * CELL_DB
}

#[cfg(test)]
mod tests {
    use super::super::Preset;
    use super::*;

    #[test]
    fn a_cached_distribution_equals_a_new_one() {
        for preset in [Preset::Internet, Preset::Its] {
            let channel = preset.channel();
            let shadowing = &channel.propagation.shadowing;
            let law = shadowing.law();
            for reference_db in [0.0, -1.5, 0.0] {
                let cdf = LevelCdf::of(shadowing, reference_db);
                for (number, cell) in cdf.cells().enumerate().step_by(30) {
                    let middle_db = -60.0 + number as f64 / 2.0 + 0.25;
                    let fresh = law.cdf(libm::exp10((middle_db + reference_db) / 20.0));
                    assert_eq!(cell.below(), fresh, "{preset:?} at {middle_db} dB");
                }
            }
        }
    }

    #[test]
    fn the_cache_is_bounded() {
        let shadowing = Preset::Internet.channel().propagation.shadowing;
        for number in 0..3 * KEPT {
            LevelCdf::of(&shadowing, number as f64);
        }
        assert!(KNOWN.lock().unwrap().len() <= KEPT);
    }
}
