//! Header prediction (Jacobson, 1990): ACKs of new data while nothing is missing. The results are those
//! of [`Half::handle_segment`](super::Half::handle_segment) and what follows it, without what such an ACK
//! cannot change.

use super::{Group, Handshake, LinuxSender};
use crate::transport::tcp::congestion::{Ack, CongestionState};
use crate::transport::tcp::half::Sender;
use crate::transport::{Outbox, Segment};
use crate::units::Instant;

impl LinuxSender {
    /// True if ACKs of new data change nothing but the window, the timer and what is in flight. This lasts
    /// as long as no other ACK arrives and no timer expires.
    pub(super) fn is_calm(&self) -> bool {
        self.connection == Handshake::Established
            && !self.answer_due
            && self.burst.left == 0
            && self.recovery.is_calm()
            && self.board.is_calm()
            && self.tail_loss_probe
            && !(self.paced || self.resumes || self.congestion.pace().is_some())
            && !self.ecn.counts()
    }

    /// Handles an ACK of new data. Returns false, and does nothing, if it may do more than that.
    #[inline(always)] // called for every ACK: a call costs as much as what it does
    pub(super) fn take_in_expected(&mut self, now: Instant, segment: &Segment) -> bool {
        let flight = self.board.flight();
        let prior_in_flight = flight.outstanding();
        let is_plain = segment.sack.is_empty() && !segment.syn && segment.flags.is_empty();
        if !is_plain || segment.ack > flight.nxt() {
            return false;
        }
        let Some((segments, rtt)) =
            self.board.take_in_expected(now, segment.ack, &mut self.rtt, &mut self.counters)
        else {
            return false;
        };
        self.supply.on_ack(segment);
        self.heard = self.heard.max(segment.ts_val);
        self.deferred = false;
        let same_window = segment.window == std::mem::replace(&mut self.window, segment.window);
        let flight = self.board.flight();
        let mut ack = Ack {
            now,
            segments,
            prior_in_flight,
            una: flight.una(),
            first: flight.first(),
            next: flight.next(),
            echo: self.timestamps.then_some(segment.ts_ecr),
            rtt: Some(rtt),
            srtt: self.rtt.smoothed(),
            state: CongestionState::Open,
            undisturbed: same_window,
            marked: 0,
            limited: None,
        };
        self.congestion.on_ack(&mut ack);
        self.congestion.grow(&mut ack);
        self.recovery.pause();
        true
    }

    /// Sends what the window allows now, and sets the timer.
    #[inline(always)] // as `take_in_expected`
    pub(super) fn send_expected(&mut self, now: Instant, outbox: &mut Outbox) {
        let before = outbox.sent().len();
        loop {
            if self.in_flight() >= u64::from(self.cwnd()) {
                let limited = self.has_something();
                self.stop(now, limited);
                break;
            }
            if self.next_new().is_none() {
                self.stop(now, false);
                break;
            }
            if self.board.flight().is_empty() {
                self.end_idle(now);
            }
            let group = self.group();
            if self.is_deferred(now, group) {
                self.defer(now);
                break;
            }
            self.send_group(now, group, outbox);
        }
        if outbox.sent().len() > before {
            self.timer.on_new_data(now, false, true, &self.board, &self.rtt);
        } else {
            self.timer.restart(now, true, &self.board, &self.rtt);
        }
    }

    /// Sends a whole group of new segments: the window has room for it.
    #[inline(always)] // as `take_in_expected`
    fn send_group(&mut self, now: Instant, group: Group, outbox: &mut Outbox) {
        let (start, mss) = (self.board.flight().nxt(), u64::from(self.mss));
        self.begin_burst(now, group);
        let (count, end) = (self.burst.left + 1, self.burst.end);
        self.burst.left = 0;
        if end - start < count * mss {
            self.part_end = end;
        }
        let pushed = self.defers.as_mut().is_some_and(|it| count == 1 && it.ends_with_push(start));
        self.board.on_group_sent(now, count, end - start);
        self.counters.on_group_sent(count, end - start, self.headers);
        self.sent_some = true;
        self.last_sent = now;
        let mut seq = start;
        while seq < end {
            let len = (end - seq).min(mss) as u32;
            let next = seq + u64::from(len);
            let is_last_of_several = next == end && count > 1;
            let is_last = self.supply.segment_at(next).is_none() && !self.more;
            let packet = outbox.draft();
            packet.segment = Segment {
                push: is_last_of_several || pushed || is_last,
                ..self.new_segment(now, seq, len)
            };
            self.ecn.stamp(true, self.recovery.reduced(), &mut packet.segment);
            packet.show_segment(false);
            outbox.send();
            seq = next;
        }
    }
}
