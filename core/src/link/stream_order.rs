//! A re-sequencing buffer that reads TCP sequence numbers.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;

use crate::link::behind::FarEnd;
use crate::link::{LinkEvent, Packet, StreamRange, Transit};
use crate::units::Instant;

/// Rule of a [`StreamOrder`]; see
/// [`Resequencing::TcpSequence`](crate::link::Resequencing::TcpSequence).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StreamRule {
    pub(super) packets: Option<NonZeroU32>,
    pub(super) flush_when_full: bool,
    pub(super) flush_on_loss: bool,
}

/// Releases the packets of each flow in the order of its byte stream.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamOrder {
    rule: StreamRule,
    on_the_link: OnTheLink,
    flows: BTreeMap<u32, Stream>,
    held: u64,
    flushes: u64,
}

/// The content of the packets on the link.
#[derive(Clone, Debug, Default)]
struct OnTheLink {
    /// By order, from `first` on.
    packets: VecDeque<LinkContent>,
    first: u64,
}

#[derive(Clone, Copy, Debug)]
enum LinkContent {
    Carries(Option<StreamRange>),
    CameOut,
}

/// The part of the buffer for one flow.
#[derive(Clone, Debug)]
struct Stream {
    /// All bytes before this one were released or are no longer waited for.
    expected: u64,
    /// By first byte, then by arrival, because a segment may occur twice.
    held: BTreeMap<(u64, u64), HeldSegment>,
}

#[derive(Clone, Copy, Debug)]
struct HeldSegment {
    transit: Transit,
    end: u64,
}

impl StreamOrder {
    pub(super) fn new(rule: StreamRule) -> Self {
        Self { rule, ..Self::default() }
    }
}

impl FarEnd for StreamOrder {
    /// A stream starts with the first of its bytes that the link admits.
    fn admitted(&mut self, packet: &Packet) {
        let carries = packet.carries;
        self.on_the_link.packets.push_back(LinkContent::Carries(carries));
        if let Some(StreamRange { flow, start, .. }) = carries {
            self.flows.entry(flow).or_insert(Stream { expected: start, held: BTreeMap::new() });
        }
    }

    fn delivered(&mut self, transit: Transit, out: &mut VecDeque<LinkEvent>) {
        let range = self.on_the_link.take(transit.order);
        let Some((range, stream)) = of_stream(range, &mut self.flows) else {
            out.push_back(LinkEvent::Delivered(transit));
            return;
        };
        // In sequence or below: passes at once, as in Tauran 2017 (DESIGN section 5).
        if range.start <= stream.expected {
            out.push_back(LinkEvent::Delivered(transit));
            stream.expected = stream.expected.max(range.end);
            stream.release_run(transit.at, out);
            return;
        }
        // TCP may send a segment twice, so the count of arrivals keeps the keys apart.
        stream.held.insert((range.start, self.held), HeldSegment { transit, end: range.end });
        self.held += 1;
        let size = self.rule.packets.map_or(usize::MAX, |packets| packets.get() as usize);
        if stream.held.len() < size {
            return;
        }
        if self.rule.flush_when_full {
            self.flushes += 1;
            stream.flush(transit.at, out);
        } else {
            stream.skip_gap();
        }
        stream.release_run(transit.at, out);
    }

    fn lost(&mut self, transit: Transit, out: &mut VecDeque<LinkEvent>) {
        out.push_back(LinkEvent::Lost(transit));
        let range = self.on_the_link.take(transit.order);
        let Some((_, stream)) = of_stream(range, &mut self.flows) else { return };
        if self.rule.flush_on_loss && !stream.held.is_empty() {
            self.flushes += 1;
            stream.flush(transit.at, out);
        }
    }

    fn counts(&self) -> (u64, u64) {
        (self.held, self.flushes)
    }
}

fn of_stream(
    range: Option<StreamRange>,
    flows: &mut BTreeMap<u32, Stream>,
) -> Option<(StreamRange, &mut Stream)> {
    let range = range?;
    Some((range, flows.get_mut(&range.flow)?))
}

impl OnTheLink {
    /// Removes the packet of this order, which came out, and returns its content.
    fn take(&mut self, order: u64) -> Option<StreamRange> {
        let place = self.packets.get_mut(order.checked_sub(self.first)? as usize)?;
        let LinkContent::Carries(range) = std::mem::replace(place, LinkContent::CameOut) else {
            return None;
        };
        // Packets leave out of order: only those at the front can be forgotten.
        while let Some(LinkContent::CameOut) = self.packets.front() {
            self.packets.pop_front();
            self.first += 1;
        }
        range
    }
}

impl Stream {
    /// Releases all held packets.
    fn flush(&mut self, now: Instant, out: &mut VecDeque<LinkEvent>) {
        for (_, held) in std::mem::take(&mut self.held) {
            self.release(held, now, out);
        }
    }

    /// Releases held packets up to the next gap.
    fn release_run(&mut self, now: Instant, out: &mut VecDeque<LinkEvent>) {
        while let Some(first) = self.held.first_entry()
            && first.key().0 <= self.expected
        {
            let held = first.remove();
            self.release(held, now, out);
        }
    }

    /// Skips the gap before the first held packet.
    fn skip_gap(&mut self) {
        if let Some((&(start, _), _)) = self.held.first_key_value() {
            self.expected = self.expected.max(start);
        }
    }

    fn release(&mut self, held: HeldSegment, now: Instant, out: &mut VecDeque<LinkEvent>) {
        self.expected = self.expected.max(held.end);
        out.push_back(LinkEvent::Delivered(Transit { at: now, ..held.transit }));
    }
}
