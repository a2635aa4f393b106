//! Serialisation of packets with overlapping transmissions, as in the papers.

use std::collections::VecDeque;

use crate::link::counters::Tally;
use crate::link::{
    Admission, HORIZON, Instrument, Link, LinkCounters, LinkEvent, Packet, QueueLimit, TraceLink,
    Transit, Transmission, Usage,
};
use crate::units::{BitRate, Bytes, Duration, Instant};

/// One packet at a time out of a link, as in ns-2 (the CLIFT papers, section IV-C, figures 3 and 4;
/// DESIGN section 5).
///
/// ns-2 sends a packet from `Td` to `Td + Et` and no other packet meanwhile, where `Td + Et +
/// RTT/2` is the delivery time in the link trace (Kuhn's CLIFT paper, section IV-A). Packets
/// therefore come out in order of their computed release, each at that time or one transmission
/// time `Et` after the previous release, whichever is later. A lost packet is treated in the same
/// way: it occupies the channel, and its release is its drop time. A pending packet is never
/// released and does not occupy the channel.
///
/// `Et` is `size / rate`, because in ns-2 the link serialises, and it has only a rate: that of the
/// slots, one LLDU per median gap (per mean gap if they differ in size). Padding in the last LLDU
/// takes no time here.
///
/// ```
/// use clift::link::{Link, Overlap, TraceLink};
/// fn as_the_papers(link: TraceLink) -> impl Link {
///     Overlap::new(link)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Overlap<L> {
    inner: L,
    pace: Pace,
    released: VecDeque<LinkEvent>,
    last_release: Option<Instant>,
    tally: Tally,
}

/// Serialisation rate of packets: `bytes` in `time`.
#[derive(Clone, Copy, Debug)]
struct Pace {
    bytes: u64,
    time: Duration,
}

impl Overlap<TraceLink> {
    /// Serialises the packets of `inner` at the rate of its slots.
    pub fn new(inner: TraceLink) -> Self {
        let parts = inner.trace().parts();
        let gap = parts.gap.max(0) as u64;
        let pace = match &parts.sizes {
            None => Pace { bytes: u64::from(parts.lldu.0), time: Duration::from_nanos(gap) },
            Some(sizes) => {
                let time = Duration::from_nanos(gap.saturating_mul(parts.slots));
                Pace { bytes: sizes.all, time }
            }
        };
        Self::with_pace(inner, pace)
    }
}

impl<L: Link> Overlap<L> {
    /// Serialises the packets of `inner` at `rate`.
    pub fn with_rate(inner: L, rate: BitRate) -> Self {
        // Bytes in eight seconds are bits in one.
        let pace = Pace { bytes: rate.bits_per_second(), time: Duration::from_secs(8) };
        Self::with_pace(inner, pace)
    }

    fn with_pace(inner: L, pace: Pace) -> Self {
        Self { inner, pace, released: VecDeque::new(), last_release: None, tally: Tally::default() }
    }

    fn move_apart(&mut self, transit: Transit) -> Transit {
        let free = self.last_release.map(|last| last + self.pace.time_to_send(transit.size));
        let at = free.map_or(transit.at, |free| free.max(transit.at));
        self.last_release = Some(at);
        Transit { at, ..transit }
    }
}

impl Pace {
    /// Rounded to the nearest nanosecond.
    fn time_to_send(self, size: Bytes) -> Duration {
        let bytes = u128::from(self.bytes);
        let nanos = (u128::from(size.0) * u128::from(self.time.as_nanos()) + bytes / 2) / bytes;
        Duration::from_nanos(nanos.min(HORIZON as u128) as u64)
    }
}

impl<L: Link> Link for Overlap<L> {
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        self.inner.enqueue(now, packet)
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
                LinkEvent::Departed { at, .. }
                | LinkEvent::Marked { at, .. }
                | LinkEvent::TraceEnded { at, .. } => {
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

    fn has_room(&mut self, now: Instant, size: Bytes) -> bool {
        self.inner.has_room(now, size)
    }

    fn notify_departures(&mut self) {
        self.inner.notify_departures();
    }
}

impl<L: Instrument> Instrument for Overlap<L> {
    fn queue_len(&self, now: Instant) -> usize {
        self.inner.queue_len(now)
    }

    fn counters(&self) -> LinkCounters {
        self.tally.replace_in(self.inner.counters())
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
