//! The expressions printed in section 3.5 of Kuhn 2014, under separate names.
//!
//! [`Scheme::printed`] evaluates them over a channel as the text around them means them; where
//! indices or cases are slips, the function says what was read instead. What is an approximation
//! there stays one here: rounds independent of the block, data independent of repair LLDUs,
//! erasures in the middle of a block. [`Scheme::printed_delay_ms`] evaluates the delays on a trace.
//!
//! The efficiencies need no second name on a trace: there the words of section 3.5 ("ratio of the
//! received LLDUs and the total number of LLDUs sent", for ARQ "the probability that a LLDU is
//! received") are [`LinkStats::efficiency`](crate::trace::LinkStats::efficiency). Equation (1) as
//! printed counts a block with more than N_D receptions as none, which no trace can mean. Equations
//! (3) and (4) to the letter exchange the states of the chain; [`Chain::every`] is as meant.

use crate::config::Fault;
use crate::scheme::law::{Chain, Setting};
use crate::scheme::{BlockCode, Scheme};
use crate::trace::LinkTrace;

/// Values of the expressions printed in Kuhn 2014.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Printed {
    /// Throughput efficiency: eta_FEC (1), eta_ARQ, eta_HARQ.
    pub efficiency: f64,
    /// Delay: d (2), d_ARQ, d_HARQ; ms. A mean over all data LLDUs for FEC, over LLDUs erased at
    /// first for ARQ, over blocks for HARQ-II.
    pub delay_ms: f64,
}

/// Equation (1) as meant: of P_R(i), the probability that i of the N LLDUs are received, those
/// below N_D count i and the rest N_D. To the letter it sums over i erasures, which falls to 0 with
/// the erasure rate.
pub fn fec_efficiency(chain: &Chain, code: BlockCode) -> f64 {
    let erasures = chain.erasures(code.total());
    let useful =
        erasures.iter().enumerate().map(|(m, p)| p * (code.total() - m).min(code.data()) as f64);
    useful.sum::<f64>() / code.total() as f64
}

/// Equation (2): RTT/2 + p (1 - sum over i = N_R..=N-1 of P(i, N-1)) N/2 T_P, on the chain of the
/// code word's slots. Interleaving does not stretch T_P, as printed.
pub fn fec_delay_ms(chain: &Chain, code: BlockCode, setting: &Setting) -> f64 {
    let total = code.total();
    let erasures = chain.erasures(total - 1);
    // The complement of the printed sum, which leaves the terms below N_R.
    let recovered: f64 = erasures[..total - code.data()].iter().sum();
    let half_block_ms = total as f64 / 2.0 * setting.slot_ns() / 1e6;
    setting.rtt_ms() / 2.0 + chain.erasure_probability() * recovered * half_block_ms
}

impl Scheme {
    /// The expressions that Kuhn 2014 prints for this scheme; `None` without a scheme.
    ///
    /// ```
    /// use clift::scheme::Scheme;
    /// use clift::scheme::law::{Chain, Setting};
    /// let chain = Chain::from_erasures(0.1, 5.0).unwrap();
    /// let arq: Scheme = "ARQ".parse().unwrap();
    /// let arq = arq.printed(&chain, &Setting::default()).unwrap().unwrap();
    /// assert!((arq.efficiency - 0.9).abs() < 1e-12);
    /// assert!((arq.delay_ms - (250.0 + 500.0 / 0.9)).abs() < 1e-9);
    /// ```
    ///
    /// # Errors
    /// If the rounds of HARQ-II are too many to follow.
    pub fn printed(&self, chain: &Chain, setting: &Setting) -> Result<Option<Printed>, Fault> {
        self.forms().printed(chain, setting)
    }

    /// The delay that Kuhn 2014 prints in section 3.5 for this scheme, with the probabilities in it
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
        self.forms().printed_delay_ms(link)
    }
}

/// Round-trip time that a link trace was made for, ms.
pub(super) fn rtt_ms(link: &LinkTrace) -> f64 {
    link.parts().rtt.as_nanos() as f64 / 1e6
}

/// Share of `part` in `of`; `None` of nothing.
pub(super) fn ratio(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain() -> Chain {
        Chain::new(0.98, 0.8, 0.0, 1.0).unwrap()
    }

    #[test]
    fn without_erasures_efficiency_is_the_code_rate() {
        let code = BlockCode::new(38, 51).unwrap();
        let clean = Chain::bernoulli(0.0).unwrap();
        assert!((fec_efficiency(&clean, code) - 38.0 / 51.0).abs() < 1e-12);
        assert_eq!(fec_delay_ms(&clean, code, &Setting::default()), 250.0);
    }

    #[test]
    fn equation_2_is_the_mean_wait_with_erasures_in_the_middle() {
        // (1, 2): the erased data LLDU is rebuilt if the other arrives, half a block later.
        let code = BlockCode::new(1, 2).unwrap();
        let p = chain().erasure_probability();
        let expected = 250.0 + p * (1.0 - p) * 0.114783;
        assert!((fec_delay_ms(&chain(), code, &Setting::default()) - expected).abs() < 1e-12);
    }

    /// (1, 1) with two rounds, by hand: rounds of one LLDU, each lost with probability p.
    #[test]
    fn harq_of_single_lldus_is_arq() {
        let p = chain().erasure_probability();
        let scheme: Scheme = "HARQ(1/1, rounds 2)".parse().unwrap();
        let printed = scheme.printed(&chain(), &Setting::default()).unwrap().unwrap();
        assert!((printed.efficiency - (1.0 - p.powi(3)) / (1.0 + p + p * p)).abs() < 1e-12);
        let repeats = p * (1.0 - p) + 2.0 * p * p * (1.0 - p);
        assert!((printed.delay_ms - (250.0 + 0.114783 + 500.0 * repeats)).abs() < 1e-9);
    }
}

#[cfg(test)]
mod trace_tests {
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
