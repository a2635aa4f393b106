//! A link with a re-sequencing buffer at its far end.

use std::collections::VecDeque;

use crate::link::buffer::{LinkOrder, Resequencing};
use crate::link::counters::Tally;
use crate::link::{Admission, Link, LinkCounters, LinkEvent, Packet, Transmission, Usage};
use crate::units::Instant;

/// `L` with a buffer that restores the order in which `L` admitted the packets.
///
/// Nothing is released before it arrives. A held packet's [`LinkEvent::Delivered`] comes when it is
/// released, with that time.
///
/// ```
/// use std::num::NonZeroU32;
/// use clift::link::{Link, Reordering, Resequencing};
/// // The buffer of seed 004 (125 packets), on link order.
/// fn behind(link: impl Link) -> impl Link {
///     let packets = NonZeroU32::new(125).unwrap();
///     let rule = Resequencing::Bounded { packets, flush_when_full: true, flush_on_loss: true };
///     Reordering::new(link, rule)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Reordering<L> {
    inner: L,
    buffer: LinkOrder,
    released: VecDeque<LinkEvent>,
    tally: Tally,
}

impl<L: Link> Reordering<L> {
    /// `inner` with an empty buffer behind it.
    pub fn new(inner: L, rule: Resequencing) -> Self {
        let (buffer, released) = (LinkOrder::new(rule), VecDeque::new());
        Self { inner, buffer, released, tally: Tally::default() }
    }
}

impl<L: Link> Link for Reordering<L> {
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        self.inner.enqueue(now, packet)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.released.front().map(LinkEvent::at).or_else(|| self.inner.poll_timeout())
    }

    fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        while self.released.is_empty() {
            match self.inner.poll(now)? {
                LinkEvent::Delivered(transit) => self.buffer.delivered(transit, &mut self.released),
                LinkEvent::Lost(transit) => self.buffer.lost(transit, &mut self.released),
                ended @ LinkEvent::TraceEnded { .. } => self.released.push_back(ended),
            }
        }
        // Released at an instant up to `now`, since the inner event that did it was.
        let event = self.released.pop_front()?;
        self.tally.record(&event);
        Some(event)
    }

    fn queue_len(&self, now: Instant) -> usize {
        self.inner.queue_len(now)
    }

    fn counters(&self) -> LinkCounters {
        let (held, flushes) = (self.buffer.held, self.buffer.flushes);
        LinkCounters { held, flushes, ..self.tally.replace_in(self.inner.counters()) }
    }

    fn usage(&self, until: Instant) -> Usage {
        self.inner.usage(until)
    }

    fn details(&self) -> Vec<(&'static str, u64)> {
        self.inner.details()
    }

    fn catch_up(&mut self, until: Instant) {
        self.inner.catch_up(until);
    }

    fn log_units(&mut self) {
        self.inner.log_units();
    }

    fn take_units(&mut self) -> Vec<Transmission> {
        self.inner.take_units()
    }
}
