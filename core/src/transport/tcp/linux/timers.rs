//! The timer of a sender, one for three purposes: retransmission timeout (RFC 6298), tail loss
//! probe (RFC 8985 section 7), reordering timeout (section 6.3).

use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use super::ticks::Ticks;
use crate::units::{Duration, Instant};

/// A timeout that has passed while the timer was used for something else is set this far ahead.
const SOON: Duration = Duration::from_millis(1);
/// What is added to the reordering window, and to a probe's two round trips with more than one
/// segment out.
const SLACK: Duration = Duration::from_millis(2);
/// And with one: its ACK may be delayed.
const ONE_OUT: Duration = Duration::from_millis(200);

/// What the timer is set for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Purpose {
    Retransmission,
    Probe,
    Reordering,
}

/// The timer.
#[derive(Debug)]
pub(super) struct Timer {
    set: Option<(Instant, Purpose)>,
    ticks: Ticks,
}

impl Timer {
    pub(super) fn new(ticks: Ticks) -> Self {
        Self { set: None, ticks }
    }

    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.set.map(|(at, _)| at)
    }

    pub(super) fn stop(&mut self) {
        self.set = None;
    }

    /// What for the timer has expired; it is off then.
    #[inline]
    pub(super) fn expire(&mut self, now: Instant) -> Option<Purpose> {
        let (_, purpose) = self.set.take_if(|(at, _)| *at <= now)?;
        Some(purpose)
    }

    /// A full timeout from now.
    #[inline]
    pub(super) fn start(&mut self, now: Instant, rtt: &RttEstimator) {
        self.set_for(now, now + rtt.timeout(), Purpose::Retransmission);
    }

    /// A timeout since the lowest segment in flight left: the timer was used for something else.
    pub(super) fn resume(&mut self, now: Instant, board: &Scoreboard, rtt: &RttEstimator) {
        let at = (board.head_sent() + rtt.timeout()).max(now + SOON);
        self.set_for(now, at, Purpose::Retransmission);
    }

    /// New data left, `first` into an empty flight. `probes`: a probe may follow.
    #[inline]
    pub(super) fn on_new_data(
        &mut self,
        now: Instant,
        first: bool,
        probes: bool,
        board: &Scoreboard,
        rtt: &RttEstimator,
    ) {
        let probing = matches!(self.set, Some((_, Purpose::Probe)));
        if probes {
            let timeout = board.head_sent() + rtt.timeout();
            self.arm_probe(now, timeout, board, rtt);
        } else if first || probing {
            self.rearm(now, board, rtt);
        }
    }

    /// The lowest segment in flight was sent again.
    pub(super) fn on_head_retransmitted(&mut self, now: Instant, rtt: &RttEstimator) {
        if !matches!(self.set, Some((_, Purpose::Reordering))) {
            self.start(now, rtt);
        }
    }

    /// An ACK brought something new. `probes`: a probe may follow.
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

    /// Segments will be lost at `at`; Linux looks a little later.
    pub(super) fn await_reordering(&mut self, now: Instant, at: Instant) {
        self.set_for(now, at + SLACK, Purpose::Reordering);
    }

    /// A timeout from now, or from when the lowest segment left if the timer was used for
    /// something else in between.
    #[inline]
    fn rearm(&mut self, now: Instant, board: &Scoreboard, rtt: &RttEstimator) {
        match self.set {
            Some((_, Purpose::Probe | Purpose::Reordering)) => self.resume(now, board, rtt),
            _ => self.start(now, rtt),
        }
    }

    /// Two round trips without an answer, but no later than `timeout`.
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
        self.set_for(now, at, Purpose::Probe);
    }

    #[inline]
    fn set_for(&mut self, now: Instant, at: Instant, purpose: Purpose) {
        self.set = Some((self.ticks.expiry(now, at), purpose));
    }
}
