//! The receiving end of a TCP connection in profile `papers`.

use crate::transport::Segment;
use crate::transport::tcp::config::TcpConfig;
use crate::transport::tcp::half::{Half, Receiver};
use crate::transport::tcp::shared::arrivals::{Arrivals, announced};
use crate::transport::tcp::shared::counters::ReceiverCounters;
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
        *segment = Segment {
            ack: self.last_ack,
            ts_val: now,
            ts_ecr: self.echo,
            wire: ack_size(blocks),
            window: announced(self.window, self.edge, self.last_ack),
            ..Segment::default()
        };
        self.arrivals.report(blocks, &mut segment.sack);
        true
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.deadline
    }
}

/// Bytes of an ACK with `blocks` SACK blocks: 40 and 8 per block, as ns-2's sinks count them; a real
/// ACK has up to 16 more, for options and their padding.
fn ack_size(blocks: usize) -> u32 {
    40 + 8 * blocks as u32
}

#[cfg(test)]
mod tests;
