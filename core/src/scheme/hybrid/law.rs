//! Hybrid FEC/ARQ-SR over independent losses (Al Fawal 2003, section 2): what reaches IP, and at
//! what cost.

use crate::config::Fault;
use crate::scheme::law::Chain;
use crate::units::Probability;

/// Packets of `frames` frames; a frame of `total` units is decoded from any `data` of them, and
/// sent again at most `persistency` times.
///
/// ```
/// use clift::scheme::HybridFecArq;
/// use clift::units::Probability;
/// let p = Probability::new(0.01).unwrap();
/// let plain = HybridFecArq::new(10, 10, 6, 0, p).unwrap();
/// assert!((plain.packet() - 0.99f64.powi(60)).abs() < 1e-14);
/// let hybrid = HybridFecArq::new(10, 11, 6, 5, p).unwrap();
/// assert!(hybrid.packet() > 0.999_999_9);
/// assert!((hybrid.useful_share() - 10.0 / 11.0).abs() < 0.01);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HybridFecArq {
    data: u32,
    total: u32,
    frames: u32,
    persistency: u32,
    /// Units of a frame when it is sent for the first time, and what becomes of them.
    first: Law,
    first_units: u32,
    /// What becomes of the units of a frame that is sent again.
    again: Law,
    chain: Chain,
}

/// Probabilities of one transmission of a frame: not decoded, decoded.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Law {
    fails: f64,
    decodes: f64,
}

impl Law {
    fn new(data: u32, total: u32, chain: &Chain) -> Self {
        let lost = chain.erasures(total as usize);
        let spare = (total - data) as usize;
        Self { fails: lost[spare + 1..].iter().sum(), decodes: lost[..=spare].iter().sum() }
    }
}

impl HybridFecArq {
    /// With units lost independently with probability `p`. K = `data`, N = `total`, X = `frames`,
    /// delta = `persistency` of Al Fawal 2003.
    ///
    /// # Errors
    /// Unless 1 <= `data` <= `total` <= 65535 and `frames` is at least 1.
    pub fn new(
        data: u32,
        total: u32,
        frames: u32,
        persistency: u32,
        p: Probability,
    ) -> Result<Self, Fault> {
        if data == 0 || data > total || total > u32::from(u16::MAX) {
            return Err(Fault::at("a frame carries K of N units; 1 <= K <= N <= 65535"));
        }
        if frames == 0 {
            return Err(Fault::at("frames: a packet has at least one"));
        }
        let chain = Chain::bernoulli(p.get())?;
        let law = Law::new(data, total, &chain);
        let (first, again) = (law, law);
        Ok(Self { data, total, frames, persistency, first, first_units: total, again, chain })
    }

    /// The same with `units` in a frame that is sent for the first time
    /// ([`HybridOptions::n_first`](super::HybridOptions::n_first)).
    ///
    /// # Errors
    /// Unless `units` is from K to N.
    pub fn with_first(self, units: u32) -> Result<Self, Fault> {
        if !(self.data..=self.total).contains(&units) {
            let fault = "the first transmission of a frame has from K to N units";
            return Err(Fault::at(fault));
        }
        let first = Law::new(self.data, units, &self.chain);
        Ok(Self { first, first_units: units, ..self })
    }

    /// Probability that the first transmission of a frame is decoded: K of its units arrive.
    pub fn transmission(&self) -> f64 {
        self.first.decodes
    }

    /// Probability that a frame is decoded at last.
    pub fn frame(&self) -> f64 {
        1.0 - self.frame_loss()
    }

    /// Probability that a frame is given up: 1 + delta transmissions fail.
    pub fn frame_loss(&self) -> f64 {
        self.first.fails * libm::pow(self.again.fails, f64::from(self.persistency))
    }

    /// Probability that a packet is delivered: all its frames are decoded at last.
    pub fn packet(&self) -> f64 {
        libm::exp(f64::from(self.frames) * libm::log1p(-self.frame_loss()))
    }

    /// Probability that a packet is given up.
    pub fn packet_loss(&self) -> f64 {
        -libm::expm1(f64::from(self.frames) * libm::log1p(-self.frame_loss()))
    }

    /// Expected transmissions of a frame.
    pub fn transmissions(&self) -> f64 {
        let most = f64::from(self.persistency);
        let Law { fails, decodes } = self.again;
        // Of a frame that is sent again: 1 + fails + fails^2 + ..., `most` terms.
        let repeats = if decodes == 0.0 { most } else { (1.0 - libm::pow(fails, most)) / decodes };
        1.0 + self.first.fails * repeats
    }

    /// Expected units sent for a frame.
    pub fn units(&self) -> f64 {
        f64::from(self.first_units) + f64::from(self.total) * (self.transmissions() - 1.0)
    }

    /// Share of the link's rate that delivered packets can have: K over the units sent for their
    /// frames and for the frames of packets given up. Always busy, no TCP in it.
    pub fn useful_share(&self) -> f64 {
        f64::from(self.data) * self.packet() / self.units()
    }

    /// K / N: times the rate of the link, what Al Fawal 2003 (section 3.1.2) expects of the
    /// utilization right of the optimum, where nearly every frame is decoded at once.
    pub fn code_rate(&self) -> f64 {
        f64::from(self.data) / f64::from(self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hybrid(data: u32, total: u32, frames: u32, persistency: u32, p: f64) -> HybridFecArq {
        let p = Probability::new(p).unwrap();
        HybridFecArq::new(data, total, frames, persistency, p).unwrap()
    }

    #[test]
    fn a_frame_of_three_by_hand() {
        // Two of three: p^3 + 3 p^2 (1 - p) are lost.
        let fails = 0.1f64.powi(3) + 3.0 * 0.01 * 0.9;
        let model = hybrid(2, 3, 4, 1, 0.1);
        assert!((model.transmission() - (1.0 - fails)).abs() < 1e-15);
        assert!((model.frame_loss() - fails * fails).abs() < 1e-15);
        assert!((model.packet() - (1.0 - fails * fails).powi(4)).abs() < 1e-14);
        assert!((model.packet() + model.packet_loss() - 1.0).abs() < 1e-15);
        assert!((model.transmissions() - (1.0 + fails)).abs() < 1e-14);
        let share = 2.0 / 3.0 * model.packet() / (1.0 + fails);
        assert!((model.useful_share() - share).abs() < 1e-14);
    }

    #[test]
    fn redundancy_in_repeats_only_by_hand() {
        // First two of two: 1 - 0.9^2 fail; then two of three, at most twice.
        let (first, again) = (1.0 - 0.81, 0.1f64.powi(3) + 3.0 * 0.01 * 0.9);
        let model = hybrid(2, 3, 4, 2, 0.1).with_first(2).unwrap();
        assert!((model.transmission() - 0.81).abs() < 1e-15);
        assert!((model.frame_loss() - first * again * again).abs() < 1e-15);
        assert!((model.transmissions() - (1.0 + first + first * again)).abs() < 1e-14);
        assert!((model.units() - (2.0 + 3.0 * (first + first * again))).abs() < 1e-14);
        assert_eq!(hybrid(2, 3, 4, 2, 0.1).with_first(3), Ok(hybrid(2, 3, 4, 2, 0.1)));
        assert!(hybrid(2, 3, 4, 2, 0.1).with_first(1).is_err());
        assert!(hybrid(2, 3, 4, 2, 0.1).with_first(4).is_err());
    }

    #[test]
    fn redundancy_decays_as_the_code_rate() {
        // Al Fawal 2003, figure 3: p = 0.01, K = 10; beyond N = 13 hardly a packet is lost.
        for total in 14..=20 {
            let model = hybrid(10, total, 6, 0, 0.01);
            assert!((model.useful_share() / model.code_rate() - 1.0).abs() < 1e-3, "{total}");
        }
        assert!(hybrid(10, 10, 6, 0, 0.01).useful_share() < 0.56);
    }

    #[test]
    fn the_ends_of_the_range() {
        let perfect = hybrid(10, 12, 6, 5, 0.0);
        assert_eq!((perfect.packet(), perfect.transmissions()), (1.0, 1.0));
        let dead = hybrid(10, 12, 6, 5, 1.0);
        assert_eq!((dead.packet(), dead.transmissions(), dead.useful_share()), (0.0, 6.0, 0.0));
        let small = hybrid(10, 20, 6, 5, 1e-3).packet_loss();
        assert!(small > 0.0 && small < 1e-100, "{small}");
    }

    #[test]
    fn what_makes_no_frame_is_refused() {
        let p = Probability::ZERO;
        for (data, total, frames) in [(0, 5, 1), (6, 5, 1), (1, 65536, 1), (1, 1, 0)] {
            assert!(HybridFecArq::new(data, total, frames, 0, p).is_err());
        }
    }
}
