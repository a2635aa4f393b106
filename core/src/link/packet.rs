//! A packet as passed to a link by a host.

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
    /// The host's identifier.
    pub id: PacketId,
    /// Bytes of the IP packet.
    pub size: Bytes,
    /// The flow of the packet, for queues that separate flows.
    pub flow: u32,
    /// Byte range of a stream that the packet carries, for links that read TCP headers; `None` if
    /// it carries no stream data (an acknowledgement, a datagram).
    pub carries: Option<StreamRange>,
    /// The ECN field: whether queues may mark the packet, or have marked it.
    pub ecn: Ecn,
}

/// Bytes `start..end` of the stream of a flow, as given by the sequence number of a TCP segment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StreamRange {
    /// The flow, from 0.
    pub flow: u32,
    /// First byte.
    pub start: u64,
    /// End, exclusive.
    pub end: u64,
}

impl Packet {
    /// A packet of flow 0 without stream data, which queues may not mark.
    #[inline]
    pub const fn new(id: PacketId, size: Bytes) -> Self {
        Self { id, size, flow: 0, carries: None, ecn: Ecn::NotEct }
    }

    /// The same packet, in the flow `flow`.
    #[inline]
    pub const fn of_flow(self, flow: u32) -> Self {
        Self { flow, ..self }
    }

    /// The same packet with this ECN field.
    #[inline]
    pub const fn with_ecn(self, ecn: Ecn) -> Self {
        Self { ecn, ..self }
    }

    /// The same packet, carrying a byte range of a stream; it belongs to the flow of that stream.
    #[inline]
    pub const fn carrying(self, range: StreamRange) -> Self {
        Self { flow: range.flow, carries: Some(range), ..self }
    }
}
