//! The plan of a PHY trace.

use super::channel::Channel;
use super::spec::PhySpec;
use crate::channel::ChannelConfig;
use crate::config::{Fault, join};
use crate::trace::TraceFile;
use crate::units::Duration;

/// A PHY trace from a file, of a channel, or from a file with erasures of a channel on top.
#[derive(Clone, Debug)]
pub struct PlannedPhy {
    /// The section of the file.
    pub key: String,
    /// The PHY trace from a file.
    pub trace: Option<TraceFile>,
    /// The channel.
    pub channel: Option<PlannedChannel>,
}

/// A channel, and the number of slots to make unless a trace provides them.
#[derive(Clone, Debug)]
pub struct PlannedChannel {
    /// The channel.
    pub config: ChannelConfig,
    /// Number of slots of a channel that stands alone.
    pub slots: Option<u64>,
    /// The channel's own seed, if it has one.
    pub seed: Option<u64>,
    /// Whether each run has its own draw.
    pub redraw: bool,
}

impl PlannedPhy {
    /// Description of the trace. `seed` returns the seed of its channel.
    pub(super) fn spec(&self, seed: impl FnOnce(&PlannedChannel) -> u64) -> PhySpec {
        let channel = self.channel.as_ref();
        PhySpec {
            key: self.key.clone(),
            trace: self.trace.clone(),
            channel: channel.map(|own| own.config.clone()),
            slots: channel.and_then(|own| own.slots),
            // Without random draws, all replications share the file's trace.
            seed: channel.map_or(0, seed),
            is_of_one_run: channel.is_some_and(|own| own.redraw && own.seed.is_none()),
        }
    }
}

/// A key and the section it may hold.
pub(super) type Section<'a, T> = (&'a str, &'a Option<T>);

/// The plan of sections with the keys of `[trace]` and `[channel]`, for runs of `duration`; `None`
/// if neither is given. By default each run draws a new channel, because runs that share a
/// draw are not independent.
pub(super) fn phy(
    key: &str,
    (of_trace, trace): Section<'_, TraceFile>,
    (of_channel, channel): Section<'_, Channel>,
    duration: Duration,
) -> Result<Option<PlannedPhy>, Fault> {
    if trace.is_none() && channel.is_none() {
        return Ok(None);
    }
    let (of_trace, of_channel) = (join(key, of_trace), join(key, of_channel));
    let channel = channel.as_ref().map(|channel| -> Result<_, Fault> {
        let slots = channel.slots(&of_channel, trace.is_some(), duration)?;
        let redraw = channel.draw.redraw.unwrap_or(true);
        let config = channel.config.clone();
        Ok(PlannedChannel { config, slots, seed: channel.draw.seed, redraw })
    });
    let channel = channel.transpose()?;
    if let Some(trace) = trace {
        trace.check().map_err(|(field, cure)| Fault::of(&of_trace, field, cure))?;
    }
    Ok(Some(PlannedPhy { key: of_trace, trace: trace.clone(), channel }))
}
