//! What the two ends of an RLC entity send each other.

/// An RLC data PDU: bytes `start..end` of a packet, PDCP header included.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Pdu {
    /// The packet, in order of admission; also its PDCP COUNT.
    pub(super) order: u64,
    /// RLC sequence number, without wrap-around. In UM only packets that are cut have one
    /// (TS 38.322 section 5.2.2.1).
    pub(super) sn: Option<u64>,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Whether it ends with the last byte of the packet.
    pub(super) last: bool,
    /// Whether RLC sends it again.
    pub(super) again: bool,
    /// The polling bit (AM).
    pub(super) poll: bool,
}

/// A STATUS PDU (TS 38.322 section 6.2.2.5).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Status {
    /// Everything below it that is not negatively acknowledged was received.
    pub(super) ack_sn: u64,
    /// Sequence number and missing bytes, ascending; a range that ends with `u32::MAX` ends with
    /// the packet.
    pub(super) nacks: Vec<(u64, u32, u32)>,
}
