//! Simulated packets as IPv4 packets: their headers, and the kept part of the payload, which is
//! zeros unless the transport keeps it.

use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement, UdpHeader};

use super::place::Place;
use super::timeline::Seen;
use crate::transport::{EcnFlags, End, Packet, Segment};
use crate::units::Ecn;

/// The first port of flows at the source.
const FIRST_PORT: u32 = 10_000;
/// Number of flows before the port at the destination changes.
const PORTS: u32 = 50_000;
const SERVER: u32 = 5001;
const UDP_HEADERS: u32 = 28;
const TCP_HEADERS: u32 = 40;
/// Bytes of the timestamp option, padded.
const TIMESTAMPS: u32 = 12;
/// Bytes that options have beside timestamps at most.
const MOST_SIGNAL: u32 = 28;
/// Bytes of the options of a SYN with timestamps.
const SYN_TIMESTAMPS: u32 = 20;
/// The maximum window shift (RFC 7323).
const MOST_SHIFT: u32 = 14;
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Properties of a flow that determine its headers.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    tcp: bool,
    ports: [u16; 2],
    /// Path of a connection over several, which has its own addresses; else 0.
    path: u8,
    /// Identification of the next packet of each end.
    identification: [u16; 2],
    /// True if segments carry timestamps; known after the first segment of the sender.
    timestamps: bool,
    /// Shift of the receiver's window, from its SYN or SYN-ACK.
    shift: u32,
    /// Set if both ends have data and the receiver opens the connection.
    dialogue: Option<Dialogue>,
}

/// State of both ends of a dialogue: its directions are simulated separately, but a TCP header
/// covers both.
#[derive(Clone, Copy, Debug, Default)]
struct Dialogue {
    /// First byte that the end has not sent.
    next: [u64; 2],
    /// Its last acknowledgement.
    acknowledged: [u64; 2],
}

impl Flow {
    /// The flow with this number, over one of its paths; `tcp`: a TCP flow, else UDP.
    pub(super) fn new(number: u32, path: u8, tcp: bool) -> Self {
        let client = FIRST_PORT + number % PORTS;
        // Four million flows at most, the engine's limit of event sources.
        let server = SERVER + number / PORTS;
        Self {
            tcp,
            path,
            ports: [client as u16, server as u16],
            identification: [0; 2],
            timestamps: false,
            shift: 0,
            dialogue: None,
        }
    }

    /// The same flow as a dialogue: both ends have data, and the receiver opens the connection.
    pub(super) fn of_dialogue(self) -> Self {
        Self { dialogue: Some(Dialogue::default()), ..self }
    }

    /// The packet that an end sends, of which `snap` bytes are kept. `payload`: its UDP payload, or
    /// empty if the transport does not keep it.
    pub(super) fn frame(&mut self, from: End, packet: &Packet, payload: &[u8], snap: u32) -> Seen {
        let length = if self.tcp { packet.len } else { packet.size.0.saturating_sub(UDP_HEADERS) };
        let payload = match payload {
            [] => &ZEROS[..(length as usize).min(ZEROS.len() - 128)],
            payload => payload,
        };
        let ([source, target], [from_port, to_port]) = self.addresses(from);
        let mut kept = Vec::with_capacity(128);
        let ip = |identification: u16, protocol, inside: usize| {
            let size = u16::try_from(inside + payload.len()).unwrap_or(u16::MAX - 20);
            let size = size.min(u16::MAX - 20);
            let mut ip = Ipv4Header::new(size, 64, protocol, source, target).unwrap_or_default();
            ip.identification = identification;
            ip.dont_fragment = true;
            ip.ecn = match packet.ecn {
                Ecn::NotEct => IpEcn::ZERO,
                Ecn::Ect1 => IpEcn::ONE,
                Ecn::Ect0 => IpEcn::TWO,
                Ecn::Ce => IpEcn::THREE,
            };
            ip.header_checksum = ip.calc_header_checksum();
            ip
        };
        let identification = self.identify(from);
        if self.tcp {
            let mut tcp = self.tcp(from, packet);
            (tcp.source_port, tcp.destination_port) = (from_port, to_port);
            tcp.checksum = tcp.calc_checksum_ipv4_raw(source, target, payload).unwrap_or_default();
            kept.extend(ip(identification, IpNumber::TCP, tcp.header_len()).to_bytes());
            kept.extend(tcp.to_bytes());
        } else {
            let header = UDP_HEADERS as usize - 20;
            let mut udp = UdpHeader {
                source_port: from_port,
                destination_port: to_port,
                length: (header + payload.len()) as u16,
                ..UdpHeader::default()
            };
            udp.checksum = udp.calc_checksum_ipv4_raw(source, target, payload).unwrap_or_default();
            kept.extend(ip(identification, IpNumber::UDP, header).to_bytes());
            kept.extend(udp.to_bytes());
        }
        let size = (kept.len() + payload.len()) as u32;
        kept.extend(&payload[..payload.len().min((snap as usize).saturating_sub(kept.len()))]);
        kept.truncate(snap as usize);
        Seen {
            from,
            path: packet.path,
            frame: kept,
            size,
            retransmission: packet.retransmission,
            counts: (size != packet.size.0).then_some(packet.size.0),
            ..Seen::default()
        }
    }

    fn addresses(&self, from: End) -> ([[u8; 4]; 2], [u16; 2]) {
        let [a, b, c] = Place::Sender.network();
        let host = 2 * self.path + 1;
        let (client, server) = ([a, b, c, host], [a, b, c, host + 1]);
        let [here, there] = self.ports;
        match from {
            End::Sender => ([client, server], [here, there]),
            End::Receiver => ([server, client], [there, here]),
        }
    }

    /// The end that opens the connection.
    fn caller(&self) -> End {
        if self.dialogue.is_some() { End::Receiver } else { End::Sender }
    }

    fn identify(&mut self, from: End) -> u16 {
        let next = &mut self.identification[from as usize];
        *next = next.wrapping_add(1);
        *next
    }

    /// The header without ports and checksum. Data start at sequence number 1, after the SYN or the
    /// place where it would be.
    fn tcp(&mut self, from: End, packet: &Packet) -> TcpHeader {
        let segment = &packet.segment;
        let caller = self.caller();
        let speaks = from == End::Sender || self.dialogue.is_some();
        if speaks && (packet.len > 0 || segment.syn) {
            let options = packet.size.0.saturating_sub(packet.len + TCP_HEADERS);
            self.timestamps = options >= if segment.syn { SYN_TIMESTAMPS } else { TIMESTAMPS };
        }
        let (seq, acknowledged) = match &mut self.dialogue {
            Some(own) => own.numbers(from, segment),
            None => (segment.seq, segment.ack),
        };
        let mut tcp = TcpHeader {
            sequence_number: if segment.syn { 0 } else { wire(seq) },
            acknowledgment_number: wire(acknowledged),
            ack: from != caller || !segment.syn,
            syn: segment.syn,
            psh: segment.push,
            ece: segment.flags.has(EcnFlags::ECE),
            cwr: segment.flags.has(EcnFlags::CWR),
            ns: segment.flags.has(EcnFlags::AE),
            window_size: u16::MAX,
            ..TcpHeader::default()
        };
        if !tcp.ack {
            tcp.acknowledgment_number = 0;
        }
        if from == End::Receiver {
            if segment.syn {
                self.shift = shift(segment.window);
            }
            let shift = if segment.syn { 0 } else { self.shift };
            tcp.window_size = u16::try_from(segment.window >> shift).unwrap_or(u16::MAX);
        }
        // Options that do not fit are omitted; their sizes are checked below.
        let _ = tcp.set_options(&self.options(from, packet));
        tcp
    }

    fn options(&self, from: End, packet: &Packet) -> Vec<TcpOptionElement> {
        use TcpOptionElement::{
            MaximumSegmentSize, Noop, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted,
            Timestamp, WindowScale,
        };
        let segment = &packet.segment;
        let times = Timestamp(
            millis(segment.ts_val.as_nanos()),
            // Nothing was received before the first SYN.
            if segment.syn && from == self.caller() {
                0
            } else {
                millis(segment.ts_ecr.as_nanos())
            },
        );
        if segment.syn {
            let shift = if from == End::Receiver { self.shift } else { MOST_SHIFT };
            let mut options = vec![MaximumSegmentSize(1460), SelectiveAcknowledgementPermitted];
            options.extend(if self.timestamps { vec![times] } else { vec![Noop, Noop] });
            options.extend([Noop, WindowScale(shift as u8)]);
            return options;
        }
        let mut options = if self.timestamps { vec![Noop, Noop, times] } else { Vec::new() };
        let mut blocks = blocks(segment, if self.timestamps { 3 } else { 4 });
        if let Some(first) = blocks.next() {
            let rest = [blocks.next(), blocks.next(), blocks.next()];
            options.extend([Noop, Noop, SelectiveAcknowledgement(first, rest)]);
        }
        if segment.sack.is_empty() {
            // An option of Multipath TCP has its size here, without its contents.
            let known = TCP_HEADERS + if self.timestamps { TIMESTAMPS } else { 0 };
            let signal = packet.size.0.saturating_sub(packet.len + known).min(MOST_SIGNAL);
            options.extend(std::iter::repeat_n(Noop, signal as usize));
        }
        options
    }
}

impl Dialogue {
    /// Sequence number and acknowledgement of a packet of either end.
    fn numbers(&mut self, from: End, segment: &Segment) -> (u64, u64) {
        let (next, acknowledged) =
            (&mut self.next[from as usize], &mut self.acknowledged[from as usize]);
        if segment.len > 0 {
            *next = (*next).max(segment.seq + u64::from(segment.len));
            return (segment.seq, *acknowledged);
        }
        *acknowledged = (*acknowledged).max(segment.ack);
        (*next, *acknowledged)
    }
}

fn blocks(segment: &Segment, most: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
    let blocks = segment.sack.iter(segment.ack).take(most);
    blocks.map(|block| (wire(block.start), wire(block.end)))
}

/// The sequence number of a stream byte, which wraps.
fn wire(byte: u64) -> u32 {
    byte.wrapping_add(1) as u32
}

/// The clock of timestamps.
fn millis(nanos: u64) -> u32 {
    (nanos / 1_000_000) as u32
}

/// The shift needed to fit a window into a header.
fn shift(window: u32) -> u32 {
    (0..MOST_SHIFT).find(|shift| window >> shift <= u32::from(u16::MAX)).unwrap_or(MOST_SHIFT)
}

#[cfg(test)]
mod tests {
    use etherparse::{NetSlice, SlicedPacket, TransportSlice};

    use super::*;
    use crate::transport::{SackBlock, SackList};
    use crate::units::{Bytes, Instant};

    fn data(seq: u64, len: u32) -> Packet {
        let ts_val = Instant::from_nanos(7_900_000);
        let segment = Segment { seq, len, ts_val, wire: len + 52, ..Segment::default() };
        Packet { size: Bytes(len + 52), len, start: seq, segment, ..Packet::default() }
    }

    /// The client, at the receiver, opens the connection, sends a request and acknowledges; the
    /// server answers.
    #[test]
    fn headers_of_a_dialogue_cover_both_directions() {
        let mut flow = Flow::new(0, 0, true).of_dialogue();
        let mut header = |from, packet: &Packet| {
            let frame = flow.frame(from, packet, &[], 2000);
            assert_eq!(frame.size, packet.size.0);
            let sliced = SlicedPacket::from_ip(&frame.frame).unwrap();
            let Some(TransportSlice::Tcp(tcp)) = sliced.transport else { panic!("TCP") };
            (tcp.sequence_number(), tcp.acknowledgment_number(), tcp.syn(), tcp.ack())
        };
        let control =
            |segment: Segment, size| Packet { size: Bytes(size), segment, ..Packet::default() };
        let syn = control(Segment { syn: true, wire: 60, ..Segment::default() }, 60);
        assert_eq!(header(End::Receiver, &syn), (0, 0, true, false));
        assert_eq!(header(End::Sender, &syn), (0, 1, true, true));
        assert_eq!(header(End::Receiver, &data(0, 350)), (1, 1, false, true));
        let ack = |ack| control(Segment { ack, wire: 52, ..Segment::default() }, 52);
        assert_eq!(header(End::Sender, &ack(350)), (1, 351, false, true));
        assert_eq!(header(End::Sender, &data(0, 1000)), (1, 351, false, true));
        assert_eq!(header(End::Receiver, &ack(1000)), (351, 1001, false, true));
        assert_eq!(header(End::Sender, &ack(350)), (1001, 351, false, true));
    }

    #[test]
    fn headers_match_the_segment() {
        let mut flow = Flow::new(3, 0, true);
        let syn = Segment { syn: true, wire: 60, ..Segment::default() };
        let syn = Packet { size: Bytes(60), segment: syn, ..Packet::default() };
        assert_eq!(flow.frame(End::Sender, &syn, &[], 80).size, 60);
        let answer = Segment { window: 1 << 20, ..syn.segment };
        let answer = Packet { segment: answer, ..syn };
        assert_eq!(flow.frame(End::Receiver, &answer, &[], 80).size, 60);
        let frame = flow.frame(End::Sender, &data((1 << 32) + 9, 1448), &[], 2000);
        assert_eq!((frame.size, frame.frame.len()), (1500, 1500));
        let sliced = SlicedPacket::from_ip(&frame.frame).unwrap();
        let Some(TransportSlice::Tcp(tcp)) = sliced.transport else { panic!() };
        assert_eq!((tcp.sequence_number(), tcp.acknowledgment_number()), (10, 1));
        assert_eq!((tcp.source_port(), tcp.destination_port()), (10_003, 5001));
        assert!(tcp.options_iterator().flatten().any(|o| o == TcpOptionElement::Timestamp(7, 0)));
        let header = tcp.to_header();
        let (from, to) = ([192, 0, 2, 1], [192, 0, 2, 2]);
        assert_eq!(tcp.checksum(), header.calc_checksum_ipv4_raw(from, to, tcp.payload()).unwrap());
        let Some(NetSlice::Ipv4(ip)) = sliced.net else { panic!() };
        assert_eq!(ip.header().identification(), 2);

        let mut sack = SackList::default();
        (0..4).for_each(|n| sack.push(1000, SackBlock { start: 3000 + 2000 * n, end: 4000 }));
        let ack = Segment { ack: 1000, window: 1 << 20, wire: 88, sack, ..Segment::default() };
        let ack = Packet { size: Bytes(88), segment: ack, ..Packet::default() };
        let frame = flow.frame(End::Receiver, &ack, &[], 80);
        let sliced = SlicedPacket::from_ip(&frame.frame).unwrap();
        let Some(TransportSlice::Tcp(tcp)) = sliced.transport else { panic!() };
        // Only timestamps and three blocks fit.
        assert_eq!((frame.size, tcp.acknowledgment_number()), (80, 1001));
        assert_eq!(u32::from(tcp.window_size()) << shift(1 << 20), 1 << 20);
        let blocks = tcp.options_iterator().flatten().find_map(|option| match option {
            TcpOptionElement::SelectiveAcknowledgement(first, rest) => Some((first, rest[1])),
            _ => None,
        });
        assert_eq!(blocks, Some(((3001, 4001), Some((7001, 4001)))));
    }

    #[test]
    fn a_datagram_has_a_length_and_a_checksum() {
        let mut flow = Flow::new(0, 0, false);
        let packet = Packet { size: Bytes(1028), len: 1000, ..Packet::default() };
        let frame = flow.frame(End::Sender, &packet, &[], 80);
        assert_eq!((frame.size, frame.frame.len()), (1028, 80));
        let whole = flow.frame(End::Sender, &packet, &[], u32::MAX).frame;
        let sliced = SlicedPacket::from_ip(&whole).unwrap();
        let Some(TransportSlice::Udp(udp)) = sliced.transport else { panic!() };
        let (from, to) = ([192, 0, 2, 1], [192, 0, 2, 2]);
        let sum = udp.to_header().calc_checksum_ipv4_raw(from, to, udp.payload()).unwrap();
        assert_eq!((udp.length(), udp.checksum()), (1008, sum));
    }

    /// QUIC's acknowledgements have no data of the application, but a payload.
    #[test]
    fn the_payload_of_a_datagram_is_in_its_lengths_and_its_checksum() {
        let mut flow = Flow::new(0, 0, false);
        let packet = Packet { size: Bytes(37), ..Packet::default() };
        let frame = flow.frame(End::Receiver, &packet, &[7; 9], 2000);
        assert_eq!((frame.size, frame.frame.len()), (37, 37));
        let sliced = SlicedPacket::from_ip(&frame.frame).unwrap();
        let Some(TransportSlice::Udp(udp)) = sliced.transport else { panic!() };
        let (from, to) = ([192, 0, 2, 2], [192, 0, 2, 1]);
        let sum = udp.to_header().calc_checksum_ipv4_raw(from, to, &[7; 9]).unwrap();
        assert_eq!((udp.length(), udp.payload(), udp.checksum()), (17, &[7; 9][..], sum));
    }
}
