//! Stage 2': closed forms that say what a scheme gives over a Gilbert-Elliott channel, without
//! simulating it (seed 000, sections 3.3 to 3.6).
//!
//! Two methods check each other: [`predict`] here and [`crate::scheme::Scheme::apply`] on a trace
//! of the same channel mean the same thing by every word (DESIGN section 4). What seed 000 prints
//! is in [`printed`], under names of its own; where it approximates, the two differ.
//!
//! Probabilities and delays are floating point; time that enters is integer nanoseconds.

mod arq;
mod block;
mod chain;
mod delays;
mod erasures;
mod fec;
mod harq2;
mod hybrid;
pub mod printed;
mod setting;
mod transient;

pub use chain::Chain;
pub use delays::RecoveryDelays;
pub use hybrid::HybridFecArq;
pub use setting::{Blocks, Setting};

use thiserror::Error;

use crate::scheme::Scheme;

/// What a scheme gives in the long run, every slot used; the words are those of
/// [`crate::scheme::LinkStats`]. Delays contain RTT/2, in ms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Throughput efficiency: data LLDUs delivered per slot used.
    pub efficiency: f64,
    /// Share of the data LLDUs that are not delivered.
    pub residual_loss: f64,
    /// Mean coding ratio: data LLDUs per LLDU sent for them, k/n for FEC.
    pub coding_ratio: f64,
    /// Mean number of transmissions of a data LLDU (with HARQ-II: 1 + rounds of its block).
    pub transmissions: f64,
    /// Share of the data LLDUs that are erased at first and recovered later.
    pub recovered: f64,
    /// Mean of d' + RTT/2 over the recovered; `None` if there are none.
    pub recovery_delay_ms: Option<f64>,
    /// Mean of d' + RTT/2 over all delivered; `None` if there are none.
    pub mean_delay_ms: Option<f64>,
}

/// Parameters that make no model.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ModelError {
    /// Not a probability.
    #[error("{name} = {value} is not a probability; give a number from 0 to 1")]
    Probability {
        /// Which parameter.
        name: &'static str,
        /// What it was.
        value: f64,
    },
    /// A chain that stays where it is has no stationary law.
    #[error("alpha = beta = 1 never changes state; give one of them below 1")]
    Frozen,
    /// A mean burst that cannot be.
    #[error("a mean burst of {0} slots cannot be; give a number of at least 1")]
    Burst(f64),
    /// An erasure rate and burst length that no chain has.
    #[error(
        "erasing {p} of the slots in bursts of {burst} leaves gaps below one slot; \
         give longer bursts (at least p / (1 - p)) and p below 1"
    )]
    Crowded {
        /// Erasure probability.
        p: f64,
        /// Mean burst.
        burst: f64,
    },
    /// Slots without length where rounds or blocks take time.
    #[error("slots of 0 ns cannot be cut apart; give slot_ns of at least 1, or consecutive blocks")]
    NoSlot,
    /// A sum with too many terms.
    #[error(
        "{rounds} rounds of blocks of {data} data LLDUs are too many to follow; the most is \
             2^20 / k, or give no limit"
    )]
    Rounds {
        /// Rounds asked for.
        rounds: u32,
        /// Data LLDUs of a block.
        data: usize,
    },
    /// A law with too many terms.
    #[error(
        "{extra} extra repair LLDUs for blocks of {data} data LLDUs are too many to follow; \
             the most is 2^22 / k"
    )]
    Extra {
        /// Extra repair LLDUs of a round.
        extra: u32,
        /// Data LLDUs of a block.
        data: usize,
    },
    /// A law with too many delays.
    #[error("more than 2^22 different delays; limit the rounds, or take a shorter block")]
    LongLaw,
    /// What has no closed form.
    #[error("blocks that rounds cut apart have no law of their own; take consecutive blocks")]
    CutApart,
    /// Hybrid FEC/ARQ-SR whose numbers make no frame or packet.
    #[error("{0}")]
    Hybrid(&'static str),
    /// A scheme without closed form.
    #[error("there is no closed form for {0}; use none, FEC, ARQ or HARQ")]
    Scheme(Scheme),
}

/// What `scheme` gives over `chain`: exact values from the Markov chain.
///
/// FEC and ARQ are what [`Scheme::apply`] converges to on a long trace of regular slots. HARQ-II
/// takes blocks to be sent in consecutive slots, unless [`Setting::blocks`] says otherwise.
/// Takes O(n^2) for a block of n, O(k^2 R) for R rounds.
///
/// ```
/// use clift::analysis::{Chain, Setting, predict};
/// let chain = Chain::new(0.98, 0.8, 0.0, 1.0).unwrap();
/// let harq = predict(&"HARQ(38/51, rounds 2)".parse().unwrap(), &chain, &Setting::default());
/// let arq = predict(&"ARQ".parse().unwrap(), &chain, &Setting::default()).unwrap();
/// let harq = harq.unwrap();
/// assert!((arq.efficiency - 10.0 / 11.0).abs() < 1e-12);
/// assert!(harq.efficiency < arq.efficiency);
/// assert!(harq.recovery_delay_ms < arq.recovery_delay_ms);
/// ```
///
/// # Errors
/// If the rounds are too many to follow, or blocks are to be cut apart and slots have no length.
pub fn predict(
    scheme: &Scheme,
    chain: &Chain,
    setting: &Setting,
) -> Result<Prediction, ModelError> {
    match *scheme {
        Scheme::None => Ok(none(chain, setting)),
        Scheme::Fec { code, interleave } => Ok(fec::predict(code, interleave, chain, setting)),
        Scheme::Arq { max_retx } => Ok(arq::predict(max_retx, chain, setting)),
        Scheme::Harq2 { code, extra, max_rounds } => {
            harq2::Harq2::new(code, extra, max_rounds)?.predict(chain, setting)
        }
        #[allow(unreachable_patterns)] // a scheme to come
        other => Err(ModelError::Scheme(other)),
    }
}

/// The law of the recovery delay of `scheme` over `chain`: of data LLDUs erased at first and
/// recovered later, as [`Prediction::recovery_delay_ms`] is its mean. Without a scheme: empty.
///
/// Takes O(n k (n-k)) for FEC, O(k^2 R^2 (n + k)) for R rounds of HARQ-II: for blocks of some
/// hundred LLDUs. What no limit bounds is followed until less than 1e-15 of the LLDUs are left.
///
/// ```
/// use clift::analysis::{Chain, Setting, recovery_delays};
/// let arq = "ARQ".parse().unwrap();
/// let law = recovery_delays(&arq, &Chain::bernoulli(0.1).unwrap(), &Setting::default()).unwrap();
/// assert!((law.probability[0] - 0.9).abs() < 1e-12); // one retransmission is enough
/// assert!(law.delay_ms[0] >= 750.0);
/// ```
///
/// # Errors
/// As [`predict`]; and if blocks are to be cut apart, for which there is no closed form.
pub fn recovery_delays(
    scheme: &Scheme,
    chain: &Chain,
    setting: &Setting,
) -> Result<RecoveryDelays, ModelError> {
    match *scheme {
        Scheme::None => Ok(RecoveryDelays::default()),
        Scheme::Fec { code, interleave } => Ok(fec::delays(code, interleave, chain, setting)),
        Scheme::Arq { max_retx } => Ok(arq::delays(max_retx, chain, setting)),
        Scheme::Harq2 { code, extra, max_rounds } => {
            harq2::Harq2::new(code, extra, max_rounds)?.delays(chain, setting)
        }
        #[allow(unreachable_patterns)] // a scheme to come
        other => Err(ModelError::Scheme(other)),
    }
}

fn none(chain: &Chain, setting: &Setting) -> Prediction {
    let arrives = chain.arrival_probability();
    Prediction {
        efficiency: arrives,
        residual_loss: chain.erasure_probability(),
        coding_ratio: 1.0,
        transmissions: 1.0,
        recovered: 0.0,
        recovery_delay_ms: None,
        mean_delay_ms: (arrives > 0.0).then(|| setting.least_delay_ms()),
    }
}
