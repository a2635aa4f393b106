//! Link-layer headers of captured frames, by link type.

use etherparse::{EtherType, LaxSlicedPacket};
use pcap_parser::Linktype;

const NULL: i32 = 0;
const ETHERNET: i32 = 1;
const RAW: [i32; 5] = [12, 14, 101, 228, 229];
const LOOP: i32 = 108;
const LINUX_COOKED: i32 = 113;
const LINUX_COOKED_2: i32 = 276;

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
    Ok(match kind.0 {
        ETHERNET => typed(12, 14),
        LINUX_COOKED => typed(14, 16),
        LINUX_COOKED_2 => typed(0, 20),
        NULL | LOOP => ip(after(4)),
        raw if RAW.contains(&raw) => ip(frame),
        other => {
            return Err(format!(
                "link type {other} is not known; known are Ethernet, raw IP, Linux cooked \
                 (SLL, SLL2) and loopback, so capture or convert to one of them"
            ));
        }
    })
}
