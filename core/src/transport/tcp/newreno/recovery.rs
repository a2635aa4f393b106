//! What ACKs and timeouts do to the window: NewReno's fast recovery (RFC 6582).

use super::{Cause, Connection, DUPLICATES, NewRenoSender, RECOVERY_BURST, Timed, Turn};
use crate::transport::Segment;
use crate::units::Instant;

impl NewRenoSender {
    pub(super) fn on_new_ack(&mut self, now: Instant, segment: &Segment) {
        if self.window.inflation() > 0 {
            self.window.end_inflation();
            if self.cause == Cause::FastRecovery {
                self.cause = Cause::Past;
            }
        }
        self.partial = false;
        self.duplicates = 0;
        self.take_sample(now, segment);
        self.restart_timer(now);
        self.window.grow();
    }

    /// New data are acknowledged, but not all that was in flight when the loss showed.
    pub(super) fn on_partial_ack(&mut self, now: Instant, segments: u64) {
        if !self.partial {
            self.partial = true;
            self.restart_timer(now);
        }
        self.window.deflate(segments);
        if self.take_timed().is_some() {
            self.rtt.end_backoff();
        }
        self.forced = true;
    }

    pub(super) fn on_duplicate_ack(&mut self, now: Instant) {
        self.duplicates = self.duplicates.saturating_add(1);
        if self.duplicates == DUPLICATES {
            self.enter_recovery(now);
        } else if self.duplicates > DUPLICATES && self.cause == Cause::FastRecovery {
            self.window.inflate(1);
        }
    }

    /// RFC 6582 section 3.2 step 2: only beyond the last loss ("careful"), and for the first
    /// segment.
    fn enter_recovery(&mut self, now: Instant) {
        let first = self.flight.first();
        if first <= self.recovery_point && first > 0 {
            return;
        }
        self.recovery_point = self.flight.next();
        self.restart_timer(now);
        self.timed = None;
        self.window.halve();
        self.window.end_inflation();
        self.window.inflate(u64::from(DUPLICATES));
        self.cause = Cause::FastRecovery;
        self.forced = true;
        self.counters.recovery_entries_by_dupacks += 1;
        self.counters.cwnd_reductions += 1;
    }

    /// Whatever the ACK was, what it leaves lets segments out: a whole window if no duplicates
    /// are being counted, two segments in recovery, and one for the first and second duplicate.
    pub(super) fn next_turn(&self, duplicate: bool) -> Turn {
        match self.duplicates {
            0 => Turn::Window(u64::MAX),
            DUPLICATES.. => Turn::Window(RECOVERY_BURST),
            _ if duplicate => Turn::One,
            _ => Turn::Nothing,
        }
    }

    /// What was being timed, if it is answered now.
    fn take_timed(&mut self) -> Option<Timed> {
        let first = self.flight.first();
        self.timed.take_if(|timed| first >= timed.acknowledged)
    }

    /// With timestamps every ACK of new data gives a sample; only an answer to what is being timed
    /// ends the back-off.
    pub(super) fn take_sample(&mut self, now: Instant, segment: &Segment) {
        if self.timestamps {
            self.rtt.sample(now.saturating_since(segment.ts_ecr));
        }
        if let Some(timed) = self.take_timed() {
            self.rtt.end_backoff();
            if !self.timestamps {
                self.rtt.sample_between(timed.sent, now);
            }
        }
    }

    pub(super) fn restart_timer(&mut self, now: Instant) {
        self.deadline = (!self.is_complete()).then(|| now + self.rtt.timeout());
    }

    pub(super) fn on_timeout(&mut self, now: Instant) {
        self.window.end_inflation();
        self.duplicates = 0;
        self.recovery_point = self.flight.next();
        self.cause = Cause::Timeout;
        self.timed = None;
        self.cursor = self.flight.first();
        self.turn = Turn::Window(u64::MAX);
        match self.connection {
            Connection::Established if self.flight.is_empty() => {
                self.window.idle();
                self.deadline = None;
                return;
            }
            Connection::Established => {}
            // A lost SYN: the connection opens with one segment.
            _ => {
                self.connection = Connection::SynDue;
                self.initial_window = 1;
            }
        }
        self.window.collapse();
        self.rtt.back_off();
        self.restart_timer(now);
        self.counters.timeouts += 1;
        self.counters.cwnd_reductions += 1;
    }
}
