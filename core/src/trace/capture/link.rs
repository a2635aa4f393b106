//! Link-layer headers of captured frames, by link type.

use etherparse::{EtherType, LaxSlicedPacket};
use pcap_parser::Linktype;

/// The packet inside a frame; `None` if it is not IP. `Err`: an unknown link type.
pub(super) fn packet(kind: Linktype, frame: &[u8]) -> Result<Option<LaxSlicedPacket<'_>>, String> {
    let ip = |packet| LaxSlicedPacket::from_ip(packet).ok();
    let after = |size: usize| frame.get(size..).unwrap_or_default();
    let typed = |at: usize, size: usize| {
        let number = frame.get(at..at + 2)?;
        let kind = EtherType(u16::from_be_bytes([number[0], number[1]]));
        // VLAN tags are skipped.
        Some(LaxSlicedPacket::from_ether_type(kind, after(size)))
    };
    Ok(match kind {
        Linktype::ETHERNET => typed(12, 14),
        Linktype::LINUX_SLL => typed(14, 16),
        Linktype::LINUX_SLL2 => typed(0, 20),
        Linktype::NULL | Linktype::LOOP => ip(after(4)),
        // Raw IP has other numbers on some systems.
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 | Linktype(12 | 14) => ip(frame),
        Linktype(other) => {
            return Err(format!(
                "link type {other} is not known; known are Ethernet, raw IP, Linux cooked \
                 (SLL, SLL2) and loopback, so capture or convert to one of them"
            ));
        }
    })
}
