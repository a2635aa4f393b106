//! The timer of a sender. One timer serves three purposes: retransmission timeout (RFC 6298), tail
//! loss probe (RFC 8985 section 7), reordering timeout (section 6.3).

use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use super::ticks::Ticks;
use crate::units::{Duration, Instant};

/// A timeout that passed while the timer served another purpose is set this far ahead.
const SOON: Duration = Duration::from_millis(1);
/// Added to the reordering window, and to a probe's two round trips if more than one segment is in
/// flight.
const SLACK: Duration = Duration::from_millis(2);
/// With one segment in flight, its ACK may be delayed (`TCP_RTO_MIN` in `tcp_schedule_loss_probe`).
const ONE_OUT: Duration = Duration::from_millis(200);

/// Purpose for which the timer is set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum TimerPurpose {
    Retransmission,
    Probe,
    Reordering,
}

/// The timer.
#[derive(Debug)]
pub(super) struct Timer {
    set: Option<Setting>,
    ticks: Ticks,
}

/// What the timer is set for. The tick on which it expires is computed when it is asked for: every
/// segment and every ACK sets the timer.
#[derive(Clone, Copy, Debug)]
struct Setting {
    now: Instant,
    at: Instant,
    purpose: TimerPurpose,
}

impl Timer {
    pub(super) fn new(ticks: Ticks) -> Self {
        Self { set: None, ticks }
    }

    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.set.map(|Setting { now, at, .. }| self.ticks.expiry(now, at))
    }

    /// When it is set for: the deadline is this or the tick after it.
    #[inline]
    pub(super) fn earliest(&self) -> Option<Instant> {
        self.set.map(|setting| setting.at)
    }

    pub(super) fn stop(&mut self) {
        self.set = None;
    }

    #[inline]
    fn purpose(&self) -> Option<TimerPurpose> {
        self.set.map(|setting| setting.purpose)
    }

    /// Returns the purpose if the timer has expired, and turns it off.
    #[inline]
    pub(super) fn expire(&mut self, now: Instant) -> Option<TimerPurpose> {
        self.deadline().filter(|&at| at <= now)?;
        self.set.take().map(|setting| setting.purpose)
    }

    /// Sets a full timeout from now.
    #[inline]
    pub(super) fn start(&mut self, now: Instant, rtt: &RttEstimator) {
        self.set_for(now, now + rtt.timeout(), TimerPurpose::Retransmission);
    }

    /// Sets a timeout from the transmission of the lowest segment in flight, after the timer served
    /// another purpose.
    pub(super) fn resume(&mut self, now: Instant, board: &Scoreboard, rtt: &RttEstimator) {
        let at = (board.head_sent() + rtt.timeout()).max(now + SOON);
        self.set_for(now, at, TimerPurpose::Retransmission);
    }

    /// New data were sent, `first` if nothing was in flight before. `probes` is true if a probe may
    /// follow.
    #[inline(always)] // called for every packet: a call costs as much as what it does
    pub(super) fn on_new_data(
        &mut self,
        now: Instant,
        first: bool,
        probes: bool,
        board: &Scoreboard,
        rtt: &RttEstimator,
    ) {
        let probing = self.purpose() == Some(TimerPurpose::Probe);
        if probes {
            let timeout = board.head_sent() + rtt.timeout();
            self.arm_probe(now, timeout, board, rtt);
        } else if first || probing {
            self.rearm(now, board, rtt);
        }
    }

    /// The lowest segment in flight was retransmitted.
    pub(super) fn on_head_retransmitted(&mut self, now: Instant, rtt: &RttEstimator) {
        if self.purpose() != Some(TimerPurpose::Reordering) {
            self.start(now, rtt);
        }
    }

    /// An ACK had news. `probes` is true if a probe may follow.
    #[inline]
    pub(super) fn restart(
        &mut self,
        now: Instant,
        probes: bool,
        board: &Scoreboard,
        rtt: &RttEstimator,
    ) {
        if board.flight().is_empty() {
            self.stop();
        } else if probes {
            self.arm_probe(now, now + rtt.timeout(), board, rtt);
        } else {
            self.rearm(now, board, rtt);
        }
    }

    /// Segments will count as lost at `at`; Linux checks a little later.
    pub(super) fn await_reordering(&mut self, now: Instant, at: Instant) {
        self.set_for(now, at + SLACK, TimerPurpose::Reordering);
    }

    /// Sets a timeout from now, or from the transmission of the lowest segment if the timer served
    /// another purpose in between (`tcp_rearm_rto`).
    #[inline]
    fn rearm(&mut self, now: Instant, board: &Scoreboard, rtt: &RttEstimator) {
        match self.purpose() {
            Some(TimerPurpose::Probe | TimerPurpose::Reordering) => self.resume(now, board, rtt),
            _ => self.start(now, rtt),
        }
    }

    /// Sets a probe after two round trips, but no later than `timeout`.
    #[inline]
    fn arm_probe(
        &mut self,
        now: Instant,
        timeout: Instant,
        board: &Scoreboard,
        rtt: &RttEstimator,
    ) {
        let flight = board.flight();
        let after = match rtt.smoothed() {
            Some(rtt) if flight.next() - flight.first() == 1 => rtt * 2 + ONE_OUT,
            Some(rtt) => rtt * 2 + SLACK,
            None => Duration::from_secs(1),
        };
        let at = now + after;
        let at = if timeout > now { at.min(timeout) } else { at };
        self.set_for(now, at, TimerPurpose::Probe);
    }

    #[inline]
    fn set_for(&mut self, now: Instant, at: Instant, purpose: TimerPurpose) {
        self.set = Some(Setting { now, at, purpose });
    }
}
