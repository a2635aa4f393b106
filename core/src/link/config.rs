//! What a link is, and how one is made from it.

use std::sync::Arc;

use crate::link::ntn::{NtnConfig, NtnLink, NtnLinkConfig};
use crate::link::{
    Fragmentation, Link, LinkError, Overlap, Propagation, QueueLimit, Reordering, Resequencing,
    TraceLink, TraceLinkConfig,
};
use crate::scheme::LinkTrace;
use crate::seed::Seed;
use crate::units::{Duration, Instant};

/// A link and how packets are put onto it (DESIGN section 5).
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// What carries the packets.
    pub medium: Medium,
    /// Bound of the queue before the link.
    pub queue: QueueLimit,
    /// Trace time at run time 0.
    pub start_offset: Duration,
    /// Whether the trace repeats.
    pub wrap: bool,
    /// How packets are cut into LLDUs.
    pub fragmentation: Fragmentation,
    /// The papers' rule that packets leave one at a time (seeds 001 and 003, figure 4).
    pub overlap_papers: bool,
    /// A re-sequencing buffer behind the link; `None`: packets leave as they come.
    pub reorder: Option<Resequencing>,
}

/// What carries the packets of a link.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Medium {
    /// A link trace: what became of every LLDU is known beforehand (open loop).
    Trace(Arc<LinkTrace>),
    /// A 3GPP NR link.
    Ntn(Arc<NtnConfig>),
}

impl LinkConfig {
    /// A link over `medium` with nothing special about it: no bound of the queue, no offset, no
    /// headers, no buffer.
    pub fn new(medium: Medium) -> Self {
        Self {
            medium,
            queue: QueueLimit::Unlimited,
            start_offset: Duration::ZERO,
            wrap: false,
            fragmentation: Fragmentation::default(),
            overlap_papers: false,
            reorder: None,
        }
    }

    /// The link, empty at time zero. `number` tells links of a run apart: their random streams
    /// differ. `end` is the end of the run.
    ///
    /// # Errors
    /// If there can be no such link.
    pub fn build(
        &self,
        seed: Seed,
        number: u32,
        end: Option<Instant>,
    ) -> Result<Box<dyn Link + Send>, LinkError> {
        let trace = match &self.medium {
            Medium::Trace(trace) => TraceLink::new(Arc::clone(trace), self.trace_config(end))?,
            Medium::Ntn(config) => return self.build_ntn(config, seed, number, end),
        };
        Ok(match (self.overlap_papers, self.reorder) {
            (false, None) => Box::new(trace),
            (true, None) => Box::new(Overlap::new(trace)),
            (false, Some(rule)) => Box::new(Reordering::new(trace, rule)),
            (true, Some(rule)) => Box::new(Reordering::new(Overlap::new(trace), rule)),
        })
    }

    fn build_ntn(
        &self,
        config: &NtnConfig,
        seed: Seed,
        number: u32,
        end: Option<Instant>,
    ) -> Result<Box<dyn Link + Send>, LinkError> {
        if self.overlap_papers {
            return Err(LinkError::LiveLink { rule: "overlap = \"papers\"" });
        }
        if self.fragmentation.extra_lldu {
            return Err(LinkError::LiveLink { rule: "extra_lldu" });
        }
        let usage = NtnLinkConfig {
            queue: self.queue,
            fragmentation: self.fragmentation,
            start_offset: self.start_offset,
            wrap: self.wrap,
            duration: end,
        };
        let link = NtnLink::new(config, usage, seed, number)?;
        Ok(match self.reorder {
            None => Box::new(link),
            Some(rule) => Box::new(Reordering::new(link, rule)),
        })
    }

    fn trace_config(&self, end: Option<Instant>) -> TraceLinkConfig {
        TraceLinkConfig {
            queue: self.queue,
            start_offset: self.start_offset,
            wrap: self.wrap,
            fragmentation: self.fragmentation,
            duration: end,
        }
    }
}

impl Medium {
    /// How long what is sent back over it is under way, if nothing else is known of the way back.
    pub fn way_back(&self) -> Propagation {
        match self {
            Self::Trace(trace) => Propagation::Fixed(trace.parts().rtt.half()),
            Self::Ntn(config) => config.way_back.clone(),
        }
    }
}
