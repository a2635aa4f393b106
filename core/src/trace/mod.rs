//! Stage 1: what the physical layer did, slot by slot.
//!
//! A [`PhyTrace`] says for every slot when its LLDU was sent and how long it took to decode, or
//! that it was erased (DESIGN: words; seeds 001 and 003 section III-A).

mod column;
mod erasures;
mod median;
mod phy;
mod share;

pub use column::Column;
pub use erasures::{Erasures, GilbertFit, Runs};
pub(crate) use phy::LATEST;
pub use phy::{Header, PhyTrace, TraceError};
