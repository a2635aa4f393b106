//! The packets on their way.

use crate::link;
use crate::transport::{self, End};

/// A packet on its way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packet {
    /// As its connection handed it over.
    pub(super) content: transport::Packet,
    pub(super) flow: u32,
    /// Index of the hop it is on, within its flow's path.
    pub(super) hop: u16,
    /// The end that it travels to.
    pub(super) toward: End,
}

impl Packet {
    /// As a link sees it.
    #[inline]
    pub(super) fn offered(&self, id: u32) -> link::Packet {
        let transport::Packet { size, len, start, .. } = self.content;
        let packet = link::Packet::new(link::PacketId(u64::from(id)), size);
        if len == 0 {
            return packet;
        }
        let end = start + u64::from(len);
        packet.carrying(link::StreamRange { flow: self.flow, start, end })
    }
}
