//! A packet as a host hands it to a link.

use crate::link::PacketId;
use crate::units::{Bytes, Ecn};

/// A packet that arrives at a link.
///
/// ```
/// use clift::link::{Packet, PacketId, StreamRange};
/// use clift::units::Bytes;
/// let packet = Packet::new(PacketId(7), Bytes(1500));
/// assert_eq!(packet.carries, None);
/// let segment = packet.carrying(StreamRange { flow: 0, start: 1448, end: 2896 });
/// assert_eq!(segment.carries.unwrap().start, 1448);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Packet {
    /// The host's name for it.
    pub id: PacketId,
    /// Bytes of the IP packet.
    pub size: Bytes,
    /// The flow that it belongs to, for queues that keep flows apart.
    pub flow: u32,
    /// What it carries of a byte stream, for links that look into TCP headers; `None`: nothing
    /// that has a place in a stream (an acknowledgement, a datagram).
    pub carries: Option<StreamRange>,
    /// Whether queues may mark it, or have.
    pub ecn: Ecn,
}

/// Bytes `start..end` of the stream of a flow: what the sequence number of a TCP segment says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StreamRange {
    /// The flow, from 0.
    pub flow: u32,
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

impl Packet {
    /// A packet of flow 0 that carries nothing of a stream, and that queues may not mark.
    #[inline]
    pub const fn new(id: PacketId, size: Bytes) -> Self {
        Self { id, size, flow: 0, carries: None, ecn: Ecn::NotEct }
    }

    /// The same packet, of a flow.
    #[inline]
    pub const fn of_flow(self, flow: u32) -> Self {
        Self { flow, ..self }
    }

    /// The same packet with this ECN field.
    #[inline]
    pub const fn with_ecn(self, ecn: Ecn) -> Self {
        Self { ecn, ..self }
    }

    /// The same packet with a place in a stream, whose flow it belongs to.
    #[inline]
    pub const fn carrying(self, range: StreamRange) -> Self {
        Self { flow: range.flow, carries: Some(range), ..self }
    }
}
