//! The timer of a sender, one for three purposes: retransmission timeout (RFC 6298), tail loss
//! probe (RFC 8985 section 7), reordering timeout (section 6.3).

use super::repair::Phase;
use super::sacks::Said;
use super::sender::LinuxSender;
use crate::transport::Segment;
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
pub(super) enum Timer {
    Retransmission,
    Probe,
    Reordering,
}

/// The tail loss probe.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Probe {
    None,
    /// A new segment is to leave, whatever the window; or the last one again.
    NewDue,
    AgainDue,
    /// It left; everything below `end` had been sent then.
    Out {
        end: u64,
        again: bool,
    },
}

impl Probe {
    pub(super) fn is_due(&self) -> bool {
        matches!(self, Self::NewDue | Self::AgainDue)
    }

    pub(super) fn forget(&mut self) {
        *self = Self::None;
    }

    /// Whether a probe is out that sent a segment again.
    pub(super) fn is_retransmission(&self) -> bool {
        matches!(self, Self::Out { again: true, .. })
    }

    /// Whether a D-SACK up to segment `end` is of the probe.
    pub(super) fn is_duplicate_of(&self, end: u64) -> bool {
        matches!(self, Self::Out { end: probed, .. } if *probed == end)
    }
}

impl LinuxSender {
    /// New data left.
    pub(super) fn on_new_data_sent(&mut self, now: Instant, first: bool) {
        if first || matches!(self.timer, Some((_, Timer::Probe))) {
            self.arm_retransmission(now);
        }
        if !self.probe.is_due() {
            self.arm_probe(now, false);
        }
    }

    /// The lowest segment in flight was sent again.
    pub(super) fn on_head_retransmitted(&mut self, now: Instant) {
        if !matches!(self.timer, Some((_, Timer::Reordering))) {
            self.timer = Some((now + self.rtt.timeout(), Timer::Retransmission));
        }
    }

    /// An ACK brought something new.
    pub(super) fn restart_timer(&mut self, now: Instant) {
        if self.flight.is_empty() {
            self.timer = None;
        } else if !self.arm_probe(now, true) {
            self.arm_retransmission(now);
        }
    }

    /// Segments will be lost at `at`; Linux looks a little later.
    pub(super) fn arm_reordering(&mut self, at: Instant) {
        self.timer = Some((at + SLACK, Timer::Reordering));
    }

    /// A timeout from now, or from when the lowest segment left if the timer was used for
    /// something else in between.
    fn arm_retransmission(&mut self, now: Instant) {
        if self.flight.is_empty() {
            self.timer = None;
            return;
        }
        let at = match self.timer {
            Some((_, Timer::Probe | Timer::Reordering)) => self.head_timeout().max(now + SOON),
            _ => now + self.rtt.timeout(),
        };
        self.timer = Some((at, Timer::Retransmission));
    }

    fn head_timeout(&self) -> Instant {
        self.order.transmission(self.flight.first()).sent + self.rtt.timeout()
    }

    /// Sets the timer for a probe unless losses are being repaired; says whether it did.
    fn arm_probe(&mut self, now: Instant, restart: bool) -> bool {
        if !self.options.tail_loss_probe || self.phase != Phase::Open || self.flight.is_empty() {
            return false;
        }
        let after = match self.rtt.smoothed() {
            Some(rtt) if self.flight.next() - self.flight.first() == 1 => rtt * 2 + ONE_OUT,
            Some(rtt) => rtt * 2 + SLACK,
            None => Duration::from_secs(1),
        };
        let timeout = if restart { now + self.rtt.timeout() } else { self.head_timeout() };
        let at = now + after;
        let at = if timeout > now { at.min(timeout) } else { at };
        self.timer = Some((at, Timer::Probe));
        true
    }

    /// Nothing was heard for two round trips: one segment is to provoke an answer. At most one
    /// probe is out.
    pub(super) fn on_probe_timeout(&mut self, now: Instant) {
        if self.probe != Probe::None {
            self.timer = Some((self.head_timeout().max(now + SOON), Timer::Retransmission));
            return;
        }
        let new = self.next_new().is_some();
        self.probe = if new { Probe::NewDue } else { Probe::AgainDue };
    }

    pub(super) fn on_probe_sent(&mut self, now: Instant) {
        let again = self.probe != Probe::NewDue;
        self.probe = Probe::Out { end: self.flight.next(), again };
        self.timer = Some((now + self.rtt.timeout(), Timer::Retransmission));
    }

    /// What an ACK says of the probe: if it repaired a loss, the window falls (section 7.4).
    pub(super) fn conclude_probe(&mut self, _now: Instant, segment: &Segment, said: &Said) {
        let Probe::Out { end, again } = self.probe else { return };
        let first = self.flight.first();
        if first < end || segment.ack < self.flight.una() {
            return;
        }
        if !again || said.dsack_of_probe {
            self.probe.forget();
        } else if first > end {
            self.begin_reduction();
            self.meet_threshold();
            self.keep_open();
        } else if !said.advanced && !said.sacked {
            self.probe.forget();
        }
    }

    /// Segments waited for long enough: what is lost by now is sent again.
    pub(super) fn on_reordering_timeout(&mut self, now: Instant) {
        let in_flight = self.flight.outstanding();
        self.declare_expired_lost(now);
        if self.flight.outstanding() != in_flight {
            if self.phase != Phase::Recovery {
                let lost = in_flight - self.flight.outstanding();
                self.enter_recovery();
                if self.options.prr && lost > 0 && self.delivery.is_none() {
                    self.reduce_in_proportion(1, false);
                }
            }
            self.repairing = true;
        }
        self.timer = Some((self.head_timeout().max(now + SOON), Timer::Retransmission));
    }

    /// Retransmission timeout (RFC 6298 section 5.4 on): everything not heard of for a round trip
    /// is lost; the window is cut once for a window of data.
    pub(super) fn on_retransmission_timeout(&mut self, now: Instant) {
        let new_episode = self.phase < Phase::Recovery;
        self.declare_silent_lost(now);
        let recovered = self.flight.first() >= self.phase_end;
        if self.phase <= Phase::Disorder
            || recovered
            || (self.phase == Phase::Loss && self.timeouts_in_row == 0)
        {
            self.arm_undo();
            self.window.ssthresh = self.control.reduce(&self.window);
            self.counters.cwnd_reductions += 1;
        }
        self.window.forget_credit();
        let cwnd = u32::try_from(self.flight.outstanding()).unwrap_or(u32::MAX);
        self.window.set(cwnd.saturating_add(1));
        if self.phase <= Phase::Disorder {
            self.reordering.on_timeout(self.flight.sacked_count());
        }
        self.control.on_timeout(now, self.flight.next(), self.totals());
        self.phase = Phase::Loss;
        self.phase_end = self.flight.next();
        self.probe.forget();
        self.frto = self.options.frto && (new_episode || self.timeouts_in_row > 0);
        self.timeouts_in_row += 1;
        self.counters.timeouts += 1;
        self.repairing = true;
        self.rtt.back_off();
        self.timer = Some((now + self.rtt.timeout(), Timer::Retransmission));
    }

    /// The lowest segment is lost, and so is everything that was not sent within the last round
    /// trip.
    fn declare_silent_lost(&mut self, now: Instant) {
        let first = self.flight.first();
        self.declare_lost(first);
        while let Some(number) = self.order.oldest() {
            let sent = self.order.transmission(number).sent;
            if self.options.rack && self.rack.expiry(sent, Duration::ZERO) > now {
                break;
            }
            self.declare_lost(number);
        }
        self.examined = first;
    }
}
