//! What of a byte stream an IP packet carries, for links that look into TCP headers.

use std::collections::BTreeMap;

use clift::link::StreamRange;

/// Numbers flows, and counts their bytes from 0 without wrapping.
#[derive(Debug, Default)]
pub(crate) struct Flows(BTreeMap<Vec<u8>, Flow>);

#[derive(Debug)]
struct Flow {
    number: u32,
    /// The stream's byte that the last sequence number seen stands for, and that number.
    last: (u64, u32),
}

/// What of a packet's headers matters here.
struct Segment<'p> {
    /// Addresses and ports.
    flow: Vec<&'p [u8]>,
    sequence: u32,
    payload: u32,
    syn: bool,
}

impl Flows {
    /// What `packet` carries; `None` if that has no place in a stream.
    pub(crate) fn range(&mut self, packet: &[u8]) -> Option<StreamRange> {
        let segment = segment(packet)?;
        let number = self.0.len() as u32;
        // Counting begins half-way, so that what was sent before the first packet seen is no byte
        // below zero.
        let begin = (1 << 32, segment.sequence.wrapping_add(u32::from(segment.syn)));
        let flow = self.0.entry(segment.flow.concat());
        let flow = flow.or_insert(Flow { number, last: begin });
        if segment.payload == 0 {
            return None;
        }
        let step = segment.sequence.wrapping_sub(flow.last.1) as i32;
        let start = flow.last.0.saturating_add_signed(i64::from(step));
        if step > 0 {
            flow.last = (start, segment.sequence);
        }
        let end = start + u64::from(segment.payload);
        Some(StreamRange { flow: flow.number, start, end })
    }
}

/// The TCP segment in an IPv4 or IPv6 packet, unless it is a fragment or damaged.
fn segment(packet: &[u8]) -> Option<Segment<'_>> {
    const TCP: u8 = 6;
    let (addresses, body) = match packet.first()? >> 4 {
        4 => {
            let header = usize::from(packet[0] & 15) * 4;
            let total = usize::from(u16::from_be_bytes(packet.get(2..4)?.try_into().ok()?));
            let fragment = u16::from_be_bytes(packet.get(6..8)?.try_into().ok()?) & 0x3fff;
            if *packet.get(9)? != TCP || fragment != 0 {
                return None;
            }
            (packet.get(12..20)?, packet.get(header..total)?)
        }
        6 if *packet.get(6)? == TCP => {
            let length = usize::from(u16::from_be_bytes(packet.get(4..6)?.try_into().ok()?));
            (packet.get(8..40)?, packet.get(40..40 + length)?)
        }
        _ => return None,
    };
    let sequence = u32::from_be_bytes(body.get(4..8)?.try_into().ok()?);
    let header = usize::from(*body.get(12)? >> 4) * 4;
    Some(Segment {
        flow: vec![addresses, &body[..4]],
        sequence,
        payload: body.len().checked_sub(header)? as u32,
        syn: body.get(13)? & 2 != 0,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packet(port: u8, sequence: u32, payload: usize, syn: bool) -> Vec<u8> {
        let total = (40 + payload) as u16;
        let mut packet = vec![0; usize::from(total)];
        packet[0] = 0x45;
        packet[2..4].copy_from_slice(&total.to_be_bytes());
        packet[9] = 6;
        packet[12..20].copy_from_slice(&[192, 0, 2, 1, 192, 0, 2, 2]);
        packet[21] = port;
        packet[24..28].copy_from_slice(&sequence.to_be_bytes());
        packet[32] = 5 << 4;
        packet[33] = if syn { 2 } else { 16 };
        packet
    }

    #[test]
    fn bytes_are_counted_over_the_wrap_of_sequence_numbers() {
        let mut flows = Flows::default();
        assert_eq!(flows.range(&packet(1, u32::MAX - 9, 0, true)), None);
        let first = flows.range(&packet(1, u32::MAX - 8, 6, false)).unwrap();
        let second = flows.range(&packet(1, u32::MAX - 2, 100, false)).unwrap();
        let again = flows.range(&packet(1, u32::MAX - 8, 6, false)).unwrap();
        assert_eq!((second.start, second.end - second.start), (first.end, 100));
        assert_eq!(again, first);
        let after = flows.range(&packet(1, 97, 5, false)).unwrap();
        assert_eq!(after.start, second.end);
        assert_eq!(flows.range(&packet(2, 5, 5, false)).unwrap().flow, 1);
        assert_eq!(first.flow, 0);
    }

    proptest! {
        #[test]
        fn damaged_packets_are_no_fault(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut flows = Flows::default();
            if let Some(range) = flows.range(&bytes) {
                prop_assert!(range.start < range.end);
            }
        }
    }
}
