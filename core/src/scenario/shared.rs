//! What the runs of a cell share: a given trace, or one draw of a channel. Runs that share it are
//! not independent, and their confidence intervals must account for that.

use super::phy::PlannedPhy;

/// Input that all runs of a cell share.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Shared {
    /// A trace, from a file or given as an object.
    Trace,
    /// One draw of a channel: `redraw = false`, or a channel with its own `seed`.
    Channel,
}

impl Shared {
    /// A file counts as shared even if erasures are drawn on top of it, because it may contain
    /// erasures.
    pub(super) fn of(phy: &PlannedPhy) -> Option<Self> {
        if phy.trace.is_some() {
            return Some(Self::Trace);
        }
        phy.channel.as_ref().and_then(|own| Self::if_drawn_once(own.redraw, own.seed))
    }

    /// `Channel` if all runs use the same draw.
    pub(super) fn if_drawn_once(redraw: bool, seed: Option<u64>) -> Option<Self> {
        (!redraw || seed.is_some()).then_some(Self::Channel)
    }
}
