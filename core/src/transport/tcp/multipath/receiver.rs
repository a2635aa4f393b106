//! The receiving end: the data of all paths in one order.

use std::collections::VecDeque;

use super::sender::{Mapping, Mappings};
use crate::transport::tcp::shared::reassembly::Reassembly;
use crate::transport::{Chunk, Contents, Endpoint, Outbox, Packet, PathReport, Received, Report};
use crate::units::Instant;

/// Receives over several paths. Its application reads data in order, at once.
#[derive(Default)]
pub(super) struct MultipathReceiver {
    paths: Vec<Path>,
    /// Next byte of the data expected.
    next: u64,
    /// Data that subflows have delivered ahead of a gap.
    held: Reassembly,
    /// Data that have arrived over any path ahead of a gap, in order there or not.
    seen: Reassembly,
    read: u64,
    /// The receive window, in bytes, and the first byte beyond what was announced.
    window: u64,
    edge: u64,
}

/// A subflow, and which data its segments carry.
struct Path {
    end: Box<dyn Endpoint>,
    /// Segments that arrived and that the subflow has not delivered yet: first byte of the subflow,
    /// first and last byte of the data; by first byte.
    segments: VecDeque<Mapping>,
}

impl MultipathReceiver {
    pub(super) fn new(ends: Vec<Box<dyn Endpoint>>, window: u32) -> Self {
        let path = |end| Path { end, segments: VecDeque::new() };
        Self {
            paths: ends.into_iter().map(path).collect(),
            window: window.into(),
            ..Self::default()
        }
    }

    /// The window to announce. Data ahead of a gap take room in the buffer, and an announced window
    /// does not shrink (`mptcp_space` and `mptcp_set_rwin` in Linux).
    fn announce(&mut self) -> u32 {
        if self.window == u64::from(u32::MAX) {
            return u32::MAX;
        }
        let room = self.window.saturating_sub(self.held.bytes());
        self.edge = self.edge.max(self.next + room);
        u32::try_from(self.edge - self.next).unwrap_or(u32::MAX)
    }
}

impl Path {
    /// A segment arrives at the subflow; the data sequence signal says which data it carries (RFC
    /// 8684 section 3.3.1).
    fn note(&mut self, (seq, start, end): Mapping) {
        // A part of it may have been delivered with other bounds.
        let known = self.end.delivered().saturating_sub(seq);
        let mapping = (seq + known, start + known, end);
        if mapping.1 >= end {
            return;
        }
        let place = self.segments.partition_point(|segment| segment.0 < mapping.0);
        if self.segments.get(place) != Some(&mapping) {
            self.segments.insert(place, mapping);
        }
    }
}

/// Adds data `start..end` to what is held ahead of byte `next`; returns whether any of it is new.
fn add(held: &mut Reassembly, next: u64, start: u64, end: u64) -> bool {
    end > next && held.insert(start.max(next), end).1
}

impl Endpoint for MultipathReceiver {
    fn write(&mut self, _: u32, _: u64, _: bool) {}

    fn close(&mut self) {}

    fn read(&mut self) -> Option<Chunk> {
        let bytes = self.next - std::mem::replace(&mut self.read, self.next);
        (bytes > 0).then_some(Chunk { stream: 0, bytes })
    }

    fn handle(&mut self, now: Instant, packet: &Packet, contents: Option<Contents>) -> Received {
        let path = &mut self.paths[usize::from(packet.path)];
        let whole = (packet.segment.seq, packet.start, packet.start + u64::from(packet.len));
        let several = contents.and_then(|contents| contents.downcast::<Mappings>().ok());
        let parts = match &several {
            Some(several) => several.as_slice(),
            None if packet.len > 0 => std::slice::from_ref(&whole),
            None => &[],
        };
        parts.iter().for_each(|&part| path.note(part));
        let refused = match path.end.handle(now, packet, None) {
            Received::Data { in_vain, .. } => in_vain,
            Received::Ack(_) => true,
        };
        let mut is_new = packet.len == 0;
        for &(_, start, end) in parts {
            is_new |= add(&mut self.seen, self.next, start, end);
        }
        let in_vain = refused || !is_new;
        let delivered = path.end.delivered();
        while let Some(&(_, start, end)) =
            path.segments.front().filter(|segment| segment.0 < delivered)
        {
            add(&mut self.held, self.next, start, end);
            path.segments.pop_front();
        }
        self.next = self.held.advance(self.next);
        self.seen.advance(self.next);
        Received::Data { in_vain, delivered: self.next }
    }

    /// Every acknowledgement of a subflow acknowledges the data of all.
    fn transmit(&mut self, now: Instant, outbox: &mut Outbox) -> Option<Instant> {
        let mut timeout = None;
        for number in 0..self.paths.len() {
            let first = outbox.sent().len();
            let due = self.paths[number].end.transmit(now, outbox);
            timeout = timeout.into_iter().chain(due).min();
            for index in first..outbox.sent().len() {
                let id = outbox.sent()[index];
                let packet = &mut outbox[id];
                (packet.path, packet.start) = (number as u8, self.next);
                packet.segment.window = self.announce();
            }
        }
        timeout
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.paths.iter_mut().for_each(|path| path.end.handle_timeout(now));
    }

    fn delivered(&self) -> u64 {
        self.next
    }

    fn report(&self) -> Report {
        let reports = self.paths.iter().map(|path| path.end.report());
        reports.reduce(|sum, path| sum.beside(&path)).unwrap_or_default()
    }

    fn paths(&self) -> Vec<PathReport> {
        let of = |path: &Path| PathReport { report: path.end.report(), ..PathReport::default() };
        self.paths.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3000 of 10,000 bytes wait ahead of a gap: the window falls as the first byte moves on, and is
    /// whole when the gap is filled.
    #[test]
    fn data_ahead_of_a_gap_take_room_in_the_buffer() {
        let mut receiver = MultipathReceiver::new(Vec::new(), 10_000);
        assert_eq!(receiver.announce(), 10_000);
        add(&mut receiver.held, 0, 6000, 9000);
        assert_eq!(receiver.announce(), 10_000);
        receiver.next = 5000;
        assert_eq!(receiver.announce(), 7000);
        add(&mut receiver.held, 5000, 5000, 6000);
        receiver.next = receiver.held.advance(5000);
        assert_eq!(receiver.announce(), 10_000);
    }
}
