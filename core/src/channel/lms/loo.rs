//! Loo's distribution: a lognormal direct path plus Rayleigh multipath.

use serde::Serialize;

use super::gaussian::phi;

/// Factor from decibels to the natural logarithm of amplitude.
pub(super) const NEPER: f64 = std::f64::consts::LN_10 / 20.0;

/// Parameters of Loo's law, in dB relative to the unshadowed line of sight (C. Loo, IEEE Trans.
/// Veh. Tech. 34(3), 1985, in the notation of Perez-Fontan).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Loo {
    /// Mean level of the direct path.
    pub direct_db: f64,
    /// Standard deviation of the level of the direct path (psi).
    pub psi_db: f64,
    /// Mean power of the multipath (MP).
    pub multipath_db: f64,
}

impl Loo {
    /// Mean power: E[a^2] of the lognormal direct path plus the power of the multipath.
    pub fn mean_power(&self) -> f64 {
        let spread = 2.0 * NEPER * self.psi_db;
        libm::exp(2.0 * NEPER * self.direct_db + 0.5 * spread * spread)
            + libm::exp(2.0 * NEPER * self.multipath_db)
    }

    /// P(envelope <= `r`), with `r` an amplitude: the Rice distribution averaged over the direct
    /// path.
    ///
    /// For a direct path a and a multipath variance s^2 per quadrature, it is the integral over the
    /// quadrature y of Phi((sqrt(r^2 - y^2) - a) / s) - Phi((-sqrt(r^2 - y^2) - a) / s).
    pub fn cdf(&self, r: f64) -> f64 {
        if r <= 0.0 {
            return 0.0;
        }
        let s = libm::exp(NEPER * self.multipath_db) * std::f64::consts::FRAC_1_SQRT_2;
        let points = if self.psi_db == 0.0 { 1 } else { 24 };
        let (mut sum, mut weights) = (0.0, 0.0);
        for point in 0..points {
            // Midpoints of 24 cells over +-5 standard deviations.
            let x = if points == 1 { 0.0 } else { (point as f64 + 0.5) * 10.0 / 24.0 - 5.0 };
            let weight = libm::exp(-0.5 * x * x);
            let a = libm::exp(NEPER * (self.direct_db + self.psi_db * x));
            sum += weight * rice_cdf(a, s, r);
            weights += weight;
        }
        sum / weights
    }
}

/// P(|a + z| <= r), z complex Gaussian with standard deviation `s` per quadrature.
fn rice_cdf(a: f64, s: f64, r: f64) -> f64 {
    // Beyond 8 standard deviations the density is negligible.
    if r > a + 9.0 * s {
        return 1.0;
    }
    if r < a - 9.0 * s {
        return 0.0;
    }
    let reach = r.min(8.0 * s);
    let cells = 40;
    let mut sum = 0.0;
    for cell in 0..cells {
        // The substitution y = reach sin(theta) smooths the edge of the circle.
        let theta = (cell as f64 + 0.5) / cells as f64 * std::f64::consts::FRAC_PI_2;
        let y = reach * libm::sin(theta);
        let half = libm::sqrt((r * r - y * y).max(0.0));
        let inside = phi((half - a) / s) - phi((-half - a) / s);
        sum += libm::exp(-0.5 * (y / s) * (y / s)) * inside * reach * libm::cos(theta);
    }
    let step = std::f64::consts::FRAC_PI_2 / cells as f64;
    2.0 * sum * step / (s * libm::sqrt(2.0 * std::f64::consts::PI))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_direct_path_the_envelope_is_rayleigh() {
        let loo = Loo { direct_db: -200.0, psi_db: 0.0, multipath_db: -3.0 };
        let power = 10f64.powf(-0.3);
        for r in [0.05, 0.5, 1.0, 2.0] {
            let expected = 1.0 - (-r * r / power).exp();
            assert!((loo.cdf(r) - expected).abs() < 1e-4, "{r} {} {expected}", loo.cdf(r));
        }
    }

    #[test]
    fn without_multipath_the_envelope_is_lognormal() {
        let loo = Loo { direct_db: -4.0, psi_db: 3.0, multipath_db: -80.0 };
        for db in [-9.0, -4.0, 0.0] {
            let expected = phi((db + 4.0) / 3.0);
            assert!((loo.cdf(10f64.powf(db / 20.0)) - expected).abs() < 0.03, "{db}");
        }
    }

    /// scipy.stats.ncx2.cdf(2 r^2 / p, 2, 2 a^2 / p) for a = 1, p = 0.1.
    #[test]
    fn the_rice_distribution_matches_an_independent_program() {
        let loo = Loo { direct_db: 0.0, psi_db: 0.0, multipath_db: -10.0 };
        for (r, expected) in RICE {
            assert!((loo.cdf(r) - expected).abs() < 2e-5, "{r}: {} {expected}", loo.cdf(r));
        }
    }

    const RICE: [(f64, f64); 4] =
        [(0.3, 0.000435326), (0.6, 0.026567032), (1.0, 0.455109844), (1.3, 0.893111347)];

    #[test]
    fn the_mean_power_is_the_integral_of_the_distribution() {
        let loo = Loo { direct_db: -2.0, psi_db: 2.0, multipath_db: -8.0 };
        let step = 0.002;
        let mean: f64 = (0..3000)
            .map(|i| (i as f64 + 0.5) * step)
            .map(|r| 2.0 * r * (1.0 - loo.cdf(r)) * step)
            .sum();
        assert!((mean / loo.mean_power() - 1.0).abs() < 1e-3, "{mean}");
    }
}
