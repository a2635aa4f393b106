//! Where packets are on their way.

use crate::link;
use crate::transport::Packet;

/// Where a packet is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Route {
    /// The socket that it travels to.
    pub(super) to: u32,
    /// Number of the way that it takes.
    pub(super) way: u32,
    /// Index of the hop it is on, within that way.
    pub(super) hop: u16,
    pub(super) flow: u32,
}

/// A packet as a link sees it.
#[inline]
pub(super) fn offered(id: u32, flow: u32, packet: &Packet) -> link::Packet {
    let Packet { size, len, start, ecn, .. } = *packet;
    let packet = link::Packet::new(link::PacketId(u64::from(id)), size).of_flow(flow).with_ecn(ecn);
    if len == 0 {
        return packet;
    }
    packet.carrying(link::StreamRange { flow, start, end: start + u64::from(len) })
}
