//! What a link is, and how one is made from it.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::config::Fault;
use crate::link::reordering::behind;
use crate::link::{
    Behind, BuiltLink, Coded, Coding, Fragmentation, Propagation, QueueLimit, Resequencing,
    TraceClock, TraceLink, TraceLinkConfig, only_traces,
};
use crate::queue::{Aqm, Managed};
use crate::seed::Seed;
use crate::trace::{LinkTrace, PhyTrace};
use crate::units::{Bytes, Duration, Instant};

/// A link and how packets are put onto it (DESIGN section 5).
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Medium that carries the packets.
    pub medium: Arc<dyn Medium>,
    /// Bound of the queue before the link.
    pub queue: QueueLimit,
    /// Queue management, which drops packets before that queue is full.
    pub aqm: Aqm,
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
    /// Erasure coding around the link, its queue and its buffer; `None`: packets are not coded.
    pub coding: Option<Coding>,
}

/// What a medium is built with.
#[derive(Clone, Copy, Debug)]
pub struct Building<'a> {
    /// The link, whose buffer `reorder` stands behind the medium unless that has its own.
    pub link: &'a LinkConfig,
    /// What `link` says of the use of the medium.
    pub usage: TraceLinkConfig,
    /// Seed of the run.
    pub seed: Seed,
    /// Tells the links of a run apart.
    pub number: u32,
}

/// A medium carries the packets of a link: its description, with the traces made for it.
///
/// A [`LinkTrace`] is one: the fate of every LLDU is known beforehand (open loop). The others run
/// with the traffic: [`LiveConfig`](super::LiveConfig), [`HybridConfig`](super::HybridConfig),
/// [`AdaptiveHarqConfig`](super::AdaptiveHarqConfig) and [`NtnConfig`](super::ntn::NtnConfig).
pub trait Medium: Any + fmt::Debug + Send + Sync {
    /// The link, empty at time zero, with its buffer behind it.
    ///
    /// # Errors
    /// If the link is not valid.
    fn build(self: Arc<Self>, with: Building<'_>) -> Result<BuiltLink, Fault>;

    /// How long what is sent back over it is under way, if nothing else is known of the way back.
    fn way_back(&self) -> Propagation;

    /// First and end time of the trace that it runs over, ns; `None` without one.
    fn span(&self) -> Option<(u64, u64)> {
        None
    }

    /// The medium with its varying delays set on the clock of its trace; `None` if they do not
    /// vary.
    fn on_clock(&self, _: TraceClock) -> Option<Arc<dyn Medium>> {
        None
    }

    /// Its own re-sequencing buffer, if it has one.
    fn buffer(&self) -> Option<Resequencing> {
        None
    }

    /// Whether a part of it orders packets by TCP's sequence numbers.
    fn reads_streams(&self) -> bool {
        false
    }

    /// The largest packet that it carries, headers included; `None`: unlimited.
    fn largest_packet(&self) -> Option<Bytes> {
        None
    }
}

impl dyn Medium {
    /// The medium as what it is, if it is an `M`.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use clift::scheme::{HybridConfig, LinkTrace, Medium};
    /// let medium: Arc<dyn Medium> = Arc::new(HybridConfig::default());
    /// assert!(medium.get::<HybridConfig>().is_some() && medium.get::<LinkTrace>().is_none());
    /// ```
    pub fn get<M: Medium>(self: &Arc<Self>) -> Option<Arc<M>> {
        let any: Arc<dyn Any + Send + Sync> = Arc::clone(self) as _;
        any.downcast().ok()
    }
}

impl Medium for LinkTrace {
    fn build(self: Arc<Self>, with: Building<'_>) -> Result<BuiltLink, Fault> {
        let Building { link, usage, .. } = with;
        let inner = TraceLink::new(self, usage)?;
        Ok(match link.overlap_papers {
            false => behind(inner, link.reorder),
            true => behind(Behind::serialised(inner), link.reorder),
        })
    }

    fn way_back(&self) -> Propagation {
        Propagation::Fixed(self.parts().back)
    }

    fn span(&self) -> Option<(u64, u64)> {
        let parts = self.parts();
        // Times of a trace are never negative.
        Some((parts.span.0.unsigned_abs(), (parts.span.1 + parts.gap).unsigned_abs()))
    }
}

/// First and end time of a PHY trace, ns.
pub(super) fn span_of(phy: &PhyTrace) -> (u64, u64) {
    // Times of a trace are never negative.
    let first = phy.t()[0].unsigned_abs();
    (first, first + phy.period().as_nanos())
}

impl LinkConfig {
    /// A link over `medium` with nothing special about it: no bound of the queue, no offset, no
    /// headers, no buffer.
    pub fn new(medium: Arc<dyn Medium>) -> Self {
        Self {
            medium,
            queue: QueueLimit::Unlimited,
            aqm: Aqm::None,
            start_offset: Duration::ZERO,
            wrap: false,
            fragmentation: Fragmentation::default(),
            overlap_papers: false,
            reorder: None,
            coding: None,
        }
    }

    /// The link, empty at time zero. `number` tells links of a run apart: their random streams
    /// differ. `end` is the end of the run.
    ///
    /// # Errors
    /// If the link is not valid.
    pub fn build(&self, seed: Seed, number: u32, end: Option<Instant>) -> Result<BuiltLink, Fault> {
        if self.reorder.is_some() && self.medium.buffer().is_some() {
            let cure = "the link already has a re-sequencing buffer; remove one of them";
            return Err(Fault::at(cure));
        }
        let with = Building { link: self, usage: self.usage(end), seed, number };
        let link = Arc::clone(&self.medium).build(with)?;
        let link = Managed::before(link, &self.aqm, self.queue, seed, number);
        Ok(match &self.coding {
            None => link,
            Some(coding) => {
                coding.check()?;
                Box::new(Coded::around(link, coding, self.medium.way_back(), seed, number))
            }
        })
    }

    /// The link as what it is, if it is a plain link over a link trace: with nothing before, behind or
    /// around it.
    pub(crate) fn build_plain(&self, end: Instant) -> Option<Result<TraceLink, Fault>> {
        let is_plain = self.aqm == Aqm::None && self.coding.is_none();
        if !is_plain || self.overlap_papers || self.reorder.is_some() {
            return None;
        }
        Some(TraceLink::new(self.medium.get::<LinkTrace>()?, self.usage(Some(end))))
    }

    /// How the link uses its trace.
    fn usage(&self, end: Option<Instant>) -> TraceLinkConfig {
        // A managed queue is a separate element before the link.
        let queue = if self.aqm == Aqm::None { self.queue } else { QueueLimit::Unlimited };
        TraceLinkConfig {
            queue,
            start_offset: self.start_offset,
            wrap: self.wrap,
            fragmentation: self.fragmentation,
            duration: end,
        }
    }

    /// Whether a buffer behind it orders packets by TCP's sequence numbers.
    pub fn reads_streams(&self) -> bool {
        matches!(self.reorder, Some(Resequencing::TcpSequence { .. }))
            || self.medium.reads_streams()
    }

    /// That packets leave as they come, not one at a time as ns-2 read link traces.
    pub(super) fn check_overlap(&self) -> Result<(), Fault> {
        match self.overlap_papers {
            true => Err(only_traces("overlap = \"papers\"")),
            false => Ok(()),
        }
    }

    /// That nothing is asked for that only a link over slots has; a header of each LLDU if
    /// `header`.
    pub(super) fn check_own(&self, header: bool) -> Result<(), Fault> {
        self.check_overlap()?;
        if self.fragmentation.extra_lldu {
            return Err(only_traces("extra_lldu"));
        }
        if !header && self.fragmentation.lldu_header != Bytes(0) {
            return Err(only_traces("a header of each LLDU"));
        }
        Ok(())
    }

    /// The largest packet that the link carries, without what it adds to packets; `None`:
    /// unlimited.
    pub fn largest_packet(&self) -> Option<Bytes> {
        let header = self.coding.as_ref().map_or(0, |coding| coding.header.0);
        let added = self.fragmentation.packet_header.0.saturating_add(header);
        Some(Bytes(self.medium.largest_packet()?.0.saturating_sub(added)))
    }

    /// That packets of `size` fit onto the link.
    ///
    /// # Errors
    /// If every one of them would be dropped for its size.
    pub fn check_packet(&self, size: Bytes) -> Result<(), Fault> {
        match self.largest_packet() {
            Some(Bytes(most)) if size.0 > most => Err(Fault::at(format!(
                "packets of {} bytes are larger than the link's maximum of {most}; give smaller ones",
                size.0
            ))),
            _ => Ok(()),
        }
    }
}
