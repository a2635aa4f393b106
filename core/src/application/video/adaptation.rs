//! The choice of a segment's rate.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Duration;

/// How a player chooses the rate of the next segment.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Adaptation {
    /// From the content of the buffer alone: BBA-0 of Huang et al. 2014 (A buffer-based approach to
    /// rate adaptation, SIGCOMM), algorithm 1.
    #[default]
    Buffer,
    /// The highest rate up to 85 % of the harmonic mean of the rates at which the last 20 segments
    /// arrived, as in Jiang et al. 2012 (FESTIVE, CoNEXT), without its gradual switches.
    Rate,
}

/// Part of the buffer with the lowest rate, and where the highest rate begins: 90 s and 216 s of 240
/// s in Huang et al. 2014, section 4.
const RESERVOIR: f64 = 90.0 / 240.0;
const FULL: f64 = 216.0 / 240.0;
/// Segments that count, and the share of their rate that is used (Jiang et al. 2012, sections 4.2
/// and 5).
const SAMPLES: usize = 20;
const SAFETY: f64 = 0.85;

/// The rates of a video, and the choice among them.
#[derive(Clone, Debug, Default)]
pub(super) struct Rates {
    /// In bit/s, ascending; there is one at least.
    ladder: Vec<u64>,
    adaptation: Adaptation,
    buffer: Duration,
    current: Option<usize>,
    switches: u64,
    /// Sum of the changes of the rate, bit/s.
    changes: u64,
    /// Seconds per bit of the last segments.
    samples: VecDeque<f64>,
}

impl Rates {
    pub(super) fn new(ladder: Vec<u64>, adaptation: Adaptation, buffer: Duration) -> Self {
        Self { ladder, adaptation, buffer, ..Self::default() }
    }

    /// Chooses the rate of the next segment, requested with `content` in the buffer.
    pub(super) fn choose(&mut self, content: Duration) -> u64 {
        let next = match self.adaptation {
            Adaptation::Buffer => self.by_buffer(content),
            Adaptation::Rate => self.by_rate(),
        };
        if let Some(current) = self.current.filter(|current| *current != next) {
            self.switches += 1;
            self.changes += self.ladder[current].abs_diff(self.ladder[next]);
        }
        self.current = Some(next);
        self.current()
    }

    /// The rate chosen last.
    pub(super) fn current(&self) -> u64 {
        self.ladder[self.current.unwrap_or(0)]
    }

    /// All rates, bit/s.
    pub(super) fn ladder(&self) -> &[u64] {
        &self.ladder
    }

    /// Number of times that the rate changed.
    pub(super) fn switches(&self) -> u64 {
        self.switches
    }

    /// Sum of the changes of the rate, bit/s.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// The highest rate.
    pub(super) fn highest(&self) -> u64 {
        self.ladder[self.ladder.len() - 1]
    }

    /// A segment of this many bits arrived `took` after its request.
    pub(super) fn received(&mut self, bits: u64, took: Duration) {
        if self.samples.len() == SAMPLES {
            self.samples.pop_front();
        }
        self.samples.push_back(took.as_secs_f64() / bits as f64);
    }

    /// Algorithm 1 of Huang et al. 2014: a linear map from the buffer to a rate, which the player
    /// follows once it crosses the next higher or the next lower rate.
    fn by_buffer(&self, content: Duration) -> usize {
        let top = self.ladder.len() - 1;
        let Some(current) = self.current else { return 0 };
        let level = content.as_secs_f64() / self.buffer.as_secs_f64();
        if level <= RESERVOIR {
            return 0;
        }
        if level >= FULL {
            return top;
        }
        let (least, most) = (self.ladder[0] as f64, self.ladder[top] as f64);
        let map = least + (most - least) * (level - RESERVOIR) / (FULL - RESERVOIR);
        let (higher, lower) = ((current + 1).min(top), current.saturating_sub(1));
        if map >= self.ladder[higher] as f64 {
            // The highest rate below the map.
            self.ladder.partition_point(|&rate| (rate as f64) < map).saturating_sub(1)
        } else if map <= self.ladder[lower] as f64 {
            // The lowest rate above it.
            self.ladder.partition_point(|&rate| rate as f64 <= map).min(top)
        } else {
            current
        }
    }

    fn by_rate(&self) -> usize {
        let sum: f64 = self.samples.iter().sum();
        // The harmonic mean of rates is the inverse of the mean time per bit.
        let mean = self.samples.len() as f64 / sum;
        let below = |&rate: &u64| rate as f64 <= SAFETY * mean;
        self.ladder.partition_point(below).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates of 1 to 5 Mbit/s; the map rises from 1 Mbit/s at 90 s to 5 Mbit/s at 216 s.
    fn rates(adaptation: Adaptation) -> Rates {
        let ladder = (1..=5).map(|rate| rate * 1_000_000).collect();
        Rates::new(ladder, adaptation, Duration::from_secs(240))
    }

    /// In Mbit/s, with these contents of the buffer in seconds one after the other.
    fn chosen(rates: &mut Rates, contents: &[u64]) -> Vec<u64> {
        let choose = |&secs: &u64| rates.choose(Duration::from_secs(secs)) / 1_000_000;
        contents.iter().map(choose).collect()
    }

    #[test]
    fn the_buffer_decides_with_hysteresis() {
        let mut rates = rates(Adaptation::Buffer);
        // 31.5 s more for each Mbit/s: 2 at 121.5, 3 at 153, 4 at 184.5 s. Up only when the next
        // rate is reached, to the highest rate below the map; down when the map falls to the rate
        // below, to the lowest rate above it.
        let contents = [200, 60, 90, 100, 121, 122, 130, 152, 154, 140, 125, 121, 110, 91, 90, 216];
        let expected = [1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 2, 2, 2, 1, 5];
        assert_eq!(chosen(&mut rates, &contents), expected);
        assert_eq!(rates.switches(), 5);
    }

    #[test]
    fn the_highest_rate_is_left_when_the_map_falls_to_the_rate_below() {
        let mut rates = rates(Adaptation::Buffer);
        assert_eq!(chosen(&mut rates, &[0, 240, 200, 185, 184, 160]), [1, 5, 5, 5, 4, 4]);
    }

    #[test]
    fn the_harmonic_mean_of_past_rates_decides() {
        let mut rates = rates(Adaptation::Rate);
        assert_eq!(chosen(&mut rates, &[9]), [1]);
        // 6 Mbit/s: 5.1 are used. With 2 Mbit/s the harmonic mean is 3: 2.55 are used.
        rates.received(12_000_000, Duration::from_secs(2));
        assert_eq!(chosen(&mut rates, &[9]), [5]);
        rates.received(4_000_000, Duration::from_secs(2));
        assert_eq!(chosen(&mut rates, &[9]), [2]);
        // Twenty segments at 5 Mbit/s later the first two do not count.
        (0..20).for_each(|_| rates.received(5_000_000, Duration::from_secs(1)));
        assert_eq!(chosen(&mut rates, &[9]), [4]);
        rates.received(1, Duration::from_secs(9000));
        assert_eq!(chosen(&mut rates, &[9]), [1]);
    }

    #[test]
    fn one_rate_is_always_chosen() {
        for adaptation in [Adaptation::Buffer, Adaptation::Rate] {
            let mut rates = Rates::new(vec![7_000_000], adaptation, Duration::from_secs(240));
            assert_eq!(chosen(&mut rates, &[0, 100, 240]), [7, 7, 7]);
        }
    }
}
