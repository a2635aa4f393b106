//! What a live link is, and how one is made from it.

use std::num::NonZeroU32;

use crate::link::live::{LiveLink, LiveScheme};
use crate::link::reordering::behind;
use crate::link::{HORIZON, Link, LinkError, Resequencing, TraceLinkConfig, nanos, span};
use crate::scheme::feedback::{Feedback, Losses, TraceBack};
use crate::scheme::window::Window;
use crate::scheme::{Scheme, Timing, arq, fec, harq2, none};
use crate::seed::{Seed, Stream};
use crate::trace::PhyTrace;
use crate::units::{Duration, Probability};

/// A link whose scheme runs with the traffic over a PHY trace (DESIGN section 5).
///
/// Of its slots only those are used that something is to be sent in, in this order: repair of a
/// finished block or of a NACKed unit, repair of the current block, new data. With data always
/// waiting, it gives exactly the link trace that [`Scheme::apply`] gives.
///
/// ```
/// use std::sync::Arc;
/// use clift::link::{Link, Packet, PacketId};
/// use clift::scheme::{LinkConfig, LiveConfig, Medium, Timing};
/// use clift::seed::Seed;
/// use clift::trace::PhyTrace;
/// use clift::units::{Bytes, Duration, Instant};
///
/// // Slot 1 is erased. With ARQ its sender knows 25 ns later, and repeats it in slot 4.
/// let t = vec![0, 10, 20, 30, 40, 50];
/// let phy = PhyTrace::new(t.into(), vec![5, 0, 5, 5, 5, 5].into(), Bytes(100)).unwrap();
/// let timing = Timing { rtt: Duration::from_nanos(20), feedback: None };
/// let live = LiveConfig::new(phy, "ARQ".parse()?, timing);
/// let config = LinkConfig::new(Medium::Live(Arc::new(live)));
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
    /// What the physical layer does with each slot.
    pub phy: PhyTrace,
    /// The scheme.
    pub scheme: Scheme,
    /// Round-trip time and feedback time.
    pub timing: Timing,
    /// From the first unit of a block (FEC: of a super-block) until it is closed, if by then
    /// nothing waits to fill it: shortened code, its n - k repair units follow. Zero: as soon as
    /// nothing waits. A block is closed in the first slot that would otherwise stay idle, so that
    /// data always go first and no capacity is lost to a short timer.
    pub flush: Duration,
    /// What loses the reports of the far end.
    pub feedback_loss: FeedbackLoss,
    /// After how long a report that was lost is repeated; the feedback time unless set.
    pub feedback_repeat: Option<Duration>,
    /// Most units (HARQ: blocks) that the sender keeps until it hears of their end; `None`: no
    /// bound. Without feedback nothing is kept.
    pub send_buffer: Option<NonZeroU32>,
    /// Most units (HARQ: blocks) from the first that has not come to its end to the newest, which
    /// the far end has to hold; `None`: no bound.
    pub receive_buffer: Option<NonZeroU32>,
    /// A re-sequencing buffer at its far end; `None`: packets leave as they come.
    pub reorder: Option<Resequencing>,
}

/// What loses the reports of the far end, on units or on blocks.
///
/// The far end repeats a report that had no effect, [`LiveConfig::feedback_repeat`] later, up to
/// a thousand times.
#[derive(Clone, Debug, Default)]
pub enum FeedbackLoss {
    /// Nothing.
    #[default]
    None,
    /// Each copy of a report is lost with this probability, independently.
    Random(Probability),
    /// The PHY trace of the way back: a copy is lost if the first slot at or after it was sent is
    /// erased. A report on a slot is sent when the slot has been decoded at the far end,
    /// `d_nom + RTT/2` after it. Reports cost no slots.
    ///
    /// Both traces have one clock: this one starts at the link's `start_offset`, repeats when it
    /// ends, and begins anew whenever that of the link does.
    Trace(PhyTrace),
}

impl LiveConfig {
    /// A live link with nothing special about it: blocks are closed as soon as nothing waits, no
    /// report is lost, no bounds.
    pub fn new(phy: PhyTrace, scheme: Scheme, timing: Timing) -> Self {
        Self {
            phy,
            scheme,
            timing,
            flush: Duration::ZERO,
            feedback_loss: FeedbackLoss::None,
            feedback_repeat: None,
            send_buffer: None,
            receive_buffer: None,
            reorder: None,
        }
    }

    /// The link, empty at time zero, with the buffer `outer` or its own behind it.
    pub(super) fn build(
        &self,
        usage: TraceLinkConfig,
        outer: Option<Resequencing>,
        seed: Seed,
        number: u32,
    ) -> Result<Box<dyn Link + Send>, LinkError> {
        let flush = span(self.flush);
        let feedback = self.feedback(usage, seed, number)?;
        let bound = |limit: Option<NonZeroU32>| limit.map(NonZeroU32::get);
        let window = Window::new(bound(self.send_buffer), bound(self.receive_buffer));
        let rule = self.reorder.or(outer);
        match self.scheme {
            Scheme::None => self.assemble(none::live::None, usage, rule),
            Scheme::Fec { code, interleave } => {
                self.assemble(fec::live::Fec::new(code, interleave.get(), flush), usage, rule)
            }
            Scheme::Arq { max_retx } => {
                self.assemble(arq::live::Arq::new(max_retx, feedback, window), usage, rule)
            }
            Scheme::Harq2 { code, extra, max_rounds } => {
                let parameters = (code, extra, max_rounds);
                let scheme = harq2::live::Harq2::new(parameters, flush, feedback, window);
                self.assemble(scheme, usage, rule)
            }
        }
    }

    fn assemble<S: LiveScheme + Send + 'static>(
        &self,
        scheme: S,
        usage: TraceLinkConfig,
        rule: Option<Resequencing>,
    ) -> Result<Box<dyn Link + Send>, LinkError> {
        let link = LiveLink::new(scheme, self.phy.clone(), self.timing.rtt, usage)?;
        Ok(behind(link, rule))
    }

    fn feedback(
        &self,
        usage: TraceLinkConfig,
        seed: Seed,
        number: u32,
    ) -> Result<Feedback, LinkError> {
        let nominal = self.phy.nominal_decoding();
        let delay = self.timing.feedback(nominal);
        let losses = match &self.feedback_loss {
            FeedbackLoss::None => Losses::None,
            FeedbackLoss::Random(p) => {
                Losses::Random(*p, Box::new(seed.rng(Stream::Feedback(number))))
            }
            FeedbackLoss::Trace(back) => {
                let back = TraceBack::new(back.clone(), &self.phy, usage.start_offset, usage.wrap)?;
                let back = Box::new(back);
                let after = span(nominal).saturating_add(span(self.timing.rtt.half()));
                Losses::Trace { back, after }
            }
        };
        let wide = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        Ok(Feedback {
            delay: wide(delay),
            repeat: wide(self.feedback_repeat.unwrap_or(delay)).max(1),
            losses,
            lost: 0,
            end: usage.duration.map_or(HORIZON, nanos),
        })
    }
}
