//! The blocks of a pcapng file (draft-ietf-opsawg-pcapng): section header, interfaces, packets.
//!
//! Little-endian, times in nanoseconds.

/// Packets are IPv4 or IPv6 without a link-layer header.
const LINKTYPE_RAW: u16 = 101;

const OPT_COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;

/// Direction of a packet at an interface.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Heading {
    In = 1,
    Out = 2,
}

/// The start of a file, written by `application`.
pub(super) fn section(application: &str) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend(0x1a2b_3c4d_u32.to_le_bytes());
    body.extend(1u16.to_le_bytes());
    body.extend(0u16.to_le_bytes());
    // The length of the section is not specified.
    body.extend([0xff; 8]);
    option(&mut body, SHB_USERAPPL, application.as_bytes());
    end_of_options(&mut body);
    block(0x0a0d_0d0a, body)
}

/// An interface that keeps `snap` bytes of each packet.
pub(super) fn interface(name: &str, description: &str, snap: u32) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend(LINKTYPE_RAW.to_le_bytes());
    body.extend(0u16.to_le_bytes());
    body.extend(snap.to_le_bytes());
    option(&mut body, IF_NAME, name.as_bytes());
    option(&mut body, IF_DESCRIPTION, description.as_bytes());
    option(&mut body, IF_TSRESOL, &[9]);
    end_of_options(&mut body);
    block(1, body)
}

/// A packet of `size` bytes, of which `kept` are captured, at a time in ns.
pub(super) fn packet(
    interface: u32,
    nanos: u64,
    heading: Heading,
    size: u32,
    kept: &[u8],
    comment: &str,
) -> Vec<u8> {
    let mut body = Vec::with_capacity(kept.len() + comment.len() + 64);
    let words = [interface, (nanos >> 32) as u32, nanos as u32, kept.len() as u32, size];
    words.iter().for_each(|word| body.extend(word.to_le_bytes()));
    body.extend(kept);
    pad(&mut body);
    option(&mut body, OPT_COMMENT, comment.as_bytes());
    option(&mut body, EPB_FLAGS, &(heading as u32).to_le_bytes());
    end_of_options(&mut body);
    block(6, body)
}

fn block(kind: u32, body: Vec<u8>) -> Vec<u8> {
    let size = body.len() as u32 + 12;
    let mut block = Vec::with_capacity(size as usize);
    block.extend(kind.to_le_bytes());
    block.extend(size.to_le_bytes());
    block.extend(body);
    block.extend(size.to_le_bytes());
    block
}

/// An option; its value is truncated at the maximum length.
fn option(body: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    body.extend(kind.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    pad(body);
}

fn end_of_options(body: &mut Vec<u8>) {
    body.extend([0; 4]);
}

fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use pcap_parser::{Block, PcapBlockOwned, PcapError, create_reader};

    use super::*;

    #[test]
    fn the_pcap_parser_crate_reads_the_file() {
        let file = [
            section("me"),
            interface("sender", "where it begins", 99),
            packet(0, 5 << 32 | 7, Heading::Out, 1500, &[9; 21], "delivered"),
        ];
        let file = file.concat();
        let mut reader = create_reader(4096, &file[..]).unwrap();
        let mut seen = Vec::new();
        loop {
            match reader.next() {
                Ok((size, PcapBlockOwned::NG(block))) => {
                    seen.push(match block {
                        Block::SectionHeader(_) => "section".to_owned(),
                        Block::InterfaceDescription(about) => {
                            format!("{} {} {}", about.linktype.0, about.snaplen, about.if_tsresol)
                        }
                        Block::EnhancedPacket(packet) => format!(
                            "{} {} {} {} {:?}",
                            packet.ts_high,
                            packet.ts_low,
                            packet.caplen,
                            packet.origlen,
                            packet
                                .options
                                .iter()
                                .map(|option| option.code.0)
                                .filter(|code| *code != 0)
                                .collect::<Vec<_>>()
                        ),
                        _ => "another".to_owned(),
                    });
                    reader.consume(size);
                }
                Err(PcapError::Eof) => break,
                Err(PcapError::Incomplete(_)) => reader.refill().unwrap(),
                Ok(_) => panic!("a block of another format"),
                Err(error) => panic!("{error:?}"),
            }
        }
        assert_eq!(seen, ["section", "101 99 9", "5 7 21 1500 [1, 2]"]);
    }
}
