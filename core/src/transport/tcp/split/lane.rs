//! What relays the data of one direction, from one connection to the next.

use super::births::Births;
use super::config::ProxyConfig;
use super::relay::Relay;
use crate::transport::{Connection, Outbox, Packet, Relayed, Report, Segment, Window};
use crate::units::{Bytes, Instant};

/// The bits of [`Packet::body`] that name the stretch.
pub(super) const STRETCH: u32 = (1 << 16) - 1;
/// And the one of a packet by which a sender asks for the window.
pub(super) const ASKS: u32 = 1 << 16;

/// The relays that data of one direction pass, in their order. The connection before relay `n` is the
/// `n`-th, and the one behind it the next.
#[derive(Debug)]
pub(super) struct Lane {
    relays: Vec<Relay>,
    births: Births,
    /// Bytes that the application handed over; `u64::MAX`: it always has more.
    supplied: u64,
    /// Bytes of a packet that only asks.
    headers: u32,
}

impl Lane {
    pub(super) fn new<'a>(
        proxies: impl IntoIterator<Item = &'a ProxyConfig>,
        mss: u32,
        headers: u32,
    ) -> Self {
        let relays = proxies.into_iter().map(|proxy| Relay::new(proxy, mss)).collect();
        Self { relays, births: Births::default(), supplied: 0, headers }
    }

    /// How many relays there are.
    pub(super) fn count(&self) -> usize {
        self.relays.len()
    }

    /// The one behind connection `place`; none behind the last.
    pub(super) fn relay(&mut self, place: usize) -> Option<&mut Relay> {
        self.relays.get_mut(place)
    }

    /// The application hands over `bytes` more.
    pub(super) fn supply(&mut self, bytes: u64) {
        self.supplied = self.supplied.saturating_add(bytes);
    }

    /// The application has closed; says how many bytes there are in all: of data without end, what was
    /// sent.
    pub(super) fn close(&mut self) -> u64 {
        if self.supplied == u64::MAX {
            self.supplied = self.births.end();
        }
        self.supplied
    }

    /// The sender of connection `place` sends a packet: its data are as old as they are at the source.
    pub(super) fn stamp(&mut self, place: usize, now: Instant, packet: &mut Packet) {
        if packet.len == 0 {
            return;
        }
        if place > 0 {
            packet.first_sent = self.births.of(packet.start).unwrap_or(packet.first_sent);
        } else if packet.retransmission == 0 {
            self.births.add(packet.start, packet.len, now);
        }
    }

    /// The last of the senders knows all bytes below `at` to be delivered.
    pub(super) fn forget(&mut self, at: u64) {
        self.births.forget(at);
    }

    /// The `sender` of connection `place`, which a proxy's window has stopped, asks for it from time to
    /// time, since what tells that it has opened may be lost (RFC 9293 section 3.8.6.1). `body`: of the
    /// packet that asks. Returns when it asks next.
    pub(super) fn ask(
        &mut self,
        place: usize,
        sender: &dyn Connection,
        now: Instant,
        body: u32,
        outbox: &mut Outbox,
    ) -> Option<Instant> {
        let acknowledged = sender.acknowledged().unwrap_or(0);
        let supplied = match place {
            0 => self.supplied,
            _ => self.relays[place - 1].moved(),
        };
        let relay = self.relays.get_mut(place)?;
        let window = relay.stops(acknowledged, supplied).then(|| sender.window()).flatten();
        let Some(Window { in_flight: 0, srtt, .. }) = window else {
            relay.goes_on();
            return None;
        };
        if relay.probes(now, srtt) {
            let seq = acknowledged.saturating_sub(1);
            let wire = self.headers;
            *outbox.draft() = Packet {
                size: Bytes(wire),
                body: body | ASKS,
                segment: Segment { seq, wire, ts_val: now, ..Segment::default() },
                ..Packet::default()
            };
            outbox.send();
        }
        relay.next_probe()
    }

    pub(super) fn report(&self) -> Vec<Relayed> {
        self.relays.iter().map(Relay::report).collect()
    }
}

/// First byte that an acknowledgement does not permit.
pub(super) fn permitted(ack: &Segment) -> u64 {
    ack.ack + u64::from(ack.window)
}

/// Everything that connections sent, whoever did; of what was received, what the last of them has.
pub(super) fn total(reports: impl Iterator<Item = Report>) -> Report {
    let mut sum = Report::default();
    for own in reports {
        sum.bytes_sent += own.bytes_sent;
        sum.bytes_received = own.bytes_received;
        sum.sent += own.sent;
        sum.retransmissions += own.retransmissions;
        for (sum, own) in sum.by_retransmissions.iter_mut().zip(own.by_retransmissions) {
            *sum += own;
        }
        sum.spurious_retransmissions += own.spurious_retransmissions;
        sum.stale += own.stale;
        sum.timeouts += own.timeouts;
        sum.fast_retransmits += own.fast_retransmits;
        sum.recovery_entries += own.recovery_entries;
        sum.duplicate_acks += own.duplicate_acks;
        sum.window_reductions += own.window_reductions;
        sum.undo_events += own.undo_events;
        sum.reordering = sum.reordering.max(own.reordering);
    }
    sum
}
