//! Packet error rate of a code as a function of the mean mutual information of a code word.

use super::csv;
use super::information::Modulation;
use super::named::named;
use super::out_of_range;
use crate::config::Fault;

named! {
    /// A built-in code: turbo, information bits, rate.
    pub enum CodeName {
        /// 33 bytes, rate 1/3: the 3GPP turbo code of Kuhn 2014, measured over the Gaussian
        /// channel.
        Turbo264Third = "turbo-264-1/3",
        /// 33 bytes, rate 2/3: the same code with three of four parity bits punctured.
        Turbo264TwoThirds = "turbo-264-2/3",
        /// 1523 bytes, rate 1/3: the constituent codes of 3GPP and 3GPP2 with a random interleaver.
        Turbo12184Third = "turbo-12184-1/3",
        /// 1523 bytes, rate 2/3.
        Turbo12184TwoThirds = "turbo-12184-2/3",
    }
}

/// PER(MI): the probability that a code word is lost, as a function of the mean mutual information
/// per coded bit over its symbols.
///
/// The method is that of W. Chauvet, C. Amiot-Bazile and J. Lacan (ASMS 2010, reference 38 of
/// Kuhn 2014): at a given mean mutual information, the code has the same PER over any channel as
/// over the Gaussian channel. Between the points of a table, ln(PER / (1 - PER)) is interpolated
/// linearly over the mutual information; outside it is extrapolated from the first and last
/// interval.
///
/// ```
/// use clift::channel::lms::{Code, CodeName};
/// let code = Code::named(CodeName::Turbo264Third);
/// assert!(code.per(0.30) > 0.98 && code.per(0.6) < 1e-5);
/// let own = Code::from_information(&[(0.5, 0.9), (0.6, 0.01)]).unwrap();
/// assert!((own.per(0.5) - 0.9).abs() < 1e-6);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Code {
    /// (mutual information, logit of the PER), in ascending order of the first.
    points: Vec<(f64, f64)>,
}

impl Code {
    /// PERs of 0 and 1 are replaced by values at this distance, whose logit is finite.
    const LEAST: f64 = 1e-12;

    /// A built-in code.
    pub fn named(name: CodeName) -> Self {
        Self::measured(match name {
            CodeName::Turbo264Third => include_str!("data/turbo_264_1_3.csv"),
            CodeName::Turbo264TwoThirds => include_str!("data/turbo_264_2_3.csv"),
            CodeName::Turbo12184Third => include_str!("data/turbo_12184_1_3.csv"),
            CodeName::Turbo12184TwoThirds => include_str!("data/turbo_12184_2_3.csv"),
        })
    }

    /// A table of (mutual information per coded bit, PER).
    ///
    /// # Errors
    /// If there are fewer than two points, the first column does not increase within 0 to 1, or the
    /// PER increases or is not a probability.
    pub fn from_information(table: &[(f64, f64)]) -> Result<Self, Fault> {
        let fault = |what: String| {
            Err(Fault::new("per_table", format!("the table of packet error rates {what}")))
        };
        if table.len() < 2 {
            return fault("has fewer than two rows; give two or more".to_owned());
        }
        for (row, &(information, per)) in table.iter().enumerate() {
            if !(0.0..=1.0).contains(&information) {
                return fault(format!(
                    "has a mutual information of {information} in row {row}; it must be per coded bit, from 0 to 1"
                ));
            }
            if !(0.0..=1.0).contains(&per) {
                return fault(format!(
                    "has a PER of {per} in row {row}; give a number from 0 to 1"
                ));
            }
            if row > 0 && information <= table[row - 1].0 {
                return fault(format!(
                    "does not increase in row {row}; sort it by its first column"
                ));
            }
            if row > 0 && per > table[row - 1].1 {
                return fault(format!(
                    "has a PER in row {row} above that of the row before; it must not increase"
                ));
            }
        }
        let logit = |per: f64| {
            let per = per.clamp(Self::LEAST, 1.0 - Self::LEAST);
            libm::log(per / (1.0 - per))
        };
        Ok(Self { points: table.iter().map(|&(mi, per)| (mi, logit(per))).collect() })
    }

    /// A table of (Es/N0 in dB over the Gaussian channel, PER) for `modulation`.
    ///
    /// # Errors
    /// As [`Self::from_information`].
    pub fn from_esn0(table: &[(f64, f64)], modulation: Modulation) -> Result<Self, Fault> {
        let information = |db: f64| modulation.information(libm::exp10(db / 10.0));
        let rows: Vec<_> = table.iter().map(|&(db, per)| (information(db), per)).collect();
        Self::from_information(&rows)
    }

    /// A hard threshold: decoded if the mutual information per coded bit is at least this value.
    ///
    /// # Errors
    /// If it is not strictly between 0 and 1.
    pub fn threshold(information: f64) -> Result<Self, Fault> {
        if !(information > 0.0 && information < 1.0) {
            let wanted = "a mutual information per coded bit, above 0 and below 1";
            return Err(Fault::new("threshold", out_of_range(information, wanted)));
        }
        let below = information * (1.0 - 1e-12);
        Self::from_information(&[(below, 1.0), (information, 0.0)])
    }

    /// The probability that a code word of this mean mutual information per coded bit is lost.
    pub fn per(&self, information: f64) -> f64 {
        let next = self.points.partition_point(|&(mi, _)| mi <= information);
        let next = next.clamp(1, self.points.len() - 1);
        let ((x0, y0), (x1, y1)) = (self.points[next - 1], self.points[next]);
        let logit = y0 + (y1 - y0) * (information - x0) / (x1 - x0);
        1.0 / (1.0 + libm::exp(-logit))
    }

    /// Reads a built-in table: Es/N0 of QPSK, blocks, errors. Rows in which every block was lost do
    /// not contribute to the curve.
    fn measured(text: &str) -> Self {
        let rows = csv::rows(text).map(|row| (row.number(0), row.number(2) / row.number(1)));
        let rows: Vec<_> = rows.filter(|&(_, per)| per < 1.0).collect();
        Self::from_esn0(&rows, Modulation::Qpsk).expect("the project's own tables, read in tests")
    }
}

/// PER(MI) tabulated in equal steps, for speed.
#[derive(Clone, Debug)]
pub(super) struct PerTable {
    values: Vec<f64>,
}

impl PerTable {
    const STEPS: usize = 1 << 14;

    pub(super) fn new(code: &Code) -> Self {
        let values = (0..=Self::STEPS).map(|step| code.per(step as f64 / Self::STEPS as f64));
        Self { values: values.collect() }
    }

    #[inline]
    pub(super) fn at(&self, information: f64) -> f64 {
        let place = (information * Self::STEPS as f64).clamp(0.0, Self::STEPS as f64);
        let step = (place as usize).min(Self::STEPS - 1);
        let (low, high) = (self.values[step], self.values[step + 1]);
        low + (high - low) * (place - step as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_tables_are_valid_and_decreasing() {
        for (name, code) in CodeName::ALL {
            assert_eq!(name.parse(), Ok(code));
            let code = Code::named(code);
            let table = PerTable::new(&code);
            let mut before = 1.0;
            for step in 0..1000 {
                let information = step as f64 / 1000.0;
                let per = code.per(information);
                assert!(per <= before, "{name} {information}");
                assert!((table.at(information) - per).abs() < 2e-4, "{name} {information}");
                before = per;
            }
            assert!(code.per(0.1) > 0.999 && code.per(0.99) < 1e-6, "{name}");
        }
    }

    /// Thresholds at PER 1e-2 measured with the same code elsewhere: -0.55 dB.
    #[test]
    fn the_33_byte_code_has_the_measured_threshold() {
        let code = Code::named(CodeName::Turbo264Third);
        let at = |db: f64| code.per(Modulation::Qpsk.information(10f64.powf(db / 10.0)));
        assert!((at(-0.5531) / 1e-2 - 1.0).abs() < 0.1, "{}", at(-0.5531));
        assert!((at(-1.701) / 0.5 - 1.0).abs() < 0.1, "{}", at(-1.701));
    }

    #[test]
    fn longer_codes_are_steeper_and_higher_rates_need_more_information() {
        let needs = |name: &str, per: f64| {
            let code = Code::named(name.parse().unwrap());
            (0..10_000).map(|i| f64::from(i) / 1e4).find(|&mi| code.per(mi) < per).unwrap()
        };
        let width = |name| needs(name, 0.01) - needs(name, 0.9);
        assert!(width("turbo-12184-1/3") < 0.5 * width("turbo-264-1/3"));
        assert!(width("turbo-12184-2/3") < 0.5 * width("turbo-264-2/3"));
        // No code is better than capacity: the rate is below the mutual information.
        assert!(needs("turbo-12184-1/3", 0.1) > 1.0 / 3.0);
        assert!(needs("turbo-12184-2/3", 0.1) > 2.0 / 3.0);
        assert!(needs("turbo-264-2/3", 0.1) > needs("turbo-12184-2/3", 0.1));
    }

    #[test]
    fn a_threshold_decides_without_transition() {
        let code = Code::threshold(0.39).unwrap();
        assert!(code.per(0.3899999) > 0.999_999 && code.per(0.39) < 1e-9);
        assert!(Code::threshold(1.2).is_err() && Code::threshold(f64::NAN).is_err());
    }

    #[test]
    fn invalid_tables_are_refused() {
        let fault = |table: &[(f64, f64)]| Code::from_information(table).unwrap_err().to_string();
        assert!(fault(&[(0.1, 1.0)]).contains("two or more"));
        assert!(fault(&[(0.1, 1.0), (1.4, 0.0)]).contains("per coded bit"));
        assert!(fault(&[(0.1, 1.0), (0.2, 1.5)]).contains("PER of 1.5 in row 1"));
        assert!(fault(&[(0.3, 1.0), (0.2, 0.5)]).contains("does not increase"));
        assert!(fault(&[(0.1, 0.2), (0.2, 0.5)]).contains("must not increase"));
        assert!("ldpc".parse::<CodeName>().unwrap_err().to_string().contains("turbo-264-1/3"));
    }
}
