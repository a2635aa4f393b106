//! Both ends of a QUIC connection, as the engine drives them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::{Bytes, BytesMut};
use clift::transport::{Connection, EcnReport, End, Outbox, Packet, Received, Report, Window};
use clift::units::{self, Duration, Ecn, Instant};
use quinn_proto::{
    ClientConfig, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, Event, StreamEvent,
    StreamId,
};

use crate::clock::{Clock, rings};
use crate::frames::Contents;
use crate::messages::{Message, Messages};
use crate::received;
use crate::sent::Sent;

/// IPv4 and UDP headers.
pub(crate) const HEADER: u32 = 28;
/// Source of the data; in a static, so it takes no space in the binary.
pub(crate) static ZEROS: [u8; 1 << 20] = [0; 1 << 20];

/// A connection whose client sends data over one stream.
pub(crate) struct QuicConnection {
    clock: Clock,
    /// Marks on received packets, if explicit congestion notification is on.
    ecn: Option<EcnReport>,
    client: Peer,
    server: Peer,
    /// Configuration of the client's call; `None` after the call.
    calls: Option<ClientConfig>,
    /// Datagrams in transit, by the number in their packets.
    bodies: Vec<Body>,
    unused: Vec<u32>,

    /// Replaces the stream if each message is sent in a datagram.
    messages: Option<Messages>,
    /// Bytes supplied by the application and not yet accepted by the stream.
    supplied: u64,
    closed: bool,
    finished: bool,
    stream: Option<StreamId>,
    blocked: bool,
    sent: Sent,
    /// Number of data packets sent.
    order: u64,
    acknowledged: u64,
    in_flight: Arc<AtomicU64>,

    incoming: Option<StreamId>,
    arrived: received::Received,
    delivered: u64,
    latest: u64,

    report: Report,
    /// Whether an end has received data and not acted on it yet.
    heard_now: [bool; 2],
    /// Set after a timer of the client expired: quinn's counters before that.
    timer_ran: Option<Probes>,
}

/// A datagram in transit.
#[derive(Debug, Default)]
pub(crate) struct Body {
    pub(crate) bytes: Vec<u8>,
    pub(crate) contents: Contents,
    /// Number of the data packet.
    pub(crate) order: u64,
    /// In-order bytes at the sender of this datagram, if it is an acknowledgement.
    pub(crate) delivered: u64,
    /// Messages in the datagram.
    pub(crate) messages: Vec<Message>,
}

/// Counters that reveal whether an expired timer was the probe timeout.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Probes {
    /// Requests for an immediate acknowledgement, except those of MTU probes.
    requests: u64,
    lost: u64,
    handshaking: bool,
}

/// One end of a connection.
pub(crate) struct Peer {
    pub(crate) endpoint: Endpoint,
    pub(crate) connection: Option<(ConnectionHandle, quinn_proto::Connection)>,
    /// Datagrams that the endpoint sends without its connection.
    pub(crate) answers: Vec<Vec<u8>>,
}

impl QuicConnection {
    pub(crate) fn new(
        [client, server]: [Endpoint; 2],
        calls: ClientConfig,
        clock: Clock,
        in_flight: Arc<AtomicU64>,
        ecn: bool,
    ) -> Self {
        Self {
            clock,
            ecn: ecn.then(EcnReport::default),
            client: Peer::new(client),
            server: Peer::new(server),
            calls: Some(calls),
            bodies: Vec::new(),
            unused: Vec::new(),
            messages: None,
            supplied: 0,
            closed: false,
            finished: false,
            stream: None,
            blocked: false,
            sent: Sent::default(),
            order: 0,
            acknowledged: 0,
            in_flight,
            incoming: None,
            arrived: received::Received::default(),
            delivered: 0,
            latest: 0,
            report: Report::default(),
            heard_now: [false; 2],
            timer_ran: None,
        }
    }

    /// The connection with a datagram for each message.
    pub(crate) fn of_messages(self) -> Self {
        Self { messages: Some(Messages::default()), ..self }
    }

    fn peer(&mut self, end: End) -> &mut Peer {
        match end {
            End::Sender => &mut self.client,
            End::Receiver => &mut self.server,
        }
    }

    /// Opens the connection for the first data.
    fn call(&mut self, now: Instant) {
        let waits = self.messages.as_ref().is_some_and(Messages::waits);
        if self.supplied == 0 && !waits && (!self.closed || self.messages.is_some()) {
            return;
        }
        let Some(config) = self.calls.take() else { return };
        let now = self.clock.at(now);
        let called = self.client.endpoint.connect(now, config, address(End::Receiver), "clift");
        // Connecting fails only for invalid addresses and versions, and these are valid.
        self.client.connection = called.ok();
    }

    /// Passes the application's data to the stream, as far as the stream accepts it.
    fn write(&mut self) {
        let Some((_, connection)) = &mut self.client.connection else { return };
        if let Some(messages) = &mut self.messages {
            return messages.write(connection);
        }
        if self.stream.is_none() {
            self.stream = connection.streams().open(Dir::Uni);
        }
        let Some(id) = self.stream else { return };
        let mut stream = connection.send_stream(id);
        while self.supplied > 0 && !self.blocked {
            let length = self.supplied.min(ZEROS.len() as u64) as usize;
            match stream.write_chunks(&mut [Bytes::from_static(&ZEROS[..length])]) {
                // Unlimited data remains unlimited.
                Ok(written) if self.supplied < u64::MAX => self.supplied -= written.bytes as u64,
                Ok(_) => {}
                Err(_) => self.blocked = true,
            }
        }
        if self.closed && self.supplied == 0 && !self.finished {
            self.finished = stream.finish().is_ok();
        }
    }

    /// Processes the events of an end.
    fn events(&mut self, end: End) {
        loop {
            let peer = self.peer(end);
            let Some((_, connection)) = &mut peer.connection else { return };
            let Some(event) = connection.poll() else { break };
            let Event::Stream(event) = event else { continue };
            match event {
                StreamEvent::Writable { .. } => self.blocked = false,
                StreamEvent::Opened { dir } => {
                    let accepted = connection.streams().accept(dir);
                    self.incoming = self.incoming.or(accepted);
                }
                _ => {}
            }
        }
    }

    /// Reads the in-order data from the stream.
    fn read(&mut self) {
        let (Some(id), Some((_, connection))) = (self.incoming, &mut self.server.connection) else {
            return;
        };
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            self.delivered += chunk.bytes.len() as u64;
        }
        // The next packet, which is requested at once, carries the flow-control credit.
        let _ = chunks.finalize();
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

    /// Reads the received messages; returns their number.
    fn hear(&mut self) -> usize {
        let Some((_, connection)) = &mut self.server.connection else { return 0 };
        let mut count = 0;
        while let Some(bytes) = connection.datagrams().recv() {
            self.delivered += bytes.len() as u64;
            count += 1;
        }
        count
    }

    /// Messages in a packet that leaves.
    fn send_messages(
        &mut self,
        now: Instant,
        contents: &Contents,
        packet: &mut Packet,
    ) -> Vec<Message> {
        let Some(own) = &mut self.messages else { return Vec::new() };
        let each = contents.messages.iter();
        let messages: Vec<_> = each.filter_map(|&(first, len)| own.leaves(first, len)).collect();
        if let Some(message) = messages.first() {
            packet.start = message.start;
            packet.len = messages.iter().map(|message| message.len).sum();
            packet.first_sent = now;
            self.order += 1;
            self.report.sent += 1;
            self.report.by_retransmissions[0] += 1;
            self.report.bytes_sent += u64::from(packet.size.0);
        }
        messages
    }

    /// Makes a packet from a datagram.
    fn post(&mut self, now: Instant, end: End, (bytes, ecn): (Vec<u8>, Ecn), outbox: &mut Outbox) {
        let size = units::Bytes(bytes.len() as u32 + HEADER);
        let contents = Contents::of(&bytes);
        let mut packet = Packet { size, ecn, ..Packet::default() };
        let messages = match end {
            End::Sender => self.send_messages(now, &contents, &mut packet),
            End::Receiver => Vec::new(),
        };
        if let (End::Sender, Some(data)) = (end, &contents.data) {
            packet.start = data.start;
            packet.len = contents.ranges().map(|range| (range.end - range.start) as u32).sum();
            (packet.first_sent, packet.retransmission) = self.sent.send(now, data);
            for range in &contents.more_data {
                let (_, again) = self.sent.send(now, range);
                packet.retransmission = packet.retransmission.max(again);
            }
            self.order += 1;
            self.report.sent += 1;
            self.report.bytes_sent += u64::from(size.0);
            if packet.retransmission > 0 {
                self.report.retransmissions += 1;
                self.report.fast_retransmits += u64::from(self.timer_ran.is_none());
            }
        }
        let body = Body { bytes, contents, order: self.order, delivered: self.delivered, messages };
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

    /// Counts the probe timeout if the timer that expired was one.
    fn count_timeout(&mut self, before: Probes, sent_something: bool) {
        let after = Probes::of(&self.client);
        self.report.timeouts += u64::from(before.was_timeout(after, sent_something));
    }
}

impl Probes {
    /// The counters of an end.
    pub(crate) fn of(peer: &Peer) -> Self {
        let Some((_, connection)) = &peer.connection else { return Self::default() };
        let stats = connection.stats();
        let tries = stats.path.sent_plpmtud_probes;
        Self {
            requests: stats.frame_tx.immediate_ack.saturating_sub(tries),
            lost: stats.path.lost_packets,
            handshaking: connection.is_handshaking(),
        }
    }

    /// Whether the expired timer was the probe timeout (RFC 9002 section 6.2), which quinn counts
    /// only internally. The probe timeout's packets request an immediate acknowledgement; during
    /// the handshake, it is the only timer that sends packets.
    pub(crate) fn was_timeout(self, after: Self, sent_something: bool) -> bool {
        let in_handshake = self.handshaking && sent_something && after.lost == self.lost;
        after.requests > self.requests || in_handshake
    }
}

impl Peer {
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        Self { endpoint, connection: None, answers: Vec::new() }
    }

    /// Whether the application's data leaves with the first packets (0-RTT), before the connection
    /// has sent its own frames.
    pub(crate) fn writes_early(&self) -> bool {
        let early = |it: &quinn_proto::Connection| it.is_handshaking() && it.has_0rtt();
        self.connection.as_ref().is_some_and(|(_, connection)| early(connection))
    }

    /// Handles a received datagram.
    pub(crate) fn handle(
        &mut self,
        now: std::time::Instant,
        from: SocketAddr,
        ecn: Option<EcnCodepoint>,
        bytes: Vec<u8>,
    ) {
        let mut buffer = Vec::new();
        let data = BytesMut::from(Bytes::from(bytes));
        match self.endpoint.handle(now, from, None, ecn, data, &mut buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, now, &mut buffer, None) {
                    Ok(accepted) => self.connection = Some(accepted),
                    Err(error) => {
                        if let Some(transmit) = error.response {
                            self.answers.push(buffer[..transmit.size].to_vec());
                        }
                    }
                }
            }
            Some(DatagramEvent::Response(transmit)) => {
                self.answers.push(buffer[..transmit.size].to_vec());
            }
            None => {}
        }
    }

    /// Exchanges events between endpoint and connection.
    pub(crate) fn exchange(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
    }
}

/// The ECN field of the IP header in quinn's type.
pub(crate) fn codepoint(ecn: Ecn) -> Option<EcnCodepoint> {
    match ecn {
        Ecn::NotEct => None,
        Ecn::Ect1 => Some(EcnCodepoint::Ect1),
        Ecn::Ect0 => Some(EcnCodepoint::Ect0),
        Ecn::Ce => Some(EcnCodepoint::Ce),
    }
}

/// The ECN field of the IP header in the link's type.
pub(crate) fn carried(ecn: Option<EcnCodepoint>) -> Ecn {
    match ecn {
        None => Ecn::NotEct,
        Some(EcnCodepoint::Ect1) => Ecn::Ect1,
        Some(EcnCodepoint::Ect0) => Ecn::Ect0,
        Some(EcnCodepoint::Ce) => Ecn::Ce,
    }
}

/// The address of an end. Results do not depend on it.
pub(crate) fn address(end: End) -> SocketAddr {
    let last = if end == End::Sender { 1 } else { 2 };
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, last)), 4433)
}

impl Connection for QuicConnection {
    fn supply(&mut self, bytes: u64) {
        match &mut self.messages {
            _ if self.closed => {}
            Some(messages) => messages.supply(bytes),
            None => self.supplied = self.supplied.saturating_add(bytes),
        }
    }

    fn close(&mut self) {
        // For unlimited data, the stream ends at the bytes already accepted.
        if self.supplied == u64::MAX {
            self.supplied = 0;
        }
        self.closed = true;
    }

    fn receive(&mut self, now: Instant, end: End, packet: &Packet) -> Received {
        let body = self.take(packet);
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
            End::Receiver => {
                let mut new = packet.len == 0;
                for range in body.contents.ranges() {
                    new |= self.arrived.insert(range);
                }
                if self.messages.is_some() {
                    // A message counts as new only if its packet was read in time.
                    new |= self.hear() == body.messages.len() && packet.len > 0;
                }
                if packet.len > 0 {
                    self.read();
                    self.report.bytes_received += u64::from(packet.size.0);
                    match self.messages {
                        None => self.report.spurious_retransmissions += u64::from(!new),
                        Some(_) => self.report.stale += u64::from(!new),
                    }
                    let behind = self.latest.saturating_sub(body.order);
                    self.report.reordering = self.report.reordering.max(behind);
                    self.latest = self.latest.max(body.order);
                }
                Received::Data { in_vain: !new, delivered: self.delivered }
            }
            End::Sender => {
                if body.contents.acknowledges && body.delivered > self.acknowledged {
                    self.acknowledged = body.delivered;
                    let counts = &mut self.report.by_retransmissions;
                    self.sent.acknowledge(self.acknowledged, |again| {
                        counts[usize::from(again).min(counts.len() - 1)] += 1;
                    });
                }
                Received::Ack(self.acknowledged)
            }
        }
    }

    fn discard(&mut self, packet: &Packet) {
        self.take(packet);
    }

    /// Follows the order of quinn's tasks: the connection sends its own frames, then processes its
    /// endpoint's events (connection ids), then the application writes; each step sends separate
    /// packets. The application learns the end of the handshake after the packets that complete it,
    /// and a path MTU probe, have left.
    fn transmit(&mut self, now: Instant, end: End, outbox: &mut Outbox) -> Option<Instant> {
        // Packets that arrive at the same time are all read before the response is sent, so the
        // timer comes after them.
        if std::mem::take(&mut self.heard_now[end as usize]) {
            return Some(now);
        }
        if end == End::Sender {
            self.call(now);
            if self.client.writes_early() {
                self.write();
            }
        }
        for bytes in std::mem::take(&mut self.peer(end).answers) {
            self.post(now, end, (bytes, Ecn::NotEct), outbox);
        }
        let mut something = self.send(now, end, outbox);
        self.peer(end).exchange();
        something |= self.send(now, end, outbox);
        if end == End::Sender {
            self.write();
            something |= self.send(now, end, outbox);
            if let Some(before) = self.timer_ran.take() {
                self.count_timeout(before, something);
            }
        }
        let peer = self.peer(end);
        peer.exchange();
        let timeout = peer.connection.as_mut().and_then(|(_, it)| it.poll_timeout());
        timeout.map(|at| rings(now, self.clock.back(at)))
    }

    fn handle_timeout(&mut self, now: Instant, end: End) {
        let at = self.clock.at(now);
        let before = Probes::of(&self.client);
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

    fn in_order(&self) -> bool {
        self.messages.is_none()
    }

    fn delivered(&self) -> u64 {
        self.delivered
    }

    fn acknowledged(&self) -> Option<u64> {
        self.messages.is_none().then_some(self.acknowledged)
    }

    fn report(&self) -> Report {
        let events = self
            .client
            .connection
            .as_ref()
            .map_or(0, |(_, connection)| connection.stats().path.congestion_events);
        Report { recovery_entries: events, window_reductions: events, ecn: self.ecn, ..self.report }
    }

    fn window(&self) -> Option<Window> {
        let (_, connection) = self.client.connection.as_ref()?;
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
}
