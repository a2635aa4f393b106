//! The level at the terminal as a function of distance, sample by sample.

use rand_chacha::ChaCha8Rng;

use super::gaussian::Normals;
use super::loo::{Loo, NEPER};
use super::multipath::{Multipath, PER_WAVELENGTH};
use super::shadowing::{Road, Segment, Shadowing, between, road_stream};

/// Power relative to the unshadowed line of sight, over distance: a direct path with correlated
/// lognormal shadowing, plus Doppler-shaped multipath.
///
/// Samples are 1/32 of a wavelength apart. Streams of the generator: two for the road, one each for
/// shadowing and multipath.
#[derive(Clone, Debug)]
pub struct Fading {
    road: Road,
    segment: Segment,
    /// Number of samples in the segment, and how many were produced.
    steps: f64,
    step: f64,
    step_m: f64,
    /// Amplitude of the multipath in the current segment.
    multipath_amplitude: f64,
    multipath: Multipath,
    shadow: Normals,
    /// The unit-variance shadowing process, and its correlation between samples.
    shadow_now: f64,
    correlation: f64,
}

impl Fading {
    pub(super) fn new(
        shadowing: Shadowing,
        correlation_m: f64,
        wavelength_m: f64,
        rng: &ChaCha8Rng,
    ) -> Self {
        let stream = |number| {
            let mut rng = rng.clone();
            rng.set_stream(number);
            rng
        };
        let step_m = wavelength_m / PER_WAVELENGTH as f64;
        let mut road = Road::new(shadowing, road_stream(rng));
        let segment = road.segment();
        let mut shadow = Normals::new(stream(3));
        let shadow_now = shadow.draw();
        let mut fading = Self {
            road,
            segment,
            steps: 0.0,
            step: 0.0,
            step_m,
            multipath_amplitude: 0.0,
            multipath: Multipath::new(Normals::new(stream(4))),
            shadow,
            shadow_now,
            correlation: libm::exp(-step_m / correlation_m),
        };
        fading.enter(segment, 0.0);
        fading
    }

    /// Distance between samples in metres.
    pub fn step_m(&self) -> f64 {
        self.step_m
    }

    /// The next sample: power relative to the unshadowed line of sight.
    #[inline]
    pub fn power(&mut self) -> f64 {
        while self.step >= self.steps {
            let over = self.step - self.steps;
            let next = self.road.segment();
            self.enter(next, over);
        }
        let (loo, multipath) = if self.segment.is_transition() {
            let loo = between(&self.segment.from, &self.segment.to, self.step / self.steps);
            (loo, libm::exp(NEPER * loo.multipath_db))
        } else {
            (self.segment.from, self.multipath_amplitude)
        };
        self.step += 1.0;
        let direct = self.direct(&loo);
        let (re, im) = self.multipath.draw();
        let (re, im) = (direct + multipath * re, multipath * im);
        re * re + im * im
    }

    /// Amplitude of the direct path; advances the shadowing process by one sample.
    #[inline]
    fn direct(&mut self, loo: &Loo) -> f64 {
        let rho = self.correlation;
        self.shadow_now = rho * self.shadow_now + libm::sqrt(1.0 - rho * rho) * self.shadow.draw();
        libm::exp(NEPER * (loo.direct_db + loo.psi_db * self.shadow_now))
    }

    /// Enters a segment of which `over` samples have already passed.
    fn enter(&mut self, segment: Segment, over: f64) {
        self.segment = segment;
        self.steps = segment.length_m / self.step_m;
        self.step = over;
        self.multipath_amplitude = libm::exp(NEPER * segment.from.multipath_db);
    }
}
