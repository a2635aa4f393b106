//! What a kind of link offers, and what it is made from.

use std::fmt;
use std::sync::Arc;

use super::channel_seeds::ChannelSeeds;
use super::link::Link;
use super::phy::PlannedPhy;
use super::shared::Shared;
use super::spec::PhySpec;
use super::traces::{SetupFault, Traces};
use crate::config::Fault;
use crate::scheme::{Medium, Timing};
use crate::trace::PhyTrace;
use crate::units::Duration;

/// A kind of link, described: it is made once the traces that it needs are available.
pub trait LinkKind: fmt::Debug + Send + Sync {
    /// Checks whether the link can be made for runs of `duration`. `traced`: a separate trace or
    /// channel decides which of its units are lost.
    ///
    /// # Errors
    /// The key that is wrong, within its section.
    fn check(&self, _traced: bool, _duration: Duration) -> Result<(), Fault> {
        Ok(())
    }

    /// Makes the medium that carries the link's packets, and requests traces as it needs them.
    ///
    /// # Errors
    /// If a trace cannot be made, or a key (named within its section) does not fit the traces.
    fn medium(&self, making: &Making<'_>) -> Result<Arc<dyn Medium>, SetupFault>;

    /// Input of the link that all runs share, apart from the trace or channel under it.
    fn shared(&self) -> Option<Shared> {
        None
    }
}

/// Input for making a link: its keys, its PHY trace and a source of traces.
pub struct Making<'a> {
    /// The `[link]` section.
    pub link: &'a Link,
    /// The source of traces.
    pub traces: &'a dyn Traces,
    /// Duration of a run.
    pub duration: Duration,
    pub(super) phy: Option<&'a PlannedPhy>,
    pub(super) seeds: ChannelSeeds<'a>,
    /// Delay of the return path, if `[return]` gives it and the path has no other link.
    pub(super) return_delay: Option<Duration>,
    /// The number of each flow in its entry of `[[flow]]`: that of its terminal.
    pub(super) terminals: &'a Arc<[u32]>,
}

impl Making<'_> {
    /// The PHY trace under the link, if it has one.
    ///
    /// # Errors
    /// If a trace cannot be made.
    pub fn phy(&self) -> Result<Option<PhyTrace>, SetupFault> {
        Ok(self.spec().map(|spec| self.traces.phy(&spec)).transpose()?)
    }

    /// The specification of that PHY trace.
    pub(super) fn spec(&self) -> Option<PhySpec> {
        self.phy.map(|phy| phy.spec(|own| self.seeds.channel(own.seed, own.redraw)))
    }

    /// The seed of a channel that the link makes for itself: the seed given, or one that is drawn.
    pub fn channel_seed(&self, given: Option<u64>, redraw: bool) -> u64 {
        self.seeds.channel(given, redraw)
    }

    /// The times that a scheme over the slots of `phy` uses. If the trace contains one-way delays
    /// and `[return]` gives the return delay, reports take the return delay.
    pub(super) fn timing(&self, phy: Option<&PhyTrace>) -> Result<Timing, Fault> {
        let slots = &self.link.slots;
        let measured = phy.and_then(|phy| phy.header().rtt);
        let timing = slots.timing(measured).map_err(|fault| fault.within("link"))?;
        let feedback = phy.and_then(|phy| slots.feedback_over(phy, self.return_delay));
        Ok(Timing { feedback: feedback.or(timing.feedback), ..timing })
    }
}
