//! The expressions that seed 000 prints in section 3.5, under names of their own.
//!
//! Each is evaluated as the text around it means it; where indices or cases are slips, the
//! function says what was read instead. What is an approximation there stays one here: rounds
//! independent of the block, data independent of repair LLDUs, erasures in the middle of a block.
//! The same delays evaluated on a trace: [`Scheme::printed_delay_ms`].

use super::harq2::{Harq2, Rounds};
use super::{Chain, ModelError, Setting};
use crate::scheme::{BlockCode, Scheme};
use crate::units::Duration;

/// What seed 000 prints for a scheme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Printed {
    /// Throughput efficiency: eta_FEC (1), eta_ARQ, eta_HARQ.
    pub efficiency: f64,
    /// Delay: d (2), d_ARQ, d_HARQ; ms. A mean over all data LLDUs for FEC, over LLDUs erased at
    /// first for ARQ, over blocks for HARQ-II.
    pub delay_ms: f64,
}

/// The printed expressions for `scheme`; `None` without a scheme.
///
/// ```
/// use clift::analysis::{Chain, Setting, printed};
/// let chain = Chain::from_erasures(0.1, 5.0).unwrap();
/// let arq = printed::predict(&"ARQ".parse().unwrap(), &chain, &Setting::default());
/// let arq = arq.unwrap().unwrap();
/// assert!((arq.efficiency - 0.9).abs() < 1e-12);
/// assert!((arq.delay_ms - (250.0 + 500.0 / 0.9)).abs() < 1e-9);
/// ```
///
/// # Errors
/// If the rounds of HARQ-II are too many to follow.
pub fn predict(
    scheme: &Scheme,
    chain: &Chain,
    setting: &Setting,
) -> Result<Option<Printed>, ModelError> {
    let rtt_ms = setting.rtt_ms();
    match *scheme {
        Scheme::Fec { code, interleave } => {
            let chain = chain.every(interleave.get().into());
            let delay_ms = fec_delay_ms(&chain, code, setting);
            Ok(Some(Printed { efficiency: fec_efficiency(&chain, code), delay_ms }))
        }
        Scheme::Arq { .. } => Ok(Some(Printed {
            efficiency: chain.arrival_probability(),
            // The mean of i over p^(i-1) (1 - p).
            delay_ms: rtt_ms / 2.0 + rtt_ms / chain.arrival_probability(),
        })),
        Scheme::Harq2 { code, extra, max_rounds } => {
            harq2(Harq2::new(code, extra, max_rounds)?, chain, setting).map(Some)
        }
        _ => Ok(None),
    }
}

/// Equation (1) as meant: of P_R(i), the probability that i of the N LLDUs are received, those
/// below N_D count i and the rest N_D.
pub fn fec_efficiency(chain: &Chain, code: BlockCode) -> f64 {
    let erasures = chain.erasures(code.total());
    let useful =
        erasures.iter().enumerate().map(|(m, p)| p * (code.total() - m).min(code.data()) as f64);
    useful.sum::<f64>() / code.total() as f64
}

/// Equation (1) to the letter: the sum over i = 1..=N_D of P(i, N) i / N, P(i, N) being the
/// probability of i erasures. For the record: it falls to 0 with the erasure rate.
pub fn fec_efficiency_to_the_letter(chain: &Chain, code: BlockCode) -> f64 {
    let erasures = chain.erasures(code.total());
    let sum: f64 = (1..=code.data()).map(|i| erasures[i] * i as f64).sum();
    sum / code.total() as f64
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

/// Equations (3) and (4) to the letter: the chain that stays good with
/// alpha_I = p + rho^I (1 - p) and bad with beta_I = (1 - p) + rho^I p. With I = 1 it is not the
/// chain itself but the one with its states exchanged; [`Chain::every`] exchanges them back.
///
/// # Errors
/// If rounding makes them no chain.
pub fn interleaved_to_the_letter(chain: &Chain, depth: u64) -> Result<Chain, ModelError> {
    let [alpha, beta] = chain.every(depth).staying();
    Chain::new(beta, alpha, 0.0, 1.0)
}

/// eta_HARQ and d_HARQ, for any number of rounds. The sum of R_z goes to R, a round after l
/// erasures sends l LLDUs (equation 6; P_R has l + N_S), and delta and Delta are those of the text.
fn harq2(harq: Harq2, chain: &Chain, setting: &Setting) -> Result<Printed, ModelError> {
    let (data, total) = (harq.code.data(), harq.code.total());
    let spare = total - data;
    // Without memory from a round to the next; from slot to slot of a round the chain has one.
    let independent = Setting { slot: Duration::ZERO, ..*setting };
    let rounds = Rounds::new(&harq, chain, &independent);
    let block = chain.erasures(total);
    let (mut decoded, mut sent, mut repeats) = (0.0, total as f64, 0.0);
    decoded += block[..=spare].iter().sum::<f64>();
    for (share, [future, _]) in block[spare + 1..].iter().zip(&rounds.futures) {
        decoded += share * future.decoded;
        sent += super::transient::times(*share, future.units);
        repeats += share * future.rounds_decoded;
    }
    let (erased_data, erased_repair) = (chain.erasures(data), chain.erasures(spare));
    let mut received = decoded * data as f64;
    for i in 1..data {
        let erased = data - i;
        for (lost, repair) in erased_repair.iter().enumerate() {
            if let Some(missing) = (erased + lost).checked_sub(spare + 1) {
                let failed = rounds.futures[missing][0].failed;
                received += erased_data[erased] * repair * failed * i as f64;
            }
        }
    }
    let block_ms = total as f64 * setting.slot_ns() / 1e6;
    Ok(Printed {
        efficiency: received / sent,
        delay_ms: block_ms + setting.rtt_ms() / 2.0 + repeats * setting.rtt_ms(),
    })
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
        assert_eq!(fec_efficiency_to_the_letter(&clean, code), 0.0);
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

    #[test]
    fn equation_4_exchanges_the_states() {
        let letter = interleaved_to_the_letter(&chain(), 1).unwrap();
        let p = chain().erasure_probability();
        let rho = chain().correlation();
        assert!((letter.staying()[0] - (p + rho * (1.0 - p))).abs() < 1e-12);
        assert!((letter.staying()[1] - (1.0 - p + rho * p)).abs() < 1e-12);
        assert!((letter.erasure_probability() - (1.0 - p)).abs() < 1e-12);
    }

    /// (1, 1) with two rounds, by hand: rounds of one LLDU, each lost with probability p.
    #[test]
    fn harq_of_single_lldus_is_arq() {
        let p = chain().erasure_probability();
        let scheme = "HARQ(1/1, rounds 2)".parse().unwrap();
        let printed = predict(&scheme, &chain(), &Setting::default()).unwrap().unwrap();
        assert!((printed.efficiency - (1.0 - p.powi(3)) / (1.0 + p + p * p)).abs() < 1e-12);
        let repeats = p * (1.0 - p) + 2.0 * p * p * (1.0 - p);
        assert!((printed.delay_ms - (250.0 + 0.114783 + 500.0 * repeats)).abs() < 1e-9);
    }
}
