//! The receiving end of a TCP connection in profile `papers`.

use crate::transport::tcp::config::TcpConfig;
use crate::transport::tcp::half::{Half, Receiver};
use crate::transport::tcp::shared::arrivals::{Arrivals, InOrder, announced};
use crate::transport::tcp::shared::counters::ReceiverCounters;
use crate::transport::train::{Arrival, Train};
use crate::transport::{Outbox, Received, Segment};
use crate::units::{Duration, Instant};

/// SACK blocks in an ACK: what fits beside timestamps (RFC 2018 section 3).
const SACK_BLOCKS: usize = 3;

/// A TCP receiver: an ACK for every segment, or for every second one if it delays them.
///
/// Like ns-2's `Agent/TCPSink/Sack1` it sends up to three SACK blocks, the one that changed last
/// first, and echoes the timestamp of the segment that last advanced the acknowledgement
/// (RFC 7323). Without SACK it is `Agent/TCPSink`, and waits for a SYN.
#[derive(Debug, Default)]
pub(crate) struct PapersReceiver {
    sack: bool,
    ack_delay: Option<Duration>,
    /// Receive window that ACKs announce, in bytes.
    window: u32,
    /// In its place the first byte that the application will not take.
    edge: Option<u64>,
    arrivals: Arrivals,
    echo: Instant,
    /// The timestamp of no segment or SYN was taken yet.
    echoes_nothing: bool,
    /// Acknowledgement sent last.
    last_ack: u64,
    ack_due: bool,
    deadline: Option<Instant>,
}

impl PapersReceiver {
    /// A receiver that expects the first byte.
    pub(crate) fn new(config: &TcpConfig) -> Self {
        let blocks = if config.sack { SACK_BLOCKS } else { 0 };
        Self {
            arrivals: Arrivals::new(config.mss().0, blocks),
            sack: config.sack,
            ack_delay: config.ack_delay(),
            window: config.announced_window(),
            echoes_nothing: true,
            ..Self::default()
        }
    }

    /// RFC 7323 section 4.3: the segment that begins where the last ACK ended is echoed, and so
    /// is a later transmission of anything below.
    fn update_echo(&mut self, segment: &Segment) {
        let expected = segment.seq == self.last_ack;
        let below = segment.seq < self.last_ack && segment.ts_val >= self.echo;
        if expected || below || self.echoes_nothing {
            self.echo = segment.ts_val;
            self.echoes_nothing = false;
        }
    }

    /// Whether the ACK for a segment may wait: the last one of all that came in order, again or for
    /// the first time, with nothing beyond it; it is not what opens the connection, and no ACK is
    /// waiting already.
    fn may_delay(&self, segment: &Segment) -> bool {
        let next = self.arrivals.next();
        segment.seq + u64::from(segment.len) == next
            && next == self.arrivals.highest()
            && (segment.seq > 0 || !self.sack)
            && self.deadline.is_none()
    }

    /// The ACK of all bytes below `next`, with this echo and room for `blocks` SACK blocks.
    #[inline(always)] // called for every packet: a call costs as much as what it does
    fn ack(&self, now: Instant, next: u64, echo: Instant, blocks: usize) -> Segment {
        Segment {
            ack: next,
            ts_val: now,
            ts_ecr: echo,
            wire: ack_size(blocks),
            window: announced(self.window, self.edge, next),
            ..Segment::default()
        }
    }

    fn ack_at_once(&mut self) {
        self.deadline = None;
        self.ack_due = true;
    }
}

impl Receiver for PapersReceiver {
    fn counters(&self) -> &ReceiverCounters {
        &self.arrivals.counters
    }

    fn received(&self) -> u64 {
        self.arrivals.next()
    }

    fn permit(&mut self, edge: u64, tell: bool) {
        self.edge = Some(edge);
        self.ack_due |= tell;
    }
}

impl Half for PapersReceiver {
    #[inline(always)] // called for every packet: a call costs as much as what it does
    fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        if segment.syn {
            self.update_echo(segment);
            return self.ack_at_once();
        }
        if segment.len == 0 {
            return;
        }
        self.update_echo(segment);
        self.arrivals.take_in(segment);
        match self.ack_delay {
            Some(delay) if self.may_delay(segment) => self.deadline = Some(now + delay),
            _ => self.ack_at_once(),
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            self.deadline = None;
            self.ack_due = true;
        }
    }

    #[inline(always)]
    fn transmit_into(&mut self, now: Instant, segment: &mut Segment) -> bool {
        if !std::mem::take(&mut self.ack_due) {
            return false;
        }
        let blocks = self.arrivals.block_count();
        self.last_ack = self.arrivals.next();
        self.arrivals.counters.acks_sent += 1;
        *segment = self.ack(now, self.last_ack, self.echo, blocks);
        self.arrivals.report(blocks, &mut segment.sack);
        true
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.deadline
    }

    /// Full segments without a gap, each acknowledged at once.
    fn answer_expected(&mut self, first: usize, train: &mut Train, outbox: &mut Outbox) -> usize {
        let from = self.arrivals.next();
        let in_order = self.arrivals.is_contiguous() && self.arrivals.highest() == from;
        let at_once = self.ack_delay.is_none() && !self.ack_due && self.arrivals.block_count() == 0;
        if !(in_order && at_once && self.last_ack == from && !self.echoes_nothing) {
            return first;
        }
        let Train { arrivals, received, sent, .. } = train;
        let before = received.len();
        let (mut next, mut echo, mut bytes) = (from, self.echo, 0);
        for &Arrival { key: (now, _), packet, .. } in &arrivals[first..] {
            let Segment { seq, len, wire, ts_val, syn, .. } = outbox[packet].segment;
            if seq != next || len == 0 || syn {
                break;
            }
            next += u64::from(len);
            echo = ts_val;
            bytes += u64::from(wire);
            let packet = outbox.draft();
            packet.segment = self.ack(now, next, echo, 0);
            packet.show_segment(true);
            outbox.send();
            sent.push(now);
            received.push(Received::Data { in_vain: false, delivered: next });
        }
        let count = received.len() - before;
        let segments = count as u64;
        self.arrivals.take_in_order(InOrder { segments, payload: next - from, bytes });
        self.arrivals.counters.acks_sent += segments;
        (self.last_ack, self.echo) = (next, echo);
        first + count
    }
}

/// Bytes of an ACK with `blocks` SACK blocks: 40 and 8 per block, as ns-2's sinks count them; a real
/// ACK has up to 16 more, for options and their padding.
fn ack_size(blocks: usize) -> u32 {
    40 + 8 * blocks as u32
}

#[cfg(test)]
mod tests;
