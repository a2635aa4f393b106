//! What a run needs of traces, in base units: the keys under which they are made once.

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

/// What must be made for a link before it can be run; equal specs mean equal traces.
///
/// What comes of it is a [`super::LinkInput`] of the same kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "make", rename_all = "kebab-case")]
pub enum LinkSpec {
    /// A link trace: what a scheme makes of a PHY trace beforehand (open loop).
    LinkTrace {
        /// The PHY trace under it.
        phy: PhySpec,
        /// The scheme, as text.
        scheme: String,
        /// Round-trip time, ns.
        rtt_ns: u64,
        /// Feedback time, ns, where it is set.
        feedback_ns: Option<u64>,
    },
    /// A PHY trace: the link layer over it runs with its traffic.
    PhyTrace {
        /// The PHY trace.
        phy: PhySpec,
    },
    /// Two PHY traces: a live link runs over the first, the second loses its reports.
    PhyTraces {
        /// The PHY trace of the link.
        phy: PhySpec,
        /// That of the way back.
        back: PhySpec,
    },
    /// The mutual information of a land mobile channel over time and its mean in closed form:
    /// adaptive HARQ runs over it.
    Information {
        /// The channel's preset.
        preset: String,
        /// Its mean Es/N0 in dB.
        esn0_db: f64,
        /// Its length, ns.
        duration_ns: u64,
        /// Its seed.
        seed: u64,
    },
    /// Nothing: the link draws for itself what becomes of its units.
    Nothing,
}

impl LinkSpec {
    /// The PHY trace that it needs, if any: of two that of the link.
    pub fn phy(&self) -> Option<&PhySpec> {
        match self {
            Self::LinkTrace { phy, .. } | Self::PhyTrace { phy } => Some(phy),
            Self::PhyTraces { phy, .. } => Some(phy),
            Self::Information { .. } | Self::Nothing => None,
        }
    }
}
