//! What a live link is, and how one is made from it.

use std::cell::Cell;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::Fault;
use crate::link::live::{LiveLink, LiveScheme};
use crate::link::reordering::behind;
use crate::link::{BuiltLink, HORIZON, Propagation, Resequencing, TraceLinkConfig, nanos, span};
use crate::scheme::feedback::{Feedback, Losses, TraceBack};
use crate::scheme::medium::span_of;
use crate::scheme::successor::Successor;
use crate::scheme::window::BufferLimits;
use crate::scheme::{Building, Medium, Scheme, Timing};
use crate::seed::{Seed, Stream};
use crate::trace::PhyTrace;
use crate::units::{Duration, Instant, Probability};

/// A link whose scheme runs with the traffic over a PHY trace (DESIGN section 5).
///
/// A slot is used only if something waits to be sent, in this order: repair of a
/// finished block or of a NACKed unit, repair of the current block, new data. With data always
/// waiting, it gives exactly the link trace that [`Scheme::apply`] gives, also where slots differ in
/// size: a packet takes as many units as hold it, ARQ cuts a unit that does not fit into a slot into
/// pieces, and a code word counts in bytes.
///
/// ```
/// use std::sync::Arc;
/// use clift::link::{Instrument, Link, Packet, PacketId};
/// use clift::scheme::{LinkConfig, LiveConfig, Timing};
/// use clift::seed::Seed;
/// use clift::trace::PhyTrace;
/// use clift::units::{Bytes, Duration, Instant};
///
/// // Slot 1 is erased. With ARQ its sender knows 25 ns later, and repeats it in slot 4.
/// let t = vec![0, 10, 20, 30, 40, 50];
/// let phy = PhyTrace::new(t.into(), vec![5, 0, 5, 5, 5, 5].into(), Bytes(100)).unwrap();
/// let timing = Timing { rtt: Duration::from_nanos(20), feedback: None };
/// let live = LiveConfig::new(phy, "ARQ".parse()?, timing);
/// let config = LinkConfig::new(Arc::new(live));
/// let mut link = config.build(Seed(1), 0, None)?;
/// let _ = link.enqueue(Instant::ZERO, Packet::new(PacketId(0), Bytes(200)));
/// let mut delivered = None;
/// while let Some(now) = link.poll_timeout() {
///     delivered = link.poll(now).map(|event| event.at()).or(delivered);
/// }
/// assert_eq!(delivered, Some(Instant::from_nanos(40 + 5 + 10)));
/// // Three of six slots were used: the others had nothing to carry.
/// assert_eq!(link.usage(Instant::from_nanos(50)).share(), 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LiveConfig {
    /// PHY trace: the fate of each slot.
    pub phy: PhyTrace,
    /// The scheme.
    pub scheme: Scheme,
    /// Round-trip time and feedback time.
    pub timing: Timing,
    /// Further options of the live link.
    pub options: LiveOptions,
    /// The PHY trace of the way back, which loses reports instead of
    /// [`LiveOptions::feedback_loss`]: a copy is lost if the first slot at or after it was sent is
    /// erased. A report on a slot is sent when the slot has been decoded at the far end,
    /// `d_nom + RTT/2` after it. Reports cost no slots.
    ///
    /// Both traces have one clock: this one starts at the link's `start_offset`, repeats when it
    /// ends, and restarts whenever that of the link does.
    pub reports: Option<PhyTrace>,
    /// Schemes that take the new data from an instant on, in order of time. The scheme before closes
    /// its open block as if nothing waited, and completes its repairs, which go first.
    pub successors: Vec<(Instant, Scheme)>,
}

/// Options of a live link beyond scheme and timing.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct LiveOptions {
    /// From the first unit of a FEC or HARQ block until it is closed, if nothing waits to fill it;
    /// without it a block is closed as soon as nothing waits.
    // Shortened code: the n - k repair units of the block (FEC: of the super-block) follow. It is
    // closed in the first slot that would otherwise stay idle, so that data always go first and no
    // capacity is lost to a short timer.
    pub flush: Option<Duration>,
    /// Probability that a report of the far end (of ARQ and HARQ) is lost.
    // The far end repeats a report that had no effect, up to a thousand times.
    pub feedback_loss: Option<Probability>,
    /// After how long a lost report is repeated; the feedback time unless set.
    pub feedback_repeat: Option<Duration>,
    /// Most LLDUs (HARQ: blocks) that the sender keeps until it hears of their end; unlimited
    /// unless set.
    pub send_buffer: Option<NonZeroU32>,
    /// Most LLDUs (HARQ: blocks) from the first one not known to have arrived to the newest, which the
    /// far end must hold; unlimited unless set.
    pub receive_buffer: Option<NonZeroU32>,
}

impl LiveConfig {
    /// A live link with nothing special about it: blocks are closed as soon as nothing waits, no
    /// report is lost, no bounds.
    pub fn new(phy: PhyTrace, scheme: Scheme, timing: Timing) -> Self {
        Self {
            phy,
            scheme,
            timing,
            options: LiveOptions::default(),
            reports: None,
            successors: Vec::new(),
        }
    }

    /// The scheme that takes the new data at `at`.
    pub fn scheme_at(&self, at: Instant) -> &Scheme {
        let successor = self.successors.iter().rev().find(|(from, _)| *from <= at);
        successor.map_or(&self.scheme, |(_, scheme)| scheme)
    }

    /// The link whose new data `scheme` takes from `at` on; the same up to then.
    pub fn followed_by(mut self, scheme: Scheme, at: Instant) -> Self {
        let place = self.successors.partition_point(|(other, _)| *other <= at);
        self.successors.insert(place, (at, scheme));
        self
    }

    fn feedback(&self, usage: TraceLinkConfig, seed: Seed, number: u32) -> Result<Feedback, Fault> {
        let nominal = self.phy.nominal_decoding();
        let delay = self.timing.feedback_over(&self.phy);
        let losses = match (&self.reports, self.options.feedback_loss) {
            (None, None) => Losses::None,
            (None, Some(p)) => Losses::Random(p, Box::new(seed.rng(Stream::Feedback(number)))),
            (Some(back), _) => {
                let back = TraceBack::new(back.clone(), &self.phy, usage.start_offset, usage.wrap)?;
                let back = Box::new(back);
                let after = span(nominal).saturating_add(span(self.timing.rtt.half()));
                Losses::Trace { back, after }
            }
        };
        let wide = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        Ok(Feedback {
            delay: wide(delay),
            repeat: wide(self.options.feedback_repeat.unwrap_or(delay)).max(1),
            losses,
            lost: 0,
            end: usage.duration.map_or(HORIZON, nanos),
        })
    }
}

impl Medium for LiveConfig {
    fn build(self: Arc<Self>, with: Building<'_>) -> Result<BuiltLink, Fault> {
        let Building { link, usage, seed, number } = with;
        link.check_overlap()?;
        let sizes = self.phy.sizes();
        let mut schemes = self.successors.iter().map(|(_, scheme)| scheme).chain([&self.scheme]);
        if sizes.column().is_some() && schemes.any(|scheme| matches!(scheme, Scheme::Own(_))) {
            let (least, most) = (sizes.least().0, sizes.most().0);
            return Err(Fault::at(format!(
                "slots from {least} to {most} bytes: a live link with a registered scheme needs slots of one size; remove `live` to use a precomputed link trace, which supports different sizes; or write a trace with one size for all (`clift trace convert FILE OUTPUT --lldu BYTES`), which changes its rate"
            )));
        }
        let feedback = self.feedback(usage, seed, number)?;
        let rule = link.reorder;
        let draws = (seed, number);
        let builder = LiveBuilder {
            config: &self,
            usage,
            rule,
            feedback,
            draws,
            successors: &self.successors,
            before: Cell::new(None),
        };
        self.scheme.forms().live(&builder)
    }

    fn way_back(&self) -> Propagation {
        Propagation::Fixed(self.phy.way_back(self.timing.rtt))
    }

    fn span(&self) -> Option<(u64, u64)> {
        Some(span_of(&self.phy))
    }
}

/// Inputs for the live form of a scheme: [`LiveBuilder::link`] makes the link.
pub struct LiveBuilder<'a> {
    config: &'a LiveConfig,
    usage: TraceLinkConfig,
    /// The re-sequencing buffer at its far end.
    rule: Option<Resequencing>,
    feedback: Feedback,
    /// Seed of the run and number of the link.
    draws: (Seed, u32),
    /// Schemes that follow on this one.
    successors: &'a [(Instant, Scheme)],
    /// The scheme before this one, and when this one takes over, ns.
    before: Cell<Option<(Box<dyn LiveScheme + Send>, i64)>>,
}

impl fmt::Debug for LiveBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveBuilder").field("config", self.config).finish_non_exhaustive()
    }
}

impl LiveBuilder<'_> {
    /// The link over the configured PHY trace whose slots `scheme` uses, empty at time zero.
    ///
    /// # Errors
    /// If the link is not valid.
    pub fn link<S: LiveScheme + Send + 'static>(&self, scheme: S) -> Result<BuiltLink, Fault> {
        if self.config.successors.is_empty() {
            return self.over(scheme);
        }
        self.link_of_several(Box::new(scheme))
    }

    /// The link of several schemes one after the other: those before, `next`, and its successors.
    fn link_of_several(&self, next: Box<dyn LiveScheme + Send>) -> Result<BuiltLink, Fault> {
        let scheme = match self.before.take() {
            None => next,
            Some((before, at)) => Box::new(Successor { before, next, at, has_begun: false }),
        };
        let Some(((at, next), successors)) = self.successors.split_first() else {
            return self.over(scheme);
        };
        let before = Cell::new(Some((scheme, nanos(*at))));
        // The reports of both schemes are lost by the same draws.
        let feedback = self.feedback.clone();
        next.forms().live(&LiveBuilder { successors, before, feedback, ..*self })
    }

    fn over<S: LiveScheme + Send + 'static>(&self, scheme: S) -> Result<BuiltLink, Fault> {
        let LiveConfig { phy, timing, .. } = self.config;
        Ok(behind(LiveLink::new(scheme, phy.clone(), timing.rtt, self.usage)?, self.rule))
    }

    /// Random stream for a scheme registered from outside the core.
    pub fn rng(&self) -> ChaCha8Rng {
        let (seed, number) = self.draws;
        seed.rng(Stream::OwnScheme(number))
    }

    /// Round-trip time and feedback time.
    pub fn timing(&self) -> Timing {
        self.config.timing
    }

    /// Nominal decoding time of the PHY trace.
    pub fn nominal_decoding(&self) -> Duration {
        self.config.phy.nominal_decoding()
    }

    /// Way back of reports: when the sender hears of the fate of a slot.
    pub fn feedback(&self) -> Feedback {
        self.feedback.clone()
    }

    /// From the first unit of a block until it is closed if nothing waits to fill it, ns
    /// ([`LiveOptions::flush`]).
    pub fn flush_ns(&self) -> i64 {
        span(self.config.options.flush.unwrap_or_default())
    }

    /// Bounds of the buffers at both ends, if there are any.
    pub(super) fn window(&self) -> Option<BufferLimits> {
        let bound = |limit: Option<NonZeroU32>| limit.map(NonZeroU32::get);
        let LiveOptions { send_buffer, receive_buffer, .. } = self.config.options;
        BufferLimits::new(bound(send_buffer), bound(receive_buffer))
    }
}
