//! `arrivals`: when the flows of an entry of `[[flow]]` begin.

use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::traces::{SetupFault, Traces};
use crate::config::Fault;
use crate::seed::{Seed, Stream, uniform};
use crate::tagged;
use crate::units::Duration;

/// Arrival process of flows: "poisson" or "times".
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "type")]
#[allow(missing_docs)]
pub enum Arrivals {
    #[serde(rename = "poisson")]
    Poisson(Poisson),
    #[serde(rename = "times")]
    Times(Times),
}

tagged!(Arrivals by "type" { "poisson" => Poisson(Poisson), "times" => Times(Times) });

/// Flows arrive independently of one another.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Poisson {
    /// Poisson: mean time between two arrivals.
    pub gap: Duration,
}

/// Flows arrive at given times.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Times {
    /// Times: text file with one time in seconds per line, after `start`, in ascending order; lines
    /// that start with `#` are remarks. The path is relative to the folder of the scenario file.
    pub file: String,
}

impl Arrivals {
    /// Checks the parameters.
    pub(super) fn check(&self) -> Result<(), Fault> {
        match self {
            Self::Poisson(Poisson { gap: Duration::ZERO }) => {
                Err(Fault::new("gap", "is zero; give a time above zero"))
            }
            Self::Times(Times { file }) if file.is_empty() => {
                Err(Fault::new("file", "is empty; name a file of times"))
            }
            _ => Ok(()),
        }
    }

    /// The start times from `start` on, before `end`; source number `number` of the run draws from
    /// its own stream. At most `most`.
    pub(super) fn starts(
        &self,
        (start, end): (Duration, Duration),
        (seed, number): (Seed, u32),
        most: usize,
        traces: &dyn Traces,
    ) -> Result<Vec<Duration>, SetupFault> {
        let before = |time: &Duration| *time < end;
        Ok(match self {
            Self::Poisson(Poisson { gap }) => {
                let mut rng = seed.rng(Stream::Arrivals(number));
                let mut now = start;
                let times = std::iter::repeat_with(|| {
                    now += exponential(*gap, &mut rng);
                    now
                });
                times.take_while(before).take(most).collect()
            }
            Self::Times(Times { file }) => {
                let times = traces.times(file)?;
                times.iter().map(|&time| start + time).take_while(before).take(most).collect()
            }
        })
    }
}

/// A draw from the exponential distribution with this mean, by inversion; `libm` gives the same bits
/// on every platform. At most 37 times the mean.
fn exponential(mean: Duration, rng: &mut impl Rng) -> Duration {
    Duration::from_nanos(
        (mean.as_nanos() as f64 * -libm::log1p(-uniform(rng))).round_ties_even() as u64
    )
}

/// Reads the lines of a file of times.
#[derive(Debug, Default)]
pub(super) struct TimesReader(Vec<Duration>);

/// Maximum time, in ns: 73 years.
const LONGEST: f64 = (1u64 << 61) as f64;

impl TimesReader {
    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with the line.
    pub(super) fn line(&mut self, line: &str) -> Result<(), String> {
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        }
        let time = text.parse::<f64>().ok().filter(|time| (0.0..LONGEST / 1e9).contains(time));
        let time = time.ok_or_else(|| {
            format!("`{text}` is not a time in seconds; give one number per line, 0 or more")
        })?;
        let time = Duration::from_nanos((time * 1e9).round_ties_even() as u64);
        if self.0.last().is_some_and(|&before| time < before) {
            return Err(format!("{text} is earlier than the line before; sort the file"));
        }
        self.0.push(time);
        Ok(())
    }

    /// The times.
    ///
    /// # Errors
    /// If there are none.
    pub(super) fn finish(self) -> Result<Vec<Duration>, String> {
        if self.0.is_empty() {
            return Err("has no times; give at least one line with a time in seconds".to_owned());
        }
        Ok(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Memory;

    /// The number of arrivals of a Poisson process has its mean as variance, and gaps have the mean
    /// given.
    #[test]
    fn poisson_arrivals_have_the_moments_of_their_law() {
        let gap = Duration::from_millis(20);
        let process = Arrivals::Poisson(Poisson { gap });
        let span = (Duration::from_secs(3), Duration::from_secs(13));
        let count = |number: u32| {
            let starts =
                process.starts(span, (Seed(5), number), usize::MAX, &Memory::default()).unwrap();
            assert!(
                starts.is_sorted() && starts.iter().all(|&time| span.0 <= time && time < span.1)
            );
            starts.len() as f64
        };
        let counts: Vec<f64> = (0..400).map(count).collect();
        let mean = counts.iter().sum::<f64>() / 400.0;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 399.0;
        // Standard errors: 22.4 / 20 and 500 sqrt(2 / 399).
        assert!((mean - 500.0).abs() < 4.0, "{mean}");
        assert!((variance - 500.0).abs() < 110.0, "{variance}");
    }

    #[test]
    fn a_file_of_times_is_read_line_by_line() {
        let read = |text: &str| {
            let mut reader = TimesReader::default();
            text.lines().try_for_each(|line| reader.line(line)).and_then(|()| reader.finish())
        };
        let ms = Duration::from_millis;
        assert_eq!(read("# s\n0.5\n\n2\n2\n"), Ok(vec![ms(500), ms(2000), ms(2000)]));
        for (text, fault) in [
            ("1\nx\n", "`x` is not a time in seconds; give one number per line, 0 or more"),
            ("-1\n", "`-1` is not a time in seconds; give one number per line, 0 or more"),
            ("2\n1\n", "1 is earlier than the line before; sort the file"),
            ("# none\n", "has no times; give at least one line with a time in seconds"),
        ] {
            assert_eq!(read(text), Err(fault.to_owned()));
        }
    }
}
