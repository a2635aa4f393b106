//! A link with a re-sequencing buffer at its far end.

use std::collections::VecDeque;

use crate::link::buffer::{LinkOrder, Resequencing};
use crate::link::counters::Tally;
use crate::link::stream_order::{StreamOrder, StreamRule};
use crate::link::{
    Admission, Instrument, InstrumentedLink, Link, LinkCounters, LinkEvent, Packet, QueueLimit,
    Transmission, Usage,
};
use crate::units::{Bytes, Instant};

/// The link `L` with a buffer that restores the order in which `L` admitted the packets, or the
/// order of the byte streams that they carry.
///
/// No packet is released before it arrives. The [`LinkEvent::Delivered`] of a held packet is
/// reported at its release, with that time.
///
/// ```
/// use std::num::NonZeroU32;
/// use clift::link::{Link, Reordering, Resequencing};
/// // The buffer of Tauran 2017 (125 packets), on link order.
/// fn behind(link: impl Link) -> impl Link {
///     let packets = NonZeroU32::new(125).unwrap();
///     let rule = Resequencing::Bounded { packets, flush_when_full: true, flush_on_loss: true };
///     Reordering::new(link, rule)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Reordering<L> {
    inner: L,
    buffer: Buffer,
    released: VecDeque<LinkEvent>,
    tally: Tally,
}

/// A buffer, by the kind of order it restores.
#[derive(Clone, Debug)]
enum Buffer {
    Link(LinkOrder),
    Stream(StreamOrder),
}

impl<L: Link> Reordering<L> {
    /// `inner` followed by an empty buffer.
    pub fn new(inner: L, rule: Resequencing) -> Self {
        let buffer = match rule {
            Resequencing::TcpSequence { packets, flush_when_full, flush_on_loss } => {
                let rule = StreamRule { packets, flush_when_full, flush_on_loss };
                Buffer::Stream(StreamOrder::new(rule))
            }
            rule => Buffer::Link(LinkOrder::new(rule)),
        };
        Self { inner, buffer, released: VecDeque::new(), tally: Tally::default() }
    }
}

impl Buffer {
    fn take(&mut self, event: LinkEvent, out: &mut VecDeque<LinkEvent>) {
        match (self, event) {
            (Self::Link(buffer), LinkEvent::Delivered(transit)) => buffer.delivered(transit, out),
            (Self::Link(buffer), LinkEvent::Lost(transit)) => buffer.lost(transit, out),
            (Self::Stream(buffer), LinkEvent::Delivered(transit)) => buffer.delivered(transit, out),
            (Self::Stream(buffer), LinkEvent::Lost(transit)) => buffer.lost(transit, out),
            (_, notice) => out.push_back(notice),
        }
    }

    /// Packets put into the buffer, and flushes.
    fn counts(&self) -> (u64, u64) {
        match self {
            Self::Link(buffer) => (buffer.held, buffer.flushes),
            Self::Stream(buffer) => (buffer.held, buffer.flushes),
        }
    }
}

impl<L: Link> Link for Reordering<L> {
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        let admission = self.inner.enqueue(now, packet);
        if let (Buffer::Stream(buffer), Admission::Queued) = (&mut self.buffer, admission) {
            buffer.admitted(packet.carries);
        }
        admission
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.released.front().map(LinkEvent::at).or_else(|| self.inner.poll_timeout())
    }

    fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        while self.released.is_empty() {
            let event = self.inner.poll(now)?;
            self.buffer.take(event, &mut self.released);
        }
        // Released at a time up to `now`, because the inner event that triggered it was.
        let event = self.released.pop_front()?;
        self.tally.record(&event);
        Some(event)
    }

    fn has_room(&mut self, now: Instant, size: Bytes) -> bool {
        self.inner.has_room(now, size)
    }

    fn notify_departures(&mut self) {
        self.inner.notify_departures();
    }
}

impl<L: Instrument> Instrument for Reordering<L> {
    fn queue_len(&self, now: Instant) -> usize {
        self.inner.queue_len(now)
    }

    fn counters(&self) -> LinkCounters {
        let (held, flushes) = self.buffer.counts();
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

    fn set_queue(&mut self, limit: QueueLimit) -> bool {
        self.inner.set_queue(limit)
    }
}

/// `link` followed by a buffer, if `rule` is given.
pub(crate) fn behind(
    link: impl InstrumentedLink + Send + 'static,
    rule: Option<Resequencing>,
) -> Box<dyn InstrumentedLink + Send> {
    match rule {
        None => Box::new(link),
        Some(rule) => Box::new(Reordering::new(link, rule)),
    }
}
