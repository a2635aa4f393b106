//! The delay expressions that seed 000 prints, evaluated on a trace, under names of their own.
//!
//! The efficiencies it prints need no second name: on a trace the words of section 3.5 ("ratio of
//! the received LLDUs and the total number of LLDUs sent", for ARQ "the probability that a LLDU is
//! received") are [`super::LinkStats::efficiency`]. Its equation (1) as printed counts a block with
//! more than N_D receptions as none, which no trace can mean; see DESIGN section 10.

use super::{LinkTrace, Scheme};

impl Scheme {
    /// The delay that seed 000 section 3.5 prints for this scheme, with the probabilities in it
    /// replaced by what happened on `link`, which this scheme made; ms. T_P is the median gap.
    ///
    /// * FEC, equation (2): RTT/2 + p (1 - sum P(i, N-1)) N/2 T_P, where p (1 - ...) is the share
    ///   of data LLDUs that were erased and rebuilt. A mean over all data LLDUs that takes erasures
    ///   to lie in the middle of a block.
    /// * ARQ, d_ARQ: RTT/2 + sum p^(i-1) (1 - p) i RTT, where p^(i-1) (1 - p) is the share of the
    ///   recovered LLDUs that took i retransmissions. A mean over LLDUs erased at first.
    /// * HARQ-II, d_HARQ: T_R(0) + RTT/2 + sum R_i i RTT (T_R(i) is dropped beside RTT, as the
    ///   paper says), where R_i is the share of blocks that i rounds made decodable. A mean over
    ///   all blocks.
    ///
    /// `None` without a scheme or without what the mean is over. The recovery and mean delays that
    /// were measured are in [`super::LinkStats`].
    ///
    /// ```
    /// use clift::scheme::{Scheme, Timing};
    /// use clift::trace::PhyTrace;
    /// use clift::units::{Bytes, Duration};
    /// let t: Vec<i64> = (0..6).map(|slot| slot * 1_000_000).collect();
    /// let phy = PhyTrace::new(t.into(), vec![1, 0, 1, 1, 1, 1].into(), Bytes(33)).unwrap();
    /// let timing = Timing { rtt: Duration::from_millis(2), feedback: None };
    /// let arq: Scheme = "ARQ".parse().unwrap();
    /// assert_eq!(arq.printed_delay_ms(&arq.apply(&phy, timing)), Some(1.0 + 2.0));
    /// ```
    pub fn printed_delay_ms(&self, link: &LinkTrace) -> Option<f64> {
        let parts = link.parts();
        let rtt_ms = parts.rtt.as_nanos() as f64 / 1e6;
        let slot_ms = parts.gap as f64 / 1e6;
        match *self {
            Self::None => None,
            Self::Fec { code, .. } => {
                let rebuilt = ratio(parts.recovered.0, link.len() as u64)?;
                Some(rtt_ms / 2.0 + rebuilt * code.total() as f64 / 2.0 * slot_ms)
            }
            Self::Arq { .. } => {
                let recovered = parts.transmissions.iter();
                let recovered = recovered.filter(|&&(index, _)| parts.d[index as usize] > 0);
                let rounds = recovered.map(|&(_, times)| u64::from(times) - 1).sum();
                Some(rtt_ms / 2.0 + ratio(rounds, parts.recovered.0)? * rtt_ms)
            }
            Self::Harq2 { code, .. } => {
                let blocks = (link.len() / code.data()) as u64;
                let repaired = parts.transmissions.chunks_exact(code.data());
                let decoded = repaired
                    .filter(|block| block.iter().all(|&(index, _)| parts.d[index as usize] > 0));
                let rounds = decoded.map(|block| u64::from(block[0].1) - 1).sum();
                let first = code.total() as f64 * slot_ms;
                Some(first + rtt_ms / 2.0 + ratio(rounds, blocks)? * rtt_ms)
            }
        }
    }
}

fn ratio(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

#[cfg(test)]
mod tests {
    use super::super::Timing;
    use super::*;
    use crate::trace::PhyTrace;
    use crate::units::{Bytes, Duration};

    /// Slots of 1 ms, RTT 10 ms.
    fn printed(scheme: &str, d: Vec<i64>) -> Option<f64> {
        let t: Vec<i64> = (0..d.len() as i64).map(|slot| slot * 1_000_000).collect();
        let phy = PhyTrace::new(t.into(), d.into(), Bytes(33)).unwrap();
        let feedback = Some(Duration::from_millis(1));
        let timing = Timing { rtt: Duration::from_millis(10), feedback };
        let scheme: Scheme = scheme.parse().unwrap();
        scheme.printed_delay_ms(&scheme.apply(&phy, timing))
    }

    #[test]
    fn the_expressions_are_those_printed() {
        // One of four data LLDUs rebuilt, blocks of three slots.
        assert_eq!(printed("FEC(2/3)", vec![1, 0, 1, 1, 1, 1]), Some(5.0 + 0.25 * 1.5));
        // LLDU 0 takes slots 0, 1 and 2, LLDU 1 slot 3, LLDU 2 slots 4 and 5.
        assert_eq!(printed("ARQ", vec![0, 0, 1, 1, 0, 1]), Some(5.0 + 1.5 * 10.0));
        // The first block takes slots 0, 1 and 2, the second slots 3 and 4.
        assert_eq!(printed("HARQ(1/2)", vec![0, 0, 1, 1, 1]), Some(2.0 + 5.0 + 0.5 * 10.0));
    }

    #[test]
    fn there_is_none_where_nothing_happened() {
        assert_eq!(printed("none", vec![1, 0]), None);
        assert_eq!(printed("ARQ", vec![1, 1]), None);
        assert_eq!(printed("HARQ(3/3)", vec![1, 1]), None);
        assert_eq!(printed("FEC(3/3)", vec![1, 1]), None);
    }
}
