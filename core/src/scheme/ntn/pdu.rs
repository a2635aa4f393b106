//! What the two ends of an RLC entity send each other.

/// An RLC data PDU: bytes `start..end` of a packet, PDCP header included.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Pdu {
    /// The packet, in order of admission; also its PDCP COUNT.
    pub(super) order: u64,
    /// RLC sequence number, without wrap-around. In UM only packets that are cut have one
    /// (TS 38.322 section 5.2.2.1).
    pub(super) sn: Option<u64>,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Whether it ends with the last byte of the packet.
    pub(super) last: bool,
    /// Whether RLC sends it again.
    pub(super) again: bool,
    /// The polling bit (AM).
    pub(super) poll: bool,
}

/// A STATUS PDU (TS 38.322 section 6.2.2.5).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Status {
    /// Everything below it that is not negatively acknowledged was received.
    pub(super) ack_sn: u64,
    /// Sequence number and missing bytes, ascending; a range that ends with `u32::MAX` ends with
    /// the packet.
    pub(super) nacks: Vec<(u64, u32, u32)>,
}

/// Bytes `start..end`, disjoint, not touching, ascending.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub(super) fn bytes(&self) -> u64 {
        self.0.iter().map(|&(from, to)| u64::from(to - from)).sum()
    }

    /// Whether all of `start..end` is in the set.
    pub(super) fn covers(&self, start: u32, end: u32) -> bool {
        start >= end || self.0.iter().any(|&(from, to)| from <= start && end <= to)
    }

    /// Whether a byte is missing before the last one of the set.
    pub(super) fn has_hole(&self) -> bool {
        self.0.len() > 1 || self.0.first().is_some_and(|&(from, _)| from > 0)
    }

    pub(super) fn insert(&mut self, start: u32, end: u32) {
        if start >= end {
            return;
        }
        // Those that touch the new one become one with it.
        let first = self.0.partition_point(|&(_, to)| to < start);
        let after = self.0.partition_point(|&(from, _)| from <= end);
        if first == after {
            self.0.insert(first, (start, end));
            return;
        }
        let merged = (start.min(self.0[first].0), end.max(self.0[after - 1].1));
        self.0.splice(first..after, [merged]);
    }

    /// Takes up to `most` bytes from the front of the first range.
    pub(super) fn take_first(&mut self, most: u32) -> Option<(u32, u32)> {
        let (start, end) = *self.0.first()?;
        let cut = end.min(start.saturating_add(most));
        if cut == end {
            self.0.remove(0);
        } else {
            self.0[0].0 = cut;
        }
        Some((start, cut))
    }

    /// Byte ranges missing from byte 0 on, the last one open-ended unless the set reaches `total`.
    pub(super) fn missing(&self, total: Option<u32>) -> impl Iterator<Item = (u32, u32)> {
        let ends = self.0.iter().map(|&(_, to)| to);
        let starts = self.0.iter().map(|&(from, _)| from);
        let tail = total.unwrap_or(u32::MAX);
        std::iter::once(0)
            .chain(ends)
            .zip(starts.chain([tail]))
            .filter(|(from, to)| from < to)
            .collect::<Vec<_>>()
            .into_iter()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_are_sets_of_bytes(pieces in prop::collection::vec((0u32..40, 0u32..12), 0..12)) {
            let (mut ranges, mut bytes) = (Ranges::default(), [false; 60]);
            for (start, len) in pieces {
                prop_assert_eq!(ranges.bytes(), bytes.iter().filter(|&&b| b).count() as u64);
                let all = (start..start + len).all(|b| bytes[b as usize]);
                prop_assert_eq!(ranges.covers(start, start + len), all);
                ranges.insert(start, start + len);
                (start..start + len).for_each(|b| bytes[b as usize] = true);
                let last = bytes.iter().rposition(|&b| b).map_or(0, |last| last + 1);
                prop_assert_eq!(ranges.has_hole(), bytes[..last].iter().any(|&b| !b));
                let missing: Vec<u32> = ranges.missing(Some(55)).flat_map(|(a, b)| a..b).collect();
                let expected: Vec<u32> = (0..55).filter(|&b| !bytes[b as usize]).collect();
                prop_assert_eq!(missing, expected);
            }
            let mut taken = Vec::new();
            while let Some((start, end)) = ranges.take_first(5) {
                prop_assert!(end - start <= 5);
                taken.extend(start..end);
            }
            let expected: Vec<u32> = (0..60).filter(|&b| bytes[b as usize]).collect();
            prop_assert_eq!(taken, expected);
        }
    }
}
