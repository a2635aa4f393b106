//! What has arrived at a receiver: the next byte expected, the bytes beyond it, and the SACK
//! blocks that tell of it.

use super::counters::ReceiverCounters;
use super::reassembly::Reassembly;
use crate::transport::{SackBlock, SackList, Segment};

/// Blocks that are remembered: as many as fit into any ACK (RFC 2018 section 3).
const BLOCKS: usize = 4;

/// Data received, in order and ahead of gaps.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    mss: u32,
    /// Next byte expected.
    next: u64,
    held: Reassembly,
    /// Bytes held ahead of a gap.
    held_bytes: u64,
    /// Blocks held, the one that changed last first; the first `recent_len` count.
    recent: [SackBlock; BLOCKS],
    recent_len: usize,
    /// How many are remembered at most.
    remembered: usize,
    /// One beyond the highest byte received.
    highest: u64,
    pub(crate) counters: ReceiverCounters,
}

/// Segments that came in order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InOrder {
    pub(crate) segments: u64,
    pub(crate) payload: u64,
    /// Their bytes as IP packets.
    pub(crate) bytes: u64,
}

impl Arrivals {
    /// Nothing yet; up to `remembered` SACK blocks are remembered, at most four.
    pub(crate) fn new(mss: u32, remembered: usize) -> Self {
        Self { mss, remembered: remembered.min(BLOCKS), ..Self::default() }
    }

    /// Next byte expected.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// One beyond the highest byte received.
    #[inline]
    pub(crate) fn highest(&self) -> u64 {
        self.highest
    }

    /// Bytes held ahead of a gap.
    #[inline]
    pub(crate) fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    /// Whether nothing is held ahead of a gap.
    #[inline]
    pub(crate) fn is_contiguous(&self) -> bool {
        self.held.is_empty()
    }

    /// Takes in a data segment; returns whether any of it was new.
    #[inline(always)] // called for every packet: a call costs as much as what it does
    pub(crate) fn take_in(&mut self, segment: &Segment) -> bool {
        let (start, end) = (segment.seq, segment.seq + u64::from(segment.len));
        self.counters.segments_received += 1;
        self.counters.bytes_received += u64::from(segment.wire);
        self.count_order(segment, end);
        let new = self.accept(start, end);
        if new {
            self.counters.distinct_bytes += u64::from(segment.wire);
        } else {
            self.counters.duplicate_segments += 1;
        }
        new
    }

    /// Takes in segments that came in order, with nothing ahead of them.
    #[inline]
    pub(crate) fn take_in_order(&mut self, InOrder { segments, payload, bytes }: InOrder) {
        self.counters.segments_received += segments;
        self.counters.bytes_received += bytes;
        self.counters.distinct_bytes += bytes;
        self.counters.bytes_in_order += payload;
        self.next += payload;
        self.highest = self.next;
    }

    /// A data segment that must not be taken in; returns whether all of it had arrived in order.
    pub(crate) fn refuse(&mut self, segment: &Segment) -> bool {
        let end = segment.seq + u64::from(segment.len);
        self.counters.segments_received += 1;
        self.counters.bytes_received += u64::from(segment.wire);
        self.count_order(segment, end);
        let known = end <= self.next;
        self.counters.duplicate_segments += u64::from(known);
        self.counters.stale_segments += u64::from(!known);
        known
    }

    /// Whether all of `segment` is held ahead of a gap.
    pub(crate) fn holds(&self, segment: &Segment) -> bool {
        self.held.holds(segment.seq, segment.seq + u64::from(segment.len))
    }

    /// Number of SACK blocks remembered.
    #[inline]
    pub(crate) fn block_count(&self) -> usize {
        self.recent_len
    }

    /// Position of the newest SACK block that `segment` overlaps or adjoins; the number of blocks
    /// if there is none.
    pub(crate) fn block_position(&self, segment: &Segment) -> usize {
        let (start, end) = (segment.seq, segment.seq + u64::from(segment.len));
        let mut blocks = self.recent[..self.recent_len].iter();
        blocks.position(|old| start <= old.end && old.start <= end).unwrap_or(self.recent_len)
    }

    /// Appends the newest SACK blocks, up to `count`.
    #[inline]
    pub(crate) fn report(&self, count: usize, sack: &mut SackList) {
        for &block in &self.recent[..self.recent_len.min(count)] {
            sack.push(self.next, block);
        }
    }

    #[inline]
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

    #[inline(always)]
    fn accept(&mut self, start: u64, end: u64) -> bool {
        if end <= self.next {
            return false;
        }
        if start <= self.next {
            self.counters.bytes_in_order += end - self.next;
            self.next = end;
            if !self.held.is_empty() {
                self.join_held();
            }
            return true;
        }
        let (block, new) = self.held.insert(start, end);
        if new {
            self.counters.out_of_order_segments += 1;
            self.held_bytes += end - start;
        }
        self.remember(block);
        new
    }

    /// Takes in what is held up to the next gap.
    fn join_held(&mut self) {
        let next = self.held.advance(self.next);
        let joined = next - self.next;
        self.held_bytes = self.held_bytes.saturating_sub(joined);
        self.counters.bytes_in_order += joined;
        self.next = next;
        self.retain_recent(|block| block.end > next);
    }

    /// `block` changed last; blocks that it has swallowed go.
    fn remember(&mut self, block: SackBlock) {
        self.retain_recent(|old| old.start < block.start || old.end > block.end);
        self.recent_len = (self.recent_len + 1).min(self.remembered);
        if self.recent_len == 0 {
            return;
        }
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
}
/// The receive window that an acknowledgement of byte `next` announces: the `window` of the
/// configuration, or the rest up to the `edge` that the application set.
#[inline]
pub(crate) fn announced(window: u32, edge: Option<u64>, next: u64) -> u32 {
    edge.map_or(window, |edge| u32::try_from(edge.saturating_sub(next)).unwrap_or(u32::MAX))
}
