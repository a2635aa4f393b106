//! What a link is, and how one is made from it.

use std::sync::Arc;

use crate::link::reordering::behind;
use crate::link::{
    Fragmentation, InstrumentedLink, LinkError, Overlap, Propagation, QueueLimit, Resequencing,
    TraceLink, TraceLinkConfig,
};
use crate::scheme::adaptive_harq::{self, AdaptiveHarqConfig};
use crate::scheme::hybrid::{HybridConfig, HybridLink, HybridOptions};
use crate::scheme::live::LiveConfig;
use crate::scheme::nr::{NtnConfig, NtnLink, NtnLinkConfig};
use crate::seed::Seed;
use crate::trace::LinkTrace;
use crate::units::{Bytes, Duration, Instant};

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
    /// The papers' rule that packets leave one at a time (the CLIFT papers, figure 4).
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
    /// Hybrid FEC/ARQ-SR over a rate and a delay (Al Fawal 2003).
    Hybrid(Box<HybridConfig>),
    /// Adaptive HARQ (Tauran 2017). How packets are cut into LLDUs does not matter to it.
    AdaptiveHarq(Arc<AdaptiveHarqConfig>),
    /// A scheme that runs with the traffic over a PHY trace.
    Live(Arc<LiveConfig>),
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
    ) -> Result<Box<dyn InstrumentedLink + Send>, LinkError> {
        if self.reorder.is_some() && self.medium.has_buffer() {
            return Err(LinkError::TwoBuffers);
        }
        match &self.medium {
            Medium::Trace(trace) => {
                let link = TraceLink::new(Arc::clone(trace), self.trace_config(end))?;
                Ok(match self.overlap_papers {
                    false => behind(link, self.reorder),
                    true => behind(Overlap::new(link), self.reorder),
                })
            }
            Medium::Live(live) => {
                if self.overlap_papers {
                    return Err(LinkError::OnlyTraces("overlap = \"papers\""));
                }
                live.build(self.trace_config(end), self.reorder, seed, number)
            }
            Medium::Ntn(config) => self.ntn(config, seed, number, end),
            Medium::Hybrid(config) => self.hybrid(config, seed, number, end),
            Medium::AdaptiveHarq(config) => {
                self.check_live()?;
                let usage = self.trace_config(end);
                adaptive_harq::build(config, usage, self.reorder, seed, number)
            }
        }
    }

    fn hybrid(
        &self,
        config: &HybridConfig,
        seed: Seed,
        number: u32,
        end: Option<Instant>,
    ) -> Result<Box<dyn InstrumentedLink + Send>, LinkError> {
        self.check_live()?;
        let options = HybridOptions {
            queue: self.queue,
            packet_header: self.fragmentation.packet_header,
            start_offset: self.start_offset,
            wrap: self.wrap,
            duration: end,
        };
        let link = HybridLink::new(config, seed, number, options)?;
        let own = config.in_order.then_some(Resequencing::InOrder);
        Ok(behind(link, own.or(self.reorder)))
    }

    fn ntn(
        &self,
        config: &NtnConfig,
        seed: Seed,
        number: u32,
        end: Option<Instant>,
    ) -> Result<Box<dyn InstrumentedLink + Send>, LinkError> {
        self.check_live_but_headers()?;
        let usage = NtnLinkConfig {
            queue: self.queue,
            fragmentation: self.fragmentation,
            start_offset: self.start_offset,
            wrap: self.wrap,
            duration: end,
        };
        let link = NtnLink::new(config, usage, seed, number)?;
        Ok(behind(link, self.reorder))
    }

    /// That nothing is asked for that only a link trace has.
    fn check_live(&self) -> Result<(), LinkError> {
        self.check_live_but_headers()?;
        if self.fragmentation.lldu_header != Bytes(0) {
            return Err(LinkError::OnlyTraces("a header of each LLDU"));
        }
        Ok(())
    }

    fn check_live_but_headers(&self) -> Result<(), LinkError> {
        if self.overlap_papers {
            return Err(LinkError::OnlyTraces("overlap = \"papers\""));
        }
        if self.fragmentation.extra_lldu {
            return Err(LinkError::OnlyTraces("extra_lldu"));
        }
        Ok(())
    }

    /// That packets of `size` fit onto the link.
    ///
    /// # Errors
    /// If every one of them would be dropped for its size.
    pub fn check_packet(&self, size: Bytes) -> Result<(), LinkError> {
        let Medium::Hybrid(config) = &self.medium else { return Ok(()) };
        let most = config.largest_packet().0.saturating_sub(self.fragmentation.packet_header.0);
        if size.0 > most {
            return Err(LinkError::PacketTooLarge { packet: size.0, most });
        }
        Ok(())
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
    /// Whether it has a re-sequencing buffer of its own.
    fn has_buffer(&self) -> bool {
        match self {
            Self::Hybrid(config) => config.in_order,
            Self::AdaptiveHarq(config) => config.reorder.is_some(),
            Self::Live(live) => live.reorder.is_some(),
            Self::Trace(_) | Self::Ntn(_) => false,
        }
    }

    /// How long what is sent back over it is under way, if nothing else is known of the way back.
    pub fn way_back(&self) -> Propagation {
        match self {
            Self::Trace(trace) => Propagation::Fixed(trace.parts().rtt.half()),
            Self::Hybrid(config) => Propagation::Fixed(config.delay),
            Self::AdaptiveHarq(config) => config.delay.clone(),
            Self::Live(live) => Propagation::Fixed(live.timing.rtt.half()),
            Self::Ntn(config) => config.way_back.clone(),
        }
    }
}
