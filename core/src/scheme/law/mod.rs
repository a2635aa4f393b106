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
