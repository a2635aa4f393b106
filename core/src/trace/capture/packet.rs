//! Fields that identify a packet at any point of its path.

use std::hash::{DefaultHasher, Hasher};
use std::net::IpAddr;

use etherparse::{LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TransportSlice};

/// Payload bytes by which short captures are compared.
const SHORT: usize = 16;

/// A captured packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    /// Capture time, ns.
    pub(super) time: i64,
    /// Hashes of its fields: with the whole payload, with its beginning, without payload.
    pub(super) ids: [u64; 3],
    /// Its addresses, as indices of the capture's list.
    pub(super) from: u32,
    pub(super) to: u32,
    /// Length of the IP packet.
    pub(super) size: u32,
}

/// Amount of payload available for comparing two captures: an index of [`Packet::ids`].
pub(super) type PayloadLevel = usize;

/// The packet, its addresses, and the amount of payload captured.
pub(super) fn identify(
    packet: &LaxSlicedPacket<'_>,
    cut: bool,
    nat: bool,
) -> Option<(Packet, IpAddr, IpAddr, PayloadLevel)> {
    let mut hash = DefaultHasher::new();
    let (from, to, size, ip): (IpAddr, IpAddr, u32, _) = match packet.net.as_ref()? {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            hash.write_u8(4);
            hash.write_u16(header.identification());
            hash.write_u16(header.fragments_offset().value());
            let (from, to) = (header.source_addr(), header.destination_addr());
            (from.into(), to.into(), u32::from(header.total_len()), ip.payload())
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            hash.write_u8(6);
            let (from, to) = (header.source_addr(), header.destination_addr());
            (from.into(), to.into(), u32::from(header.payload_length()) + 40, ip.payload())
        }
        LaxNetSlice::Arp(_) => return None,
    };
    hash.write_u32(size);
    hash.write_u8(ip.ip_number.0);
    if !nat {
        for address in [from, to] {
            match address {
                IpAddr::V4(address) => hash.write(&address.octets()),
                IpAddr::V6(address) => hash.write(&address.octets()),
            }
        }
    }
    let ports = |from: u16, to: u16, hash: &mut DefaultHasher| {
        if !nat {
            hash.write_u16(from);
            hash.write_u16(to);
        }
    };
    let payload = match &packet.transport {
        Some(TransportSlice::Tcp(tcp)) => {
            ports(tcp.source_port(), tcp.destination_port(), &mut hash);
            hash.write_u32(tcp.sequence_number());
            hash.write_u32(tcp.acknowledgment_number());
            // Without the ECN flags, which routers set.
            let flags = [tcp.fin(), tcp.syn(), tcp.rst(), tcp.psh(), tcp.ack(), tcp.urg()];
            hash.write(&flags.map(u8::from));
            for option in tcp.options_iterator().flatten() {
                if let TcpOptionElement::Timestamp(value, echo) = option {
                    hash.write_u32(value);
                    hash.write_u32(echo);
                }
            }
            tcp.payload()
        }
        Some(TransportSlice::Udp(udp)) => {
            ports(udp.source_port(), udp.destination_port(), &mut hash);
            hash.write_u16(udp.length());
            udp.payload()
        }
        // ICMP, fragments and unknown protocols.
        _ => ip.payload,
    };
    let level = match payload.len() {
        _ if !cut && !ip.incomplete => 0,
        SHORT.. => 1,
        _ => 2,
    };
    let (mut whole, mut short) = (hash.clone(), hash.clone());
    whole.write(payload);
    short.write(&payload[..payload.len().min(SHORT)]);
    let ids = [whole.finish(), short.finish(), hash.finish()];
    Some((Packet { time: 0, ids, from: 0, to: 0, size }, from, to, level))
}
