//! A packet and what it holds.

use std::any::Any;

use crate::transport::Segment;
use crate::units::{Bytes, Ecn, Instant};

/// A packet as an endpoint hands it to its host: the fields that paths, observers and delay
/// measurements need, and contents that only endpoints read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Packet {
    /// Bytes of the IP packet, headers included: what queues and links count.
    pub size: Bytes,
    /// Bytes of application data; 0 for a control packet.
    pub len: u32,
    /// Position of the first of these bytes in the flow.
    pub start: u64,
    /// When these bytes were first sent.
    pub first_sent: Instant,
    /// Number of earlier transmissions of these bytes.
    pub retransmission: u16,
    /// ECN field: whether queues may mark the packet instead of dropping it, or already did.
    pub ecn: Ecn,
    /// True for a TCP acknowledgement (or SYN-ACK) of the peer's data. Data and acknowledgements of
    /// the two directions leave in separate packets. Over several paths, `start` is then the data
    /// acknowledgement (RFC 8684 section 3.3.2).
    pub answers: bool,
    /// Number of the path that the packet takes, of a connection over several.
    pub path: u8,
    /// Contents, for TCP.
    pub segment: Segment,
}

impl Packet {
    /// Its fields become those of its TCP segment.
    #[inline(always)] // called for every packet: a call costs as much as what it does
    pub(crate) fn show_segment(&mut self, answers: bool) {
        let Segment { wire, len, seq, first_sent, retransmission, ecn, .. } = self.segment;
        (self.size, self.len, self.start) = (Bytes(wire), len, seq);
        (self.first_sent, self.retransmission, self.ecn) = (first_sent, retransmission, ecn);
        (self.answers, self.path) = (answers, 0);
    }

    /// Sets the Congestion Experienced mark, as a queue does.
    pub(crate) fn mark(&mut self) {
        self.ecn = Ecn::Ce;
        self.segment.ecn = Ecn::Ce;
    }
}

/// What a packet holds that only its protocol reads.
pub type Contents = Box<dyn Any + Send>;
