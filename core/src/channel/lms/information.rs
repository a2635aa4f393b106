//! Mutual information of a modulation over the Gaussian channel.

use schemars::JsonSchema;
use serde::de::{Deserializer, IntoDeserializer};
use serde::{Deserialize, Serialize};

/// A modulation with Gray mapping, demapped bit by bit.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum Modulation {
    /// Two bits per symbol.
    #[serde(rename = "qpsk")]
    Qpsk,
    /// Four bits per symbol.
    #[serde(rename = "16qam")]
    Qam16,
}

/// Reads a modulation, ignoring case.
pub(super) fn any_case<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Modulation>, D::Error> {
    let name = String::deserialize(from)?.to_ascii_lowercase();
    Modulation::deserialize(name.into_deserializer()).map(Some)
}

impl Modulation {
    /// Mutual information per coded bit at Es/N0 = `g` (linear), from 0 to 1: the mean over the
    /// bits of a symbol of 1 - E[log2(1 + exp(-L))], with L the log-likelihood ratio of the bit
    /// (bit-interleaved coded modulation). The quadratures are independent, with two levels (QPSK)
    /// or four (16QAM).
    pub fn information(self, g: f64) -> f64 {
        match self {
            Self::Qpsk => binary(g),
            Self::Qam16 => four_level(g),
        }
    }
}

const NODES: i32 = 120;

/// E[f(x)] for a standard normal x, by the trapezoid rule, accurate to 1e-12 here.
fn expectation(f: impl Fn(f64) -> f64) -> f64 {
    let step = 8.5 / f64::from(NODES);
    let scale = step / libm::sqrt(2.0 * std::f64::consts::PI);
    (-NODES..=NODES)
        .map(|node| f64::from(node) * step)
        .map(|x| scale * libm::exp(-0.5 * x * x) * f(x))
        .sum()
}

/// log2(1 + exp(-x)), without overflow.
fn penalty(x: f64) -> f64 {
    (libm::log1p(libm::exp(-x.abs())) + (-x).max(0.0)) / std::f64::consts::LN_2
}

/// Mutual information of a QPSK bit: L ~ N(2g, 4g).
fn binary(g: f64) -> f64 {
    1.0 - expectation(|x| penalty(2.0 * g + 2.0 * libm::sqrt(g) * x))
}

/// Four levels -3, -1, 1, 3 over sqrt(10), Gray labels 00, 01, 11, 10; noise of variance 1 / (2g).
fn four_level(g: f64) -> f64 {
    let unit = 1.0 / libm::sqrt(10.0);
    let noise = 1.0 / libm::sqrt(2.0 * g);
    let likelihood = |y: f64, level: f64| -g * (y - level * unit) * (y - level * unit);
    let pair = |y: f64, a: f64, b: f64| {
        let (a, b) = (likelihood(y, a), likelihood(y, b));
        a.max(b) + libm::log1p(libm::exp(-(a - b).abs()))
    };
    let mut sum = 0.0;
    // By symmetry, the two positive levels suffice.
    for level in [1.0, 3.0] {
        sum += expectation(|x| {
            let y = level * unit + noise * x;
            let sign = pair(y, 1.0, 3.0) - pair(y, -1.0, -3.0);
            let inner = pair(y, 1.0, -1.0) - pair(y, 3.0, -3.0);
            penalty(sign) + penalty(if level == 1.0 { inner } else { -inner })
        });
    }
    1.0 - sum / 4.0
}

/// Mutual information per coded bit as a table: every 1/16 dB, with linear interpolation.
#[derive(Clone, Debug)]
pub(super) struct InformationTable {
    values: Vec<f64>,
}

impl InformationTable {
    const LOW_DB: f64 = -30.0;
    const HIGH_DB: f64 = 40.0;
    const PER_DB: f64 = 16.0;

    pub(super) fn new(modulation: Modulation) -> Self {
        let count = ((Self::HIGH_DB - Self::LOW_DB) * Self::PER_DB) as usize;
        let db = |entry: usize| Self::LOW_DB + entry as f64 / Self::PER_DB;
        let values = (0..=count)
            .map(|entry| modulation.information(libm::exp10(db(entry) / 10.0)))
            .collect();
        Self { values }
    }

    /// The value at Es/N0 = `db`, clipped to the ends of the table, where it is 0.001 and 1.
    #[inline]
    pub(super) fn at(&self, db: f64) -> f64 {
        let place = ((db - Self::LOW_DB) * Self::PER_DB).clamp(0.0, (self.values.len() - 1) as f64);
        let entry = (place as usize).min(self.values.len() - 2);
        let (low, high) = (self.values[entry], self.values[entry + 1]);
        low + (high - low) * (place - entry as f64)
    }

    /// The Es/N0 in dB with this value, within the ends of the table.
    pub(super) fn db(&self, information: f64) -> f64 {
        let above = self.values.partition_point(|&value| value < information);
        let above = above.clamp(1, self.values.len() - 1);
        let (low, high) = (self.values[above - 1], self.values[above]);
        let part =
            if high > low { ((information - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 };
        Self::LOW_DB + ((above - 1) as f64 + part) / Self::PER_DB
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn per_symbol(modulation: Modulation, db: f64) -> f64 {
        let bits = if modulation == Modulation::Qpsk { 2.0 } else { 4.0 };
        bits * modulation.information(10f64.powf(db / 10.0))
    }

    /// QPSK: values of an independent program. 16QAM: scipy.integrate.quad of the other form,
    /// I = sum over b of 1/2 integral p(y|b) log2(p(y|b) / p(y)). Bits per symbol.
    #[test]
    fn information_matches_independent_programs() {
        for (db, expected) in [(-3.0, 0.5821), (0.0, 0.9719), (2.0, 1.2843), (8.0, 1.952)] {
            assert!((per_symbol(Modulation::Qpsk, db) - expected).abs() < 2e-4, "{db}");
        }
        let qam16 =
            [(0.0, 0.89934), (2.0, 1.25948), (4.0, 1.69361), (6.0, 2.17783), (10.0, 3.16358)];
        for (db, expected) in qam16 {
            assert!((per_symbol(Modulation::Qam16, db) - expected).abs() < 2e-5, "{db}");
        }
    }

    #[test]
    fn the_table_matches_the_function() {
        for modulation in [Modulation::Qpsk, Modulation::Qam16] {
            let table = InformationTable::new(modulation);
            for step in 0..400 {
                let db = -20.0 + 0.1013 * f64::from(step);
                let exact = modulation.information(10f64.powf(db / 10.0));
                assert!((table.at(db) - exact).abs() < 3e-5, "{db}");
            }
            for db in [-29.9, -12.3, 0.0, 4.56] {
                assert!((table.db(table.at(db)) - db).abs() < 1e-6, "{db}");
            }
            assert_eq!((table.db(0.0), table.db(1.0) > 8.0), (-30.0, true));
            assert!(table.at(f64::NEG_INFINITY) < 2e-3 && table.at(90.0) > 0.999_999);
        }
    }
}
