//! How late packets were handed over.

use hdrhistogram::Histogram;

/// Times between the instants at which packets were due and those at which they were handed over.
#[derive(Clone, Debug)]
pub struct Lateness(Histogram<u64>);

impl Default for Lateness {
    fn default() -> Self {
        // Two digits, up to a minute: a packet that is later than that is counted as a minute late.
        Self(Histogram::new_with_bounds(1, Self::MOST, 2).unwrap_or_else(|_| unreachable!()))
    }
}

impl Lateness {
    const MOST: u64 = 60_000_000_000;

    /// A packet was handed over this number of nanoseconds late.
    pub(crate) fn note(&mut self, nanoseconds: u64) {
        self.0.saturating_record(nanoseconds.clamp(1, Self::MOST));
    }

    /// Packets handed over.
    pub fn packets(&self) -> u64 {
        self.0.len()
    }

    /// The lateness in ns that a share of the packets did not exceed.
    pub fn quantile(&self, share: f64) -> u64 {
        self.0.value_at_quantile(share)
    }

    /// The latest, ns.
    pub fn max(&self) -> u64 {
        self.0.max()
    }

    /// Packets by lateness, in steps of powers of two from 1 microsecond: (up to ns, packets).
    ///
    /// ```
    /// let lateness = clift_live::Lateness::default();
    /// assert!(lateness.steps().is_empty());
    /// ```
    pub fn steps(&self) -> Vec<(u64, u64)> {
        let (mut bound, mut below, mut steps) = (1000, 0, Vec::new());
        while below < self.packets() {
            let until = self.0.iter_recorded().take_while(|row| row.value_iterated_to() <= bound);
            let count: u64 = until.map(|row| row.count_at_value()).sum();
            steps.push((bound, count - below));
            (below, bound) = (count, bound * 2);
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_packet_is_in_one_step() {
        let mut lateness = Lateness::default();
        for nanoseconds in [0, 900, 1_500, 40_000, 2_000_000, u64::MAX] {
            lateness.note(nanoseconds);
        }
        let steps = lateness.steps();
        assert_eq!(steps.iter().map(|step| step.1).sum::<u64>(), 6);
        assert_eq!(steps[0], (1000, 2));
        assert_eq!(steps[1], (2000, 1));
        assert!(steps.last().unwrap().0 >= Lateness::MOST);
        assert!(lateness.quantile(0.5) < 2_000 && lateness.max() >= Lateness::MOST);
    }
}
