//! Serialisation of packets with overlapping transmissions, as in the papers.

use std::collections::VecDeque;

use crate::link::behind::{Behind, FarEnd};
use crate::link::{HORIZON, LinkEvent, TraceLink, Transit};
use crate::units::{Bytes, Duration, Instant};

impl Behind<TraceLink> {
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
    /// use clift::link::{Behind, Link, TraceLink};
    /// fn as_the_papers(link: TraceLink) -> impl Link {
    ///     Behind::serialised(link)
    /// }
    /// ```
    pub fn serialised(inner: TraceLink) -> Self {
        let parts = inner.trace().parts();
        let gap = parts.gap.max(0) as u64;
        let (bytes, slots) = match &parts.sizes {
            None => (u64::from(parts.lldu.0), 1),
            Some(sizes) => (sizes.all, parts.slots),
        };
        let time = Duration::from_nanos(gap.saturating_mul(slots));
        Self::new(inner, Serialiser { bytes, time, last_release: None })
    }
}

/// Sends `bytes` in `time`, one packet after the other.
#[derive(Debug)]
struct Serialiser {
    bytes: u64,
    time: Duration,
    last_release: Option<Instant>,
}

impl Serialiser {
    fn move_apart(&mut self, transit: Transit) -> Transit {
        let free = self.last_release.map(|last| last + self.time_to_send(transit.size));
        let at = free.map_or(transit.at, |free| free.max(transit.at));
        self.last_release = Some(at);
        Transit { at, ..transit }
    }

    /// Rounded to the nearest nanosecond.
    fn time_to_send(&self, size: Bytes) -> Duration {
        let bytes = u128::from(self.bytes);
        let nanos = (u128::from(size.0) * u128::from(self.time.as_nanos()) + bytes / 2) / bytes;
        Duration::from_nanos(nanos.min(HORIZON as u128) as u64)
    }
}

impl FarEnd for Serialiser {
    fn delivered(&mut self, transit: Transit, out: &mut VecDeque<LinkEvent>) {
        out.push_back(LinkEvent::Delivered(self.move_apart(transit)));
    }

    fn lost(&mut self, transit: Transit, out: &mut VecDeque<LinkEvent>) {
        out.push_back(LinkEvent::Lost(self.move_apart(transit)));
    }
}
