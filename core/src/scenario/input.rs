//! What the links of a run are made from.

use std::sync::Arc;

use crate::scheme::LinkTrace;
use crate::trace::{MiTrace, PhyTrace};

/// What a link is made from, as its [`super::LinkSpec`] asks.
#[derive(Clone, Debug)]
pub enum LinkInput {
    /// What a scheme made of a PHY trace.
    LinkTrace(Arc<LinkTrace>),
    /// A PHY trace.
    PhyTrace(PhyTrace),
    /// Two PHY traces.
    PhyTraces {
        /// That of the link.
        phy: PhyTrace,
        /// That of the way back, which loses its reports.
        back: PhyTrace,
    },
    /// What adaptive HARQ lives on.
    Information {
        /// The channel's mutual information per coded bit over time.
        trace: Arc<MiTrace>,
        /// Its mean in closed form.
        mean: f64,
    },
    /// Nothing.
    Nothing,
}

impl LinkInput {
    /// First and last slot and closing gap of its PHY trace, ns.
    pub(super) fn span(&self) -> Option<(u64, u64, u64)> {
        let (first, last, gap) = match self {
            Self::LinkTrace(trace) => {
                let parts = trace.parts();
                (parts.span.0, parts.span.1, parts.gap)
            }
            Self::PhyTrace(phy) | Self::PhyTraces { phy, .. } => {
                let (first, last) = (phy.t()[0], phy.t()[phy.len() - 1]);
                (first, last, phy.period().as_nanos() as i64 - (last - first))
            }
            Self::Information { trace, .. } => {
                let every = trace.every().as_nanos() as i64;
                (0, (trace.values().len() as i64 - 1) * every, every)
            }
            Self::Nothing => return None,
        };
        // Times of a trace are never negative.
        Some((first.unsigned_abs(), last.unsigned_abs(), gap.unsigned_abs()))
    }
}
