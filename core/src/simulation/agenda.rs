//! The event queue: which of a run's event sources is next.
//!
//! A leg delivers its packets in order, a timer has one deadline, so a run needs no heap of
//! packets: every source keeps its own events in order and shows the agenda only its next one.
//! The agenda is a tree of groups of eight sorted entries. Mostly the first source shows a next event
//! that belongs one or two places behind, and runs mostly have one group.

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
    /// The next event of each source: its time (64 bits), sequence number and source, so that one
    /// comparison orders.
    events: Box<[u128]>,
    /// Group 0 is the root. It holds the first events of groups 1 to 8, group 1 those of groups 9 to
    /// 16, and so on; the groups of the last level hold the events of eight sources each.
    groups: Box<[[u128; GROUP]]>,
    /// Number of the first group of the last level.
    last_level: usize,
    /// Bits of an event for its source; the sequence number has the others of 64.
    source_bits: u32,
}

/// Entries of a group.
const GROUP: usize = 8;
/// No event. What happens at the last instant of all never happens either.
const NEVER: u128 = u128::MAX;
/// Bits of an event for its source at most, which leaves four million million sequence numbers.
const SOURCE_BITS: u32 = 22;

impl Agenda {
    /// An agenda of `sources` sources with nothing to do.
    ///
    /// # Panics
    /// With more than four million sources.
    pub fn new(sources: usize) -> Self {
        assert!(sources < 1 << SOURCE_BITS, "{sources} sources of events are too many");
        let (mut above, mut level) = (0, 1);
        while level * GROUP < sources {
            above += level;
            level *= GROUP;
        }
        let groups = above + sources.div_ceil(GROUP).max(1);
        Self {
            events: vec![NEVER; sources].into(),
            groups: vec![[NEVER; GROUP]; groups].into(),
            last_level: above,
            source_bits: usize::BITS - sources.leading_zeros(),
        }
    }

    /// Number of its sources.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether it has no source.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Whether `sequence` is low enough.
    #[inline]
    pub fn holds(&self, sequence: u64) -> bool {
        sequence >> (u64::BITS - self.source_bits) == 0
    }

    /// `source` has its next event at `at`; `sequence` orders events of the same instant.
    #[inline]
    pub fn set(&mut self, source: SourceId, at: Instant, sequence: u64) {
        assert!(self.holds(sequence), "too many events");
        let rest = sequence << self.source_bits | u64::from(source.0);
        self.replace(source, u128::from(at.as_nanos()) << 64 | u128::from(rest));
    }

    /// The next event of `source` is this one.
    #[inline(always)] // as `replace`
    pub fn put(&mut self, source: SourceId, event: Option<(Instant, u64)>) {
        match event {
            Some((at, sequence)) => self.set(source, at, sequence),
            None => self.clear(source),
        }
    }

    /// `source` has nothing to do.
    #[inline]
    pub fn clear(&mut self, source: SourceId) {
        self.replace(source, NEVER);
    }

    /// When `source` has its next event.
    #[inline]
    pub fn time_of(&self, source: SourceId) -> Option<Instant> {
        time(self.events[source.0 as usize])
    }

    /// The next event of `source`: when, and its sequence number.
    pub fn of(&self, source: SourceId) -> Option<(Instant, u64)> {
        let event = self.events[source.0 as usize];
        time(event).map(|at| (at, event as u64 >> self.source_bits))
    }

    /// The next event.
    #[inline]
    pub fn next(&self) -> Option<(Instant, SourceId)> {
        let first = self.groups[0][0];
        let source = first as u32 & ((1 << self.source_bits) - 1);
        time(first).map(|at| (at, SourceId(source)))
    }

    #[inline(always)] // called for every event: a call costs as much as what it does
    fn replace(&mut self, source: SourceId, event: u128) {
        let old = std::mem::replace(&mut self.events[source.0 as usize], event);
        match &mut *self.groups {
            [root] if root[0] == old => move_back(root, 0, event),
            _ => self.replace_any(source, old, event),
        }
    }

    #[inline(never)] // so that `replace` does not pay for its registers
    fn replace_any(&mut self, source: SourceId, mut old: u128, mut event: u128) {
        let mut group = self.last_level + source.0 as usize / GROUP;
        loop {
            let entries = &mut self.groups[group];
            let first = entries[0];
            sort_in(entries, old, event);
            // The groups above show the first event of this one.
            (old, event) = (first, entries[0]);
            let Some(below) = group.checked_sub(1).filter(|_| old != event) else { return };
            group = below / GROUP;
        }
    }
}

/// Puts `event` in the stead of the entry at `place`, and behind those that are earlier.
#[inline(always)] // as `replace`
fn move_back(entries: &mut [u128; GROUP], mut place: usize, event: u128) {
    while let Some(&next) = entries.get(place + 1)
        && next < event
    {
        entries[place] = next;
        place += 1;
    }
    entries[place] = event;
}

/// Replaces the entry `old`.
fn sort_in(entries: &mut [u128; GROUP], old: u128, event: u128) {
    let mut place = entries.iter().position(|&entry| entry == old).unwrap_or(0);
    while let Some(before) = place.checked_sub(1)
        && entries[before] > event
    {
        entries[place] = entries[before];
        place = before;
    }
    move_back(entries, place, event);
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
            sources in prop_oneof![Just(1), Just(8), Just(9), Just(64), Just(65), Just(130)],
            changes in prop::collection::vec((any::<u32>(), prop::option::of(0u64..50)), 1..200),
        ) {
            let mut agenda = Agenda::new(sources);
            let mut plain = vec![None; sources];
            for (sequence, (source, at)) in changes.into_iter().enumerate() {
                let source = source % sources as u32;
                match at {
                    Some(at) => agenda.set(SourceId(source), Instant::from_nanos(at), sequence as u64),
                    None => agenda.clear(SourceId(source)),
                }
                plain[source as usize] = at.map(|at| (at, sequence));
                let expected = (0..sources)
                    .filter_map(|i| plain[i].map(|key| (key, i)))
                    .min()
                    .map(|((at, _), i)| (Instant::from_nanos(at), SourceId(i as u32)));
                prop_assert_eq!(agenda.next(), expected);
            }
        }
    }
}
