//! How long the data of several paths wait for earlier data at the receiver.

use std::collections::VecDeque;

use crate::metrics::{Distribution, ReorderingMetrics};
use crate::transport::Packet;
use crate::units::{Duration, Instant};

/// The packets that wait, and what was measured of those that do not any more.
#[derive(Debug, Default)]
pub(super) struct Reordering {
    /// First byte, bytes and arrival; by first byte.
    waiting: VecDeque<(u64, u64, Instant)>,
    delay: Distribution,
    /// Bytes that wait, since `since`, and before that, times nanoseconds.
    held: u64,
    since: Instant,
    area: u128,
    most_held: u64,
}

impl Reordering {
    /// A packet with new data has arrived, and all bytes below `delivered_to` are in order.
    pub(super) fn arrived(&mut self, now: Instant, packet: &Packet, delivered_to: u64) {
        self.area += self.until(now);
        self.since = now;
        let (start, len) = (packet.start, u64::from(packet.len));
        if start >= delivered_to {
            let place = self.waiting.partition_point(|other| other.0 < start);
            self.waiting.insert(place, (start, len, now));
            self.held += len;
            self.most_held = self.most_held.max(self.held);
        } else {
            self.delay.record(Duration::ZERO);
        }
        while let Some(&(start, len, arrived)) = self.waiting.front()
            && start < delivered_to
        {
            self.delay.record(now.saturating_since(arrived));
            self.held -= len;
            self.waiting.pop_front();
        }
    }

    fn until(&self, now: Instant) -> u128 {
        u128::from(self.held) * u128::from(now.saturating_since(self.since).as_nanos())
    }

    /// What was measured of a flow that began at `start`, until `ended`.
    pub(super) fn metrics(&self, start: Instant, ended: Instant) -> ReorderingMetrics {
        let lasted = ended.saturating_since(start).as_nanos().max(1);
        ReorderingMetrics {
            delay: self.delay.summary(),
            mean_held: (self.area + self.until(ended)) as f64 / lasted as f64,
            most_held: self.most_held,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_wait_for_earlier_ones() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let packet = |start, len| Packet { start, len, ..Packet::default() };
        let mut own = Reordering::default();
        own.arrived(at(0), &packet(0, 100), 100);
        own.arrived(at(10), &packet(200, 100), 100);
        own.arrived(at(20), &packet(300, 50), 100);
        own.arrived(at(30), &packet(100, 100), 350);
        let metrics = own.metrics(at(0), at(40));
        let delay = metrics.delay.unwrap();
        assert_eq!((delay.count, delay.max), (4, Duration::from_millis(20)));
        assert_eq!(delay.mean_ns, 7.5e6); // 0, 0, 10 and 20 ms
        assert_eq!(metrics.most_held, 150);
        assert_eq!(metrics.mean_held, (100.0 * 20.0 + 50.0 * 10.0) / 40.0);
    }
}
