//! The ways of packets.

use crate::link;
use crate::transport::Packet;

/// A place on a way: a node that packets cross, or the socket at its end. The stops of a way follow one
/// another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    /// Number of the node or socket.
    pub(super) number: u32,
    /// The flow whose way it is.
    pub(super) flow: u32,
    pub(super) is_end: bool,
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
