//! What a run needs of traces: the keys under which they are made once.

use serde::Serialize;

use super::channel::Slots;
use super::erasures::Erasures;
use crate::trace::TraceFile;

/// Which PHY trace a run needs; equal specs mean equal traces.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhySpec {
    /// From this file.
    pub trace: Option<TraceFile>,
    /// With these erasures.
    pub erasures: Option<Erasures>,
    /// In these slots, where neither a file nor the model has them.
    pub slots: Option<Slots>,
    /// Seed of the erasures.
    pub seed: u64,
}
