//! Parses the content of a datagram, which is not encrypted here.

use std::ops::Range;

use crate::keys::{CID_LEN, TAG};

/// Number of low bits of a byte's position that hold its offset within its stream. The higher bits
/// hold the index of the stream among those of its type.
pub(crate) const STREAM_BITS: u32 = 40;

/// Content of a datagram, as far as counters and delays need it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Contents {
    /// Bytes of streams, in the order of the frames; further ranges follow the first.
    pub(crate) data: Option<Range<u64>>,
    pub(crate) more_data: Vec<Range<u64>>,
    /// Messages in DATAGRAM frames (RFC 9221), in the order of the frames: their first bytes (at
    /// most eight) as a number, and their length.
    pub(crate) messages: Vec<(u64, u32)>,
    /// Contains an acknowledgement of 1-RTT packets.
    pub(crate) acknowledges: bool,
    /// Contains messages or a ping of the handshake, before 1-RTT packets.
    pub(crate) handshake: bool,
}

impl Contents {
    /// Parses the packets of a datagram.
    pub(crate) fn of(datagram: &[u8]) -> Self {
        let mut contents = Self::default();
        let mut rest = Reader(datagram);
        while contents.packet(&mut rest).is_some() {}
        contents
    }

    /// All ranges of stream bytes in the datagram.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = &Range<u64>> {
        self.data.iter().chain(&self.more_data)
    }

    fn packet(&mut self, rest: &mut Reader<'_>) -> Option<()> {
        let first = rest.byte()?;
        let number_length = usize::from(first & 3) + 1;
        if first & 0x80 == 0 {
            rest.take(CID_LEN)?;
            rest.take(number_length)?;
            let frames = rest.0.get(..rest.0.len().checked_sub(TAG)?)?;
            rest.0 = &[];
            return self.frames(Reader(frames));
        }
        rest.take(4)?; // version
        for _ in 0..2 {
            let length = rest.byte()?;
            rest.take(usize::from(length))?;
        }
        let kind = first >> 4 & 3;
        if kind == 0 {
            let token = rest.number()?;
            rest.take(usize::try_from(token).ok()?)?;
        }
        let length = usize::try_from(rest.number()?).ok()?;
        let body = rest.take(length)?;
        self.handshake |= kind != 1;
        if kind == 1 {
            let frames = body.get(number_length..body.len().checked_sub(TAG)?)?;
            self.frames(Reader(frames))?;
        }
        Some(())
    }

    /// Parses the frames of RFC 9000 section 19 and of the extensions that quinn uses.
    fn frames(&mut self, mut rest: Reader<'_>) -> Option<()> {
        while !rest.0.is_empty() {
            match rest.number()? {
                0x00 | 0x01 | 0x1e | 0x1f => {}
                kind @ 0x02..=0x03 => {
                    self.acknowledges = true;
                    rest.numbers(2)?;
                    let ranges = rest.number()?;
                    rest.numbers(1 + 2 * ranges + if kind == 3 { 3 } else { 0 })?;
                }
                0x04 => rest.numbers(3)?,
                0x05 | 0x11 | 0x15 => rest.numbers(2)?,
                0x06 => {
                    rest.numbers(1)?;
                    rest.bytes()?;
                }
                0x07 => rest.bytes()?,
                kind @ 0x08..=0x0f => self.stream(kind, &mut rest)?,
                0x10 | 0x12 | 0x13 | 0x14 | 0x16 | 0x17 | 0x19 => rest.numbers(1)?,
                0x18 => {
                    rest.numbers(2)?;
                    let length = usize::from(rest.byte()?);
                    rest.take(length + 16)?;
                }
                0x1a | 0x1b => rest.take(8).map(drop)?,
                0x1c => {
                    rest.numbers(2)?;
                    rest.bytes()?;
                }
                0x1d => {
                    rest.numbers(1)?;
                    rest.bytes()?;
                }
                kind @ 0x30..=0x31 => {
                    let length = if kind == 0x30 { rest.0.len() as u64 } else { rest.number()? };
                    self.messages.push(message(rest.take(usize::try_from(length).ok()?)?));
                }
                0xaf => rest.numbers(4)?,
                _ => return None,
            }
        }
        Some(())
    }

    fn stream(&mut self, kind: u64, rest: &mut Reader<'_>) -> Option<()> {
        let stream = rest.number()? >> 2;
        let start = if kind & 4 == 0 { 0 } else { rest.number()? } + (stream << STREAM_BITS);
        let length = if kind & 2 == 0 { rest.0.len() as u64 } else { rest.number()? };
        rest.take(usize::try_from(length).ok()?)?;
        if length > 0 {
            match self.data {
                None => self.data = Some(start..start + length),
                Some(_) => self.more_data.push(start..start + length),
            }
        }
        Some(())
    }
}

/// The first bytes of a message as a number, and the message's length.
fn message(bytes: &[u8]) -> (u64, u32) {
    let first = bytes.iter().take(8).rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
    (first, bytes.len() as u32)
}

/// Reads from the front of a byte slice.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// A variable-length integer (RFC 9000 section 16).
    fn number(&mut self) -> Option<u64> {
        let first = self.byte()?;
        let rest = self.take((1 << (first >> 6)) - 1)?;
        Some(rest.iter().fold(u64::from(first & 0x3f), |sum, &byte| sum << 8 | u64::from(byte)))
    }

    fn numbers(&mut self, count: u64) -> Option<()> {
        for _ in 0..count {
            self.number()?;
        }
        Some(())
    }

    /// Bytes preceded by their number.
    fn bytes(&mut self) -> Option<()> {
        let length = self.number()?;
        self.take(usize::try_from(length).ok()?).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(frames: &[u8]) -> Vec<u8> {
        let header = [0x41, 1, 2, 3, 4, 5, 6, 7, 8, 0x01, 0x02];
        [&header[..], frames, &[0; TAG]].concat()
    }

    #[test]
    fn a_stream_frame_without_length_extends_to_the_end() {
        // ACK of 7 with one further range, then STREAM 2 from offset 1000.
        let frames = [0x02, 7, 0, 1, 0, 0, 0, 0x0c, 2, 0x43, 0xe8, 9, 9, 9];
        let contents = Contents::of(&short(&frames));
        assert_eq!(contents.data, Some(1000..1003));
        assert!(contents.acknowledges && !contents.handshake);
    }

    #[test]
    fn two_stream_frames_are_two_ranges() {
        let frames = [0x0e, 2, 5, 2, 9, 9, 0x0c, 2, 40, 9];
        let contents = Contents::of(&short(&frames));
        assert_eq!(contents.ranges().cloned().collect::<Vec<_>>(), [5..7, 40..41]);
    }

    #[test]
    fn messages_are_identified_by_their_first_bytes() {
        let contents = Contents::of(&short(&[0x31, 3, 7, 1, 0, 0x30, 1, 2, 0, 0, 0, 0, 0, 0, 9]));
        assert_eq!(contents.messages, [(263, 3), (513, 9)]);
        assert_eq!(contents.data, None);
    }

    #[test]
    fn a_handshake_packet_precedes_a_short_one() {
        let mut datagram = vec![0xe0, 0, 0, 0, 1, 2, 8, 8, 0, 18, 0];
        datagram.extend([0; 17]);
        datagram.extend(short(&[0x08, 2, 9]));
        let contents = Contents::of(&datagram);
        assert!(contents.handshake && contents.data == Some(0..1));
    }

    #[test]
    fn a_truncated_datagram_has_no_content() {
        for cut in 0..12 {
            assert_eq!(Contents::of(&short(&[])[..cut]).data, None);
        }
    }
}
