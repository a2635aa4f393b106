//! A QUIC connection with data in both directions: one stream for each request and its answer.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use clift::transport::{
    Connection, Dialogue, EcnReport, End, Heard, Outbox, Packet, Received, Report, Window,
};
use clift::units::{self, Duration, Ecn, Instant};
use quinn_proto::{ClientConfig, Dir, Endpoint, Event, StreamEvent, StreamId};

use crate::clock::{Clock, rings};
use crate::connection::{Body, HEADER, Peer, Probes, ZEROS, address, carried, codepoint};
use crate::frames::{Contents, STREAM_BITS};
use crate::received;
use crate::sent::Sent;

/// The client is at [`End::Receiver`] and opens the connection; the server is at [`End::Sender`].
/// Counters and delays refer to the answers.
pub(crate) struct QuicDialogue {
    clock: Clock,
    client: Peer,
    server: Peer,
    /// Configuration of the client's call; `None` after the call.
    calls: Option<ClientConfig>,
    open: bool,
    /// Whether the client's first data leaves with its first packets.
    early: bool,
    /// Datagrams in transit, by the number in their packets.
    bodies: Vec<Body>,
    unused: Vec<u32>,

    /// Stream ids by the application's stream numbers, and the reverse.
    ids: BTreeMap<u32, StreamId>,
    numbers: BTreeMap<StreamId, u32>,
    /// Data of each end that its stream has not accepted yet, in order.
    saying: [VecDeque<Saying>; 2],
    heard: [VecDeque<Heard>; 2],

    /// Data that the server sent and the acknowledged part, by stream.
    sent: BTreeMap<u64, Sent>,
    arrived: BTreeMap<u64, received::Received>,
    /// Number of data packets that the server sent.
    order: u64,
    latest: u64,
    delivered: u64,
    acknowledged: u64,
    in_flight: Arc<AtomicU64>,
    report: Report,
    /// Whether an end has received data and not acted on it yet.
    heard_now: [bool; 2],
    timer_ran: Option<Probes>,
    /// Marks on the answers, if ECN is in use.
    ecn: Option<EcnReport>,
}

/// Bytes for a stream.
#[derive(Debug)]
struct Saying {
    stream: u32,
    left: u64,
    last: bool,
    blocked: bool,
}

impl QuicDialogue {
    pub(crate) fn new(
        [client, server]: [Endpoint; 2],
        calls: ClientConfig,
        clock: Clock,
        in_flight: Arc<AtomicU64>,
        ecn: bool,
    ) -> Self {
        Self {
            clock,
            client: Peer::new(client),
            server: Peer::new(server),
            calls: Some(calls),
            open: false,
            early: false,
            bodies: Vec::new(),
            unused: Vec::new(),
            ids: BTreeMap::new(),
            numbers: BTreeMap::new(),
            saying: [VecDeque::new(), VecDeque::new()],
            heard: [VecDeque::new(), VecDeque::new()],
            sent: BTreeMap::new(),
            arrived: BTreeMap::new(),
            order: 0,
            latest: 0,
            delivered: 0,
            acknowledged: 0,
            in_flight,
            report: Report::default(),
            heard_now: [false; 2],
            timer_ran: None,
            ecn: ecn.then(EcnReport::default),
        }
    }

    /// The connection as a resumed one, whose client does not wait for the server's handshake.
    pub(crate) fn resumed(self) -> Self {
        Self { early: true, ..self }
    }

    fn peer(&mut self, end: End) -> &mut Peer {
        match end {
            End::Sender => &mut self.server,
            End::Receiver => &mut self.client,
        }
    }

    fn call(&mut self, now: Instant) {
        if !self.open {
            return;
        }
        let Some(config) = self.calls.take() else { return };
        let now = self.clock.at(now);
        let called = self.client.endpoint.connect(now, config, address(End::Sender), "clift");
        // Connecting fails only for invalid addresses and versions, and these are valid.
        self.client.connection = called.ok();
    }

    /// Passes the data of an end to its streams, as far as they accept it. The client opens a
    /// stream for each new request as soon as the server allows another one.
    fn write(&mut self, end: End) {
        let peer = match end {
            End::Sender => &mut self.server,
            End::Receiver => &mut self.client,
        };
        let Some((_, connection)) = &mut peer.connection else { return };
        for saying in &mut self.saying[end as usize] {
            let id = match self.ids.get(&saying.stream) {
                Some(id) => *id,
                None if end == End::Sender => continue,
                None => {
                    let Some(id) = connection.streams().open(Dir::Bi) else { break };
                    self.ids.insert(saying.stream, id);
                    self.numbers.insert(id, saying.stream);
                    id
                }
            };
            let mut stream = connection.send_stream(id);
            while saying.left > 0 && !saying.blocked {
                let length = saying.left.min(ZEROS.len() as u64) as usize;
                match stream.write_chunks(&mut [Bytes::from_static(&ZEROS[..length])]) {
                    Ok(written) => saying.left -= written.bytes as u64,
                    Err(_) => saying.blocked = true,
                }
            }
            if saying.left == 0 && saying.last {
                // Finishing fails only for a stream that has ended already.
                let _ = stream.finish();
            }
        }
        self.saying[end as usize].retain(|saying| saying.left > 0);
    }

    /// Processes the events of an end, and reads its in-order data.
    fn events(&mut self, end: End) {
        let mut readable = BTreeSet::new();
        let (numbers, saying) = (&self.numbers, &mut self.saying[end as usize]);
        let peer = match end {
            End::Sender => &mut self.server,
            End::Receiver => &mut self.client,
        };
        let Some((_, connection)) = &mut peer.connection else { return };
        while let Some(event) = connection.poll() {
            match event {
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(id) = connection.streams().accept(dir) {
                        readable.insert(id);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => {
                    readable.insert(id);
                }
                Event::Stream(StreamEvent::Writable { id }) => {
                    let own = numbers.get(&id);
                    for saying in saying.iter_mut().filter(|saying| Some(&saying.stream) == own) {
                        saying.blocked = false;
                    }
                }
                _ => {}
            }
        }
        for id in readable {
            let mut bytes = 0;
            let mut stream = connection.recv_stream(id);
            // A stream that has ended has no more data.
            let Ok(mut chunks) = stream.read(true) else { continue };
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                bytes += chunk.bytes.len() as u64;
            }
            let _ = chunks.finalize();
            if let (Some(&stream), 1..) = (numbers.get(&id), bytes) {
                self.heard[end as usize].push_back(Heard { stream, bytes });
            }
            if end == End::Receiver {
                self.delivered += bytes;
            }
        }
    }

    /// Sends the datagrams that a connection has ready; returns whether there were any.
    fn send(&mut self, now: Instant, end: End, outbox: &mut Outbox) -> bool {
        let at = self.clock.at(now);
        let mut something = false;
        while let Some((_, connection)) = &mut self.peer(end).connection {
            let mut bytes = Vec::new();
            let Some(transmit) = connection.poll_transmit(at, 1, &mut bytes) else { break };
            something = true;
            let ecn = carried(transmit.ecn.filter(|_| self.ecn.is_some()));
            self.post(now, end, (bytes, ecn), outbox);
        }
        something
    }

    /// Makes a packet from a datagram.
    fn post(&mut self, now: Instant, end: End, (bytes, ecn): (Vec<u8>, Ecn), outbox: &mut Outbox) {
        let size = units::Bytes(bytes.len() as u32 + HEADER);
        let contents = Contents::of(&bytes);
        let mut packet = Packet { size, ecn, ..Packet::default() };
        packet.len = contents.ranges().map(|range| (range.end - range.start) as u32).sum();
        packet.first_sent = now;
        packet.start = contents.data.as_ref().map_or(0, |data| data.start);
        if end == End::Sender && packet.len > 0 {
            for range in contents.ranges() {
                let sent = self.sent.entry(range.start >> STREAM_BITS).or_default();
                let (first, again) = sent.send(now, range);
                packet.first_sent = packet.first_sent.min(first);
                packet.retransmission = packet.retransmission.max(again);
            }
            self.order += 1;
            self.report.sent += 1;
            self.report.bytes_sent += u64::from(size.0);
            let counts = &mut self.report.by_retransmissions;
            let most = counts.len() - 1;
            let again = usize::from(packet.retransmission).min(most);
            if packet.retransmission > 0 {
                counts[again - 1] = counts[again - 1].saturating_sub(1);
                self.report.retransmissions += 1;
                self.report.fast_retransmits += u64::from(self.timer_ran.is_none());
            }
            counts[again] += 1;
        }
        let (order, delivered) = (self.order, self.delivered);
        let body = Body { bytes, contents, order, delivered, messages: Vec::new() };
        packet.body = match self.unused.pop() {
            Some(number) => {
                self.bodies[number as usize] = body;
                number
            }
            None => {
                self.bodies.push(body);
                self.bodies.len() as u32 - 1
            }
        };
        *outbox.draft() = packet;
        outbox.send();
    }

    fn take(&mut self, packet: &Packet) -> Body {
        self.unused.push(packet.body);
        std::mem::take(&mut self.bodies[packet.body as usize])
    }

    /// An answer's packet reached the client. Returns whether it contains new data.
    fn client_got(&mut self, packet: &Packet, body: &Body) -> bool {
        let mut new = packet.len == 0;
        for range in body.contents.ranges() {
            new |=
                self.arrived.entry(range.start >> STREAM_BITS).or_default().insert(&within(range));
        }
        if packet.len > 0 {
            self.report.bytes_received += u64::from(packet.size.0);
            self.report.spurious_retransmissions += u64::from(!new);
            let behind = self.latest.saturating_sub(body.order);
            self.report.reordering = self.report.reordering.max(behind);
            self.latest = self.latest.max(body.order);
        }
        new
    }
}

/// The range in offsets of its stream.
fn within(range: &std::ops::Range<u64>) -> std::ops::Range<u64> {
    let base = range.start >> STREAM_BITS << STREAM_BITS;
    range.start - base..range.end - base
}

impl Dialogue for QuicDialogue {
    fn open(&mut self) {
        self.open = true;
    }

    fn is_open(&self) -> bool {
        let connection = self.client.connection.as_ref();
        self.open && self.early
            || connection.is_some_and(|(_, connection)| !connection.is_handshaking())
    }

    fn say(&mut self, end: End, stream: u32, bytes: u64, last: bool) {
        let saying = Saying { stream, left: bytes, last, blocked: false };
        self.saying[end as usize].push_back(saying);
    }

    fn heard(&mut self, end: End) -> Option<Heard> {
        self.heard[end as usize].pop_front()
    }

    fn unsent(&self, end: End) -> u64 {
        self.saying[end as usize].iter().map(|saying| saying.left).sum()
    }
}

impl Connection for QuicDialogue {
    /// Sessions send on a given stream instead ([`Dialogue::say`]).
    fn supply(&mut self, _: u64) {}

    fn close(&mut self) {}

    fn receive(&mut self, now: Instant, end: End, packet: &Packet) -> Received {
        let body = self.take(packet);
        let in_vain = end == End::Receiver && !self.client_got(packet, &body);
        let from = address(match end {
            End::Sender => End::Receiver,
            End::Receiver => End::Sender,
        });
        let at = self.clock.at(now);
        self.peer(end).handle(at, from, codepoint(packet.ecn), body.bytes);
        self.heard_now[end as usize] = true;
        if let (End::Receiver, true, Some(report)) = (end, packet.len > 0, &mut self.ecn) {
            report.arrived += 1;
            report.marked += u64::from(packet.ecn == Ecn::Ce);
        }
        self.events(end);
        match end {
            End::Receiver => Received::Data { in_vain, delivered: self.delivered },
            End::Sender => {
                if body.contents.acknowledges {
                    self.acknowledged = self.acknowledged.max(body.delivered);
                }
                Received::Ack(self.acknowledged)
            }
        }
    }

    fn discard(&mut self, packet: &Packet) {
        self.take(packet);
    }

    /// Follows the order of quinn's tasks, as for data in one direction.
    fn transmit(&mut self, now: Instant, end: End, outbox: &mut Outbox) -> Option<Instant> {
        if std::mem::take(&mut self.heard_now[end as usize]) {
            return Some(now);
        }
        if end == End::Receiver {
            self.call(now);
            if self.client.writes_early() {
                self.write(end);
            }
        }
        for bytes in std::mem::take(&mut self.peer(end).answers) {
            self.post(now, end, (bytes, Ecn::NotEct), outbox);
        }
        let mut something = self.send(now, end, outbox);
        self.peer(end).exchange();
        something |= self.send(now, end, outbox);
        self.write(end);
        something |= self.send(now, end, outbox);
        if end == End::Sender
            && let Some(before) = self.timer_ran.take()
        {
            self.report.timeouts +=
                u64::from(before.was_timeout(Probes::of(&self.server), something));
        }
        let peer = self.peer(end);
        peer.exchange();
        let timeout = peer.connection.as_mut().and_then(|(_, it)| it.poll_timeout());
        timeout.map(|at| rings(now, self.clock.back(at)))
    }

    fn handle_timeout(&mut self, now: Instant, end: End) {
        let at = self.clock.at(now);
        let before = Probes::of(&self.server);
        let Some((_, connection)) = &mut self.peer(end).connection else { return };
        if connection.poll_timeout().is_none_or(|due| due > at) {
            return;
        }
        connection.handle_timeout(at);
        if end == End::Sender {
            self.timer_ran = Some(before);
        }
        self.events(end);
    }

    /// Streams are independent of one another.
    fn in_order(&self) -> bool {
        false
    }

    fn delivered(&self) -> u64 {
        self.delivered
    }

    fn acknowledged(&self) -> Option<u64> {
        Some(self.acknowledged)
    }

    /// Counters of the answers.
    fn report(&self) -> Report {
        let events = self
            .server
            .connection
            .as_ref()
            .map_or(0, |(_, connection)| connection.stats().path.congestion_events);
        Report { recovery_entries: events, window_reductions: events, ecn: self.ecn, ..self.report }
    }

    fn window(&self) -> Option<Window> {
        let (_, connection) = self.server.connection.as_ref()?;
        let mtu = f64::from(connection.current_mtu());
        let metrics = connection.congestion_state().metrics();
        let threshold = metrics.ssthresh.filter(|&bytes| bytes < u64::MAX);
        let measured = !connection.is_handshaking();
        let nanos = u64::try_from(connection.rtt().as_nanos()).unwrap_or(u64::MAX);
        Some(Window {
            cwnd: metrics.congestion_window as f64 / mtu,
            ssthresh: threshold.map_or(f64::INFINITY, |bytes| bytes as f64 / mtu),
            srtt: measured.then(|| Duration::from_nanos(nanos)),
            in_flight: self.in_flight.load(Ordering::Relaxed).div_ceil(mtu as u64),
        })
    }

    fn dialogue(&mut self) -> Option<&mut dyn Dialogue> {
        Some(self)
    }
}
