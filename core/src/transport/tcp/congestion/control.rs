//! The congestion control interface of both profiles: the events that an algorithm receives, and
//! the [`Window`] that it sets.

use std::fmt::Debug;

use super::{Subflow, Window};
use crate::transport::Timetable;
use crate::units::{Duration, Instant};

/// Congestion state of a sender.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum CongestionState {
    /// No loss and no reordering seen.
    #[default]
    Open,
    /// Segments are SACKed or were retransmitted, but none is lost (profile `linux` only).
    Disorder,
    /// ECN marks are reducing the window (profile `linux` only).
    Cwr,
    /// Fast recovery: the sender repairs losses that ACKs revealed.
    Recovery,
    /// The retransmission timer expired and some segments sent before are not acknowledged yet.
    Loss,
}

/// An ACK as congestion control sees it.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Ack {
    /// Time of arrival.
    pub now: Instant,
    /// Segments that the ACK acknowledges for the first time. In profile `linux` this includes
    /// segments that it SACKs for the first time and excludes segments that were SACKed before.
    pub segments: u32,
    /// Segments estimated to be in flight before the ACK.
    pub prior_in_flight: u64,
    /// First unacknowledged byte after the ACK.
    pub una: u64,
    /// First unacknowledged segment after the ACK. Segments are numbered from 0.
    pub first: u64,
    /// Next new segment to send.
    pub next: u64,
    /// Segments reported as marked (ECN), as far as the feedback tells; profile `linux` only.
    pub marked: u32,
    /// Transmission time of the segment whose timestamp the ACK echoes; `None` without timestamps.
    pub echo: Option<Instant>,
    /// Round-trip time of the newest segment acknowledged; `None` if unknown. Profile `papers` sets
    /// it only for controls that [watch](CongestionControl::watches).
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time including this ACK's sample; `None` before the first sample.
    /// Profile `papers` sets it only for controls that [watch](CongestionControl::watches).
    pub srtt: Option<Duration>,
    /// Congestion state of the sender.
    pub state: CongestionState,
    /// True if there are no losses and no SACKed segments.
    pub undisturbed: bool,
    /// Whether the window limited sending, if the profile has its own rule.
    pub(in crate::transport::tcp) limited: Option<bool>,
}

impl Ack {
    /// True if the window, not the application, limited sending. The window may grow only then.
    #[inline]
    pub fn fills(&self, window: &Window) -> bool {
        self.limited.unwrap_or(self.prior_in_flight >= u64::from(window.cwnd()))
    }
}

/// How the sender detected a loss.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Loss {
    /// From ACKs; fast recovery follows.
    Detected,
    /// The retransmission timer expired.
    Timeout,
}

/// Window and threshold after a loss, in segments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Reduction {
    /// New slow-start threshold. In profile `linux` the window falls to it during recovery.
    pub ssthresh: u32,
    /// Window during recovery in profile `papers`; slow start then raises it to the threshold.
    pub cwnd: u32,
}

impl Reduction {
    /// Sets both threshold and window to `segments`.
    pub fn to(segments: u32) -> Self {
        Self { ssthresh: segments, cwnd: segments }
    }
}

/// Totals of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Segments delivered.
    pub delivered: u64,
    /// Segments declared lost.
    pub lost: u64,
    /// Time of the last delivery.
    pub delivered_at: Instant,
}

/// Delivery rate sample of one ACK (draft-cheng-iccrg-delivery-rate-estimation-00).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Rate {
    /// Segments delivered in `interval`; `None` if the ACK delivers nothing.
    pub delivered: Option<u64>,
    /// Sampling interval; `None` if it is too short to be valid, or nothing was delivered.
    pub interval: Option<Duration>,
    /// Segments delivered before the newest acknowledged segment was sent.
    pub prior_delivered: u64,
    /// True if the application limited the rate.
    pub app_limited: bool,
    /// Segments in flight when the newest acknowledged segment was sent, including it; 0 if the ACK
    /// delivers nothing.
    pub in_flight: u64,
    /// Segments declared lost since the newest acknowledged segment was sent.
    pub lost: u64,
}

/// A segment that was just declared lost, for controls with a model.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LostSegment {
    /// Time of the declaration.
    pub now: Instant,
    /// Segments in flight when it was last sent, including it. `None` if a tail loss probe had
    /// repaired the segment, so that the number is unknown.
    pub in_flight: Option<u64>,
    /// Segments declared lost since it was last sent, including it.
    pub lost: u64,
    /// True if the application limited the rate when it was sent.
    pub app_limited: bool,
    /// Totals of the connection.
    pub totals: Totals,
}

/// An ACK as a model-based congestion control sees it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Sample {
    /// Time of arrival.
    pub now: Instant,
    /// Delivery rate sample.
    pub rate: Rate,
    /// Round-trip time of the newest segment acknowledged.
    pub rtt: Option<Duration>,
    /// True if the receiver may have delayed the ACK.
    pub delayed: bool,
    /// Segments that the ACK delivered.
    pub acked: u64,
    /// Segments declared lost on this ACK.
    pub lost: u64,
    /// Segments in flight before the ACK.
    pub prior_in_flight: u64,
    /// Segments in flight after the ACK.
    pub in_flight: u64,
    /// Totals of the connection, including this ACK.
    pub totals: Totals,
    /// Congestion state of the sender.
    pub state: CongestionState,
    /// Time at which pacing allows the next segment.
    pub departure: Instant,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// True if the window limited the last transmission.
    pub cwnd_limited: bool,
    /// True if the ACK covers a segment that a tail loss probe retransmitted, so that it is unknown
    /// whether the original or the probe arrived.
    pub of_probe: bool,
}

/// Pacing rate and burst size.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Pace {
    /// Bytes of payload per second, above 0.
    pub bytes_per_second: u64,
    /// Segments per burst.
    pub quantum: u64,
}

/// A congestion control algorithm: how the window grows, and how a loss reduces it.
///
/// An implementation needs two methods; all others have defaults. Windows and thresholds are in
/// segments. The sender enforces the limits of the window.
///
/// ```
/// use clift::transport::tcp::{Ack, CongestionControl, Loss, Reduction, Window};
///
/// /// Adds two segments per ACK, and removes a quarter of the window on a loss.
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
    /// Handles an ACK outside fast recovery that acknowledges new data. The window may grow if the
    /// ACK [fills](Ack::fills) it.
    fn grow(&mut self, ack: &Ack, window: &mut Window);

    /// Handles a loss: returns the new threshold and window. In profile `linux` a timeout calls it
    /// only if the timeout begins a loss episode.
    fn reduce(&mut self, loss: Loss, window: &Window) -> Reduction;

    /// True if the window falls to the threshold at once after a [detected](Loss::Detected) loss,
    /// not in proportion to the data delivered (profile `linux` only).
    fn falls_at_once(&self) -> bool {
        false
    }

    /// Handles ECN marks: returns the new threshold and window. The default is the response to a
    /// loss (RFC 3168, section 6.1.2). Called at most once per round trip (profile `linux` only).
    fn reduce_marked(&mut self, window: &Window) -> Reduction {
        self.reduce(Loss::Detected, window)
    }

    /// Handles a loss during a reduction caused by marks: returns a new threshold, if the loss is
    /// to change it (profile `linux` only).
    fn reduce_among_marks(&mut self, _window: &Window) -> Option<Reduction> {
        None
    }

    /// The connection has several paths; this control is that of one subflow. Called once, before
    /// the connection opens (profile `linux` only). Uncoupled controls ignore it.
    fn couple(&mut self, _subflow: Subflow) {}

    /// The terminal knows these handovers on the way of the connection. Called once, before the
    /// connection opens, and not if none is known.
    fn foresee(&mut self, _timetable: &Timetable) {}

    /// True if the sender must call [`CongestionControl::on_ack`].
    fn watches(&self) -> bool {
        false
    }

    /// Handles any ACK within the window, duplicates included, before loss detection and before
    /// [`CongestionControl::grow`].
    fn on_ack(&mut self, _ack: &Ack, _window: &mut Window) {}

    /// The handshake is complete (profile `linux` only). `srtt` is `None` if the SYN was lost.
    /// `delivered` counts the segments delivered so far, the SYN included.
    fn on_established(
        &mut self,
        _now: Instant,
        _srtt: Option<Duration>,
        _delivered: u64,
        _window: &mut Window,
    ) {
    }

    /// The retransmission timer expired; called after [`CongestionControl::reduce`]. `next` is the
    /// next new segment to send. In profile `papers` the totals are zero.
    fn on_timeout(&mut self, _now: Instant, _next: u64, _totals: Totals) {}

    /// All losses are repaired. `next` is the next new segment to send.
    fn on_repaired(&mut self, _loss: Loss, _next: u64, _window: &mut Window) {}

    /// A reduction proved spurious and was undone (profile `linux` only).
    fn on_undo(&mut self, _totals: Totals) {}

    /// Sending resumes after `idle` with nothing in flight (profile `linux` only). `app_limited` is
    /// true if the sender was idle for lack of data.
    fn on_idle(&mut self, _now: Instant, _idle: Duration, _app_limited: bool, _: &mut Window) {}

    /// True if the control is model-based: it sets the window itself in
    /// [`CongestionControl::on_sample`], also during recovery (profile `linux` only).
    fn has_model(&self) -> bool {
        false
    }

    /// Handles a processed ACK; called for model-based controls.
    fn on_sample(&mut self, _sample: &Sample, _window: &mut Window) {}

    /// A segment was declared lost; called before [`CongestionControl::reduce`], for model-based
    /// controls.
    fn on_segment_lost(&mut self, _lost: &LostSegment, _window: &Window) {}

    /// The pacing rate, if the control sets one (profile `linux` only).
    fn pace(&self) -> Option<Pace> {
        None
    }

    /// True if the control deliberately sends less than it could, so that rate samples do not show
    /// the capacity of the network.
    fn is_limiting_itself(&self) -> bool {
        false
    }
}
