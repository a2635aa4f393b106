//! Closed forms: long-run values of a scheme over a Gilbert-Elliott channel, without simulation
//! (Kuhn 2014, sections 3.3 to 3.6).
//!
//! Two methods check each other: [`Scheme::predict`](super::Scheme::predict) and
//! [`Scheme::apply`](super::Scheme::apply) on a trace of the same channel mean the same thing by
//! every word (DESIGN section 4). The paper's expressions (Kuhn 2014) are in
//! [`printed`](super::printed), under separate names; they differ where the paper approximates. The
//! law of each scheme is in the scheme's folder; this folder has what laws share.
//!
//! Probabilities and delays are floating point; time that enters is integer nanoseconds.

mod block;
mod chain;
mod delays;
mod erasures;
mod setting;
mod transient;

pub(crate) use block::Block;
pub use chain::Chain;
pub use delays::RecoveryDelays;
pub(crate) use erasures::ErasureCount;
pub use setting::{Blocks, Setting};
pub(crate) use transient::{Transient, times};

use thiserror::Error;

/// Long-run values of a scheme, every slot used; the words are those of
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

/// Invalid parameters of a model.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ModelError {
    /// Not a probability.
    #[error("{name} = {value} is not a probability; give a number from 0 to 1")]
    Probability {
        /// Which parameter.
        name: &'static str,
        /// The value given.
        value: f64,
    },
    /// A chain that stays where it is has no stationary law.
    #[error("alpha = beta = 1 never changes state; give one of them below 1")]
    Frozen,
    /// A mean burst below one slot.
    #[error("a mean burst of {0} slots is out of range; give a number of at least 1")]
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
    #[error(
        "slots of 0 ns must not be cut apart; give slot_ns of at least 1, or consecutive blocks"
    )]
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
    /// No closed form exists.
    #[error("blocks that rounds cut apart have no law of delays; take consecutive blocks")]
    CutApart,
    /// A scheme without a closed form.
    #[error("{scheme} has no closed form; apply it to a trace of the channel")]
    NoClosedForm {
        /// Text of the scheme.
        scheme: String,
    },
    /// Hybrid FEC/ARQ-SR whose numbers make no frame or packet.
    #[error("{0}")]
    Hybrid(&'static str),
}
