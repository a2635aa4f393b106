//! A link with something at its far end that moves the release of packets.

use std::collections::VecDeque;
use std::fmt::Debug;

use crate::config::delegate;
use crate::link::counters::Tally;
use crate::link::{
    Admission, Instrument, Link, LinkCounters, LinkEvent, Packet, QueueLimit, Transit,
    Transmission, Usage, earliest,
};
use crate::units::{Bytes, Instant};

/// The link `L` with something at its far end. No packet is released before it arrives. The
/// [`LinkEvent::Delivered`] of a packet is reported at its release, with that time.
#[derive(Debug)]
pub struct Behind<L> {
    inner: L,
    far_end: Box<dyn FarEnd + Send>,
    released: VecDeque<LinkEvent>,
    tally: Tally,
}

/// What stands at the far end of a link.
pub(super) trait FarEnd: Debug {
    /// Handles a delivered packet; released packets go to `out`.
    fn delivered(&mut self, transit: Transit, out: &mut VecDeque<LinkEvent>);

    /// Handles a packet that the link gave up; it and released packets go to `out`.
    fn lost(&mut self, transit: Transit, out: &mut VecDeque<LinkEvent>);

    /// Handles a packet that the link admitted.
    fn admitted(&mut self, _packet: &Packet) {}

    /// Packets put into a buffer, and flushes.
    fn counts(&self) -> (u64, u64) {
        (0, 0)
    }
}

impl<L: Link> Behind<L> {
    pub(super) fn new(inner: L, far_end: impl FarEnd + Send + 'static) -> Self {
        let far_end = Box::new(far_end);
        Self { inner, far_end, released: VecDeque::new(), tally: Tally::default() }
    }
}

impl<L: Link> Link for Behind<L> {
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        let admission = self.inner.enqueue(now, packet);
        if admission == Admission::Queued {
            self.far_end.admitted(&packet);
        }
        admission
    }

    fn poll_timeout(&self) -> Option<Instant> {
        earliest(self.released.front().map(LinkEvent::at), self.inner.poll_timeout())
    }

    fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        while let Some(event) = self.inner.poll(now) {
            match event {
                LinkEvent::Delivered(transit) => {
                    self.far_end.delivered(transit, &mut self.released);
                }
                LinkEvent::Lost(transit) => self.far_end.lost(transit, &mut self.released),
                notice => {
                    let place = self.released.partition_point(|event| event.at() <= notice.at());
                    self.released.insert(place, notice);
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

    fn has_room(&mut self, now: Instant, size: Bytes) -> bool {
        self.inner.has_room(now, size)
    }

    fn notify_departures(&mut self) {
        self.inner.notify_departures();
    }
}

impl<L: Instrument> Instrument for Behind<L> {
    fn counters(&self) -> LinkCounters {
        let (held, flushes) = self.far_end.counts();
        LinkCounters { held, flushes, ..self.tally.replace_in(self.inner.counters()) }
    }

    delegate! { self.inner =>
        fn queue_len(&self, now: Instant) -> usize;
        fn usage(&self, until: Instant) -> Usage;
        fn details(&self) -> Vec<(&'static str, u64)>;
        fn catch_up(&mut self, until: Instant);
        fn log_units(&mut self);
        fn take_units(&mut self) -> Vec<Transmission>;
        fn set_queue(&mut self, limit: QueueLimit) -> bool;
    }
}
