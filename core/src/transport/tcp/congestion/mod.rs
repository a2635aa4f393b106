//! Congestion control, the same interface for both profiles: what an algorithm is told of, and
//! the [`Window`] that it sets.
//!
//! Loss detection and the pace of a reduction are not in here: `papers` and `linux` have their own,
//! and their own versions of the algorithms. What serves both stands here: Compound, and the
//! bandwidth estimate of Westwood+.

pub(super) mod ack_rate;
pub(super) mod compound;
mod fixed;
mod registry;
mod window;

use std::fmt::Debug;

pub use registry::{
    BuildControl, CongestionAlgorithm, CongestionControlKind, NameTaken,
    UnknownCongestionAlgorithm, register_congestion_control,
};
pub use window::Window;

use super::endpoint::CongestionState;
use crate::units::{Duration, Instant};

/// An ACK as a congestion control sees it.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Ack {
    /// When it arrived.
    pub now: Instant,
    /// Segments that it acknowledges for the first time; in profile `linux` those too that it
    /// SACKs for the first time, and less those that were SACKed before.
    pub segments: u32,
    /// Segments believed to be on their way before it.
    pub prior_in_flight: u64,
    /// First byte not acknowledged, by this ACK.
    pub una: u64,
    /// First segment not acknowledged, by this ACK. Segments are numbered from 0.
    pub first: u64,
    /// The segment to be sent next for the first time.
    pub next: u64,
    /// Segments of it that arrived marked (ECN), as far as it tells; profile `linux` only.
    pub marked: u32,
    /// When the segment left that the ACK echoes; `None` without timestamps.
    pub echo: Option<Instant>,
    /// Round-trip time of the newest segment it acknowledges; `None` if that is not known. Profile
    /// `papers` says it only to those that watch.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time with this ACK's sample; `None` before there is one. Profile
    /// `papers` says it only to those that watch.
    pub srtt: Option<Duration>,
    /// What is being done about losses.
    pub state: CongestionState,
    /// Neither losses nor SACKs are about.
    pub undisturbed: bool,
    /// Whether the window was the limit, if the profile has its own idea of that.
    pub(super) limited: Option<bool>,
}

impl Ack {
    /// Whether the window, and not the application, limited what was sent: only then it may grow.
    #[inline]
    pub fn fills(&self, window: &Window) -> bool {
        self.limited.unwrap_or(self.prior_in_flight >= u64::from(window.cwnd()))
    }
}

/// How a loss showed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Loss {
    /// ACKs tell of it: fast recovery follows.
    Detected,
    /// The retransmission timer expired.
    Timeout,
}

/// Where a loss puts the window, in segments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Reduction {
    /// New slow-start threshold. In profile `linux` the window falls to it while losses are
    /// repaired.
    pub ssthresh: u32,
    /// In profile `papers` the window while losses are repaired, from where slow start leads to the
    /// threshold.
    pub cwnd: u32,
}

impl Reduction {
    /// Threshold and window are `segments`.
    pub fn to(segments: u32) -> Self {
        Self { ssthresh: segments, cwnd: segments }
    }
}

/// Counts of a connection so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Segments delivered.
    pub delivered: u64,
    /// Segments declared lost.
    pub lost: u64,
    /// When something was delivered last.
    pub delivered_at: Instant,
}

/// What one ACK tells of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation-00).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Rate {
    /// Segments delivered in `interval`; `None`: the ACK delivers nothing.
    pub delivered: Option<u64>,
    /// `None`: too short to be true, or nothing was delivered.
    pub interval: Option<Duration>,
    /// Segments delivered when the newest one was sent.
    pub prior_delivered: u64,
    /// The application was the limit.
    pub app_limited: bool,
    /// Segments in flight when the newest one was sent, itself included; 0: the ACK delivers
    /// nothing.
    pub in_flight: u64,
    /// Segments declared lost since the newest one was sent.
    pub lost: u64,
}

/// A segment that was just declared lost, as a control sees it that has a model.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LostSegment {
    /// When it was declared lost.
    pub now: Instant,
    /// Segments in flight when it was sent last, itself included; `None`: a tail loss probe has
    /// repaired it, and nobody noted it.
    pub in_flight: Option<u64>,
    /// Segments declared lost since it was sent last, itself included.
    pub lost: u64,
    /// The application was the limit when it was sent.
    pub app_limited: bool,
    /// Counts of the connection.
    pub totals: Totals,
}

/// An ACK as a control sees it that sets the window by itself.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Sample {
    /// When it arrived.
    pub now: Instant,
    /// The delivery rate that it shows.
    pub rate: Rate,
    /// Round-trip time of the newest segment it acknowledges.
    pub rtt: Option<Duration>,
    /// The receiver may have held the ACK back.
    pub delayed: bool,
    /// Segments it delivered.
    pub acked: u64,
    /// Segments it declared lost.
    pub lost: u64,
    /// Segments in flight before it.
    pub prior_in_flight: u64,
    /// Segments in flight after it.
    pub in_flight: u64,
    /// Counts of the connection, this ACK included.
    pub totals: Totals,
    /// What is being done about losses.
    pub state: CongestionState,
    /// When the next segment may leave.
    pub departure: Instant,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// The window was what limited sending last.
    pub cwnd_limited: bool,
    /// It acknowledges what a tail loss probe sent again, so that it is not known which of the two
    /// arrived.
    pub of_probe: bool,
}

/// A rate at which segments leave.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Pace {
    /// Bytes of payload per second, above 0.
    pub bytes_per_second: u64,
    /// Segments that leave at a time.
    pub quantum: u64,
}

/// A congestion control algorithm: how far the window grows, and where a loss puts it.
///
/// Two methods make one; all others have a default. Windows and thresholds are in segments. The
/// sender keeps the window within its limits, whatever an algorithm says.
///
/// ```
/// use clift::transport::tcp::{Ack, CongestionControl, Loss, Reduction, Window};
///
/// /// Two segments more for every ACK, and a quarter less after a loss.
/// #[derive(Debug)]
/// struct Eager;
///
/// impl CongestionControl for Eager {
///     fn grow(&mut self, ack: &Ack, window: &mut Window) {
///         if ack.fills(window) {
///             window.set_cwnd(window.cwnd() + 2);
///         }
///     }
///
///     fn reduce(&mut self, _: Loss, window: &Window) -> Reduction {
///         Reduction::to((window.cwnd() / 4 * 3).max(2))
///     }
/// }
/// ```
pub trait CongestionControl: Debug + Send {
    /// An ACK outside fast recovery brought something new: the window may grow, if the ACK
    /// [fills](Ack::fills) it.
    fn grow(&mut self, ack: &Ack, window: &mut Window);

    /// A loss showed: where does it put threshold and window? Profile `linux` asks again after a
    /// timeout only if it begins an episode.
    fn reduce(&mut self, loss: Loss, window: &Window) -> Reduction;

    /// After a loss that was [detected](Loss::Detected): whether the window falls to the threshold at
    /// once, and not in proportion to what arrives (profile `linux` only).
    fn falls_at_once(&self) -> bool {
        false
    }

    /// Packets came marked (ECN): where does that put threshold and window? As a loss does, unless it
    /// says otherwise (RFC 3168, section 6.1.2). Asked once a round trip (profile `linux` only).
    fn reduce_marked(&mut self, window: &Window) -> Reduction {
        self.reduce(Loss::Detected, window)
    }

    /// A loss showed while the window still falls because of marks: a threshold for it too, if it is to
    /// have one (profile `linux` only).
    fn reduce_among_marks(&mut self, _window: &Window) -> Option<Reduction> {
        None
    }

    /// Whether [`CongestionControl::on_ack`] is to be called.
    fn watches(&self) -> bool {
        false
    }

    /// Any ACK within the window, duplicates included, before losses are looked for and before
    /// [`CongestionControl::grow`].
    fn on_ack(&mut self, _ack: &Ack, _window: &mut Window) {}

    /// The connection is established (profile `linux` only), with a round-trip time unless the SYN
    /// was lost; `delivered` segments were, the SYN included.
    fn on_established(
        &mut self,
        _now: Instant,
        _srtt: Option<Duration>,
        _delivered: u64,
        _window: &mut Window,
    ) {
    }

    /// The retransmission timer expired, after [`CongestionControl::reduce`]; `next` is the segment
    /// to be sent next for the first time. Profile `papers` has no totals.
    fn on_timeout(&mut self, _now: Instant, _next: u64, _totals: Totals) {}

    /// All that was lost is repaired; `next` is the segment to be sent next for the first time.
    fn on_repaired(&mut self, _loss: Loss, _next: u64, _window: &mut Window) {}

    /// A reduction proved spurious and was taken back (profile `linux` only).
    fn on_undo(&mut self, _totals: Totals) {}

    /// Sending goes on after so long without anything in flight (profile `linux` only);
    /// `app_limited`: for want of data.
    fn on_idle(&mut self, _now: Instant, _idle: Duration, _app_limited: bool, _: &mut Window) {}

    /// Whether it sets the window by itself, in recovery too, from [`CongestionControl::on_sample`]
    /// (profile `linux` only).
    fn has_model(&self) -> bool {
        false
    }

    /// An ACK was taken in; for those that have a model.
    fn on_sample(&mut self, _sample: &Sample, _window: &mut Window) {}

    /// A segment was declared lost, before [`CongestionControl::reduce`]; for those that have a
    /// model.
    fn on_segment_lost(&mut self, _lost: &LostSegment, _window: &Window) {}

    /// At which rate segments leave, if it names one (profile `linux` only).
    fn pace(&self) -> Option<Pace> {
        None
    }

    /// Whether it sends less than it could on purpose, so that no delivery rate shows what the
    /// network takes.
    fn is_limiting_itself(&self) -> bool {
        false
    }
}
