//! What leaves: the SYN, new segments, and those sent before.

use super::{Cause, Connection, NewRenoSender, SYN, Timed};
use crate::transport::Segment;
use crate::units::Instant;

impl NewRenoSender {
    pub(super) fn send_syn(&mut self, now: Instant, segment: &mut Segment) {
        self.connection = Connection::SynSent;
        if self.deadline.is_none() {
            self.timed = Some(Timed { acknowledged: 0, sent: now });
            self.deadline = Some(now + self.rtt.timeout());
        }
        self.counters.bytes_sent += u64::from(SYN);
        *segment = Segment { syn: true, wire: SYN, ts_val: now, ..Segment::default() };
    }

    pub(super) fn retransmit(&mut self, now: Instant, number: u64, segment: &mut Segment) {
        let (start, end) = self.flight.bounds(number);
        let sends = self.flight.sends(number);
        self.flight.mark_probed(number);
        self.counters.retransmissions += 1;
        if self.cause == Cause::FastRecovery {
            self.counters.fast_retransmits += 1;
        }
        let len = (end - start) as u32;
        *segment = Segment {
            seq: start,
            len,
            first_sent: self.flight.first_sent(number),
            retransmission: sends,
            ..self.written(now, len)
        };
    }

    fn send_new(&mut self, now: Instant, segment: &mut Segment) -> bool {
        let start = self.flight.nxt();
        let Some(len) = self.supply.segment_at(start) else { return false };
        if self.flight.is_empty() || self.deadline.is_none() {
            self.deadline = Some(now + self.rtt.timeout());
        }
        let acknowledged = self.flight.next() + 1;
        self.timed = self.timed.or(Some(Timed { acknowledged, sent: now }));
        self.flight.push(now, len);
        *segment = Segment { seq: start, len, first_sent: now, ..self.written(now, len) };
        true
    }

    /// Counts a data segment and fills in what all of them have.
    fn written(&mut self, now: Instant, len: u32) -> Segment {
        let wire = len + self.headers;
        self.counters.on_sent(wire);
        Segment { wire, ts_val: now, ..Segment::default() }
    }

    /// Sends what the cursor points at.
    pub(super) fn send_next(&mut self, now: Instant, segment: &mut Segment) -> bool {
        if self.cursor < self.flight.next() {
            self.retransmit(now, self.cursor, segment);
        } else if !self.send_new(now, segment) {
            return false;
        }
        self.cursor += 1;
        true
    }
}
