//! Losses and their repair: the states Open, Disorder, Recovery and Loss, what leads from one to
//! another (`tcp_fastretrans_alert` of Linux; RFC 5681, RFC 6675, RFC 8985, RFC 5682), and the
//! probe that is to show a loss at the tail (RFC 8985 section 7).

use super::congestion::Congestion;
use super::rtt::RttEstimator;
use super::scoreboard::{Losses, Said, Scoreboard};
use super::undo::Undo;
use crate::transport::tcp::config::LinuxOptions;
use crate::transport::tcp::congestion::Loss;
use crate::transport::tcp::endpoint::CongestionState;
use crate::transport::tcp::shared::counters::SenderCounters;
use crate::transport::tcp::shared::supply::Supply;
use crate::units::Instant;

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
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        matches!(self, Self::NewDue | Self::AgainDue)
    }

    /// Whether a probe is out that sent a segment again.
    fn is_retransmission(&self) -> bool {
        matches!(self, Self::Out { again: true, .. })
    }

    /// Whether a probe is out.
    #[inline]
    pub(super) fn is_out(&self) -> bool {
        matches!(self, Self::Out { .. })
    }

    /// Whether a D-SACK up to segment `end` is of the probe.
    pub(super) fn is_duplicate_of(&self, end: u64) -> bool {
        matches!(self, Self::Out { end: probed, .. } if *probed == end)
    }
}

/// The state, and what it needs to end.
#[derive(Debug)]
pub(super) struct Recovery {
    may_undo: bool,
    uses_frto: bool,
    state: CongestionState,
    /// The segment that was to be sent next when the state began.
    end: u64,
    undo: Undo,
    /// The lowest byte in flight when it was armed.
    undo_start: u64,
    /// Timeouts since the last one that was taken back or recovered from.
    timeouts_in_row: u32,
    /// The timeout may prove spurious (RFC 5682).
    frto: bool,
    /// The other end is to hear that the window was reduced (RFC 3168, section 6.1.2).
    reduced: bool,
    /// Lost segments may be sent again (until the next ACK says otherwise).
    repairing: bool,
    probe: Probe,
}

/// The parts of the sender that a recovery acts on.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    pub(super) now: Instant,
    pub(super) board: &'a mut Scoreboard,
    pub(super) congestion: &'a mut Congestion,
    pub(super) rtt: &'a RttEstimator,
    pub(super) supply: &'a Supply,
    pub(super) counters: &'a mut SenderCounters,
}

impl Parts<'_> {
    /// A control that has a model hears of every segment that was declared lost.
    fn report_losses(&mut self) {
        if self.congestion.has_model() {
            for lost in self.board.take_lost(self.now) {
                self.congestion.on_segment_lost(&lost);
            }
        }
    }
}

impl Recovery {
    /// Nothing is lost.
    pub(super) fn new(options: &LinuxOptions) -> Self {
        Self {
            may_undo: options.undo,
            uses_frto: options.frto,
            state: CongestionState::Open,
            end: 0,
            undo: Undo::default(),
            undo_start: 0,
            timeouts_in_row: 0,
            frto: false,
            reduced: false,
            repairing: false,
            probe: Probe::None,
        }
    }

    #[inline]
    pub(super) fn state(&self) -> CongestionState {
        self.state
    }

    /// Whether lost segments may be sent again.
    #[inline]
    pub(super) fn is_repairing(&self) -> bool {
        self.repairing
    }

    /// Whether the window was reduced and the other end is to hear of it.
    #[inline]
    pub(super) fn reduced(&mut self) -> &mut bool {
        &mut self.reduced
    }

    /// Whether the window falls in proportion to what arrives.
    #[inline]
    pub(super) fn is_reducing(&self) -> bool {
        matches!(self.state, CongestionState::Cwr | CongestionState::Recovery)
    }

    #[inline]
    pub(super) fn probe(&self) -> &Probe {
        &self.probe
    }

    /// Whether a segment had been sent when the state began.
    #[inline]
    pub(super) fn began_after(&self, number: u64) -> bool {
        number < self.end
    }

    /// Whether late segments tell of reordering now.
    pub(super) fn tells_reordering(&self) -> bool {
        self.state != CongestionState::Loss || self.undo.is_armed()
    }

    /// A D-SACK reports a segment in flight that was sent again.
    pub(super) fn on_duplicate(&mut self, number: u64) {
        self.undo.on_duplicates(number + 1, 1);
    }

    /// A D-SACK reports `count` segments up to byte `end` that are out of flight. They have no
    /// number any more, but lie below all that have.
    pub(super) fn on_duplicates_below(&mut self, end: u64, count: u64) {
        if end > self.undo_start {
            self.undo.on_duplicates(u64::MAX, count);
        }
    }

    /// A lost segment is sent again.
    pub(super) fn on_retransmitted(&mut self, now: Instant) {
        self.undo.on_retransmitted(now);
    }

    /// An ACK that only moves things on: nothing is sent again because of it.
    #[inline]
    pub(super) fn pause(&mut self) {
        self.repairing = false;
    }

    /// A segment that had to wait for its pace may leave: what is lost goes first, whatever the last
    /// ACK asked for (`tcp_tsq_write` in `tcp_output.c`).
    #[inline]
    pub(super) fn on_released(&mut self) {
        self.repairing = true;
    }

    /// Draws the conclusions of an ACK; returns when segments will be lost that are not yet.
    pub(super) fn on_ack(&mut self, said: &Said, mut parts: Parts<'_>) -> Option<Instant> {
        let parts = &mut parts;
        self.repairing = true;
        if said.advanced {
            // The next timeout is a new one (`icsk_retransmits` in `tcp_ack`): it lowers the
            // threshold again, and F-RTO does not follow it.
            self.timeouts_in_row = 0;
        }
        if said.marked {
            self.undo.forget_prior();
        }
        if self.state == CongestionState::Open {
            self.undo.forget_retransmissions();
        } else if self.state == CongestionState::Recovery
            && parts.board.flight().first() >= self.end
        {
            self.leave_recovery(said.echo, parts);
        } else if self.state == CongestionState::Cwr && parts.board.flight().first() > self.end {
            // Something beyond it, so that the other end has heard of it.
            parts.congestion.end_reduction(parts.now, true, parts.board.flight());
            self.state = CongestionState::Open;
        }
        let losses = match self.state {
            CongestionState::Recovery => {
                if said.advanced && self.is_filled_by_late_one(said, parts) {
                    self.repairing = false;
                    return None;
                }
                if self.undo_if_reported(parts) {
                    self.try_to_open(parts);
                }
                let losses = self.find_losses(parts);
                if self.state == CongestionState::Recovery {
                    return losses.next;
                }
                losses
            }
            CongestionState::Loss => {
                self.repair_after_timeout(said, parts);
                let losses = self.find_losses(parts);
                if self.state != CongestionState::Open && !losses.again {
                    return losses.next;
                }
                losses
            }
            CongestionState::Open | CongestionState::Disorder => {
                self.undo_if_reported(parts);
                self.find_losses(parts)
            }
            CongestionState::Cwr => self.find_losses(parts),
        };
        let flight = parts.board.flight();
        if flight.lost_count() + flight.retransmitted_count() > 0 {
            self.enter_recovery(parts);
            if said.marked {
                self.undo.forget_prior();
            }
        } else {
            self.forget_retransmissions_out(parts);
            if said.marked && self.state < CongestionState::Cwr {
                self.enter_cwr(parts);
            }
            if self.state != CongestionState::Cwr {
                self.keep_open(parts.board);
            }
        }
        losses.next
    }

    fn find_losses(&self, parts: &mut Parts<'_>) -> Losses {
        let repairing = self.state >= CongestionState::Recovery;
        let losses = parts.board.find_losses(parts.now, parts.rtt, repairing);
        parts.report_losses();
        losses
    }

    /// D-SACKs have reported every retransmission: the reduction was spurious.
    fn undo_if_reported(&mut self, parts: &mut Parts<'_>) -> bool {
        let reported = self.may_undo && self.undo.all_reported();
        if reported {
            parts.board.on_undone_by_dsack();
            self.undo_reduction(false, parts);
        }
        reported
    }

    /// Losses were found: the window begins to fall.
    fn enter_recovery(&mut self, parts: &mut Parts<'_>) {
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

    /// A new threshold, and the accounts of the reduction.
    fn begin_reduction(&mut self, parts: &mut Parts<'_>) {
        self.note_reduction(parts);
        parts.congestion.begin_reduction();
    }

    fn note_reduction(&mut self, parts: &mut Parts<'_>) {
        self.end = parts.board.flight().next();
        self.probe = Probe::None;
        self.reduced = true;
        parts.counters.cwnd_reductions += 1;
    }

    /// Packets came marked: the window falls, once for a window of data (`tcp_enter_cwr`).
    fn enter_cwr(&mut self, parts: &mut Parts<'_>) {
        self.undo.disarm();
        self.note_reduction(parts);
        parts.congestion.begin_marked_reduction();
        parts.counters.ecn_reductions += 1;
        self.state = CongestionState::Cwr;
    }

    /// Everything sent before recovery is acknowledged.
    fn leave_recovery(&mut self, echo: Option<Instant>, parts: &mut Parts<'_>) {
        self.undo_if_due(echo, parts);
        parts.congestion.end_reduction(parts.now, self.undo.is_armed(), parts.board.flight());
        self.state = CongestionState::Open;
    }

    fn undo_if_due(&mut self, echo: Option<Instant>, parts: &mut Parts<'_>) {
        if self.may_undo && self.undo.is_due(echo) {
            self.undo_reduction(false, parts);
        } else {
            parts.board.on_recovery_over();
        }
    }

    /// A hole was filled by a late segment and not by its retransmission: what was declared lost
    /// may be late as well. Says whether to wait with everything else.
    fn is_filled_by_late_one(&mut self, said: &Said, parts: &mut Parts<'_>) -> bool {
        if !self.may_undo || !self.undo.is_armed() || !self.undo.is_late(said.echo) {
            return false;
        }
        parts.board.on_filled_late(said.prior_first);
        if parts.board.flight().retransmitted_count() > 0 {
            return true;
        }
        self.forget_retransmissions_out(parts);
        self.undo_reduction(true, parts);
        self.keep_open(parts.board);
        false
    }

    /// After a timeout: was it spurious, is it over?
    fn repair_after_timeout(&mut self, said: &Said, parts: &mut Parts<'_>) {
        let flight = parts.board.flight();
        let recovered = flight.first() >= self.end;
        if said.advanced && self.may_undo && self.undo.is_due(said.echo) {
            return self.undo_timeout(parts);
        }
        if self.frto {
            // RFC 5682 section 3.1: step 3.b, then 3.a, then 2.b.
            if said.original_delivered && self.may_undo {
                return self.undo_timeout(parts);
            }
            if flight.next() > self.end {
                self.frto &= !(said.sacked || said.is_plain_duplicate());
            } else if said.advanced && !recovered {
                self.end = flight.next();
                if parts.supply.segment_at(flight.nxt()).is_some() {
                    self.repairing = false;
                    return;
                }
                self.frto = false;
            }
        }
        if recovered {
            self.undo_if_due(said.echo, parts);
            self.leave_loss(parts);
        }
    }

    fn undo_timeout(&mut self, parts: &mut Parts<'_>) {
        self.undo_reduction(true, parts);
        self.frto = false;
        self.leave_loss(parts);
    }

    fn leave_loss(&mut self, parts: &mut Parts<'_>) {
        self.timeouts_in_row = 0;
        self.state = CongestionState::Open;
        parts.congestion.on_repaired(Loss::Timeout, parts.board.flight());
    }

    /// Remembers the window for the case that its reduction proves spurious.
    fn arm_undo(&mut self, parts: &Parts<'_>) {
        let flight = parts.board.flight();
        let out = flight.retransmitted_count() + u64::from(self.probe.is_retransmission());
        let (cwnd, ssthresh) = parts.congestion.prior(self.state == CongestionState::Recovery);
        self.undo.start(flight.first(), out, cwnd, ssthresh);
        self.undo_start = flight.una();
    }

    /// The reduction was spurious: window and threshold are at least what they were before. With
    /// `found`, what was declared lost is believed to be in flight.
    fn undo_reduction(&mut self, found: bool, parts: &mut Parts<'_>) {
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

    fn try_to_open(&mut self, parts: &Parts<'_>) {
        self.forget_retransmissions_out(parts);
        self.keep_open(parts.board);
    }

    fn forget_retransmissions_out(&mut self, parts: &Parts<'_>) {
        if !parts.board.is_anything_sent_again() {
            self.undo.forget_retransmissions();
        }
    }

    /// Open if nothing is missing, else Disorder.
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

    /// Nothing was heard for two round trips: a segment is to provoke an answer, a new one if
    /// there is any. At most one probe is out; says whether this one is due.
    pub(super) fn on_probe_timeout(&mut self, new: bool) -> bool {
        if self.probe != Probe::None {
            return false;
        }
        self.probe = if new { Probe::NewDue } else { Probe::AgainDue };
        true
    }

    /// An ACK of everything came before the probe left.
    pub(super) fn forget_probe(&mut self) {
        self.probe = Probe::None;
    }

    /// The probe left, `next` being the segment to be sent next.
    pub(super) fn on_probe_sent(&mut self, next: u64) {
        let again = self.probe != Probe::NewDue;
        self.probe = Probe::Out { end: next, again };
    }

    /// What an ACK up to byte `ack` says of the probe: if it repaired a loss, the window falls
    /// (RFC 8985 section 7.4). True: it acknowledges what the probe sent again, and which of the
    /// two arrived is not known yet.
    pub(super) fn conclude_probe(&mut self, ack: u64, said: &Said, mut parts: Parts<'_>) -> bool {
        let Probe::Out { end, again } = self.probe else { return false };
        let first = parts.board.flight().first();
        if first < end || ack < parts.board.flight().una() {
            return false;
        }
        if !again || said.dsack_of_probe {
            self.probe = Probe::None;
        } else if first > end {
            if let Some(lost) = parts.board.probed(parts.now) {
                parts.congestion.on_segment_lost(&lost);
            }
            self.begin_reduction(&mut parts);
            parts.congestion.end_reduction(parts.now, true, parts.board.flight());
            self.keep_open(parts.board);
        } else if !said.advanced && !said.sacked {
            self.probe = Probe::None;
        } else {
            return true;
        }
        false
    }

    /// Segments waited for long enough: what is lost by now is sent again.
    pub(super) fn on_reordering_timeout(&mut self, mut parts: Parts<'_>) {
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

    /// Retransmission timeout (RFC 6298 section 5.4 on): everything not heard of for a round trip
    /// is lost; the window is cut once for a window of data.
    pub(super) fn on_retransmission_timeout(&mut self, mut parts: Parts<'_>) {
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
        if new_episode {
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
