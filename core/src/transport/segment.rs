//! The TCP segment: byte sequence numbers, SACK blocks, timestamps.

use crate::units::{Ecn, Instant};

/// A TCP segment. Sequence numbers count bytes from 0 and never wrap.
///
/// `wire` is the size of the IP packet, headers included: what queues and links count.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Segment {
    /// First byte of the payload.
    pub seq: u64,
    /// Cumulative acknowledgement: next byte expected.
    pub ack: u64,
    /// Time of sending (RFC 7323 TSval, at nanosecond resolution).
    pub ts_val: Instant,
    /// When these bytes were first sent. Real segments do not carry this field; the simulator uses
    /// it to measure delays.
    pub first_sent: Instant,
    /// Echoed timestamp (TSecr).
    pub ts_ecr: Instant,
    /// Bytes of payload.
    pub len: u32,
    /// Bytes of the IP packet, headers included.
    pub wire: u32,
    /// Receive window in bytes, already scaled.
    pub window: u32,
    /// SYN, or SYN-ACK.
    pub syn: bool,
    /// PSH: no further data follow at once. It makes the receiver forward what it holds.
    pub push: bool,
    /// The first SACK block is a D-SACK (RFC 2883).
    pub dsack: bool,
    /// ECN flags.
    pub flags: EcnFlags,
    /// The ECN field of its IP packet.
    pub ecn: Ecn,
    /// Number of earlier transmissions of these bytes; 0 for a first transmission. Real segments do
    /// not carry this field; the simulator uses it for its counters.
    pub retransmission: u16,
    /// Selective acknowledgements.
    pub sack: SackList,
}

/// The TCP header flags AE, CWR and ECE. CWR and ECE are Congestion Window Reduced and ECN-Echo
/// (RFC 3168, section 6.1); with accurate ECN the three together form a counter of marked packets,
/// the ACE field (RFC 9768, section 3.2.2).
///
/// ```
/// use clift::transport::EcnFlags;
/// let flags = EcnFlags::ECE.and(EcnFlags::CWR);
/// assert!(flags.has(EcnFlags::ECE) && !flags.has(EcnFlags::AE));
/// assert_eq!(EcnFlags::ace(13).count(), 5);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct EcnFlags(u8);

impl EcnFlags {
    /// ECN-Echo.
    pub const ECE: Self = Self(1);
    /// Congestion Window Reduced.
    pub const CWR: Self = Self(2);
    /// Accurate ECN.
    pub const AE: Self = Self(4);

    /// The ACE field: the last three bits of a count of marked packets.
    pub fn ace(count: u64) -> Self {
        Self(count as u8 & 7)
    }

    /// Value of the ACE field.
    pub fn count(self) -> u8 {
        self.0
    }

    /// Union of both sets of flags.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether no flag is set.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of `flags` are set.
    #[inline]
    pub fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }
}

/// One SACK block: bytes `start..end` were received (RFC 2018).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SackBlock {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

/// Up to four SACK blocks, newest first, stored as offsets from the acknowledgement.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SackList {
    len: u8,
    blocks: [(i32, i32); 4],
}

impl SackList {
    /// Appends a block; a fifth block is ignored. `ack` is the acknowledgement of the segment.
    pub fn push(&mut self, ack: u64, block: SackBlock) {
        if usize::from(self.len) == self.blocks.len() {
            return;
        }
        let offset = |byte: u64| byte.wrapping_sub(ack) as i64 as i32;
        self.blocks[usize::from(self.len)] = (offset(block.start), offset(block.end));
        self.len += 1;
    }

    /// The blocks in order. `ack` is the acknowledgement of the segment.
    pub fn iter(&self, ack: u64) -> impl Iterator<Item = SackBlock> + '_ {
        self.blocks[..usize::from(self.len)].iter().map(move |&(start, end)| SackBlock {
            start: ack.wrapping_add(start as i64 as u64),
            end: ack.wrapping_add(end as i64 as u64),
        })
    }

    /// Number of blocks, 0 to 4.
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// True if the list has no blocks.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}
