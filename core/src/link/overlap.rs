//! The papers' way with packets whose transmissions overlap.

use std::collections::VecDeque;

use crate::link::counters::Tally;
use crate::link::{Admission, Link, LinkCounters, LinkEvent, PacketId, Transit, Usage};
use crate::units::{BitRate, Bytes, Instant};

/// One packet at a time out of a link, as in ns-2 (seeds 001 and 003 section IV-C, figures 3 and 4;
/// DESIGN section 5).
///
/// ns-2 sends a packet from `Td` to `Td + Et` and no other meanwhile, where `Td + Et + RTT/2` is
/// when the link trace has the packet delivered (seed 003 section IV-A). So packets come out in
/// order of their computed release, and each at the later of that and one transmission time `Et`
/// after the release before it. A lost packet is treated the same: it occupies the channel, and its
/// release is its drop date. A pending packet is never released and occupies nothing.
///
/// `Et` is `size / rate`, since in ns-2 it is the link that serialises, and it knows only a rate: the
/// physical layer's ([`crate::link::TraceLink::slot_rate`]), without the padding of the last LLDU.
///
/// ```
/// use clift::link::{Overlap, TraceLink};
/// # fn wrap(link: TraceLink) -> Option<Overlap<TraceLink>> {
/// let rate = link.slot_rate()?;
/// let link = Overlap::new(link, rate);
/// # Some(link)
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Overlap<L> {
    inner: L,
    rate: BitRate,
    released: VecDeque<LinkEvent>,
    last_release: Option<Instant>,
    tally: Tally,
}

impl<L: Link> Overlap<L> {
    /// `inner`, whose packets take `size / rate` each to send.
    pub fn new(inner: L, rate: BitRate) -> Self {
        Self { inner, rate, released: VecDeque::new(), last_release: None, tally: Tally::default() }
    }

    fn move_apart(&mut self, transit: Transit) -> Transit {
        let free = self.last_release.map(|last| last + self.rate.time_to_send(transit.size));
        let at = free.map_or(transit.at, |free| free.max(transit.at));
        self.last_release = Some(at);
        Transit { at, ..transit }
    }
}

impl<L: Link> Link for Overlap<L> {
    fn enqueue(&mut self, now: Instant, packet: PacketId, size: Bytes) -> Admission {
        self.inner.enqueue(now, packet, size)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let released = self.released.front().map(LinkEvent::at);
        match (released, self.inner.poll_timeout()) {
            (Some(released), Some(inner)) => Some(released.min(inner)),
            (released, inner) => released.or(inner),
        }
    }

    fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        while let Some(event) = self.inner.poll(now) {
            match event {
                LinkEvent::Delivered(transit) => {
                    let moved = self.move_apart(transit);
                    self.released.push_back(LinkEvent::Delivered(moved));
                }
                LinkEvent::Lost(transit) => {
                    let moved = self.move_apart(transit);
                    self.released.push_back(LinkEvent::Lost(moved));
                }
                LinkEvent::TraceEnded { at, .. } => {
                    let place = self.released.partition_point(|event| event.at() <= at);
                    self.released.insert(place, event);
                }
            }
        }
        if self.released.front()?.at() > now {
            return None;
        }
        let event = self.released.pop_front()?;
        self.tally.record(&event);
        Some(event)
    }

    fn queue_len(&self, now: Instant) -> usize {
        self.inner.queue_len(now)
    }

    fn counters(&self) -> LinkCounters {
        self.tally.replace_in(self.inner.counters())
    }

    fn usage(&self, until: Instant) -> Usage {
        self.inner.usage(until)
    }
}
