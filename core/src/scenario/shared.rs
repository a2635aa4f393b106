//! What the runs of a cell share: a given trace, or one draw of a channel. Runs that share it are
//! not independent, and their confidence intervals must account for that.

use super::cell::Cell;
use super::limit::Start;
use super::plan::{PlannedLink, PlannedPhy};
use super::traces::{SetupFault, Traces};
use crate::units::Duration;

/// Input that all runs of a cell share.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Shared {
    /// A trace, from a file or given as an object.
    Trace,
    /// One draw of a channel: `redraw = false`, or a channel with its own `seed`.
    Channel,
}

/// The part of a shared trace that a run covers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TraceWindow {
    /// Trace time at which the run starts.
    pub start: Duration,
    /// Length of the trace.
    pub length: Duration,
    /// Whether the trace repeats at its end.
    pub wraps: bool,
}

impl Cell {
    /// Input that all runs of the cell share; `None` if every run draws its own.
    pub fn shared(&self) -> Option<Shared> {
        self.plan.links().find_map(of_link)
    }

    /// The part of the shared trace that a run covers, for the first shared link whose runs start
    /// at random times. `None` if no link has a random start.
    ///
    /// # Errors
    /// If a trace cannot be made, or is too short for a run.
    pub fn window(
        &self,
        replication: u32,
        traces: &dyn Traces,
    ) -> Result<Option<TraceWindow>, SetupFault> {
        let random = |link: &PlannedLink| link.link.usage.start == Start::Random;
        let mut links = self.plan.links();
        let Some(index) = links.position(|link| random(link) && of_link(link).is_some()) else {
            return Ok(None);
        };
        let (medium, start) = self.started(replication, traces)?.swap_remove(index);
        let wraps = self.plan.links().nth(index).is_some_and(|link| link.link.usage.wrap);
        let window =
            |(first, end)| TraceWindow { start, length: Duration::from_nanos(end - first), wraps };
        Ok(medium.span().map(window))
    }
}

fn of_link(link: &PlannedLink) -> Option<Shared> {
    link.phy.as_ref().and_then(Shared::of).or_else(|| link.kind.shared())
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
