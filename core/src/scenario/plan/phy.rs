//! The plan of a PHY trace.

use crate::channel::ChannelConfig;
use crate::config::Fault;
use crate::scenario::channel::Channel;
use crate::scenario::spec::PhySpec;
use crate::scenario::trace::{self, Trace};
use crate::units::Duration;

/// A PHY trace from a file, of a channel, or from a file with erasures of a channel on top.
#[derive(Clone, Debug)]
pub struct PlannedPhy {
    /// The PHY trace from a file.
    pub trace: Option<Trace>,
    /// The channel.
    pub channel: Option<PlannedChannel>,
}

/// A channel, and how many slots to make where no trace has them.
#[derive(Clone, Debug)]
pub struct PlannedChannel {
    /// The channel.
    pub config: ChannelConfig,
    /// Number of slots of a channel that stands alone.
    pub slots: Option<u64>,
    /// A seed of their own.
    pub seed: Option<u64>,
    /// Whether each run has its own draw.
    pub redraw: bool,
}

impl PlannedPhy {
    /// What is to be made; `seed` says which one its channel has.
    pub(in crate::scenario) fn spec(&self, seed: impl FnOnce(&PlannedChannel) -> u64) -> PhySpec {
        let channel = self.channel.as_ref();
        PhySpec {
            trace: self.trace.clone(),
            channel: channel.map(|own| own.config.clone()),
            slots: channel.and_then(|own| own.slots),
            // Where nothing is drawn all replications share the file's trace.
            seed: channel.map_or(0, seed),
            is_of_one_run: channel.is_some_and(|own| own.redraw && own.seed.is_none()),
        }
    }
}

/// Where a PHY trace comes from: sections with the keys of `[trace]` and `[channel]`.
pub(super) struct PhySections<'a> {
    /// The key and the section of the file.
    pub(super) trace: (String, Option<&'a Trace>),
    /// The key and the section of the model.
    pub(super) channel: (String, Option<&'a Channel>),
}

impl PhySections<'_> {
    /// The plan of what they give, if anything, for runs of `duration`. The model is drawn anew in
    /// each run unless its own key says otherwise: runs that share a draw are not independent.
    pub(super) fn planned(&self, duration: Duration) -> Result<Option<PlannedPhy>, Fault> {
        let (key, trace) = &self.trace;
        if trace.is_none() && self.channel.1.is_none() {
            return Ok(None);
        }
        let channel = match &self.channel {
            (_, None) => None,
            (key, Some(channel)) => {
                let slots = channel.slots(key, trace.is_some(), duration)?;
                let redraw = channel.draw.redraw.unwrap_or(true);
                let config = channel.config.clone();
                Some(PlannedChannel { config, slots, seed: channel.draw.seed, redraw })
            }
        };
        trace.map_or(Ok(()), |trace| trace::check(trace, key))?;
        Ok(Some(PlannedPhy { trace: trace.cloned(), channel }))
    }
}
