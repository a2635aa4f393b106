//! What the two ends count.

use crate::config::together;

/// How many distinct transmission counts [`SenderCounters::acknowledged_by_transmissions`] tells
/// apart; the last entry holds all higher ones.
pub const TRANSMISSION_COUNTS: usize = 8;

/// What a sender has counted so far.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SenderCounters {
    /// Data segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Their bytes as IP packets.
    pub bytes_sent: u64,
    /// Data segments sent again.
    pub retransmissions: u64,
    /// Retransmissions made in fast recovery, the others follow a timeout.
    pub fast_retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Entries into fast recovery: duplicate ACKs (SACK blocks) proved a loss.
    pub recovery_entries_by_dupacks: u64,
    /// ACKs that arrived while data were in flight and did not advance the acknowledgement.
    pub duplicate_acks: u64,
    /// Reductions of the window: entries into recovery and timeouts.
    pub cwnd_reductions: u64,
    /// Reductions because of marks (ECN; none in profile `papers`).
    pub ecn_reductions: u64,
    /// Reductions taken back because they proved spurious (none in profile `papers`).
    pub undo_events: u64,
    /// Payload acknowledged, in order.
    pub bytes_acked: u64,
    /// Acknowledged segments by how often they were sent: entry `i` holds those sent `i + 1`
    /// times, the last entry all higher ones.
    pub acknowledged_by_transmissions: [u64; TRANSMISSION_COUNTS],
}

impl SenderCounters {
    /// The sums of the counts of two senders.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let by = [self, other].map(|counts| counts.acknowledged_by_transmissions);
        together!(
            self, other => segments_sent, bytes_sent, retransmissions, fast_retransmits, timeouts,
            recovery_entries_by_dupacks, duplicate_acks, cwnd_reductions, ecn_reductions,
            undo_events, bytes_acked;
            and acknowledged_by_transmissions: std::array::from_fn(|sends| by[0][sends] + by[1][sends])
        )
    }

    /// A data segment left, for the first time or again.
    #[inline]
    pub(crate) fn on_sent(&mut self, wire: u32) {
        self.segments_sent += 1;
        self.bytes_sent += u64::from(wire);
    }

    /// New segments with `payload` bytes in all left.
    #[inline]
    pub(crate) fn on_group_sent(&mut self, segments: u64, payload: u64, headers: u32) {
        self.segments_sent += segments;
        self.bytes_sent += payload + segments * u64::from(headers);
    }

    /// Segments that were sent once are acknowledged.
    #[inline]
    pub(crate) fn on_acknowledged_once(&mut self, segments: u32) {
        self.acknowledged_by_transmissions[0] += u64::from(segments);
    }

    /// A segment that was sent so often is acknowledged.
    #[inline]
    pub(crate) fn on_acknowledged(&mut self, sends: u16) {
        let sends = usize::from(sends).clamp(1, TRANSMISSION_COUNTS);
        self.acknowledged_by_transmissions[sends - 1] += 1;
    }
}

/// What a receiver has counted so far.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ReceiverCounters {
    /// Data segments received, duplicates included.
    pub segments_received: u64,
    /// Their bytes as IP packets.
    pub bytes_received: u64,
    /// Payload received in order: the goodput.
    pub bytes_in_order: u64,
    /// Segments that brought nothing new: the spurious retransmissions, by the truth.
    pub duplicate_segments: u64,
    /// Segments that brought something new and were thrown away because their timestamp was too
    /// old (PAWS, RFC 7323 section 5; none in profile `papers`).
    pub stale_segments: u64,
    /// Bytes, as IP packets, of the segments that brought something new.
    pub distinct_bytes: u64,
    /// Segments that arrived ahead of a gap and had to be stored.
    pub out_of_order_segments: u64,
    /// First transmissions that arrived after a segment sent later (RFC 4737).
    pub reordered_segments: u64,
    /// The farthest that the highest segment received was ahead of a late first transmission, in
    /// full segments.
    pub max_reordering: u32,
    /// Data segments received with a mark (ECN), duplicates included.
    pub marked_segments: u64,
    /// ACKs sent.
    pub acks_sent: u64,
}

impl ReceiverCounters {
    /// The counts of two receivers of parallel connections together.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        together!(
            self, other => segments_received, bytes_received, bytes_in_order, duplicate_segments,
            stale_segments, distinct_bytes, out_of_order_segments, reordered_segments,
            marked_segments, acks_sent; most max_reordering
        )
    }
}
