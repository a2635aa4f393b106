//! Reads the packets of a capture, pcap or pcapng.

use std::collections::BTreeMap;
use std::io::Read;
use std::net::IpAddr;

use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};

use super::link::packet;
use super::packet::{Packet, PayloadLevel, identify};
use crate::budget::Budget;
use crate::trace::error::{Fault, ReadError};
use crate::units::counted;

/// Initial size of buffers, which grow up to [`LONGEST`].
const BUFFER: usize = 1 << 16;
/// Maximum length of a block.
const LONGEST: usize = 1 << 24;
const SECOND: i128 = 1_000_000_000;

/// A capture.
#[derive(Debug, Default)]
pub(super) struct Capture {
    /// Its IP packets, in the order of the file.
    pub(super) packets: Vec<Packet>,
    /// Addresses, to which packets refer by index.
    pub(super) addresses: Vec<IpAddr>,
    /// Amount of payload captured.
    pub(super) level: PayloadLevel,
    /// Frames that are not IP.
    pub(super) others: u64,
    /// True if it ends within a packet.
    pub(super) cut: bool,
}

impl Capture {
    /// True if the address with index `place` is `from`, or `from` is not given.
    pub(super) fn is_from(&self, place: u32, from: Option<IpAddr>) -> bool {
        from.is_none_or(|from| self.addresses.get(place as usize) == Some(&from))
    }
}

/// An interface of a capture: its link type and clock.
#[derive(Clone, Copy)]
struct Interface {
    /// True if its name is the place to be read.
    named: bool,
    kind: Linktype,
    /// Resolution of its times, in parts of a second.
    parts: u128,
    /// Seconds added to its times.
    offset: i64,
}

/// Reads the IP packets of a capture, pcap or pcapng. If an interface has the name `place`, only
/// its packets are read.
pub(super) fn packets(
    source: impl Read + Send,
    nat: bool,
    place: &'static str,
    budget: &Budget<'_>,
) -> Result<Capture, ReadError> {
    let mut reader = create_reader(BUFFER, source).map_err(|error| match error {
        PcapError::ReadError => std::io::Error::other("the file cannot be read").into(),
        _ => ReadError::of_file("not a capture (pcap or pcapng), or empty"),
    })?;
    let mut parse = CaptureParser { nat, place, ..CaptureParser::default() };
    let mut room = BUFFER;
    let is_ng = reader.data().starts_with(&SECTION);
    loop {
        let before = reader.data().len();
        // The pcap-parser crate subtracts the frame from the length of a block, even if the block
        // is shorter.
        if is_ng && parse.block_length(reader.data()).is_some_and(|length| length < FRAME) {
            return Err(parse.damage("a block shorter than its frame"));
        }
        let step = match reader.next() {
            Ok((size, block)) => {
                budget.grow(&mut parse.capture.packets, "packets")?;
                parse.block(&block)?;
                ReadStep::Took(size)
            }
            Err(PcapError::Eof) => break,
            Err(PcapError::UnexpectedEof) => ReadStep::Cut,
            Err(PcapError::Incomplete(_)) => ReadStep::More,
            Err(PcapError::BufferTooSmall) => ReadStep::Grow,
            Err(PcapError::ReadError) => {
                return Err(std::io::Error::other("the file cannot be read").into());
            }
            Err(_) => return Err(parse.damage("a block that is none")),
        };
        match step {
            ReadStep::Took(0) => return Err(parse.damage("a block of no length")),
            ReadStep::Took(size) => reader.consume(size),
            ReadStep::More if !reader.reader_exhausted() => {
                reader.refill().map_err(|_| std::io::Error::other("the file cannot be read"))?;
                if reader.data().len() == before && !reader.reader_exhausted() {
                    room = grown(room, &mut *reader).ok_or_else(|| parse.damage(TOO_LONG))?;
                }
            }
            ReadStep::Grow => {
                room = grown(room, &mut *reader).ok_or_else(|| parse.damage(TOO_LONG))?;
                reader.refill().map_err(|_| std::io::Error::other("the file cannot be read"))?;
            }
            ReadStep::Cut | ReadStep::More => {
                parse.capture.cut = true;
                break;
            }
        }
    }
    parse.capture.addresses = vec![IpAddr::from([0; 4]); parse.addresses.len()];
    for (address, place) in parse.addresses {
        parse.capture.addresses[place as usize] = address;
    }
    Ok(parse.capture)
}

/// First bytes of a section of pcapng.
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// Overhead of a pcapng block in bytes: its type, and its length twice.
const FRAME: u32 = 12;

const TOO_LONG: &str = "a packet of over 16 MiB";

enum ReadStep {
    Took(usize),
    More,
    Grow,
    Cut,
}

fn grown(room: usize, reader: &mut (dyn PcapReaderIterator + Send)) -> Option<usize> {
    let room = (room * 2 <= LONGEST).then_some(room * 2)?;
    reader.grow(room).then_some(room)
}

#[derive(Default)]
struct CaptureParser {
    nat: bool,
    place: &'static str,
    capture: Capture,
    addresses: BTreeMap<IpAddr, u32>,
    interfaces: Vec<Interface>,
    big_endian: bool,
    blocks: u64,
}

impl CaptureParser {
    fn damage(&self, what: &str) -> ReadError {
        let blocks = counted(self.blocks, "good block", "good blocks");
        ReadError::File(Fault::damaged(&format!("{what} behind {blocks}")))
    }

    /// The length of the pcapng block at the start of `data`; `None` at the end of `data`, and for
    /// a section, which may change the byte order.
    fn block_length(&self, data: &[u8]) -> Option<u32> {
        let length = data.get(4..8)?.try_into().ok()?;
        let read = if self.big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
        (!data.starts_with(&SECTION)).then(|| read(length))
    }

    fn block(&mut self, block: &PcapBlockOwned<'_>) -> Result<(), ReadError> {
        self.blocks += 1;
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                let parts =
                    if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
                // The upper bits may contain the length of a frame check sequence.
                let kind = Linktype(header.network.0 & 0xffff);
                self.interfaces = vec![Interface { named: false, kind, parts, offset: 0 }];
                Ok(())
            }
            PcapBlockOwned::Legacy(packet) => {
                let Some(&interface) = self.interfaces.first() else {
                    return Err(self.damage("a packet before the header"));
                };
                let seconds = i128::from(packet.ts_sec) * SECOND;
                let part = u128::from(packet.ts_usec) * SECOND as u128 / interface.parts;
                let cut = packet.caplen < packet.origlen;
                self.frame(interface.kind, seconds + part as i128, packet.data, cut)
            }
            PcapBlockOwned::NG(Block::SectionHeader(section)) => {
                self.big_endian = section.big_endian();
                self.interfaces.clear();
                Ok(())
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(about)) => {
                let kind = about.linktype;
                let parts = match about.if_tsresol {
                    power @ 0x80.. => 1u128.checked_shl(u32::from(power & 0x7f)),
                    power => 10u128.checked_pow(u32::from(power)),
                };
                let parts = parts.filter(|&parts| parts > 0 && parts < 1 << 90);
                let parts = parts.ok_or_else(|| self.damage("a clock of no resolution"))?;
                // The crate always reads it as little-endian.
                let little = about.if_tsoffset;
                let offset = if self.big_endian { little.swap_bytes() } else { little };
                let named = matches!(about.if_name(), Some(Ok(name)) if name == self.place);
                self.interfaces.push(Interface { named, kind, parts, offset });
                Ok(())
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let Some(&interface) = self.interfaces.get(packet.if_id as usize) else {
                    return Err(self.damage("a packet of no interface"));
                };
                // In a capture of several places, the other interfaces hold the same packets again.
                if !interface.named && self.interfaces.iter().any(|other| other.named) {
                    return Ok(());
                }
                let count = u128::from(packet.ts_high) << 32 | u128::from(packet.ts_low);
                let nanos = count * SECOND as u128 / interface.parts;
                let time = nanos as i128 + i128::from(interface.offset) * SECOND;
                let cut = packet.caplen < packet.origlen;
                self.frame(interface.kind, time, packet.packet_data(), cut)
            }
            PcapBlockOwned::NG(Block::SimplePacket(_)) => Err(ReadError::of_file(
                "its packets have no times (simple packet blocks); capture again",
            )),
            PcapBlockOwned::NG(_) => Ok(()),
        }
    }

    fn frame(
        &mut self,
        kind: Linktype,
        time: i128,
        data: &[u8],
        cut: bool,
    ) -> Result<(), ReadError> {
        let Some(inside) = packet(kind, data).map_err(ReadError::of_file)? else {
            self.capture.others += 1;
            return Ok(());
        };
        let Some((packet, from, to, level)) = identify(&inside, cut, self.nat) else {
            self.capture.others += 1;
            return Ok(());
        };
        let time = i64::try_from(time).map_err(|_| self.damage("a time out of range"))?;
        let mut place = |address| {
            let next = self.addresses.len() as u32;
            *self.addresses.entry(address).or_insert(next)
        };
        let (from, to) = (place(from), place(to));
        self.capture.level = self.capture.level.max(level);
        self.capture.packets.push(Packet { time, from, to, ..packet });
        Ok(())
    }
}
