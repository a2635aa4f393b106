//! Mutual information over time in equal steps, buffered for the length of a code word.

use std::sync::Arc;

use super::fading::Fading;
use super::information::InformationTable;
use super::series::Series;

/// Source of the levels.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// A model; its power is relative to the unshadowed line of sight, whose Es/N0 is `db`.
    Fading {
        /// The model.
        fading: Box<Fading>,
        /// Es/N0 in dB at power 1.
        db: f64,
    },
    /// Levels of a model, drawn in advance and used for several values of Es/N0.
    Drawn {
        /// In dB, relative to the unshadowed line of sight; the last level is held.
        levels: Arc<[f64]>,
        /// Index of the next level.
        next: usize,
        /// Es/N0 in dB at level 0.
        db: f64,
    },
    /// Measured Es/N0.
    Series(Series),
}

/// Converts a power to a level in dB.
#[inline]
pub(super) fn decibels(power: f64) -> f64 {
    10.0 * libm::log10(power)
}

impl Source {
    /// Es/N0 in dB of the next sample.
    #[inline]
    pub(super) fn esn0_db(&mut self) -> f64 {
        match self {
            Self::Fading { fading, db } => *db + decibels(fading.power()),
            Self::Drawn { levels, next, db } => {
                let level = levels[(*next).min(levels.len() - 1)];
                *next += 1;
                *db + level
            }
            Self::Series(series) => series.sample(),
        }
    }
}

/// A forward-moving window onto the mutual information per coded bit.
#[derive(Clone, Debug)]
pub(super) struct Samples {
    source: Source,
    table: InformationTable,
    step_ns: f64,
    /// Index of the first sample kept.
    first: u64,
    values: Vec<f64>,
    /// Integral from the first sample kept, in steps, by the trapezoid rule.
    integral: Vec<f64>,
}

impl Samples {
    pub(super) fn new(source: Source, table: InformationTable, step_ns: f64) -> Self {
        let mut samples =
            Self { source, table, step_ns, first: 0, values: Vec::new(), integral: Vec::new() };
        samples.reach(1);
        samples
    }

    /// Prepares instants from `from_ns` to `to_ns`; earlier ones are discarded.
    pub(super) fn prepare(&mut self, from_ns: u64, to_ns: u64) {
        let keep = (from_ns as f64 / self.step_ns) as u64;
        let drop = (keep.saturating_sub(self.first) as usize).min(self.values.len() - 1);
        // Only occasionally, because it moves all samples kept.
        if drop > self.values.len() / 2 {
            self.values.drain(..drop);
            self.first += drop as u64;
            self.integral.drain(..drop);
            let start = self.integral[0];
            self.integral.iter_mut().for_each(|value| *value -= start);
        }
        self.reach((to_ns as f64 / self.step_ns) as u64 + 2);
    }

    fn reach(&mut self, last: u64) {
        while self.first + self.values.len() as u64 <= last {
            let value = self.table.at(self.source.esn0_db());
            let before = self.values.last().copied().unwrap_or(value);
            let integral = self.integral.last().copied().unwrap_or(-value);
            self.values.push(value);
            self.integral.push(integral + 0.5 * (before + value));
        }
    }

    #[inline]
    fn place(&self, ns: u64) -> (usize, f64) {
        let place = ns as f64 / self.step_ns - self.first as f64;
        let sample = place as usize;
        (sample, place - sample as f64)
    }

    /// The value at an instant.
    #[inline]
    pub(super) fn at(&self, ns: u64) -> f64 {
        let (sample, rest) = self.place(ns);
        let (low, high) = (self.values[sample], self.values[sample + 1]);
        low + (high - low) * rest
    }

    /// Mean between two instants.
    #[inline]
    pub(super) fn mean(&self, from_ns: u64, to_ns: u64) -> f64 {
        let steps = (to_ns - from_ns) as f64 / self.step_ns;
        (self.integral_to(to_ns) - self.integral_to(from_ns)) / steps
    }

    #[inline]
    fn integral_to(&self, ns: u64) -> f64 {
        let (sample, rest) = self.place(ns);
        let (low, high) = (self.values[sample], self.values[sample + 1]);
        self.integral[sample] + rest * (low + 0.5 * rest * (high - low))
    }
}
