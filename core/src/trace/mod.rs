//! Stage 1: what the physical layer did, slot by slot.
//!
//! A [`PhyTrace`] says for every slot when its LLDU was sent and how long it took to decode, or
//! that it was erased (DESIGN: words; seeds 001 and 003 section III-A).
//!
//! One module a file format: [`text`] (ours), [`columns`] (two bare columns), [`mahimahi`],
//! [`probes`] (per-packet delay and loss), [`loss_string`] (0/1 strings and ns-2 run lengths) and
//! [`netem`] (written only). They work on readers and writers; [`mod@file`] opens files.

mod column;
pub mod columns;
mod decimal;
mod erasures;
mod error;
pub mod file;
mod format;
mod lines;
mod link_stats;
mod link_trace;
pub mod loss_string;
pub mod mahimahi;
mod median;
mod mi;
pub mod netem;
mod phy;
pub mod probes;
mod share;
mod slots;
pub mod text;

pub use column::Column;
pub use decimal::{TimeUnit, UnknownUnit};
pub use erasures::{Erasures, GilbertFit, Runs};
pub use error::{Fault, ReadError, Snippet};
pub use link_stats::LinkStats;
pub use link_trace::{LinkTrace, Parts};
pub use mi::MiTrace;
pub(crate) use phy::LATEST;
pub use phy::{Header, PhyTrace, TraceError};
