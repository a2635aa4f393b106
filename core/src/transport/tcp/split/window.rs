//! The receive window of a proxy: it closes as the proxy's buffers fill.

use super::config::ProxyConfig;
use crate::config::delegate;
use crate::transport::tcp::config::TcpConfig;
use crate::transport::{
    Chunk, Contents, Endpoint, EndpointChange, Limit, Outbox, Packet, Received, Report, Segment,
    Window,
};
use crate::units::{Bytes, Duration, Instant};

/// A sender that the window stopped asks after so long, at least (the least retransmission timeout of
/// Linux).
const FIRST_PROBE: Duration = Duration::from_millis(200);
/// And at most (`TCP_RTO_MAX`).
const LAST_PROBE: Duration = Duration::from_secs(120);
/// A window below this share of the receive buffer is not worth an update (`__tcp_select_window`).
const LEAST_SHARE: u64 = 16;

/// An endpoint whose receive window follows its application.
pub(in crate::transport::tcp) trait TellWindow: Endpoint {
    /// Accepts bytes below `edge`; `tell`: an acknowledgement says so at once.
    fn permit(&mut self, edge: u64, tell: bool);
}

/// An endpoint at a proxy, or whose peer is: it announces what the proxy's buffers leave, and asks for
/// the window when the peer's has stopped it.
#[derive(Debug)]
pub(in crate::transport::tcp) struct Windowed<E> {
    end: E,
    announces: Option<Announced>,
    asks: Option<Asking>,
    /// True once the peer has sent a SYN.
    called: bool,
    /// Bytes written; `u64::MAX`: the application always has more.
    supplied: u64,
    /// One past the last byte sent.
    sent: u64,
    closed: bool,
}

impl<E> Windowed<E> {
    /// `here` and `there` are the proxies at this end and at the peer's; `own` is the flow's
    /// configuration.
    pub(in crate::transport::tcp) fn new(
        end: E,
        own: &TcpConfig,
        here: Option<&ProxyConfig>,
        there: Option<&ProxyConfig>,
    ) -> Self {
        let (mss, headers) = (u64::from(own.mss().0), own.headers());
        Self {
            end,
            announces: here.map(|proxy| Announced::new(proxy.receive_buffer(), mss)),
            asks: there.map(|proxy| Asking::new(proxy.receive_buffer(), mss, headers)),
            called: false,
            supplied: 0,
            sent: 0,
            closed: false,
        }
    }
}

impl<E: TellWindow> Endpoint for Windowed<E> {
    fn is_called(&self) -> bool {
        self.called
    }

    fn write(&mut self, stream: u32, bytes: u64, last: bool) {
        if !self.closed {
            self.supplied = self.supplied.saturating_add(bytes);
            self.end.write(stream, bytes, last);
        }
    }

    fn close(&mut self) {
        self.closed = true;
        if self.supplied == u64::MAX {
            self.supplied = self.sent;
        }
        self.end.close();
    }

    fn total(&self) -> Option<u64> {
        self.closed.then_some(self.supplied)
    }

    fn permit(&mut self, edge: u64) {
        if let Some(own) = &mut self.announces {
            own.edge = edge;
        }
    }

    fn handle(&mut self, now: Instant, packet: &Packet, contents: Option<Contents>) -> Received {
        if let Some(own) = &mut self.announces
            && is_probe(packet)
        {
            own.asked = true;
            return Received::Data { in_vain: true, delivered: self.end.delivered() };
        }
        self.called |= packet.segment.syn && !packet.answers;
        let received = self.end.handle(now, packet, contents);
        if let Some(asks) = &mut self.asks
            && packet.answers
        {
            asks.on_heard(packet.segment.ack + u64::from(packet.segment.window));
        }
        received
    }

    fn transmit(&mut self, now: Instant, outbox: &mut Outbox) -> Option<Instant> {
        if let Some(own) = &mut self.announces {
            let tell = own.tells(self.end.delivered());
            TellWindow::permit(&mut self.end, own.edge, tell);
        }
        let first = outbox.sent().len();
        let timeout = self.end.transmit(now, outbox);
        for &number in &outbox.sent()[first..] {
            let Packet { answers, start, len, .. } = outbox[number];
            match &mut self.announces {
                Some(own) if answers => own.told = own.edge,
                _ if len > 0 => self.sent = self.sent.max(start + u64::from(len)),
                _ => {}
            }
        }
        let acknowledged = self.end.acknowledged().unwrap_or(0);
        let asks = self.asks.as_mut().and_then(|asks| {
            let stopped = asks.stops(acknowledged, self.supplied);
            let window = stopped.then(|| self.end.window()).flatten();
            asks.ask(now, acknowledged, window, outbox)
        });
        [timeout, asks].into_iter().flatten().min()
    }

    delegate! { self.end =>
        fn open(&mut self);
        fn is_open(&self) -> bool;
        fn read(&mut self) -> Option<Chunk>;
        fn unsent(&self) -> u64;
        fn handle_timeout(&mut self, now: Instant);
        fn in_order(&self) -> bool;
        fn delivered(&self) -> u64;
        fn acknowledged(&self) -> Option<u64>;
        fn report(&self) -> Report;
        fn limit(&self) -> Limit;
        fn window(&self) -> Option<Window>;
        fn change(&mut self, now: Instant, change: &EndpointChange) -> bool;
    }
}

/// Whether a packet asks for the window: it has no data, and stands before the next byte expected (RFC
/// 9293 section 3.8.6.1). The last packet of a handshake stands at the first byte.
fn is_probe(packet: &Packet) -> bool {
    let Segment { syn, seq, .. } = packet.segment;
    !packet.answers && !syn && packet.len == 0 && seq > 0
}

/// The window that a proxy announces.
#[derive(Debug)]
struct Announced {
    receive_buffer: u64,
    mss: u64,
    /// First byte for which there is no room.
    edge: u64,
    /// The same byte as the sender was last told.
    told: u64,
    /// A sender that was stopped by the window has asked.
    asked: bool,
}

impl Announced {
    fn new(receive_buffer: u64, mss: u64) -> Self {
        let (edge, told) = (receive_buffer, receive_buffer);
        Self { receive_buffer, mss, edge, told, asked: false }
    }

    /// Whether the sender is to learn the edge now, with `arrived` bytes in order: it asked, the
    /// window that is left to it has doubled (`tcp_cleanup_rbuf` of Linux), or it had no room for a
    /// full packet.
    fn tells(&mut self, arrived: u64) -> bool {
        if std::mem::take(&mut self.asked) {
            return true;
        }
        let left = self.told.saturating_sub(arrived);
        let room = self.edge - arrived;
        let worth = self.mss.max(self.receive_buffer / LEAST_SHARE);
        let doubled = 2 * left <= self.receive_buffer && room >= 2 * left;
        room >= worth && (doubled || left < self.mss) && self.edge > self.told
    }
}

/// A sender that a proxy's window may stop. It asks for the window from time to time, since what tells
/// that it has opened may be lost (RFC 9293 section 3.8.6.1).
#[derive(Debug)]
struct Asking {
    mss: u64,
    /// Bytes of a packet that only asks.
    headers: u32,
    /// First byte that the peer has not permitted.
    heard: u64,
    probe: Option<Probe>,
}

/// When a stopped sender asks next, and how long it has waited.
#[derive(Clone, Copy, Debug)]
struct Probe {
    at: Instant,
    after: Duration,
}

impl Asking {
    fn new(heard: u64, mss: u64, headers: u32) -> Self {
        Self { mss, headers, heard, probe: None }
    }

    /// An acknowledgement permits bytes below `edge`.
    fn on_heard(&mut self, edge: u64) {
        if edge > self.heard {
            self.heard = edge;
            self.probe = None;
        }
    }

    /// Whether the window keeps the sender from its next packet, with `acknowledged` of `supplied`
    /// bytes.
    fn stops(&self, acknowledged: u64, supplied: u64) -> bool {
        let next = (supplied - acknowledged).min(self.mss);
        next > 0 && self.heard < acknowledged.saturating_add(next)
    }

    /// Asks if it is time, with this `window` if the sender is stopped; returns when it asks next.
    fn ask(
        &mut self,
        now: Instant,
        acknowledged: u64,
        window: Option<Window>,
        outbox: &mut Outbox,
    ) -> Option<Instant> {
        let Some(Window { in_flight: 0, srtt, .. }) = window else {
            self.probe = None;
            return None;
        };
        let rtt = srtt.unwrap_or_default();
        let first = FIRST_PROBE.max(rtt + rtt);
        let Probe { at, after } =
            *self.probe.get_or_insert(Probe { at: now + first, after: first });
        if now < at {
            return Some(at);
        }
        let after = (after + after).min(LAST_PROBE);
        self.probe = Some(Probe { at: now + after, after });
        let (seq, wire) = (acknowledged.saturating_sub(1), self.headers);
        *outbox.draft() = Packet {
            size: Bytes(wire),
            segment: Segment { seq, wire, ts_val: now, ..Segment::default() },
            ..Packet::default()
        };
        outbox.send();
        Some(now + after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_told_when_it_has_opened_far_enough() {
        let mut own = Announced::new(4000, 1000);
        own.edge = 7000;
        assert!(own.tells(3000), "a full packet had no room");
        own.told = 7000;
        assert!(!own.tells(7000), "both buffers are full");
        own.edge = 7500;
        assert!(!own.tells(7000), "half a packet is not worth an update");
        own.edge = 8000;
        assert!(own.tells(7000));
        own.told = 8000;
        assert!(!own.tells(7000));
        own.asked = true;
        assert!(own.tells(7000) && !own.tells(7000));
    }

    #[test]
    fn a_stopped_sender_asks_ever_more_rarely() {
        let mut asking = Asking::new(4000, 1000, 52);
        assert!(!asking.stops(3000, 4000) && asking.stops(3500, 5000));
        assert!(!asking.stops(3500, 3900));
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let srtt = Some(Duration::from_millis(300));
        let window = Some(Window { srtt, ..Window::default() });
        let mut outbox = Outbox::default();
        let mut ask = |asking: &mut Asking, now| {
            let next = asking.ask(now, 4000, window, &mut outbox);
            (next, outbox.sent().len())
        };
        assert_eq!(ask(&mut asking, at(0)), (Some(at(600)), 0));
        assert_eq!(ask(&mut asking, at(600)), (Some(at(1800)), 1));
        asking.on_heard(4000);
        assert_eq!(ask(&mut asking, at(700)), (Some(at(1800)), 1), "nothing new");
        asking.on_heard(5000);
        assert_eq!(ask(&mut asking, at(700)), (Some(at(1300)), 1));
        assert!(outbox.sent().iter().all(|&number| is_probe(&outbox[number])));
    }
}
