//! Places where packets are captured, and their addresses there.

/// A place where packets are captured: an interface of the capture.
///
/// ```
/// use clift::capture::Place;
/// let mut packet = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0xb6, 0xc9, 192, 0, 2, 1, 192, 0, 2, 2];
/// Place::Receiver.translate(&mut packet);
/// assert_eq!(packet[12..], [203, 0, 113, 1, 203, 0, 113, 2]);
/// ```
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Place {
    /// The sending host.
    Sender = 0,
    /// The link, where the transmission of a packet starts.
    Link = 1,
    /// The receiving host.
    Receiver = 2,
}

const FRAGMENT: u16 = 0x1fff;
const TCP: u8 = 6;
const UDP: u8 = 17;

impl Place {
    /// All places, by their number in a capture.
    pub const ALL: [Self; 3] = [Self::Sender, Self::Link, Self::Receiver];

    /// Name of the interface.
    pub fn name(self) -> &'static str {
        ["sender", "link", "receiver"][self as usize]
    }

    /// Description of the interface.
    pub(super) fn description(self) -> &'static str {
        match self {
            Self::Sender => "packets sent and received by the sending host",
            Self::Link => "packets at the start of their transmission over the link",
            Self::Receiver => "packets received and sent by the receiving host",
        }
    }

    /// The first three bytes of addresses at this place, from the documentation blocks (RFC 5737).
    pub fn network(self) -> [u8; 3] {
        [[192, 0, 2], [198, 51, 100], [203, 0, 113]][self as usize]
    }

    /// Translates the addresses of an IPv4 packet of the sender's network, or of the start of one,
    /// to this place. Valid checksums stay valid (RFC 1624). Other addresses are unchanged. A TCP
    /// checksum of 0xffff, which a Linux kernel writes for 0 (`CSUM_MANGLED_0`), becomes 0.
    pub fn translate(self, packet: &mut [u8]) {
        let Some(&first) = packet.first().filter(|&&first| first >> 4 == 4) else { return };
        let header = usize::from(first & 15) * 4;
        if header < 20 || packet.len() < header {
            return;
        }
        let mut change = Change::default();
        for at in [12, 16] {
            let Some(place) = packet.get_mut(at..at + 4) else { return };
            if place[..3] == Self::Sender.network() {
                change.removes(place);
                place[..3].copy_from_slice(&self.network());
                change.adds(place);
            }
        }
        change.apply(packet, 10, false);
        let fragment = u16::from_be_bytes([packet[6], packet[7]]) & FRAGMENT;
        match packet[9] {
            TCP if fragment == 0 => change.apply(packet, header + 16, false),
            UDP if fragment == 0 => change.apply(packet, header + 6, true),
            _ => {}
        }
    }
}

/// Sets the ECN field of an IPv4 packet to "congestion experienced" (RFC 3168, section 5).
pub(super) fn mark(packet: &mut [u8]) {
    if packet.len() < 20 || packet[0] >> 4 != 4 {
        return;
    }
    let mut change = Change::default();
    change.removes(&packet[..2]);
    packet[1] |= 3;
    change.adds(&packet[..2]);
    change.apply(packet, 10, false);
}

/// Change of a one's complement sum by a change of addresses.
#[derive(Clone, Copy, Debug, Default)]
struct Change(u32);

impl Change {
    fn removes(&mut self, bytes: &[u8]) {
        words(bytes).for_each(|word| self.0 += u32::from(!word));
    }

    fn adds(&mut self, bytes: &[u8]) {
        words(bytes).for_each(|word| self.0 += u32::from(word));
    }

    /// Updates the checksum at a position, if it was captured; a zero that means "no checksum"
    /// stays.
    fn apply(self, packet: &mut [u8], at: usize, may_lack: bool) {
        let Some(place) = packet.get_mut(at..at + 2) else { return };
        let before = u16::from_be_bytes([place[0], place[1]]);
        if may_lack && before == 0 {
            return;
        }
        let mut sum = u32::from(!before) + self.0;
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        let after = match !(sum as u16) {
            0 if may_lack => 0xffff,
            after => after,
        };
        place.copy_from_slice(&after.to_be_bytes());
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u16> + '_ {
    bytes.as_chunks::<2>().0.iter().map(|&pair| u16::from_be_bytes(pair))
}

#[cfg(test)]
mod tests {
    use etherparse::{PacketBuilder, SlicedPacket, TransportSlice};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn checksums_stay_valid(
            payload in prop::collection::vec(any::<u8>(), 0..50), ports in any::<(u16, u16)>(),
            hosts in any::<(u8, u8)>(), tcp in any::<bool>(),
        ) {
            let builder = PacketBuilder::ipv4([192, 0, 2, hosts.0], [192, 0, 2, hosts.1], 64);
            let mut packet = Vec::new();
            if tcp {
                builder.tcp(ports.0, ports.1, 7, 9).write(&mut packet, &payload).unwrap();
            } else {
                builder.udp(ports.0, ports.1).write(&mut packet, &payload).unwrap();
            }
            for place in Place::ALL {
                let mut there = packet.clone();
                place.translate(&mut there);
                let sliced = SlicedPacket::from_ip(&there).unwrap();
                let Some(etherparse::NetSlice::Ipv4(ip)) = &sliced.net else { panic!() };
                let header = ip.header();
                prop_assert_eq!(header.source()[..3].to_vec(), place.network());
                prop_assert_eq!(header.header_checksum(), header.to_header().calc_header_checksum());
                let (from, to) = (header.source(), header.destination());
                match &sliced.transport {
                    Some(TransportSlice::Tcp(tcp)) => prop_assert_eq!(
                        tcp.checksum(),
                        tcp.to_header().calc_checksum_ipv4_raw(from, to, &payload).unwrap()
                    ),
                    Some(TransportSlice::Udp(udp)) => prop_assert_eq!(
                        udp.checksum(),
                        udp.to_header().calc_checksum_ipv4_raw(from, to, &payload).unwrap()
                    ),
                    _ => panic!(),
                }
            }
        }

        /// A Linux kernel writes 0xffff for 0 (`CSUM_MANGLED_0`) where it completes the checksum of
        /// TCP in software; receivers accept both, Wireshark reports the former.
        #[test]
        fn a_mangled_zero_of_tcp_becomes_zero(ports in any::<(u16, u16)>()) {
            let mut packet = Vec::new();
            let builder = PacketBuilder::ipv4([192, 0, 2, 1], [192, 0, 2, 2], 64);
            builder.tcp(ports.0, ports.1, 7, 9).write(&mut packet, &[0; 2]).unwrap();
            // A payload that equals the checksum makes the checksum 0.
            packet.copy_within(36..38, 40);
            packet[36..38].fill(0xff);
            Place::Sender.translate(&mut packet);
            prop_assert_eq!(&packet[36..38], [0, 0]);
        }

        #[test]
        fn damaged_packets_do_not_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..70)) {
            Place::Link.translate(&mut bytes);
            if let Some(first) = bytes.first_mut() {
                *first = 0x45;
            }
            Place::Receiver.translate(&mut bytes);
        }
    }
}
