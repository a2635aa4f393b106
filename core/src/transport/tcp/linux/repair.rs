//! Losses and their repair: the phases Open, Disorder, Recovery and Loss, and what leads from one
//! to another (`tcp_fastretrans_alert` of Linux; RFC 5681, RFC 6675, RFC 8985, RFC 5682).

use super::prr::{Delivery, Prr};
use super::sacks::Said;
use super::sender::LinuxSender;
use crate::transport::tcp::shared::flight::State;
use crate::units::{Duration, Instant};

/// What is being done about losses.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Phase {
    /// All is well.
    Open,
    /// Something is SACKed or was sent again, but nothing is lost.
    Disorder,
    /// Losses are repaired while the window falls.
    Recovery,
    /// Losses are repaired after a timeout.
    Loss,
}

impl LinuxSender {
    /// Draws the conclusions of an ACK.
    pub(super) fn repair(&mut self, now: Instant, said: &mut Said) {
        self.repairing = true;
        if self.phase == Phase::Open {
            self.undo.forget_retransmissions();
        } else if self.phase == Phase::Recovery && self.flight.first() >= self.phase_end {
            self.leave_recovery(said.echo);
        }
        match self.phase {
            Phase::Recovery => {
                if said.advanced && self.is_filled_by_late_one(said) {
                    self.repairing = false;
                    return;
                }
                if self.undo.all_reported() && self.options.undo {
                    self.rack.on_undone_by_dsack();
                    self.undo_reduction(false);
                    self.try_to_open();
                }
                self.detect_losses(now, said);
                if self.phase == Phase::Recovery {
                    return;
                }
            }
            Phase::Loss => {
                self.repair_after_timeout(said);
                self.detect_losses(now, said);
                if self.phase != Phase::Open && !said.lost_again {
                    return;
                }
            }
            Phase::Open | Phase::Disorder => {
                if self.undo.all_reported() && self.options.undo {
                    self.rack.on_undone_by_dsack();
                    self.undo_reduction(false);
                }
                self.detect_losses(now, said);
            }
        }
        if self.flight.lost_count() + self.flight.retransmitted_count() > 0 {
            self.enter_recovery();
        } else {
            self.try_to_open();
        }
    }

    /// The window falls in proportion to what arrives.
    pub(super) fn reduce_in_proportion(&mut self, delivered: u64, safe: bool) {
        if delivered == 0 {
            return;
        }
        let in_flight = self.flight.outstanding();
        let delivery = Delivery { delivered, in_flight, safe };
        let cwnd = self.prr.window(self.window.ssthresh, delivery);
        self.window.set(cwnd);
    }

    /// Losses were found: the window begins to fall.
    pub(super) fn enter_recovery(&mut self) {
        if !self.is_anything_sent_again() {
            self.undo.forget_retransmissions();
        }
        self.arm_undo();
        if self.phase != Phase::Recovery {
            self.begin_reduction();
        }
        self.phase = Phase::Recovery;
        self.counters.recovery_entries_by_dupacks += 1;
    }

    /// A new threshold, and the accounts of the reduction.
    pub(super) fn begin_reduction(&mut self) {
        self.phase_end = self.flight.next();
        self.probe.forget();
        self.window.forget_credit();
        self.prr = Prr::start(self.window.cwnd);
        self.window.ssthresh = self.control.reduce(&self.window);
        self.counters.cwnd_reductions += 1;
        if !self.options.prr {
            self.meet_threshold();
        }
    }

    /// Everything sent before recovery is acknowledged.
    fn leave_recovery(&mut self, echo: Option<Instant>) {
        if self.undo.is_due(echo) && self.options.undo {
            self.undo_reduction(false);
        } else {
            self.rack.on_recovery_over();
        }
        if self.undo.is_armed() {
            self.meet_threshold();
        }
        self.phase = Phase::Open;
    }

    /// The window falls to its threshold, unless a model decides on it.
    pub(super) fn meet_threshold(&mut self) {
        if self.delivery.is_none() {
            self.window.set(self.window.ssthresh);
        }
    }

    /// A hole was filled by a late segment and not by its retransmission: what was declared lost
    /// may be late as well. Says whether to wait with everything else.
    fn is_filled_by_late_one(&mut self, said: &Said) -> bool {
        if !self.options.undo || !self.undo.is_armed() || !self.undo.is_late(said.echo) {
            return false;
        }
        let highest = self.highest_sacked.max(self.flight.first());
        self.reordering.observe(said.prior_first, highest);
        if self.flight.retransmitted_count() > 0 {
            return true;
        }
        if !self.is_anything_sent_again() {
            self.undo.forget_retransmissions();
        }
        self.undo_reduction(true);
        self.keep_open();
        false
    }

    /// After a timeout: was it spurious, is it over?
    fn repair_after_timeout(&mut self, said: &Said) {
        let recovered = self.flight.first() >= self.phase_end;
        if said.advanced && self.options.undo && self.undo.is_due(said.echo) {
            return self.undo_timeout();
        }
        if self.frto {
            // RFC 5682 section 3.1: step 3.b, then 3.a, then 2.b.
            if said.original_delivered && self.options.undo {
                return self.undo_timeout();
            }
            if self.flight.next() > self.phase_end {
                self.frto &= !(said.sacked || said.is_plain_duplicate());
            } else if said.advanced && !recovered {
                self.phase_end = self.flight.next();
                if self.next_new().is_some() {
                    self.repairing = false;
                    return;
                }
                self.frto = false;
            }
        }
        if recovered {
            if self.undo.is_due(said.echo) && self.options.undo {
                self.undo_reduction(false);
            } else {
                self.rack.on_recovery_over();
            }
            self.timeouts_in_row = 0;
            self.phase = Phase::Open;
        }
    }

    fn undo_timeout(&mut self) {
        self.undo_reduction(true);
        self.timeouts_in_row = 0;
        self.frto = false;
        self.phase = Phase::Open;
    }

    /// Remembers the window for the case that its reduction proves spurious.
    pub(super) fn arm_undo(&mut self) {
        let window = self.window;
        let ssthresh = match self.phase {
            Phase::Recovery => window.ssthresh,
            _ => window.ssthresh.max(window.cwnd / 2 + window.cwnd / 4),
        };
        let out = self.flight.retransmitted_count() + u64::from(self.probe.is_retransmission());
        self.undo.start(self.flight.first(), out, window.cwnd, ssthresh);
        self.undo_start = self.flight.una();
    }

    /// The reduction was spurious: window and threshold are at least what they were before. With
    /// `found`, what was declared lost is believed to be in flight.
    fn undo_reduction(&mut self, found: bool) {
        if found {
            self.find_lost();
        }
        if let Some((cwnd, ssthresh)) = self.undo.take() {
            if self.delivery.is_none() {
                self.window.set(self.window.cwnd.max(cwnd));
            }
            self.control.on_undo(self.totals());
            self.window.ssthresh = self.window.ssthresh.max(ssthresh);
            self.counters.undo_events += 1;
        }
        self.rack.advanced = true;
    }

    fn find_lost(&mut self) {
        let mut found = Vec::new();
        while let Some(number) = self.flight.lowest_lost() {
            self.flight.mark_found(number);
            found.push(number);
        }
        self.order.restore(found);
        if self.flight.retransmitted_count() > 0 {
            for number in self.flight.first()..self.flight.next() {
                if self.flight.state(number) == State::Retransmitted {
                    self.flight.mark_found(number);
                }
            }
        }
    }

    fn try_to_open(&mut self) {
        if !self.is_anything_sent_again() {
            self.undo.forget_retransmissions();
        }
        self.keep_open();
    }

    /// Open if nothing is missing, else Disorder.
    pub(super) fn keep_open(&mut self) {
        let missing = self.flight.sacked_count() + self.flight.lost_count() > 0;
        let phase =
            if missing || self.is_anything_sent_again() { Phase::Disorder } else { Phase::Open };
        if self.phase != phase {
            self.phase = phase;
            self.phase_end = self.flight.next();
        }
    }

    fn is_anything_sent_again(&self) -> bool {
        self.flight.retransmitted_count() > 0
            || (!self.flight.is_empty() && self.flight.sends(self.flight.first()) > 1)
    }

    /// Declares lost what must be, and sets the reordering timer for what may be soon.
    pub(super) fn detect_losses(&mut self, now: Instant, said: &mut Said) {
        if self.flight.is_empty() {
            return;
        }
        if !self.options.rack {
            return self.declare_overtaken_lost();
        }
        if !std::mem::take(&mut self.rack.advanced) {
            return;
        }
        let retransmitted = self.flight.retransmitted_count();
        let next = self.declare_expired_lost(now);
        said.lost_again |= self.flight.retransmitted_count() < retransmitted;
        if let Some(at) = next {
            self.arm_reordering(at);
            said.restarts_timer = false;
        }
    }

    /// RACK (RFC 8985 section 6.2 step 5); returns when all that were overtaken will be lost, if
    /// some are not yet. Segments are visited in the order of their last transmission until one is
    /// not due: the work is what is found.
    pub(super) fn declare_expired_lost(&mut self, now: Instant) -> Option<Instant> {
        let window = self.reordering_window();
        while let Some(number) = self.order.oldest() {
            let sent = self.order.transmission(number).sent;
            if !self.rack.is_overtaken(sent, number) {
                return None;
            }
            if self.rack.expiry(sent, window) > now {
                let last = self.order.last_overtaken().unwrap_or(number);
                return Some(self.rack.expiry(self.order.transmission(last).sent, window));
            }
            self.declare_lost(number);
        }
        None
    }

    pub(super) fn declare_lost(&mut self, number: u64) {
        self.order.remove(number);
        if self.flight.state(number) != State::Lost {
            self.flight.mark_lost(number);
            self.declared_lost += 1;
        }
    }

    fn reordering_window(&self) -> Duration {
        self.rack.window(
            &self.reordering,
            self.phase >= Phase::Recovery,
            self.flight.sacked_count(),
            self.rtt.least(),
            self.rtt.smoothed(),
        )
    }

    /// RFC 6675: lost is what has as many SACKed segments above as the reordering degree says.
    fn declare_overtaken_lost(&mut self) {
        let degree = u64::from(self.reordering.degree());
        let Some(limit) = self.flight.sacked_from_top(degree) else { return };
        let mut from = self.flight.first().max(self.examined);
        while let Some(number) = self.flight.next_not_sacked(from, limit) {
            if self.flight.state(number) == State::InFlight {
                self.declare_lost(number);
            }
            from = number + 1;
        }
        self.examined = self.examined.max(limit);
    }
}
