//! Loss recovery: the states Open, Disorder, Cwr, Recovery and Loss and their transitions
//! (`tcp_fastretrans_alert` of Linux; RFC 5681, RFC 6675, RFC 8985, RFC 5682), and the tail loss
//! probe (RFC 8985 section 7).

pub(super) mod state;

pub(super) use state::{Probe, Recovery};

use super::congestion::Congestion;
use super::rtt::RttEstimator;
use super::scoreboard::{AckOutcome, Losses, Scoreboard};
use crate::transport::tcp::congestion::CongestionState;
use crate::transport::tcp::congestion::Loss;
use crate::transport::tcp::shared::counters::SenderCounters;
use crate::transport::tcp::shared::supply::Supply;
use crate::units::Instant;

/// The parts of the sender that a recovery changes.
#[derive(Debug)]
pub(super) struct SenderParts<'a> {
    pub(super) now: Instant,
    pub(super) board: &'a mut Scoreboard,
    pub(super) congestion: &'a mut Congestion,
    pub(super) rtt: &'a RttEstimator,
    pub(super) supply: &'a Supply,
    pub(super) counters: &'a mut SenderCounters,
}

impl SenderParts<'_> {
    /// Reports every segment declared lost to a model-based control.
    fn report_losses(&mut self) {
        if self.congestion.has_model() {
            for lost in self.board.take_lost(self.now) {
                self.congestion.on_segment_lost(&lost);
            }
        }
    }
}

impl Recovery {
    /// Handles a processed ACK. Returns when further segments will count as lost.
    pub(super) fn on_ack(
        &mut self,
        outcome: &AckOutcome,
        mut parts: SenderParts<'_>,
    ) -> Option<Instant> {
        let parts = &mut parts;
        self.repairing = true;
        if outcome.advanced {
            // The next timeout is a new one (`icsk_retransmits` in `tcp_ack`): it lowers the
            // threshold again, and F-RTO does not apply to it.
            self.timeouts_in_row = 0;
        }
        if outcome.marked {
            self.undo.forget_prior();
        }
        if self.state == CongestionState::Open {
            self.undo.forget_retransmissions();
        } else if self.state == CongestionState::Recovery
            && parts.board.flight().first() >= self.end
        {
            if !self.leave_recovery(outcome.echo, parts) {
                self.repairing = false;
                return None;
            }
        } else if self.state == CongestionState::Cwr && parts.board.flight().first() > self.end {
            // An ACK beyond `end` shows that the receiver knows of the reduction.
            parts.congestion.end_reduction(parts.now, true, parts.board.flight());
            self.state = CongestionState::Open;
        }
        let losses = match self.state {
            CongestionState::Recovery => {
                if outcome.advanced && self.is_filled_by_late_one(outcome, parts) {
                    self.repairing = false;
                    return None;
                }
                if !outcome.advanced {
                    self.count_duplicate(outcome, parts);
                }
                if self.undo_if_reported(parts) {
                    self.try_to_open(parts);
                }
                let losses = self.find_losses(outcome, parts);
                if self.state == CongestionState::Recovery {
                    return losses.next;
                }
                losses
            }
            CongestionState::Loss => {
                self.repair_after_timeout(outcome, parts);
                let losses = self.find_losses(outcome, parts);
                if self.state != CongestionState::Open && !losses.again {
                    return losses.next;
                }
                self.count_anew(outcome, parts);
                losses
            }
            CongestionState::Open | CongestionState::Disorder => {
                self.count_anew(outcome, parts);
                self.undo_if_reported(parts);
                self.find_losses(outcome, parts)
            }
            CongestionState::Cwr => {
                self.count_anew(outcome, parts);
                self.find_losses(outcome, parts)
            }
        };
        let flight = parts.board.flight();
        if flight.lost_count() + flight.retransmitted_count() > 0 {
            self.enter_recovery(parts);
            if outcome.marked {
                self.undo.forget_prior();
            }
        } else {
            self.forget_retransmissions_out(parts);
            if outcome.marked && self.state < CongestionState::Cwr {
                self.enter_cwr(parts);
            }
            if self.state != CongestionState::Cwr {
                self.keep_open(parts.board);
            }
        }
        losses.next
    }

    fn find_losses(&self, outcome: &AckOutcome, parts: &mut SenderParts<'_>) -> Losses {
        let losses = if self.uses_sacks {
            let repairing = self.state >= CongestionState::Recovery;
            parts.board.find_losses(parts.now, parts.rtt, repairing)
        } else {
            parts.board.find_loss_without_sacks(self.state, outcome.advanced);
            Losses::default()
        };
        parts.report_losses();
        losses
    }

    /// Without SACK, a duplicate ACK tells of a segment that arrived.
    fn count_duplicate(&self, outcome: &AckOutcome, parts: &mut SenderParts<'_>) {
        if !self.uses_sacks && outcome.is_plain_duplicate() {
            parts.board.on_duplicate_ack();
        }
    }

    /// Counts duplicate ACKs outside repairs: an ACK that advances begins again.
    fn count_anew(&self, outcome: &AckOutcome, parts: &mut SenderParts<'_>) {
        if !self.uses_sacks && outcome.advanced {
            parts.board.forget_duplicate_acks();
        }
        self.count_duplicate(outcome, parts);
    }

    /// Without SACK, the state is kept until a segment is acknowledged that was sent after it
    /// began: duplicate ACKs of retransmissions would else begin another recovery (RFC 6582,
    /// `tcp_is_non_sack_preventing_reopen`).
    fn must_hold(&mut self, parts: &SenderParts<'_>) -> bool {
        let holds = !self.uses_sacks && parts.board.flight().first() == self.end;
        if holds {
            self.forget_retransmissions_out(parts);
        }
        holds
    }

    /// True if the acknowledged segments were only late (`tcp_packet_delayed`). Without SACK, no
    /// retransmission is known of once everything is acknowledged.
    fn is_late(&self, echo: Option<Instant>, parts: &SenderParts<'_>) -> bool {
        let is_unknown = !self.uses_sacks && parts.board.flight().first() >= self.end;
        self.undo.is_late(echo, !is_unknown)
    }

    /// True if the reduction was spurious (`tcp_may_undo`).
    fn is_undo_due(&self, echo: Option<Instant>, parts: &SenderParts<'_>) -> bool {
        let may = self.may_undo && self.undo.is_armed();
        may && (self.undo.all_reported() || self.is_late(echo, parts))
    }

    /// Undoes the reduction if D-SACKs have reported every retransmission.
    fn undo_if_reported(&mut self, parts: &mut SenderParts<'_>) -> bool {
        let reported = self.may_undo && self.undo.all_reported();
        if reported {
            parts.board.on_undone_by_dsack();
            self.undo_reduction(false, parts);
        }
        reported
    }

    /// Enters recovery after losses: the window begins to fall.
    fn enter_recovery(&mut self, parts: &mut SenderParts<'_>) {
        self.forget_retransmissions_out(parts);
        self.arm_undo(parts);
        match self.state {
            CongestionState::Recovery => {}
            CongestionState::Cwr => {
                self.undo.forget_prior();
                parts.congestion.on_loss_among_marks();
            }
            _ => self.begin_reduction(parts),
        }
        self.state = CongestionState::Recovery;
        parts.counters.recovery_entries_by_dupacks += 1;
    }

    /// Sets a new threshold and starts the reduction.
    fn begin_reduction(&mut self, parts: &mut SenderParts<'_>) {
        self.note_reduction(parts);
        parts.congestion.begin_reduction();
    }

    fn note_reduction(&mut self, parts: &mut SenderParts<'_>) {
        self.end = parts.board.flight().next();
        self.probe = Probe::None;
        self.reduced = true;
        parts.counters.cwnd_reductions += 1;
    }

    /// Handles ECN marks: the window falls, once per window of data (`tcp_enter_cwr`).
    fn enter_cwr(&mut self, parts: &mut SenderParts<'_>) {
        self.undo.disarm();
        self.note_reduction(parts);
        parts.congestion.begin_marked_reduction();
        parts.counters.ecn_reductions += 1;
        self.state = CongestionState::Cwr;
    }

    /// Everything sent before recovery is acknowledged. Returns true if recovery ends.
    fn leave_recovery(&mut self, echo: Option<Instant>, parts: &mut SenderParts<'_>) -> bool {
        if !self.uses_sacks {
            parts.board.forget_duplicate_acks();
        }
        self.undo_if_due(echo, parts);
        if self.must_hold(parts) {
            return false;
        }
        parts.congestion.end_reduction(parts.now, self.undo.is_armed(), parts.board.flight());
        self.state = CongestionState::Open;
        true
    }

    fn undo_if_due(&mut self, echo: Option<Instant>, parts: &mut SenderParts<'_>) {
        if self.is_undo_due(echo, parts) {
            self.undo_reduction(false, parts);
        } else {
            parts.board.on_recovery_over();
        }
    }

    /// Checks whether a reordered original, not its retransmission, filled a hole; other segments
    /// declared lost may then be late too. Returns true if they should wait
    /// (`tcp_try_undo_partial`).
    fn is_filled_by_late_one(&mut self, outcome: &AckOutcome, parts: &mut SenderParts<'_>) -> bool {
        if !self.may_undo || !self.undo.is_armed() || !self.is_late(outcome.echo, parts) {
            return false;
        }
        parts.board.on_filled_late(outcome.prior_first);
        if parts.board.flight().retransmitted_count() > 0 {
            return true;
        }
        self.forget_retransmissions_out(parts);
        self.undo_reduction(true, parts);
        self.keep_open(parts.board);
        false
    }

    /// After a timeout: checks whether it was spurious and whether its repair is complete
    /// (`tcp_process_loss`).
    fn repair_after_timeout(&mut self, outcome: &AckOutcome, parts: &mut SenderParts<'_>) {
        let flight = parts.board.flight();
        let recovered = flight.first() >= self.end;
        if outcome.advanced && self.is_undo_due(outcome.echo, parts) {
            return self.undo_timeout(false, parts);
        }
        if self.frto {
            // RFC 5682 section 3.1: step 3.b, then 3.a, then 2.b.
            if outcome.original_delivered && self.may_undo {
                return self.undo_timeout(true, parts);
            }
            if flight.next() > self.end {
                self.frto &= !(outcome.sacked || outcome.is_plain_duplicate());
            } else if outcome.advanced && !recovered {
                self.end = flight.next();
                if parts.supply.segment_at(flight.nxt()).is_some() {
                    self.repairing = false;
                    return;
                }
                self.frto = false;
            }
        }
        if recovered {
            self.undo_if_due(outcome.echo, parts);
            if self.must_hold(parts) {
                self.repairing = false;
            } else {
                self.leave_loss(parts);
            }
        } else if !self.uses_sacks {
            if parts.board.flight().next() > self.end && outcome.is_plain_duplicate() {
                parts.board.on_duplicate_ack();
            } else if outcome.advanced {
                parts.board.forget_duplicate_acks();
            }
        }
    }

    /// A timeout was spurious. Without SACK, only F-RTO ends the state (`tcp_try_undo_loss`).
    fn undo_timeout(&mut self, by_frto: bool, parts: &mut SenderParts<'_>) {
        self.undo_reduction(true, parts);
        self.frto = false;
        self.timeouts_in_row = 0;
        if !self.must_hold(parts) && (by_frto || self.uses_sacks) {
            self.leave_loss(parts);
        }
    }

    fn leave_loss(&mut self, parts: &mut SenderParts<'_>) {
        self.timeouts_in_row = 0;
        self.state = CongestionState::Open;
        parts.congestion.on_repaired(Loss::Timeout, parts.board.flight());
    }

    /// Saves the window in case its reduction proves spurious.
    fn arm_undo(&mut self, parts: &SenderParts<'_>) {
        let flight = parts.board.flight();
        let out = flight.retransmitted_count() + u64::from(self.probe.is_retransmission());
        let (cwnd, ssthresh) = parts.congestion.prior(self.state == CongestionState::Recovery);
        self.undo.start(flight.first(), out, cwnd, ssthresh);
        self.undo_start = flight.una();
    }

    /// Undoes a spurious reduction: window and threshold become at least what they were before.
    /// With `found`, segments declared lost count as in flight again.
    fn undo_reduction(&mut self, found: bool, parts: &mut SenderParts<'_>) {
        if found {
            parts.board.find_lost();
        }
        if let Some((cwnd, ssthresh)) = self.undo.take() {
            parts.congestion.undo(parts.now, (cwnd, ssthresh), parts.board.totals());
            parts.counters.undo_events += 1;
            self.reduced = false;
        }
        parts.board.on_undone();
    }

    fn try_to_open(&mut self, parts: &SenderParts<'_>) {
        self.forget_retransmissions_out(parts);
        self.keep_open(parts.board);
    }

    fn forget_retransmissions_out(&mut self, parts: &SenderParts<'_>) {
        if !parts.board.is_anything_sent_again() {
            self.undo.forget_retransmissions();
        }
    }

    /// Sets Open if nothing is missing, else Disorder.
    fn keep_open(&mut self, board: &Scoreboard) {
        let missing = board.flight().sacked_count() + board.flight().lost_count() > 0;
        let state = if missing || board.is_anything_sent_again() {
            CongestionState::Disorder
        } else {
            CongestionState::Open
        };
        if self.state != state {
            self.state = state;
            self.end = board.flight().next();
        }
    }

    /// Handles an ACK up to byte `ack` while a probe is in flight. If the probe repaired a loss,
    /// the window falls (RFC 8985 section 7.4). Returns true if the ACK covers the retransmitted
    /// probe and it is unknown yet which of the two transmissions arrived.
    pub(super) fn conclude_probe(
        &mut self,
        ack: u64,
        outcome: &AckOutcome,
        mut parts: SenderParts<'_>,
    ) -> bool {
        let Probe::Out { end, again } = self.probe else { return false };
        let first = parts.board.flight().first();
        if first < end || ack < parts.board.flight().una() {
            return false;
        }
        if !again || outcome.dsack_of_probe {
            self.probe = Probe::None;
        } else if first > end {
            if let Some(lost) = parts.board.probed(parts.now) {
                parts.congestion.on_segment_lost(&lost);
            }
            self.begin_reduction(&mut parts);
            parts.congestion.end_reduction(parts.now, true, parts.board.flight());
            self.keep_open(parts.board);
        } else if !outcome.advanced && !outcome.sacked {
            self.probe = Probe::None;
        } else {
            return true;
        }
        false
    }

    /// Handles the reordering timeout: retransmits segments that now count as lost.
    pub(super) fn on_reordering_timeout(&mut self, mut parts: SenderParts<'_>) {
        let in_flight = parts.board.flight().outstanding();
        let repairing = self.state >= CongestionState::Recovery;
        parts.board.declare_expired_lost(parts.now, parts.rtt, repairing);
        parts.report_losses();
        if parts.board.flight().outstanding() == in_flight {
            return;
        }
        if self.state != CongestionState::Recovery {
            self.enter_recovery(&mut parts);
            parts.congestion.on_silent_loss(parts.board.flight().outstanding());
        }
        self.repairing = true;
    }

    /// Handles a retransmission timeout (RFC 6298 section 5.4 on): every segment not acknowledged
    /// within a round trip is lost. The window is reduced once per window of data.
    pub(super) fn on_retransmission_timeout(&mut self, mut parts: SenderParts<'_>) {
        let new_episode = self.state < CongestionState::Recovery;
        parts.board.declare_silent_lost(parts.now);
        parts.report_losses();
        let recovered = parts.board.flight().first() >= self.end;
        self.reduced = true;
        if (new_episode && self.state != CongestionState::Cwr)
            || recovered
            || (self.state == CongestionState::Loss && self.timeouts_in_row == 0)
        {
            self.arm_undo(&parts);
            parts.congestion.reduce(Loss::Timeout);
            parts.counters.cwnd_reductions += 1;
        }
        if self.state <= CongestionState::Disorder {
            parts.board.on_timeout();
        }
        parts.congestion.on_timeout(parts.now, parts.board.flight(), parts.board.totals());
        self.state = CongestionState::Loss;
        self.end = parts.board.flight().next();
        self.probe = Probe::None;
        self.frto = self.uses_frto && (new_episode || self.timeouts_in_row > 0);
        self.timeouts_in_row += 1;
        parts.counters.timeouts += 1;
        self.repairing = true;
    }
}
