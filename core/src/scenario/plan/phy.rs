//! The plan of a PHY trace.

use crate::config::Fault;
use crate::scenario::channel::{Channel, Slots};
use crate::scenario::erasures::Erasures;
use crate::scenario::spec::PhySpec;
use crate::scenario::trace::{self, Trace};
use crate::units::Duration;

/// A PHY trace from a file, from a model, or from a file with erasures from a model on top.
#[derive(Clone, Debug)]
pub struct PlannedPhy {
    /// The PHY trace from a file.
    pub trace: Option<Trace>,
    /// The erasures from a model.
    pub erasures: Option<PlannedErasures>,
}

/// Erasures, and the slots to make where no trace has them.
#[derive(Clone, Debug)]
pub struct PlannedErasures {
    /// The model.
    pub model: Erasures,
    /// The slots of a channel that stands alone.
    pub slots: Option<Slots>,
    /// A seed of their own.
    pub seed: Option<u64>,
    /// Whether each run has its own draw.
    pub redraw: bool,
}

impl PlannedPhy {
    /// What is to be made; `seed` says which one its erasures have.
    pub(in crate::scenario) fn spec(&self, seed: impl FnOnce(&PlannedErasures) -> u64) -> PhySpec {
        let erasures = self.erasures.as_ref();
        PhySpec {
            trace: self.trace.clone(),
            erasures: erasures.map(|own| own.model.clone()),
            slots: erasures.and_then(|own| own.slots.clone()),
            // Where nothing is drawn all replications share the file's trace.
            seed: erasures.map_or(0, seed),
        }
    }
}

/// Where a PHY trace comes from: sections with the keys of `[trace]` and `[channel]`.
pub(super) struct Sections<'a> {
    /// The key and the section of the file.
    pub(super) trace: (String, Option<&'a Trace>),
    /// The key and the section of the model.
    pub(super) channel: (String, Option<&'a Channel>),
}

impl Sections<'_> {
    pub(super) fn are_given(&self) -> bool {
        self.trace.1.is_some() || self.channel.1.is_some()
    }

    /// The name of the first section that is given.
    pub(super) fn given(&self) -> Option<&'static str> {
        let trace = self.trace.1.map(|_| "trace");
        trace.or(self.channel.1.map(|_| "channel"))
    }

    /// The plan of what they give, for runs of `duration`. The model is drawn anew in each run unless
    /// its own key says otherwise: runs that share a draw are not independent.
    pub(super) fn planned(&self, duration: Duration) -> Result<PlannedPhy, Fault> {
        let (key, trace) = &self.trace;
        let erasures = match &self.channel {
            (_, None) => None,
            (key, Some(channel)) => {
                let (model, slots) = channel.planned(key, trace.is_some(), duration)?;
                let redraw = channel.redraw.unwrap_or(true);
                Some(PlannedErasures { model, slots, seed: channel.seed, redraw })
            }
        };
        trace.map_or(Ok(()), |trace| trace::check(trace, key))?;
        Ok(PlannedPhy { trace: trace.cloned(), erasures })
    }
}
