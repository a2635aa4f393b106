//! Diffuse multipath: a complex Gaussian process with the Doppler spectrum of Clarke and Jakes.

use super::gaussian::Normals;

/// Output samples per wavelength.
pub(super) const PER_WAVELENGTH: usize = BASE * FACTOR;
/// Samples per wavelength of the filtered noise; the spectrum ends at 1 cycle per wavelength.
const BASE: usize = 4;
/// Interpolation factor.
const FACTOR: usize = 8;
/// Taps of the Doppler filter: 128 wavelengths.
const TAPS: usize = 513;
/// Base samples that contribute to each interpolated sample.
const SPAN: usize = 16;
/// Base samples generated at a time.
const BLOCK: usize = 256;

/// Unit-power complex Gaussian noise over distance with S(f) = 1 / (pi sqrt(1 - f^2)), f in cycles
/// per wavelength: isotropic scattering, with autocorrelation J_0(2 pi x / wavelength).
///
/// White noise is filtered to this autocorrelation and interpolated. The direct path is at the
/// centre of the spectrum.
#[derive(Clone, Debug)]
pub(super) struct Multipath {
    normals: Normals,
    doppler: Vec<f64>,
    interpolator: Vec<[f64; SPAN]>,
    /// White noise, starting with the last `TAPS - 1` samples; real and imaginary part.
    noise: [Vec<f64>; 2],
    /// Filtered noise, starting with the last `SPAN - 1` samples.
    base: [Vec<f64>; 2],
    ready: [Vec<f64>; 2],
    next: usize,
}

impl Multipath {
    pub(super) fn new(normals: Normals) -> Self {
        let mut multipath = Self {
            normals,
            doppler: doppler_filter(),
            interpolator: interpolator(),
            noise: [vec![0.0; TAPS - 1], vec![0.0; TAPS - 1]],
            base: [vec![0.0; SPAN - 1], vec![0.0; SPAN - 1]],
            ready: [vec![0.0; BLOCK * FACTOR], vec![0.0; BLOCK * FACTOR]],
            next: 0,
        };
        // Flush the initial zeros out of the filters.
        for _ in 0..(TAPS + SPAN).div_ceil(BLOCK) {
            multipath.advance();
        }
        multipath
    }

    /// Draws the next sample: both quadratures, each with variance 1/2.
    #[inline]
    pub(super) fn draw(&mut self) -> (f64, f64) {
        if self.next == BLOCK * FACTOR {
            self.advance();
        }
        let sample = (self.ready[0][self.next], self.ready[1][self.next]);
        self.next += 1;
        sample
    }

    fn advance(&mut self) {
        for part in 0..2 {
            let noise = &mut self.noise[part];
            if noise.len() > TAPS - 1 {
                noise.drain(..BLOCK);
            }
            noise.extend((0..BLOCK).map(|_| self.normals.draw()));
            let base = &mut self.base[part];
            if base.len() > SPAN - 1 {
                base.drain(..BLOCK);
            }
            base.extend(noise.windows(TAPS).map(|window| dot(window, &self.doppler)));
            for (window, out) in base.windows(SPAN).zip(self.ready[part].chunks_exact_mut(FACTOR)) {
                for (taps, out) in self.interpolator.iter().zip(out) {
                    *out = dot(window, taps);
                }
            }
        }
        self.next = 0;
    }
}

/// Dot product in a fixed order of eight lanes, which a compiler can vectorise without changing a
/// bit.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + b) + (c + d)) + ((e + f) + (g + h)) + rest
}

/// The filter whose output has the autocorrelation J_0(2 pi n / BASE) under a Hann window of lags.
/// Its frequency response is the square root of the spectrum of that autocorrelation, scaled to a
/// variance of 1/2. The window changes the autocorrelation by 0.005 up to 10 wavelengths and by
/// 0.015 up to 25.
fn doppler_filter() -> Vec<f64> {
    const FREQUENCIES: usize = 1024;
    let middle = TAPS / 2;
    let lags: Vec<f64> = (0..=middle)
        .map(|lag| {
            let window = libm::cos(std::f64::consts::PI * lag as f64 / middle as f64);
            let turns = lag as f64 / BASE as f64;
            libm::j0(2.0 * std::f64::consts::PI * turns) * (0.5 + 0.5 * window)
        })
        .collect();
    let mut half = vec![0.0; middle + 1];
    for frequency in 0..FREQUENCIES {
        let angle = std::f64::consts::PI * (frequency as f64 + 0.5) / FREQUENCIES as f64;
        let spectrum: f64 = cosines(angle)
            .zip(&lags)
            .enumerate()
            .map(|(lag, (cosine, value))| if lag == 0 { *value } else { 2.0 * value * cosine })
            .sum();
        let response = libm::sqrt(spectrum.max(0.0));
        half.iter_mut().zip(cosines(angle)).for_each(|(tap, cosine)| *tap += response * cosine);
    }
    let energy = half[0] * half[0] + 2.0 * half[1..].iter().map(|h| h * h).sum::<f64>();
    let scale = libm::sqrt(0.5 / energy);
    (0..TAPS).map(|n| scale * half[n.abs_diff(middle)]).collect()
}

/// cos(0), cos(angle), cos(2 angle), ... by cos((n + 1) x) = 2 cos(x) cos(n x) - cos((n - 1) x).
fn cosines(angle: f64) -> impl Iterator<Item = f64> {
    let first = libm::cos(angle);
    let (mut before, mut now) = (first, 1.0);
    std::iter::from_fn(move || {
        let given = now;
        (before, now) = (now, 2.0 * first * now - before);
        Some(given)
    })
}

/// Windowed sinc for each of the `FACTOR` positions after a base sample. The cut-off is in the
/// middle between the spectrum (up to 1 per wavelength) and its image (from 3).
fn interpolator() -> Vec<[f64; SPAN]> {
    (0..FACTOR)
        .map(|place| {
            let mut taps = [0.0; SPAN];
            let mut sum = 0.0;
            for (n, tap) in taps.iter_mut().enumerate() {
                let x = n as f64 - (SPAN / 2 - 1) as f64 - place as f64 / FACTOR as f64;
                let angle = std::f64::consts::PI * x;
                let sinc = if x == 0.0 { 1.0 } else { libm::sin(angle) / angle };
                let window = 2.0 * angle / SPAN as f64;
                // Blackman window.
                let window = 0.42 + 0.5 * libm::cos(window) + 0.08 * libm::cos(2.0 * window);
                *tap = sinc * window;
                sum += *tap;
            }
            taps.map(|tap| tap / sum)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};

    fn samples(count: usize) -> Vec<(f64, f64)> {
        let mut multipath = Multipath::new(Normals::new(Seed(8).rng(Stream::Channel(0))));
        (0..count).map(|_| multipath.draw()).collect()
    }

    /// Compares the autocorrelation of filter and interpolator with J_0, without noise.
    #[test]
    fn the_filter_has_the_autocorrelation_of_isotropic_scattering() {
        let filter = doppler_filter();
        for lag in 0..=40 {
            let products = filter.iter().zip(&filter[lag..]).map(|(a, b)| 2.0 * a * b);
            let expected = libm::j0(2.0 * std::f64::consts::PI * lag as f64 / BASE as f64);
            let correlation: f64 = products.sum();
            assert!((correlation - expected).abs() < 0.006, "{lag}: {correlation} {expected}");
        }
    }

    #[test]
    fn noise_has_unit_power_and_the_autocorrelation_between_base_samples() {
        let samples = samples(300_000);
        let wavelengths = samples.len() as f64 / PER_WAVELENGTH as f64;
        for lag in [0, 1, 5, 12, 16, 23, 32, 100] {
            let products = samples.iter().zip(&samples[lag..]).map(|(a, b)| a.0 * b.0 + a.1 * b.1);
            let correlation = products.sum::<f64>() / (samples.len() - lag) as f64;
            let expected =
                libm::j0(2.0 * std::f64::consts::PI * lag as f64 / PER_WAVELENGTH as f64);
            // About one independent value per wavelength.
            let bound = 4.5 / wavelengths.sqrt() + 0.012;
            assert!((correlation - expected).abs() < bound, "{lag}: {correlation} {expected}");
        }
    }

    #[test]
    fn quadratures_are_normal() {
        let mut parts: Vec<f64> = samples(400_000)
            .iter()
            .step_by(PER_WAVELENGTH)
            .flat_map(|&(re, im)| [re, im])
            .collect();
        parts.sort_by(f64::total_cmp);
        let count = parts.len() as f64;
        let largest = parts
            .iter()
            .enumerate()
            .map(|(rank, &x)| {
                let law = super::super::gaussian::phi(x * std::f64::consts::SQRT_2);
                ((rank as f64 + 0.5) / count - law).abs()
            })
            .fold(0.0, f64::max);
        assert!(largest * count.sqrt() < 2.9, "{largest}");
    }
}
