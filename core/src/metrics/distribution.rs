//! Distributions of delays: exact for short runs, within a thousandth for long ones.

use hdrhistogram::Histogram;

use crate::units::Duration;

/// Samples are kept exactly up to this many; then they go into a histogram of three significant
/// digits, so that memory does not grow with the run.
const EXACT: usize = 1 << 16;
/// Why recording cannot fail.
const GROWS: &str = "a histogram that resizes itself takes any u64";

/// Collects durations.
///
/// ```
/// use clift::metrics::Distribution;
/// use clift::units::Duration;
/// let mut delays = Distribution::default();
/// for ms in [4, 1, 3, 2] {
///     delays.record(Duration::from_millis(ms));
/// }
/// let summary = delays.summary().unwrap();
/// assert_eq!(summary.max, Duration::from_millis(4));
/// assert_eq!(summary.mean_ns, 2.5e6);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    exact: Vec<u64>,
    folded: Option<Box<Histogram<u64>>>,
    sum: u128,
    min: u64,
    max: u64,
    count: u64,
}

/// What a report says of a distribution of durations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelaySummary {
    /// Number of samples, at least 1.
    pub count: u64,
    /// The smallest, exactly.
    pub min: Duration,
    /// The mean, exactly, in nanoseconds.
    pub mean_ns: f64,
    /// Median (nearest rank).
    pub p50: Duration,
    /// 85th percentile.
    pub p85: Duration,
    /// 95th percentile.
    pub p95: Duration,
    /// 99th percentile.
    pub p99: Duration,
    /// The largest, exactly.
    pub max: Duration,
}

impl Distribution {
    /// Adds one sample.
    #[inline]
    pub fn record(&mut self, sample: Duration) {
        let nanos = sample.as_nanos();
        self.min = if self.count == 0 { nanos } else { self.min.min(nanos) };
        self.max = self.max.max(nanos);
        self.sum += u128::from(nanos);
        self.count += 1;
        match &mut self.folded {
            Some(histogram) => histogram.record(nanos).expect(GROWS),
            None => {
                self.exact.push(nanos);
                if self.exact.len() == EXACT {
                    self.fold();
                }
            }
        }
    }

    /// The samples of both together.
    pub fn merged(&self, other: &Self) -> Self {
        let mut both = self.clone();
        for &nanos in &other.exact {
            both.record(Duration::from_nanos(nanos));
        }
        let Some(theirs) = &other.folded else { return both };
        if both.folded.is_none() {
            both.fold();
        }
        if let Some(ours) = &mut both.folded {
            ours.add(theirs.as_ref()).expect(GROWS);
        }
        both.min = if both.count == 0 { other.min } else { both.min.min(other.min) };
        both.max = both.max.max(other.max);
        both.sum += other.sum;
        both.count += other.count;
        both
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The `q`-quantile by nearest rank, 0 <= q <= 1; `None` without samples. Exact up to 65,536
    /// samples, within 0.1 % beyond.
    pub fn quantiles<const N: usize>(&self, qs: [f64; N]) -> Option<[Duration; N]> {
        if self.count == 0 {
            return None;
        }
        let found = match &self.folded {
            Some(histogram) => qs.map(|q| histogram.value_at_quantile(q).clamp(self.min, self.max)),
            None => {
                let mut sorted = self.exact.clone();
                sorted.sort_unstable();
                qs.map(|q| {
                    let rank = libm::ceil(q * sorted.len() as f64) as usize;
                    sorted[rank.clamp(1, sorted.len()) - 1]
                })
            }
        };
        Some(found.map(Duration::from_nanos))
    }

    /// The figures of a report; `None` without samples.
    pub fn summary(&self) -> Option<DelaySummary> {
        let [p50, p85, p95, p99] = self.quantiles([0.50, 0.85, 0.95, 0.99])?;
        Some(DelaySummary {
            count: self.count,
            min: Duration::from_nanos(self.min),
            mean_ns: self.sum as f64 / self.count as f64,
            p50,
            p85,
            p95,
            p99,
            max: Duration::from_nanos(self.max),
        })
    }

    #[cold]
    fn fold(&mut self) {
        // Three digits are within what the type allows, so this cannot fail.
        let mut histogram = Box::new(Histogram::new(3).expect("three significant digits"));
        for nanos in std::mem::take(&mut self.exact) {
            histogram.record(nanos).expect(GROWS);
        }
        self.folded = Some(histogram);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_runs_are_exact() {
        let mut d = Distribution::default();
        assert_eq!(d.summary(), None);
        for ns in (1..=100).rev() {
            d.record(Duration::from_nanos(ns));
        }
        let s = d.summary().unwrap();
        assert_eq!((s.min.as_nanos(), s.max.as_nanos(), s.mean_ns), (1, 100, 50.5));
        assert_eq!([s.p50, s.p85, s.p95, s.p99].map(Duration::as_nanos), [50, 85, 95, 99]);
    }

    #[test]
    fn two_are_merged_as_if_recorded_together() {
        for (left, right) in [(10, 10), (0, 5), (10, 100_000), (100_000, 10), (90_000, 90_000)] {
            let (mut a, mut b) = (Distribution::default(), Distribution::default());
            let mut both = Distribution::default();
            for i in 0..left + right {
                let sample = Duration::from_nanos(1_000_000 + i * 7919 % 100_003);
                (if i < left { &mut a } else { &mut b }).record(sample);
                both.record(sample);
            }
            let (merged, both) = (a.merged(&b).summary().unwrap(), both.summary().unwrap());
            assert_eq!((merged.count, merged.min, merged.max), (both.count, both.min, both.max));
            assert_eq!(merged.mean_ns, both.mean_ns);
            let off = merged.p95.as_nanos() as f64 / both.p95.as_nanos() as f64 - 1.0;
            assert!(off.abs() < 2.1e-3, "{left} and {right}: {off}");
        }
    }

    #[test]
    fn long_runs_are_within_a_thousandth() {
        let mut d = Distribution::default();
        let n = 300_000u64;
        for i in 0..n {
            d.record(Duration::from_nanos(1_000_000 + (i * 7919) % n * 1000));
        }
        let s = d.summary().unwrap();
        assert_eq!(s.count, n);
        for (q, found) in [(0.50, s.p50), (0.85, s.p85), (0.99, s.p99)] {
            let exact = 1e6 + (q * n as f64 - 1.0) * 1000.0;
            assert!((found.as_nanos() as f64 / exact - 1.0).abs() < 1.1e-3, "{q}");
        }
    }
}
