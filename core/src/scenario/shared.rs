//! What the runs of a cell share: a trace from outside, or one draw of a channel. Runs that share
//! it are not independent, which their intervals have to allow for.

use super::cell::Cell;
use super::limit::Start;
use super::plan::{PlannedLink, PlannedPhy};
use super::traces::{SetupFault, Traces};
use crate::units::Duration;

/// What all runs of a cell have in common.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Shared {
    /// A trace, from a file or given as an object.
    Trace,
    /// One draw of a channel: `redraw = false`, or a `seed` of its own.
    Channel,
}

/// Where in a shared trace a run starts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Window {
    /// Trace time at which the run starts.
    pub start: Duration,
    /// Length of the trace.
    pub length: Duration,
    /// Whether the trace repeats at its end.
    pub wraps: bool,
}

impl Cell {
    /// What all runs of the cell share; `None` if every run has its own draw of everything.
    pub fn shared(&self) -> Option<Shared> {
        self.plan.links().find_map(of_link)
    }

    /// Where a run starts in what it shares with the others: in the first such link of which runs
    /// start at random times. `None` if there is none, or all runs start at the same time.
    ///
    /// # Errors
    /// A trace that cannot be made, or one too short for a run.
    pub fn window(
        &self,
        replication: u32,
        traces: &dyn Traces,
    ) -> Result<Option<Window>, SetupFault> {
        let random = |link: &PlannedLink| link.link.usage.start == Start::Random;
        let mut links = self.plan.links();
        let Some(index) = links.position(|link| random(link) && of_link(link).is_some()) else {
            return Ok(None);
        };
        let (medium, start) = self.started(replication, traces)?.swap_remove(index);
        let wraps = self.plan.links().nth(index).is_some_and(|link| link.link.usage.wrap);
        let window =
            |(first, end)| Window { start, length: Duration::from_nanos(end - first), wraps };
        Ok(medium.span().map(window))
    }
}

fn of_link(link: &PlannedLink) -> Option<Shared> {
    link.phy.as_ref().and_then(Shared::of).or_else(|| link.kind.shared())
}

impl Shared {
    /// A file is shared also where erasures are drawn on top of it: it may have some of its own.
    pub(super) fn of(phy: &PlannedPhy) -> Option<Self> {
        if phy.trace.is_some() {
            return Some(Self::Trace);
        }
        phy.channel.as_ref().and_then(|own| Self::if_drawn_once(own.redraw, own.seed))
    }

    /// A channel that all runs have the one draw of.
    pub(super) fn if_drawn_once(redraw: bool, seed: Option<u64>) -> Option<Self> {
        (!redraw || seed.is_some()).then_some(Self::Channel)
    }
}
