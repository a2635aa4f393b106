//! A relay: what a proxy holds of one flow between the connection it ends and the one it opens.

use super::config::ProxyConfig;
use crate::transport::Relayed;
use crate::units::{Duration, Instant};

/// A sender that the window stopped asks after so long, at least (the least retransmission timeout of
/// Linux).
const FIRST_PROBE: Duration = Duration::from_millis(200);
/// And at most (`TCP_RTO_MAX`).
const LAST_PROBE: Duration = Duration::from_secs(120);
/// A window below this share of the receive buffer is not worth an update (`__tcp_select_window`).
const LEAST_SHARE: u64 = 16;

/// The buffers of a proxy for one flow. The proxy moves bytes from the receive buffer to the send
/// buffer as soon as that has room, and takes no time for it.
#[derive(Debug)]
pub(super) struct Relay {
    receive_buffer: u64,
    send_buffer: u64,
    mss: u64,
    /// Bytes in order that arrived, that were moved to the send buffer, that the next receiver has
    /// acknowledged.
    arrived: u64,
    moved: u64,
    acknowledged: u64,
    /// One past the last byte that arrived, in order or not.
    highest: u64,
    /// First byte that the sender was last told not to send.
    told: u64,
    /// A sender that was stopped by the window has asked.
    asked: bool,
    /// The same byte as the sender knows it: what tells of it may be lost.
    heard: u64,
    probe: Option<Probe>,
    closed: bool,
    most_held: u64,
}

/// When a stopped sender asks next, and how long it has waited.
#[derive(Clone, Copy, Debug)]
struct Probe {
    at: Instant,
    after: Duration,
}

impl Relay {
    pub(super) fn new(proxy: &ProxyConfig, mss: u32) -> Self {
        Self {
            receive_buffer: proxy.receive_buffer(),
            send_buffer: proxy.send_buffer(),
            mss: u64::from(mss),
            arrived: 0,
            moved: 0,
            acknowledged: 0,
            highest: 0,
            told: proxy.receive_buffer(),
            asked: false,
            heard: proxy.receive_buffer(),
            probe: None,
            closed: false,
            most_held: 0,
        }
    }

    /// Bytes up to `end` arrived, in order or not.
    pub(super) fn on_arrival(&mut self, end: u64) {
        self.highest = self.highest.max(end);
    }

    /// So many bytes arrived in order, and so many are acknowledged beyond the proxy; returns how
    /// many the send buffer takes now.
    pub(super) fn turn(&mut self, arrived: u64, acknowledged: u64) -> u64 {
        (self.arrived, self.acknowledged) = (arrived, acknowledged);
        self.highest = self.highest.max(arrived);
        self.most_held = self.most_held.max(self.highest - acknowledged);
        let moved = arrived.min(acknowledged.saturating_add(self.send_buffer));
        let taken = moved - self.moved;
        self.moved = moved;
        taken
    }

    /// Bytes that were handed on so far.
    pub(super) fn moved(&self) -> u64 {
        self.moved
    }

    /// All of `total` bytes were handed on; true once.
    pub(super) fn closes(&mut self, total: u64) -> bool {
        let closes = !self.closed && self.moved == total;
        self.closed |= closes;
        closes
    }

    /// First byte for which there is no room.
    pub(super) fn edge(&self) -> u64 {
        self.moved.saturating_add(self.receive_buffer)
    }

    /// Whether the sender is to be told of it now: it asked, the window that is left to it has
    /// doubled (`tcp_cleanup_rbuf` of Linux), or it had no room for a full packet.
    pub(super) fn tells(&mut self) -> bool {
        if std::mem::take(&mut self.asked) {
            return true;
        }
        let left = self.told.saturating_sub(self.arrived);
        let room = self.edge() - self.arrived;
        let worth = self.mss.max(self.receive_buffer / LEAST_SHARE);
        let doubled = 2 * left <= self.receive_buffer && room >= 2 * left;
        room >= worth && (doubled || left < self.mss) && self.edge() > self.told
    }

    /// An acknowledgement left. It may permit less than [`Relay::edge`]: a receive window that grows
    /// opens further with each acknowledgement, so that another one now would add nothing.
    pub(super) fn on_told(&mut self) {
        self.told = self.edge();
    }

    /// The sender asks for the window.
    pub(super) fn on_asked(&mut self) {
        self.asked = true;
    }

    /// An acknowledgement arrived at the sender that permits bytes below `edge`.
    pub(super) fn on_heard(&mut self, edge: u64) {
        if edge > self.heard {
            self.heard = edge;
            self.probe = None;
        }
    }

    /// Whether the window keeps a sender from its next packet that has `acknowledged` of `supplied`
    /// bytes and nothing on its way.
    pub(super) fn stops(&self, acknowledged: u64, supplied: u64) -> bool {
        let next = (supplied - acknowledged).min(self.mss);
        next > 0 && self.heard < acknowledged.saturating_add(next)
    }

    /// The stopped sender waits; says whether it asks now. `rtt` is its round-trip time.
    pub(super) fn probes(&mut self, now: Instant, rtt: Option<Duration>) -> bool {
        let first = FIRST_PROBE.max(rtt.unwrap_or_default() + rtt.unwrap_or_default());
        let probe = *self.probe.get_or_insert(Probe { at: now + first, after: first });
        if now < probe.at {
            return false;
        }
        let after = (probe.after + probe.after).min(LAST_PROBE);
        self.probe = Some(Probe { at: now + after, after });
        true
    }

    /// The sender is not stopped any more.
    pub(super) fn goes_on(&mut self) {
        self.probe = None;
    }

    /// When a stopped sender asks next.
    pub(super) fn next_probe(&self) -> Option<Instant> {
        self.probe.map(|probe| probe.at)
    }

    pub(super) fn report(&self) -> Relayed {
        Relayed { bytes: self.moved, most_held: self.most_held }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Size;

    fn relay(receive: u64, send: u64) -> Relay {
        let buffers = ProxyConfig {
            buffer: Size(send),
            receive_buffer: Some(Size(receive)),
            ..ProxyConfig::default()
        };
        Relay::new(&buffers, 1000)
    }

    #[test]
    fn the_window_closes_as_the_buffers_fill_and_opens_as_they_drain() {
        let mut relay = relay(4000, 3000);
        assert_eq!(relay.edge(), 4000);
        assert_eq!(relay.turn(3000, 0), 3000, "the send buffer takes all");
        assert_eq!(relay.edge(), 7000);
        relay.on_told();
        assert_eq!(relay.turn(7000, 0), 0, "it is full");
        assert_eq!((relay.edge(), relay.tells()), (7000, false));
        assert_eq!(relay.turn(7000, 500), 500);
        assert!(!relay.tells(), "half a packet is not worth an update");
        assert_eq!(relay.turn(7000, 1000), 500);
        assert!(relay.tells());
        relay.on_told();
        assert!(!relay.tells());
        assert_eq!(relay.report(), Relayed { bytes: 4000, most_held: 7000 });
    }

    #[test]
    fn a_stopped_sender_asks_ever_more_rarely() {
        let mut relay = relay(4000, 3000);
        assert!(!relay.stops(3000, 4000) && relay.stops(3500, 5000) && !relay.stops(3500, 3900));
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        assert!(!relay.probes(at(0), Some(Duration::from_millis(300))));
        assert_eq!(relay.next_probe(), Some(at(600)));
        assert!(relay.probes(at(600), None));
        assert_eq!(relay.next_probe(), Some(at(1800)));
        relay.on_heard(4000);
        assert_eq!(relay.next_probe(), Some(at(1800)), "nothing new");
        relay.on_heard(5000);
        assert_eq!(relay.next_probe(), None);
    }

    #[test]
    fn it_closes_once_all_was_handed_on() {
        let mut relay = relay(4000, 3000);
        let _ = relay.turn(2000, 0);
        assert!(!relay.closes(2500));
        let _ = relay.turn(2500, 0);
        assert!(relay.closes(2500) && !relay.closes(2500));
    }
}
