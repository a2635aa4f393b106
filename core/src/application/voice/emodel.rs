//! The E-model of ITU-T G.107: quality of a call as a function of delay and losses.

/// Rating of a connection with all parameters at their defaults (ITU-T G.107 table 2): Ro - Is.
pub const DEFAULT_RATING: f64 = 93.2;
/// One-way delay without impairment, in ms: mT of ITU-T G.107 section 7.4, for sT = 1.
const FREE_DELAY_MS: f64 = 100.0;
/// Ie-eff if all packets are lost (ITU-T G.107 section 7.5).
const MOST_IMPAIRMENT: f64 = 95.0;

/// The network-dependent part of the E-model. All other parameters have their default values, and
/// echo is cancelled, so Idd is the only delay impairment.
///
/// ```
/// use clift::application::EModel;
/// let ideal = EModel { delay_ms: 0.0, impairment: 0.0, robustness: 25.1, loss: 0.0, burst_ratio: 1.0 };
/// assert_eq!(ideal.rating(), 93.2);
/// assert!((ideal.opinion() - 4.41).abs() < 0.005);
/// // A geostationary satellite takes some 18 points.
/// let far = EModel { delay_ms: 330.0, ..ideal };
/// assert!((far.rating() - 75.3).abs() < 0.1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EModel {
    /// One-way mouth-to-ear delay Ta, in ms.
    pub delay_ms: f64,
    /// Equipment impairment factor of the codec, Ie.
    pub impairment: f64,
    /// Packet-loss robustness factor of the codec, Bpl.
    pub robustness: f64,
    /// Share of packets lost, 0 to 1; Ppl is this share in %.
    pub loss: f64,
    /// Mean length of the bursts of losses, divided by that of random losses, at least 1: BurstR.
    /// The E-model is accurate for losses of up to 2 %.
    pub burst_ratio: f64,
}

impl EModel {
    /// Impairment by delay, Idd (G.107 equations 7-27 and 7-28).
    pub fn delay_impairment(&self) -> f64 {
        if self.delay_ms <= FREE_DELAY_MS {
            return 0.0;
        }
        let x = (self.delay_ms / FREE_DELAY_MS).log2();
        let root = |base: f64| (1.0 + base.powi(6)).powf(1.0 / 6.0);
        25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
    }

    /// Impairment by codec and losses, Ie-eff (G.107 equation 7-29).
    pub fn loss_impairment(&self) -> f64 {
        // Ppl and Bpl are in per cent in G.107.
        let percent = 100.0 * self.loss;
        let effect = percent / (percent / self.burst_ratio.max(1.0) + self.robustness);
        self.impairment + (MOST_IMPAIRMENT - self.impairment) * effect
    }

    /// The rating factor R; 0 or less is the worst quality.
    pub fn rating(&self) -> f64 {
        DEFAULT_RATING - self.delay_impairment() - self.loss_impairment()
    }

    /// The mean opinion score, estimated for conversation: 1 to 4.5 (G.107 annex B).
    pub fn opinion(&self) -> f64 {
        let r = self.rating();
        if r <= 0.0 {
            return 1.0;
        }
        // G.107 annex B: the cubic holds only for R between 0 and 100.
        if r >= 100.0 {
            return 4.5;
        }
        // Below R = 6.5 the polynomial is less than 1.
        (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDEAL: EModel =
        EModel { delay_ms: 0.0, impairment: 0.0, robustness: 4.3, loss: 0.0, burst_ratio: 1.0 };

    /// ITU-T G.107 annex B, table B.1: R and MOS at the limits of its categories. The formula gives
    /// 4.024 where the table has 4.03.
    #[test]
    fn opinions_are_those_of_annex_b() {
        for (r, expected) in [(90.0, 4.34), (80.0, 4.03), (70.0, 3.60), (60.0, 3.10), (50.0, 2.58)]
        {
            let model = EModel { impairment: DEFAULT_RATING - r, ..IDEAL };
            assert!((model.rating() - r).abs() < 1e-9);
            assert!((model.opinion() - expected).abs() < 0.0075, "{r}: {}", model.opinion());
        }
    }

    /// By hand: log2(4) = 2, (1 + 64)^(1/6) = 2.00518, (1 + (2/3)^6)^(1/6) = 1.01415.
    #[test]
    fn the_impairment_by_delay() {
        let at = |delay_ms| EModel { delay_ms, ..IDEAL }.delay_impairment();
        assert_eq!((at(0.0), at(100.0)), (0.0, 0.0));
        assert!((at(400.0) - 24.07).abs() < 0.01, "{}", at(400.0));
        assert!(at(150.0) < at(200.0) && at(200.0) < at(1000.0));
    }

    /// By hand: 95 x 2 / (2 + 4.3), and with bursts of twice the length 95 x 2 / (1 + 4.3).
    #[test]
    fn the_impairment_by_losses() {
        let two = EModel { loss: 0.02, ..IDEAL };
        assert!((two.loss_impairment() - 30.159).abs() < 1e-3);
        let bursts = EModel { burst_ratio: 2.0, ..two };
        assert!((bursts.loss_impairment() - 35.849).abs() < 1e-3);
        // Sparser than by chance is outside of the model, and counts as by chance.
        assert_eq!(EModel { burst_ratio: 0.5, ..two }.loss_impairment(), two.loss_impairment());
    }

    #[test]
    fn nothing_is_worse_than_one() {
        for loss in [0.0, 0.05, 0.3, 1.0] {
            for delay_ms in [0.0, 500.0, 5000.0] {
                let model = EModel { loss, delay_ms, impairment: 30.0, ..IDEAL };
                assert!((1.0..=4.5).contains(&model.opinion()), "{model:?}");
            }
        }
        assert_eq!(EModel { loss: 1.0, delay_ms: 800.0, ..IDEAL }.opinion(), 1.0);
    }
}
