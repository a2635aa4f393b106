//! What leaves: new segments, and those sent before.

use super::{PapersSender, Timed};
use crate::transport::Segment;
use crate::transport::tcp::endpoint::CongestionState;
use crate::units::Instant;

impl PapersSender {
    /// A segment sent before, to be sent again.
    pub(super) fn retransmit(&mut self, now: Instant, number: u64, segment: &mut Segment) {
        let (start, end) = self.flight.bounds(number);
        let sends = self.flight.sends(number);
        let first_sent = self.flight.first_sent(number);
        self.scoreboard.on_retransmitted(&mut self.flight, number);
        self.flight.set_last_sent(number, now);
        self.counters.retransmissions += 1;
        if self.state == CongestionState::Recovery {
            self.counters.fast_retransmits += 1;
        }
        // Karn: an ACK would not tell which transmission it answers.
        self.timed = self.timed.filter(|timed| timed.segment != number);
        self.write(now, first_sent, start, (end - start) as u32, sends, segment);
    }

    #[inline]
    pub(super) fn send_new(&mut self, now: Instant, segment: &mut Segment) -> bool {
        let start = self.flight.nxt();
        let Some(len) = self.supply.segment_at(start) else { return false };
        if self.flight.is_empty() {
            self.deadline = Some(now + self.rtt.timeout());
        }
        if !self.timestamps && self.timed.is_none() {
            self.timed = Some(Timed { segment: self.flight.next(), sent: now });
        }
        self.flight.push(now, len);
        self.write(now, now, start, len, 0, segment);
        true
    }

    #[inline]
    fn write(
        &mut self,
        now: Instant,
        first_sent: Instant,
        seq: u64,
        len: u32,
        sends: u16,
        segment: &mut Segment,
    ) {
        let wire = len + self.headers;
        self.counters.on_sent(wire);
        self.pacing.on_sent(self.flight.outstanding());
        *segment = Segment {
            seq,
            len,
            wire,
            ts_val: now,
            first_sent,
            retransmission: sends,
            ..Segment::default()
        };
    }
}
