//! Distributions of delays: exact for few samples, within a thousandth for many.

use crate::units::Duration;

/// Number of samples from which counts per cell replace the exact samples, so that memory does not
/// grow with the run.
const EXACT: usize = 1 << 16;
/// Samples that are buffered before they are counted.
const CHUNK: usize = 1 << 10;
/// Number of samples up to which all are put in order for a quantile.
const FEW: u64 = 500;
/// No place among the samples near a rank.
const NOWHERE: u32 = u32::MAX;
/// Leading bits in which samples of one cell agree: a cell is at most a thousandth wide.
const BITS: u32 = 11;

/// Collects durations and computes their quantiles.
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
    /// The samples that are not in `folded` yet.
    recent: Vec<u64>,
    folded: Option<Box<Folded>>,
}

/// Samples by cell: a histogram of three significant digits (Tene, HdrHistogram).
#[derive(Clone, Debug)]
struct Folded {
    counts: Vec<u64>,
    totals: Totals,
}

#[derive(Clone, Copy, Debug)]
struct Totals {
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

/// Summary of a distribution of durations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelaySummary {
    /// Number of samples, at least 1.
    pub count: u64,
    /// Minimum, exact.
    pub min: Duration,
    /// Mean in nanoseconds, exact.
    pub mean_ns: f64,
    /// Median (nearest rank).
    pub p50: Duration,
    /// 85th percentile.
    pub p85: Duration,
    /// 95th percentile.
    pub p95: Duration,
    /// 99th percentile.
    pub p99: Duration,
    /// Maximum, exact.
    pub max: Duration,
}

impl Distribution {
    /// Adds one sample.
    #[inline]
    pub fn record(&mut self, sample: Duration) {
        if self.recent.len() == self.recent.capacity() {
            self.make_room();
        }
        self.recent.push(sample.as_nanos());
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.folded.as_ref().map_or(0, |folded| folded.totals.count) + self.recent.len() as u64
    }

    /// The `q`-quantiles by nearest rank, 0 <= q <= 1; `None` without samples. Exact below 65,536
    /// samples, else within 0.1 %.
    pub fn quantiles<const N: usize>(&self, qs: [f64; N]) -> Option<[Duration; N]> {
        let [found] = quantiles(self, [&Self::default()], qs);
        found.map(|(_, quantiles)| quantiles)
    }

    /// Summary of the samples; `None` without samples.
    pub fn summary(&self) -> Option<DelaySummary> {
        self.summary_with(&Self::default())
    }

    /// Summary of the samples of both distributions; `None` without samples.
    pub fn summary_with(&self, other: &Self) -> Option<DelaySummary> {
        let [summary] = self.summaries_with([other]);
        summary
    }

    /// As [`Distribution::summary_with`], with each of `others`.
    pub fn summaries_with<const M: usize>(&self, others: [&Self; M]) -> [Option<DelaySummary>; M] {
        quantiles(self, others, [0.50, 0.85, 0.95, 0.99]).map(|found| {
            let (totals, [p50, p85, p95, p99]) = found?;
            Some(DelaySummary {
                count: totals.count,
                min: Duration::from_nanos(totals.min),
                mean_ns: totals.sum as f64 / totals.count as f64,
                p50,
                p85,
                p95,
                p99,
                max: Duration::from_nanos(totals.max),
            })
        })
    }

    fn totals(&self) -> Totals {
        let folded = self.folded.as_ref().map_or(Totals::NONE, |folded| folded.totals);
        folded.with(&self.recent)
    }

    #[cold]
    fn make_room(&mut self) {
        let held = self.recent.len();
        if self.folded.is_none() && held < EXACT {
            self.recent.reserve_exact(held.max(64).min(EXACT - held));
        } else {
            self.fold();
            self.recent = Vec::with_capacity(CHUNK);
        }
    }

    fn fold(&mut self) -> &Folded {
        let folded = self.folded.get_or_insert_with(|| Box::new(Folded::EMPTY));
        folded.count(&self.recent);
        self.recent.clear();
        folded
    }
}

/// Totals and quantiles of all samples of `common` and each of `others`.
fn quantiles<const N: usize, const M: usize>(
    common: &Distribution,
    others: [&Distribution; M],
    qs: [f64; N],
) -> [Option<(Totals, [Duration; N])>; M] {
    let shared = common.totals();
    let totals = others.map(|other| shared.and(other.totals()));
    // This many are never folded.
    let is_exact = |totals: &Totals| (1..EXACT as u64).contains(&totals.count);
    let found = if totals.iter().all(is_exact) {
        let ranks = totals.map(|Totals { count, .. }| {
            let rank = |q: f64| (libm::ceil(q * count as f64) as usize).clamp(1, count as usize);
            qs.map(|q| rank(q) - 1)
        });
        of_ranks(&common.recent, others.map(|other| &other.recent[..]), &totals, ranks).map(Some)
    } else if M > 1 {
        return others.map(|other| {
            let [found] = quantiles(common, [other], qs);
            found
        });
    } else {
        others.map(|other| {
            let mut all = Folded::EMPTY;
            for part in [common, other] {
                part.folded.iter().for_each(|folded| all.add(folded));
                all.count(&part.recent);
            }
            (all.totals.count > 0).then(|| qs.map(|q| all.quantile(q)))
        })
    };
    let mut totals = totals.into_iter();
    found.map(|found| Some((totals.next()?, found?.map(Duration::from_nanos))))
}

/// Of `common` with each of `others`, which have these totals: the samples with these ranks, from 0, in
/// ascending order. Many samples are counted by their leading bits first, so that only those near a rank are
/// compared with one another.
fn of_ranks<const N: usize, const M: usize>(
    common: &[u64],
    others: [&[u64]; M],
    totals: &[Totals; M],
    ranks: [[usize; N]; M],
) -> [[u64; N]; M] {
    let Totals { count, min, max, .. } =
        totals.iter().fold(Totals::NONE, |all, &totals| all.and(totals));
    if count <= FEW {
        return std::array::from_fn(|m| {
            let mut all = [common, others[m]].concat();
            all.sort_unstable();
            ranks[m].map(|rank| all[rank])
        });
    }
    let bins = (count as usize).next_power_of_two().min(1 << 12);
    let shift = (((max - min) | 1).ilog2() + 1).saturating_sub(bins.ilog2());
    let last = bins - 1;
    let bin = move |sample: u64| sample.wrapping_sub(min).wrapping_shr(shift) as usize & last;
    let count = |mut counts: Vec<u32>, samples: &[u64]| {
        let of_bins = &mut counts[..=last];
        samples.iter().for_each(|&sample| of_bins[bin(sample)] += 1);
        counts
    };
    let shared = count(vec![0; bins], common);
    let counts = others.map(|other| count(shared.clone(), other));
    // The bin of each rank, and the rank within it.
    let places: [[(usize, usize); N]; M] = std::array::from_fn(|m| {
        ranks[m].map(|rank| {
            let mut below = 0;
            let bin = counts[m].iter().position(|&count| {
                let holds = below + count as usize > rank;
                below += if holds { 0 } else { count as usize };
                holds
            });
            (bin.unwrap_or(last), rank - below)
        })
    });
    // Samples of these bins get a place by bin; the others get none.
    let mut starts = vec![NOWHERE; bins];
    let mut room = 0;
    for &(bin, _) in places.iter().flatten() {
        if starts[bin] == NOWHERE {
            starts[bin] = room;
            room += counts.iter().map(|counts| counts[bin]).max().unwrap_or(0);
        }
    }
    let put = |(mut near, mut ends): (Vec<u64>, Vec<u32>), samples: &[u64]| {
        let of_bins = &mut ends[..=last];
        for &sample in samples {
            let end = &mut of_bins[bin(sample)];
            if *end != NOWHERE {
                near[*end as usize] = sample;
                *end += 1;
            }
        }
        (near, ends)
    };
    let mut shared = put((vec![0; room as usize], starts.clone()), common);
    std::array::from_fn(|m| {
        let own = if m + 1 == M { std::mem::take(&mut shared) } else { shared.clone() };
        let (mut near, ends) = put(own, others[m]);
        let mut uniform = (bins, 0);
        places[m].map(|(bin, place)| {
            let near = &mut near[starts[bin] as usize..ends[bin] as usize];
            // Over slots of one length many delays are the same, and several ranks are among them.
            if bin != uniform.0 && near[1..] == near[..near.len() - 1] {
                uniform = (bin, near[0]);
            }
            if bin == uniform.0 { uniform.1 } else { *near.select_nth_unstable(place).1 }
        })
    })
}

impl Folded {
    const EMPTY: Self = Self { counts: Vec::new(), totals: Totals::NONE };

    fn add(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum += count;
        }
        self.totals = self.totals.and(other.totals);
    }

    /// Counts samples.
    fn count(&mut self, samples: &[u64]) {
        self.totals = self.totals.with(samples);
        let cells = samples.iter().map(|&nanos| cell(nanos));
        let highest = cell(self.totals.max);
        if self.counts.len() <= highest {
            self.counts.resize(highest + 1, 0);
        }
        let counts = &mut self.counts[..];
        cells.for_each(|cell| counts[cell] = counts[cell].wrapping_add(1));
    }

    /// The `q`-quantile by nearest rank: the highest value of its cell.
    fn quantile(&self, q: f64) -> u64 {
        let Totals { count, min, max, .. } = self.totals;
        let rank = (libm::ceil(q * count as f64) as u64).max(1);
        let mut below = 0;
        let cell = self.counts.iter().position(|count| {
            below += count;
            below >= rank
        });
        match cell {
            Some(cell) if q > 0.0 => highest(cell).clamp(min, max),
            _ => min,
        }
    }
}

/// The cell of a sample: cells are numbered in ascending order, 1024 for each power of two above
/// 2048, below one for each value.
#[inline]
fn cell(nanos: u64) -> usize {
    let shift = (nanos | 1 << (BITS - 1)).ilog2().wrapping_sub(BITS - 1);
    ((shift as usize) << (BITS - 1)).wrapping_add(nanos.wrapping_shr(shift) as usize)
}

/// The highest value of a cell.
fn highest(cell: usize) -> u64 {
    let shift = (cell >> (BITS - 1)).saturating_sub(1);
    let lowest = ((cell - (shift << (BITS - 1))) as u64) << shift;
    lowest | ((1 << shift) - 1)
}

impl Totals {
    const NONE: Self = Self { count: 0, sum: 0, min: u64::MAX, max: 0 };

    /// Those of these samples too.
    fn with(mut self, samples: &[u64]) -> Self {
        self.count += samples.len() as u64;
        // In one loop with the sum, which keeps it scalar: vectors of 64 bits have no minimum.
        for &nanos in samples {
            self.sum = self.sum.wrapping_add(nanos.into());
            self.min = self.min.min(nanos);
            self.max = self.max.max(nanos);
        }
        self
    }

    /// Those of both together.
    fn and(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compared with HdrHistogram, over samples of any magnitude.
        #[test]
        fn quantiles_are_those_of_a_histogram_of_three_significant_digits(
            samples in prop::collection::vec((any::<u64>(), 0u32..64), 1..200),
            q in 0.0f64..=1.0,
        ) {
            let (mut d, mut histogram) = (Distribution::default(), Histogram::<u64>::new(3).unwrap());
            for (bits, shift) in samples {
                d.record(Duration::from_nanos(bits >> shift));
                histogram.record(bits >> shift).unwrap();
            }
            let folded = d.fold();
            let Totals { min, max, .. } = folded.totals;
            for q in [q, 0.0, 1.0] {
                let expected = histogram.value_at_quantile(q).clamp(min, max);
                prop_assert_eq!(folded.quantile(q), expected);
            }
        }
    }

    proptest! {
        #[test]
        fn exact_quantiles_are_those_of_a_sorted_list_in_any_order(
            samples in prop::collection::vec((any::<u64>(), prop_oneof![0u32..64, 58u32..60]), 1..1500),
            from in 0usize..1500,
            qs in prop::array::uniform4(0.0f64..=1.0),
        ) {
            let samples: Vec<u64> = samples.into_iter().map(|(bits, shift)| bits >> shift).collect();
            let mut d = Distribution::default();
            samples.iter().for_each(|&nanos| d.record(Duration::from_nanos(nanos)));
            let (mut left, mut right) = (Distribution::default(), Distribution::default());
            for (number, &nanos) in samples.iter().enumerate() {
                let part = if number < from { &mut left } else { &mut right };
                part.record(Duration::from_nanos(nanos));
            }
            prop_assert_eq!(left.summary_with(&right), d.summary());
            let both = left.summaries_with([&right, &d]);
            prop_assert_eq!(both, [d.summary(), left.summary_with(&d)]);
            let mut sorted = samples;
            sorted.sort_unstable();
            let rank = |q: f64| (libm::ceil(q * sorted.len() as f64) as usize).max(1);
            let expected = qs.map(|q| Duration::from_nanos(sorted[rank(q) - 1]));
            prop_assert_eq!(d.quantiles(qs), Some(expected));
        }
    }

    #[test]
    fn few_samples_give_exact_quantiles() {
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
    fn two_distributions_are_summarised_as_one() {
        for (left, right) in [(10, 10), (0, 5), (10, 100_000), (100_000, 10), (90_000, 90_000)] {
            let (mut a, mut b) = (Distribution::default(), Distribution::default());
            let mut both = Distribution::default();
            for i in 0..left + right {
                let sample = Duration::from_nanos(1_000_000 + i * 7919 % 100_003);
                (if i < left { &mut a } else { &mut b }).record(sample);
                both.record(sample);
            }
            let (merged, both) = (a.summary_with(&b).unwrap(), both.summary().unwrap());
            assert_eq!((merged.count, merged.min, merged.max), (both.count, both.min, both.max));
            assert_eq!(merged.mean_ns, both.mean_ns);
            let off = merged.p95.as_nanos() as f64 / both.p95.as_nanos() as f64 - 1.0;
            assert!(off.abs() < 2.1e-3, "{left} and {right}: {off}");
        }
    }

    #[test]
    fn many_samples_give_quantiles_within_a_thousandth() {
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
