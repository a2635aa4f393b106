//! The receiving end of a TCP connection.

use super::config::TcpConfig;
use super::counters::ReceiverCounters;
use super::reassembly::Reassembly;
use crate::transport::{Endpoint, SackBlock, Segment};
use crate::units::Instant;

/// SACK blocks in an ACK: what fits beside timestamps (RFC 2018 section 3).
const SACK_BLOCKS: usize = 3;

/// A TCP receiver: an ACK for every segment, or for every second one if it delays them.
///
/// Like ns-2's `Agent/TCPSink/Sack1` it sends up to three SACK blocks, the one that changed last
/// first, and echoes the timestamp of the segment that last advanced the acknowledgement
/// (RFC 7323).
#[derive(Debug)]
pub struct TcpReceiver {
    config: TcpConfig,
    mss: u32,
    /// Next byte expected.
    next: u64,
    held: Reassembly,
    /// Blocks held, the one that changed last first; the first `recent_len` count.
    recent: [SackBlock; SACK_BLOCKS],
    recent_len: usize,
    /// One beyond the highest byte received.
    highest: u64,
    echo: Instant,
    /// Acknowledgement sent last.
    last_ack: u64,
    ack_due: bool,
    deadline: Option<Instant>,
    counters: ReceiverCounters,
}

impl TcpReceiver {
    /// A receiver that expects the first byte.
    pub fn new(config: &TcpConfig) -> Self {
        Self {
            mss: config.mss().0,
            config: config.clone(),
            next: 0,
            held: Reassembly::default(),
            recent: [SackBlock::default(); SACK_BLOCKS],
            recent_len: 0,
            highest: 0,
            echo: Instant::ZERO,
            last_ack: 0,
            ack_due: false,
            deadline: None,
            counters: ReceiverCounters::default(),
        }
    }

    /// What was counted so far.
    pub fn counters(&self) -> &ReceiverCounters {
        &self.counters
    }

    /// Next byte expected: everything below was handed to the application.
    pub fn received(&self) -> u64 {
        self.next
    }

    /// RFC 7323 section 4.3: the segment that begins where the last ACK ended is echoed, and so
    /// is a later transmission of anything below.
    fn update_echo(&mut self, segment: &Segment) {
        let expected = segment.seq == self.last_ack;
        let below = segment.seq < self.last_ack && segment.ts_val >= self.echo;
        if expected || below || self.counters.segments_received == 0 {
            self.echo = segment.ts_val;
        }
    }

    fn count_order(&mut self, segment: &Segment, end: u64) {
        if end > self.highest {
            self.highest = end;
        } else if segment.retransmission == 0 {
            self.counters.reordered_segments += 1;
            let ahead = (self.highest - end).div_ceil(u64::from(self.mss));
            let ahead = u32::try_from(ahead).unwrap_or(u32::MAX);
            self.counters.max_reordering = self.counters.max_reordering.max(ahead);
        }
    }

    /// Takes in the payload; returns whether any of it was new.
    fn accept(&mut self, start: u64, end: u64) -> bool {
        if end <= self.next {
            return false;
        }
        if start <= self.next {
            let before = self.next;
            self.next = if self.held.is_empty() { end } else { self.held.advance(end) };
            self.counters.bytes_in_order += self.next - before;
            self.forget_blocks_below();
            return true;
        }
        let (block, new) = self.held.insert(start, end);
        if new {
            self.counters.out_of_order_segments += 1;
        }
        self.remember(block);
        new
    }

    fn forget_blocks_below(&mut self) {
        let next = self.next;
        self.retain_recent(|block| block.end > next);
    }

    /// `block` changed last; blocks that it has swallowed go.
    fn remember(&mut self, block: SackBlock) {
        self.retain_recent(|old| old.start < block.start || old.end > block.end);
        self.recent_len = (self.recent_len + 1).min(SACK_BLOCKS);
        self.recent.copy_within(..self.recent_len - 1, 1);
        self.recent[0] = block;
    }

    fn retain_recent(&mut self, keep: impl Fn(&SackBlock) -> bool) {
        let mut kept = 0;
        for at in 0..self.recent_len {
            if keep(&self.recent[at]) {
                self.recent[kept] = self.recent[at];
                kept += 1;
            }
        }
        self.recent_len = kept;
    }

    /// Whether the ACK for a segment that began at `start` may wait: one that came in order,
    /// fills no gap, is not the first, and none is waiting already.
    fn may_delay(&self, start: u64, advanced: bool) -> bool {
        advanced && start > 0 && self.deadline.is_none() && self.next == self.highest
    }

    fn schedule_ack(&mut self, now: Instant, may_delay: bool) {
        match self.config.delayed_ack {
            Some(delay) if may_delay => self.deadline = Some(now + delay),
            _ => {
                self.deadline = None;
                self.ack_due = true;
            }
        }
    }
}

impl Endpoint for TcpReceiver {
    fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        if segment.len == 0 {
            return;
        }
        let (start, end) = (segment.seq, segment.seq + u64::from(segment.len));
        let expected = self.next;
        self.update_echo(segment);
        self.counters.segments_received += 1;
        self.counters.bytes_received += u64::from(segment.wire);
        let in_sequence = start == expected && self.held.is_empty();
        self.count_order(segment, end);
        if self.accept(start, end) {
            self.counters.distinct_bytes += u64::from(segment.wire);
        } else {
            self.counters.duplicate_segments += 1;
        }
        let may_delay = self.may_delay(start, in_sequence);
        self.schedule_ack(now, may_delay);
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            self.deadline = None;
            self.ack_due = true;
        }
    }

    fn transmit_into(&mut self, now: Instant, segment: &mut Segment) -> bool {
        if !std::mem::take(&mut self.ack_due) {
            return false;
        }
        self.last_ack = self.next;
        self.counters.acks_sent += 1;
        *segment = Segment {
            ack: self.next,
            ts_val: now,
            ts_ecr: self.echo,
            wire: self.config.ack_size(self.recent_len),
            window: self.config.announced_window(),
            ..Segment::default()
        };
        for &block in &self.recent[..self.recent_len] {
            segment.sack.push(self.next, block);
        }
        true
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.deadline
    }
}

#[cfg(test)]
mod tests;
