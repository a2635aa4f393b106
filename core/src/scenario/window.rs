//! The part of a shared trace that a run covers.

use super::cell::Cell;
use super::limit::Start;
use super::plan::PlannedLink;
use super::shared::Shared;
use super::traces::{SetupFault, Traces};
use crate::units::Duration;

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
