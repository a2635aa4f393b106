//! The event queue: which of a run's event sources is next.
//!
//! A leg delivers its packets in order, a timer has one deadline, so a run needs no heap of
//! packets: every source keeps its own events in order and shows the agenda only its next one.
//! The agenda is a tournament tree over the sources; showing a new next event costs log2(sources).

use crate::units::Instant;

/// The index of an event source.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct SourceId(pub u32);

/// Next events of a fixed number of sources, ordered by (time, sequence number).
///
/// ```
/// use clift::simulation::agenda::{Agenda, SourceId};
/// use clift::units::Instant;
/// let mut agenda = Agenda::new(2);
/// agenda.set(SourceId(1), Instant::from_nanos(7), 0);
/// agenda.set(SourceId(0), Instant::from_nanos(7), 1);
/// assert_eq!(agenda.next(), Some((Instant::from_nanos(7), SourceId(1))));
/// ```
#[derive(Debug)]
pub struct Agenda {
    /// Nodes `2 i` and `2 i + 1` of the tree are pair `i`: a change of one of them is compared with the other.
    /// Node 1 is the next event of all, node `i` the earlier of nodes `2 i` and `2 i + 1`. The second
    /// half holds the sources' own, in order, and need not be a power of two: then the first sources
    /// are a step nearer to the root. An event is its time (64 bits), sequence number and source, so
    /// that one comparison orders.
    pairs: Box<[[u128; 2]]>,
}

/// No event. What happens at the last instant of all never happens either.
const NEVER: u128 = u128::MAX;
/// Bits of an event for its source.
const SOURCE_BITS: u32 = 22;
/// Bits of an event for its sequence number: four million million events.
const SEQUENCE_BITS: u32 = 64 - SOURCE_BITS;

impl Agenda {
    /// An agenda of `sources` sources with nothing to do.
    ///
    /// # Panics
    /// With more than four million sources.
    pub fn new(sources: usize) -> Self {
        assert!(sources < 1 << SOURCE_BITS, "{sources} sources of events are too many");
        Self { pairs: vec![[NEVER; 2]; sources.max(2)].into() }
    }

    /// `source` has its next event at `at`; `sequence` orders events of the same instant.
    #[inline]
    pub fn set(&mut self, source: SourceId, at: Instant, sequence: u64) {
        assert!(sequence >> SEQUENCE_BITS == 0, "too many events");
        let rest = sequence << SOURCE_BITS | u64::from(source.0);
        self.replace(source, u128::from(at.as_nanos()) << 64 | u128::from(rest));
    }

    /// `source` has nothing to do.
    #[inline]
    pub fn clear(&mut self, source: SourceId) {
        self.replace(source, NEVER);
    }

    /// When `source` has its next event.
    #[inline]
    pub fn time_of(&self, source: SourceId) -> Option<Instant> {
        let leaf = self.leaf(source);
        time(self.pairs[leaf / 2][leaf % 2])
    }

    /// The next event.
    #[inline]
    pub fn next(&self) -> Option<(Instant, SourceId)> {
        let first = self.pairs[0][1];
        let source = first as u32 & ((1 << SOURCE_BITS) - 1);
        time(first).map(|at| (at, SourceId(source)))
    }

    #[inline]
    fn leaf(&self, source: SourceId) -> usize {
        self.pairs.len() + source.0 as usize
    }

    #[inline]
    fn replace(&mut self, source: SourceId, event: u128) {
        let (mut node, mut winner) = (self.leaf(source), event);
        while let Some(pair) = self.pairs.get_mut(node / 2) {
            pair[node % 2] = winner;
            if node == 1 {
                return;
            }
            winner = winner.min(pair[1 - node % 2]);
            node /= 2;
        }
    }
}

#[inline]
fn time(event: u128) -> Option<Instant> {
    let at = (event >> 64) as u64;
    (at != u64::MAX).then(|| Instant::from_nanos(at))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_names_the_smallest_key_like_a_scan_would(
            changes in prop::collection::vec((0u32..13, prop::option::of(0u64..50)), 1..200),
        ) {
            let mut agenda = Agenda::new(13);
            let mut plain = [None; 13];
            for (sequence, (source, at)) in changes.into_iter().enumerate() {
                match at {
                    Some(at) => agenda.set(SourceId(source), Instant::from_nanos(at), sequence as u64),
                    None => agenda.clear(SourceId(source)),
                }
                plain[source as usize] = at.map(|at| (at, sequence));
                let expected = (0..13)
                    .filter_map(|i| plain[i].map(|key| (key, i)))
                    .min()
                    .map(|((at, _), i)| (Instant::from_nanos(at), SourceId(i as u32)));
                prop_assert_eq!(agenda.next(), expected);
            }
        }
    }
}
