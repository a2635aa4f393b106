//! The congestion window of profile `linux`: congestion control grows it, losses reduce it in
//! proportion to deliveries (RFC 6937), and it decays when unused (RFC 7661, RFC 2861).

mod bbr;
mod bbr3;
mod careful_resume;
mod cubic;
mod dctcp;
mod hybla;
mod hystart;
mod hystart_plus;
mod prague;
#[cfg(test)]
mod properties;
mod prr;
mod reno;
#[cfg(test)]
mod test_path;
mod usage;
mod westwood;

pub(crate) use bbr::Bbr;
pub(crate) use bbr3::Bbr3;
pub(crate) use careful_resume::CarefulResume;
pub(crate) use cubic::Cubic;
pub(crate) use dctcp::Dctcp;
pub(crate) use hybla::Hybla;
pub(crate) use hystart_plus::HyStartPlus;
pub(crate) use prague::Prague;
use rand_chacha::ChaCha8Rng;
pub(crate) use reno::Reno;
pub(crate) use westwood::Westwood;

use self::prr::{Delivery, Prr};
use self::usage::{SenderState, WindowUsage};
use crate::transport::Timetable;
use crate::transport::tcp::config::TcpConfig;
use crate::transport::tcp::congestion::CongestionState;
use crate::transport::tcp::congestion::{
    Ack, CongestionControl, Loss, LostSegment, Pace, Reduction, Sample, Subflow, Totals, Window,
};
use crate::transport::tcp::shared::flight::Flight;
use crate::units::{Duration, Instant};

/// The window, its congestion control and its recent usage.
#[derive(Debug)]
pub(super) struct Congestion {
    window: Window,
    control: Box<dyn CongestionControl>,
    /// True if the control is model-based and sets the window itself.
    has_model: bool,
    /// True if the control receives every ACK.
    watches: bool,
    uses_prr: bool,
    /// True if the current reduction bypasses PRR: the control wants the window to fall at once.
    at_once: bool,
    decays: bool,
    initial_window: u32,
    prr: Prr,
    usage: WindowUsage,
    /// True if the next reduction leaves the window as it is.
    keeps_window: bool,
}

impl Congestion {
    pub(super) fn new(config: &TcpConfig, rng: ChaCha8Rng) -> Self {
        let control = config.congestion.build(config, rng);
        let (has_model, options) = (control.has_model(), config.options());
        Self {
            window: Window::new(config),
            watches: control.watches(),
            control,
            has_model,
            uses_prr: options.prr,
            at_once: false,
            decays: options.slow_start_after_idle && !has_model,
            initial_window: config.initial_window(),
            prr: Prr::default(),
            usage: WindowUsage::default(),
            keeps_window: false,
        }
    }

    /// The next reduction leaves the window as it is.
    pub(super) fn keep_window(&mut self) {
        self.keeps_window = true;
    }

    /// Another control takes over, with the window and the threshold of the one before. Returns false
    /// if only one of both has a model. `established` is what [`Congestion::on_established`] takes,
    /// if the handshake is complete.
    pub(super) fn take_over(
        &mut self,
        now: Instant,
        (config, rng): (&TcpConfig, ChaCha8Rng),
        established: Option<(Option<Duration>, u64)>,
    ) -> bool {
        let control = config.congestion.build(config, rng);
        if control.has_model() != self.has_model {
            return false;
        }
        (self.watches, self.control) = (control.watches(), control);
        if let Some((smoothed, delivered)) = established {
            self.control.on_established(now, smoothed, delivered, &mut self.window);
        }
        true
    }

    #[inline]
    pub(super) fn window(&self) -> &Window {
        &self.window
    }

    #[inline]
    pub(super) fn has_model(&self) -> bool {
        self.has_model
    }

    /// The connection has several paths.
    pub(super) fn couple(&mut self, subflow: Subflow) {
        self.control.couple(subflow);
    }

    /// The terminal knows these handovers.
    pub(super) fn foresee(&mut self, timetable: &Timetable) {
        self.control.foresee(timetable);
    }

    /// The pacing rate, if the control sets one.
    pub(super) fn pace(&self) -> Option<Pace> {
        self.control.pace()
    }

    /// The handshake is complete. `smoothed` is `None` if the SYN was lost.
    pub(super) fn on_established(
        &mut self,
        now: Instant,
        smoothed: Option<Duration>,
        delivered: u64,
    ) {
        self.usage.begin(now);
        self.control.on_established(now, smoothed, delivered, &mut self.window);
    }

    /// The SYN was retransmitted more than once: the window starts at one segment.
    pub(super) fn on_lost_syn(&mut self) {
        self.window.set_cwnd(1);
    }

    /// Handles any ACK.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &mut Ack) {
        if self.watches {
            // A model that watches ACKs has no other way to learn whether the window was the limit.
            if self.has_model {
                ack.limited = Some(self.usage.is_limit(&self.window));
            }
            self.control.on_ack(ack, &mut self.window);
        }
    }

    /// Handles an ACK outside recovery that acknowledges new data: the window may grow.
    #[inline]
    pub(super) fn grow(&mut self, ack: &mut Ack) {
        ack.limited = Some(self.usage.is_limit(&self.window));
        self.control.grow(ack, &mut self.window);
        self.usage.on_change(ack.now);
    }

    /// Passes an ACK to the model, which sets the window. Returns true if the control sends less
    /// than it could, before the ACK or after it: `bbr_update_min_rtt` marks the samples of ProbeRTT
    /// before it may end ProbeRTT.
    pub(super) fn on_sample(&mut self, sample: &Sample) -> bool {
        let limited_itself = self.control.is_limiting_itself();
        self.control.on_sample(sample, &mut self.window);
        limited_itself || self.control.is_limiting_itself()
    }

    /// Tells a model-based control of a segment declared lost.
    pub(super) fn on_segment_lost(&mut self, lost: &LostSegment) {
        self.control.on_segment_lost(lost, &self.window);
    }

    /// True if the window limited the last transmission.
    pub(super) fn is_cwnd_limited(&self) -> bool {
        self.usage.was_limited()
    }

    /// Starts a reduction after a loss: sets a new threshold, to which the window falls.
    pub(super) fn begin_reduction(&mut self) {
        self.begin(|control, window| control.reduce(Loss::Detected, window));
    }

    /// Starts a reduction after ECN marks: sets a new threshold, to which the window falls.
    pub(super) fn begin_marked_reduction(&mut self) {
        self.begin(|control, window| control.reduce_marked(window));
    }

    fn begin(&mut self, reduce: impl Fn(&mut dyn CongestionControl, &Window) -> Reduction) {
        self.window.forget_savings();
        self.prr = Prr::start(self.window.cwnd());
        let ssthresh = match std::mem::take(&mut self.keeps_window) {
            true => self.window.cwnd(),
            false => reduce(&mut *self.control, &self.window).ssthresh,
        };
        self.window.set_ssthresh(ssthresh);
        self.at_once = !self.uses_prr || self.control.falls_at_once();
        if self.at_once {
            self.meet_threshold();
        }
    }

    /// Sets a new threshold after a loss.
    pub(super) fn reduce(&mut self, loss: Loss) {
        let ssthresh = match self.keeps_window {
            true => self.window.cwnd(),
            false => self.control.reduce(loss, &self.window).ssthresh,
        };
        self.window.set_ssthresh(ssthresh);
    }

    /// Handles a loss found during a reduction caused by marks.
    pub(super) fn on_loss_among_marks(&mut self) {
        if let Some(reduction) = self.control.reduce_among_marks(&self.window) {
            self.window.set_ssthresh(reduction.ssthresh);
        }
    }

    /// Handles an ACK in recovery: the window falls in proportion to deliveries. `safe` is true if
    /// nothing was declared lost.
    #[inline]
    pub(super) fn fall(&mut self, delivered: u64, in_flight: u64, safe: bool) {
        if !self.at_once && delivered > 0 {
            let cwnd =
                self.prr.window(self.window.ssthresh(), Delivery { delivered, in_flight, safe });
            self.window.set_cwnd(cwnd);
        }
    }

    /// Starts a recovery without an ACK (reordering timeout): the first retransmission may leave.
    pub(super) fn on_silent_loss(&mut self, in_flight: u64) {
        if !self.has_model {
            self.fall(1, in_flight, false);
        }
    }

    /// Counts a segment sent in recovery.
    #[inline]
    pub(super) fn on_sent_in_recovery(&mut self) {
        self.prr.on_sent();
    }

    /// Ends fast recovery. If `meets`, the window becomes the threshold.
    pub(super) fn end_reduction(&mut self, now: Instant, meets: bool, flight: &Flight) {
        if meets {
            self.meet_threshold();
            self.usage.on_change(now);
        }
        self.on_repaired(Loss::Detected, flight);
    }

    /// All losses are repaired.
    pub(super) fn on_repaired(&mut self, loss: Loss, flight: &Flight) {
        self.control.on_repaired(loss, flight.next(), &mut self.window);
    }

    /// Sets the window to its threshold, except with a model-based control.
    fn meet_threshold(&mut self) {
        if !self.has_model {
            self.window.set_cwnd(self.window.ssthresh());
        }
    }

    /// Handles a retransmission timeout: the window becomes the estimate of segments in flight plus
    /// one.
    pub(super) fn on_timeout(&mut self, now: Instant, flight: &Flight, totals: Totals) {
        if std::mem::take(&mut self.keeps_window) {
            return;
        }
        self.window.forget_savings();
        let cwnd = u32::try_from(flight.outstanding()).unwrap_or(u32::MAX);
        self.window.set_cwnd(cwnd.saturating_add(1));
        self.usage.on_change(now);
        self.control.on_timeout(now, flight.next(), totals);
    }

    /// Window and threshold to restore if the reduction that begins now proves spurious.
    pub(super) fn prior(&self, in_recovery: bool) -> (u32, u32) {
        let threshold =
            if in_recovery { self.window.ssthresh() } else { self.window.threshold_in_use() };
        (self.window.cwnd(), threshold)
    }

    /// Undoes a spurious reduction: window and threshold become at least what they were before.
    pub(super) fn undo(&mut self, now: Instant, prior: (u32, u32), totals: Totals) {
        let (cwnd, ssthresh) = prior;
        self.usage.on_change(now);
        if !self.has_model {
            self.window.set_cwnd(self.window.cwnd().max(cwnd));
        }
        self.control.on_undo(totals);
        self.window.set_ssthresh(self.window.ssthresh().max(ssthresh));
    }

    /// The sender stops sending; `limited` is true if the window is the reason. `timeout` is the
    /// current retransmission timeout.
    #[inline]
    pub(super) fn on_stop(
        &mut self,
        now: Instant,
        limited: bool,
        flight: &Flight,
        timeout: Duration,
        state: CongestionState,
    ) {
        let (first, next) = (flight.first(), flight.next());
        let (patience, open) = (self.decays.then_some(timeout), state == CongestionState::Open);
        let level = SenderState { now, limited, first, next, patience, open };
        self.usage.on_stop(level, &mut self.window, self.initial_window);
    }

    /// Sending resumes after a pause of `idle`. The window restarts small if the pause was longer
    /// than a timeout (RFC 5681 section 4.1).
    pub(super) fn end_idle(
        &mut self,
        now: Instant,
        idle: Duration,
        timeout: Duration,
        app_limited: bool,
    ) {
        self.control.on_idle(now, idle, app_limited, &mut self.window);
        if !self.decays || idle <= timeout {
            return;
        }
        let cwnd = self.window.cwnd();
        self.window.set_ssthresh(self.window.threshold_in_use());
        let restart = self.initial_window.min(cwnd);
        // Halve once per timeout of the pause, as `tcp_cwnd_restart` does.
        let halvings = (idle.as_nanos() / timeout.as_nanos()).min(31) as u32;
        self.window.set_cwnd((cwnd >> halvings).max(restart));
        self.usage.begin(now);
    }
}
