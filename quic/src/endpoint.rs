//! An endpoint of a QUIC connection, as the engine drives it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::{Bytes, BytesMut};
use clift::transport::{
    BrokenOff, Chunk, End, Endpoint, EndpointChange, Limit, Outbox, Packet, Purpose, Received,
    Report, Window,
};
use clift::units::{self, Duration, Ecn, Instant};
use quinn_proto::{
    ClientConfig, ConnectionError, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Event,
    StreamEvent, StreamId,
};

use crate::clock::{Clock, rings};
use crate::congestion::Told;
use crate::frames::{Contents, STREAM_BITS};
use crate::messages::{Message, Messages};
use crate::received;
use crate::sent::Sent;

/// IPv4 and UDP headers.
const HEADER: u32 = 28;
/// Source of the data; in a static, so it takes no space in the binary.
static ZEROS: [u8; 1 << 20] = [0; 1 << 20];

/// One side of a connection. Data in one direction use one stream of the client's; in a dialogue each
/// request and its answer has a stream.
pub(crate) struct QuicEndpoint {
    clock: Clock,
    end: End,
    purpose: Purpose,
    peer: Peer,
    /// Configuration of the client's call; `None` after the call, and at the server.
    calls: Option<ClientConfig>,
    is_client: bool,
    open: bool,
    /// Whether the client's first data leaves with its first packets.
    early: bool,
    closed: bool,
    /// Whether the application will close although its data are unlimited.
    will_close: bool,
    /// Marks on received packets, if explicit congestion notification is on.

    /// Replaces the streams if each write is a message, sent in a datagram.
    messages: Option<Messages>,
    /// Stream ids by the application's stream numbers, and the reverse.
    ids: BTreeMap<u32, StreamId>,
    numbers: BTreeMap<StreamId, u32>,
    /// Data that their stream has not accepted yet, in order.
    writing: VecDeque<Writing>,
    /// What arrived on the streams of a dialogue and was not read yet.
    chunks: VecDeque<Chunk>,

    /// Bytes that the streams have accepted, and those of them that have been sent.
    written: u64,
    fresh: u64,
    /// Data sent and the unacknowledged part, by stream.
    sent: BTreeMap<u64, Sent>,
    arrived: BTreeMap<u64, received::Received>,
    /// Number of data packets sent, and the largest number received.
    order: u64,
    latest: u64,
    delivered: u64,
    read: u64,
    acknowledged: u64,
    told: Arc<Told>,
    report: Report,
    /// Whether packets have arrived to which this end has not reacted yet.
    heard_now: bool,
    /// Set after a timer expired: quinn's counters before that.
    timer_ran: Option<Probes>,
}

/// Bytes of unlimited data that wait in a stream that the application will close.
const FEW: u64 = 1 << 14;

/// Bytes for a stream.
#[derive(Debug)]
struct Writing {
    stream: u32,
    /// `u64::MAX`: the application always has more.
    left: u64,
    last: bool,
    blocked: bool,
}

/// Contents of a packet.
#[derive(Debug, Default)]
struct Body {
    bytes: Vec<u8>,
    contents: Contents,
    /// The application's numbers of the streams of the data, which requests state.
    streams: Vec<(StreamId, u32)>,
    /// Number of the data packet.
    order: u64,
    /// In-order bytes at the sender of this packet, if it is an acknowledgement.
    delivered: u64,
    /// Messages in the packet.
    messages: Vec<Message>,
}

/// Counters that reveal whether an expired timer was the probe timeout.
#[derive(Clone, Copy, Debug)]
struct Probes {
    /// Requests for an immediate acknowledgement, except those of MTU probes.
    requests: u64,
    lost: u64,
    handshaking: bool,
}

/// quinn's side of an endpoint.
pub(crate) struct Peer {
    pub(crate) endpoint: quinn_proto::Endpoint,
    connection: Option<(ConnectionHandle, quinn_proto::Connection)>,
    /// Datagrams that the endpoint sends without its connection.
    answers: Vec<Vec<u8>>,
}

impl QuicEndpoint {
    /// The endpoint at `end`; the client has the configuration of its call. `early`: it resumes a
    /// connection and does not wait for the server's handshake.
    pub(crate) fn new(
        (end, purpose): (End, Purpose),
        (endpoint, calls): (quinn_proto::Endpoint, Option<ClientConfig>),
        clock: Clock,
        told: Arc<Told>,
        (early, ecn): (bool, bool),
    ) -> Self {
        Self {
            clock,
            end,
            purpose,
            peer: Peer::new(endpoint),
            is_client: calls.is_some(),
            calls,
            open: false,
            early,
            closed: false,
            will_close: false,
            messages: (purpose == Purpose::Messages).then(Messages::default),
            ids: BTreeMap::new(),
            numbers: BTreeMap::new(),
            writing: VecDeque::new(),
            chunks: VecDeque::new(),
            written: 0,
            fresh: 0,
            sent: BTreeMap::new(),
            arrived: BTreeMap::new(),
            order: 0,
            latest: 0,
            delivered: 0,
            read: 0,
            acknowledged: 0,
            told,
            report: Report { ecn, ..Report::default() },
            heard_now: false,
            timer_ran: None,
        }
    }

    /// The client opens the connection.
    fn call(&mut self, now: Instant) {
        if !self.open {
            return;
        }
        let Some(config) = self.calls.take() else { return };
        let now = self.clock.at(now);
        let called = self.peer.endpoint.connect(now, config, address(self.end.other()), "clift");
        // Connecting fails only for invalid addresses and versions, and these are valid.
        self.peer.connection = called.ok();
    }

    /// Passes the data to their streams, as far as these accept it; returns false if no stream was
    /// asked. The client opens a stream for each new number as soon as the server allows another one.
    fn push(&mut self) -> bool {
        let Some((_, connection)) = &mut self.peer.connection else { return false };
        if let Some(messages) = &mut self.messages {
            messages.write(connection);
            return true;
        }
        let mut something = false;
        let dir = if self.purpose == Purpose::Dialogue { Dir::Bi } else { Dir::Uni };
        for writing in &mut self.writing {
            let id = match self.ids.get(&writing.stream) {
                Some(id) => *id,
                None if !self.is_client => continue,
                None => {
                    // quinn may tell its peer that a stream or data are blocked.
                    something = true;
                    let Some(id) = connection.streams().open(dir) else { break };
                    self.ids.insert(writing.stream, id);
                    self.numbers.insert(id, writing.stream);
                    id
                }
            };
            let mut stream = connection.send_stream(id);
            while writing.left > 0 && !writing.blocked {
                let mut length = ZEROS.len() as u64;
                if self.will_close && writing.left == u64::MAX {
                    length = FEW.saturating_sub(self.written - self.fresh);
                    if length == 0 {
                        break;
                    }
                }
                let length = writing.left.min(length) as usize;
                something = true;
                match stream.write_chunks(&mut [Bytes::from_static(&ZEROS[..length])]) {
                    Ok(written) => {
                        self.written += written.bytes as u64;
                        // Unlimited data remains unlimited.
                        if writing.left < u64::MAX {
                            writing.left -= written.bytes as u64;
                        }
                    }
                    Err(_) => writing.blocked = true,
                }
            }
            if writing.left == 0 && writing.last {
                // Finishing fails only for a stream that has ended already.
                let _ = stream.finish();
                something = true;
            }
        }
        self.writing.retain(|writing| writing.left > 0);
        something
    }

    /// Processes the events, and reads the in-order data.
    fn events(&mut self, now: Instant) {
        let mut readable = BTreeSet::new();
        let Some((_, connection)) = &mut self.peer.connection else { return };
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
                    let own = self.numbers.get(&id);
                    let own = self.writing.iter_mut().filter(|it| Some(&it.stream) == own);
                    own.for_each(|writing| writing.blocked = false);
                }
                Event::ConnectionLost { reason } => {
                    self.report.broken_off.get_or_insert(BrokenOff { at: now, why: why(&reason) });
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
            // The next packet, which is requested at once, carries the flow-control credit.
            let _ = chunks.finalize();
            self.delivered += bytes;
            if self.purpose == Purpose::Dialogue
                && let (Some(&stream), 1..) = (self.numbers.get(&id), bytes)
            {
                self.chunks.push_back(Chunk { stream, bytes });
            }
        }
    }

    /// Reads the received messages; returns their number.
    fn read_messages(&mut self) -> usize {
        let Some((_, connection)) = &mut self.peer.connection else { return 0 };
        let mut count = 0;
        while let Some(bytes) = connection.datagrams().recv() {
            self.delivered += bytes.len() as u64;
            count += 1;
        }
        count
    }

    /// Sends the datagrams that the connection has ready; returns whether there were any.
    fn send(&mut self, now: Instant, outbox: &mut Outbox) -> bool {
        let at = self.clock.at(now);
        let mut something = false;
        while let Some((_, connection)) = &mut self.peer.connection {
            let mut bytes = Vec::new();
            let Some(transmit) = connection.poll_transmit(at, 1, &mut bytes) else { break };
            something = true;
            let ecn = carried(transmit.ecn.filter(|_| self.report.ecn));
            self.post(now, (bytes, ecn), outbox);
            if self.will_close {
                self.push();
            }
        }
        something
    }

    /// Makes a packet from a datagram.
    fn post(&mut self, now: Instant, (bytes, ecn): (Vec<u8>, Ecn), outbox: &mut Outbox) {
        let size = units::Bytes(bytes.len() as u32 + HEADER);
        let contents = Contents::of(&bytes);
        let messages = self.messages.as_mut().map_or_else(Vec::new, |own| {
            let each = contents.messages.iter();
            each.filter_map(|&(first, len)| own.leaves(first, len)).collect()
        });
        let mut packet = Packet { size, ecn, first_sent: now, ..Packet::default() };
        match messages.first() {
            Some(message) => {
                packet.start = message.start;
                packet.len = messages.iter().map(|message| message.len).sum();
            }
            None => {
                packet.start = contents.data.as_ref().map_or(0, |data| data.start);
                packet.len = contents.ranges().map(|range| (range.end - range.start) as u32).sum();
            }
        }
        for (place, range) in contents.ranges().enumerate() {
            let sent = self.sent.entry(range.start >> STREAM_BITS).or_default();
            let end = sent.end().max(range.start);
            let (first, again) = sent.send(now, range);
            self.fresh += sent.end().saturating_sub(end);
            // Of one stream, the packet counts from its first byte.
            if place == 0 || self.purpose == Purpose::Dialogue {
                packet.first_sent = packet.first_sent.min(first);
            }
            packet.retransmission = packet.retransmission.max(again);
        }
        if packet.len > 0 {
            self.count(&packet);
        }
        let streams = match self.is_client && self.purpose == Purpose::Dialogue {
            true => self.numbers_of(&contents),
            false => Vec::new(),
        };
        let (order, delivered) = (self.order, self.delivered);
        *outbox.draft() = packet;
        outbox.attach(Box::new(Body { bytes, contents, streams, order, delivered, messages }));
        outbox.send();
    }

    /// Counts a packet with data that leaves.
    fn count(&mut self, packet: &Packet) {
        self.order += 1;
        let sender = &mut self.report.sender;
        sender.segments_sent += 1;
        sender.bytes_sent += u64::from(packet.size.0);
        if packet.retransmission > 0 {
            sender.retransmissions += 1;
            sender.fast_retransmits += u64::from(self.timer_ran.is_none());
        }
        // What several streams have in flight is not acknowledged in order.
        let counts = &mut sender.acknowledged_by_transmissions;
        let again = usize::from(packet.retransmission).min(counts.len() - 1);
        match self.purpose {
            Purpose::OneWay => {}
            Purpose::Messages => counts[0] += 1,
            Purpose::Dialogue => {
                if again > 0 {
                    counts[again - 1] = counts[again - 1].saturating_sub(1);
                }
                counts[again] += 1;
            }
        }
    }

    /// The application's numbers of the streams whose data a packet carries.
    fn numbers_of(&self, contents: &Contents) -> Vec<(StreamId, u32)> {
        let starts: BTreeSet<_> = contents.ranges().map(|it| it.start >> STREAM_BITS).collect();
        let known = self.numbers.iter().map(|(id, number)| (*id, *number));
        known.filter(|(id, _)| starts.contains(&id.index())).collect()
    }

    /// Counts a received packet, read from `body`, of which quinn has `read` messages; returns
    /// whether it contains new data.
    fn take_in(&mut self, packet: &Packet, body: &Body, read: usize) -> bool {
        let mut new = packet.len == 0;
        for range in body.contents.ranges() {
            let stream = range.start >> STREAM_BITS;
            new |= self.arrived.entry(stream).or_default().insert(&within(range));
        }
        if packet.len == 0 {
            return new;
        }
        let receiver = &mut self.report.receiver;
        receiver.segments_received += 1;
        receiver.marked_segments += u64::from(packet.ecn == Ecn::Ce);
        receiver.distinct_bytes += u64::from(packet.size.0);
        if self.messages.is_some() {
            // A message counts as new only if its packet was read in time.
            new |= read == body.messages.len();
            receiver.stale_segments += u64::from(!new);
        } else {
            receiver.duplicate_segments += u64::from(!new);
        }
        let behind = self.latest.saturating_sub(body.order);
        let behind = u32::try_from(behind).unwrap_or(u32::MAX);
        receiver.max_reordering = receiver.max_reordering.max(behind);
        self.latest = self.latest.max(body.order);
        new
    }

    /// The peer has this many bytes in order.
    fn acknowledge(&mut self, delivered: u64) {
        if delivered <= self.acknowledged {
            return;
        }
        self.acknowledged = delivered;
        if self.purpose == Purpose::OneWay {
            let counts = &mut self.report.sender.acknowledged_by_transmissions;
            self.sent.entry(0).or_default().acknowledge(delivered, |again| {
                counts[usize::from(again).min(counts.len() - 1)] += 1;
            });
        }
    }
}

/// The range in offsets of its stream.
fn within(range: &Range<u64>) -> Range<u64> {
    let base = range.start >> STREAM_BITS << STREAM_BITS;
    range.start - base..range.end - base
}

impl Probes {
    /// The counters of an end.
    fn of(connection: &quinn_proto::Connection) -> Self {
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
    fn was_timeout(self, after: Self, sent_something: bool) -> bool {
        let in_handshake = self.handshaking && sent_something && after.lost == self.lost;
        after.requests > self.requests || in_handshake
    }
}

impl Peer {
    pub(crate) fn new(endpoint: quinn_proto::Endpoint) -> Self {
        Self { endpoint, connection: None, answers: Vec::new() }
    }

    /// Whether the application's data leaves with the first packets (0-RTT), before the connection
    /// has sent its own frames.
    fn writes_early(&self) -> bool {
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

    /// Exchanges events between endpoint and connection; returns whether there were any.
    fn exchange(&mut self) -> bool {
        let Some((handle, connection)) = &mut self.connection else { return false };
        let mut something = false;
        while let Some(event) = connection.poll_endpoint_events() {
            something = true;
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        something
    }
}

/// Why a connection was broken off. The fault names the frames, which do not matter here.
fn why(reason: &ConnectionError) -> &'static str {
    match reason {
        ConnectionError::TimedOut => "QUIC heard nothing for the idle timeout",
        ConnectionError::TransportError(error) if error.reason.contains("too many gaps") => {
            "quinn holds at most 1,024 separate pieces of a stream, and more were received; \
             a smaller queue or window loses fewer packets at once"
        }
        _ => "an end closed the QUIC connection with an error",
    }
}

/// The ECN field of the IP header in quinn's type.
fn codepoint(ecn: Ecn) -> Option<EcnCodepoint> {
    match ecn {
        Ecn::NotEct => None,
        Ecn::Ect1 => Some(EcnCodepoint::Ect1),
        Ecn::Ect0 => Some(EcnCodepoint::Ect0),
        Ecn::Ce => Some(EcnCodepoint::Ce),
    }
}

/// The ECN field of the IP header in the link's type.
fn carried(ecn: Option<EcnCodepoint>) -> Ecn {
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

impl Endpoint for QuicEndpoint {
    fn change(&mut self, _: Instant, change: &EndpointChange) -> bool {
        match change {
            EndpointChange::Foresee { timetable, .. } => {
                self.told.foreseen.set(timetable.clone()).is_ok()
            }
            _ => false,
        }
    }

    fn open(&mut self) {
        self.open = true;
    }

    fn is_open(&self) -> bool {
        let connection = self.peer.connection.as_ref();
        self.open && self.early
            || connection.is_some_and(|(_, connection)| !connection.is_handshaking())
    }

    fn write(&mut self, stream: u32, bytes: u64, last: bool) {
        if self.closed {
            return;
        }
        self.open |= self.purpose != Purpose::Dialogue;
        if let Some(messages) = &mut self.messages {
            return messages.supply(bytes);
        }
        match self.writing.back_mut().filter(|it| it.stream == stream && !it.last) {
            Some(writing) => {
                writing.left = writing.left.saturating_add(bytes);
                writing.last = last;
            }
            None => {
                let writing = Writing { stream, left: bytes, last, blocked: false };
                self.writing.push_back(writing);
            }
        }
    }

    /// For unlimited data, the stream ends at the bytes already accepted.
    fn close(&mut self) {
        if self.messages.is_none() {
            self.write(0, 0, true);
            if let Some(writing) = self.writing.back_mut().filter(|it| it.left == u64::MAX) {
                writing.left = 0;
            }
        }
        self.closed = true;
    }

    fn will_close(&mut self) {
        self.will_close = true;
    }

    fn read(&mut self) -> Option<Chunk> {
        if self.purpose == Purpose::Dialogue {
            return self.chunks.pop_front();
        }
        let bytes = self.delivered - std::mem::replace(&mut self.read, self.delivered);
        (bytes > 0).then_some(Chunk { stream: 0, bytes })
    }

    fn unsent(&self) -> u64 {
        self.writing.iter().map(|writing| writing.left).sum()
    }

    fn handle(
        &mut self,
        now: Instant,
        packet: &Packet,
        contents: Option<clift::transport::Contents>,
    ) -> Received {
        let body = contents.and_then(|contents| contents.downcast::<Body>().ok());
        let mut body = body.map_or_else(Body::default, |body| *body);
        for (id, number) in std::mem::take(&mut body.streams) {
            self.ids.insert(number, id);
            self.numbers.insert(id, number);
        }
        let (at, from) = (self.clock.at(now), address(self.end.other()));
        self.peer.handle(at, from, codepoint(packet.ecn), std::mem::take(&mut body.bytes));
        self.heard_now = true;
        self.events(now);
        let read = if self.messages.is_some() { self.read_messages() } else { 0 };
        let new = self.take_in(packet, &body, read);
        if body.contents.acknowledges {
            self.acknowledge(body.delivered);
        }
        match self.end {
            End::Receiver => Received::Data { in_vain: !new, delivered: self.delivered },
            End::Sender => Received::Ack(self.acknowledged),
        }
    }

    fn payload<'c>(&self, contents: &'c clift::transport::Contents) -> &'c [u8] {
        contents.downcast_ref::<Body>().map_or(&[], |body| &body.bytes)
    }

    /// Follows the order of quinn's tasks: the connection sends its own frames, then processes its
    /// endpoint's events (connection ids), then the application writes; each step sends separate
    /// packets. The application learns the end of the handshake after the packets that complete it,
    /// and a path MTU probe, have left.
    fn transmit(&mut self, now: Instant, outbox: &mut Outbox) -> Option<Instant> {
        // Packets that arrive at the same time are all read before the response is sent, so the
        // timer comes after them.
        if std::mem::take(&mut self.heard_now) {
            return Some(now);
        }
        self.call(now);
        if self.is_client && self.peer.writes_early() {
            self.push();
        }
        for bytes in std::mem::take(&mut self.peer.answers) {
            self.post(now, (bytes, Ecn::NotEct), outbox);
        }
        let mut something = self.send(now, outbox);
        // A connection that had nothing to send has nothing until something reaches it.
        if self.peer.exchange() {
            something |= self.send(now, outbox);
        }
        if self.push() {
            something |= self.send(now, outbox);
        }
        if let (Some(before), Some((_, connection))) =
            (self.timer_ran.take(), &self.peer.connection)
        {
            let timeout = before.was_timeout(Probes::of(connection), something);
            self.report.sender.timeouts += u64::from(timeout);
        }
        self.peer.exchange();
        let timeout = self.peer.connection.as_mut().and_then(|(_, it)| it.poll_timeout());
        timeout.map(|at| rings(now, self.clock.back(at)))
    }

    fn handle_timeout(&mut self, now: Instant) {
        let at = self.clock.at(now);
        let Some((_, connection)) = &mut self.peer.connection else { return };
        if connection.poll_timeout().is_none_or(|due| due > at) {
            return;
        }
        self.timer_ran = Some(Probes::of(connection));
        connection.handle_timeout(at);
        self.events(now);
    }

    /// Streams are independent of one another, and so are messages.
    fn in_order(&self) -> bool {
        self.purpose == Purpose::OneWay
    }

    fn delivered(&self) -> u64 {
        self.delivered
    }

    fn acknowledged(&self) -> Option<u64> {
        self.messages.is_none().then_some(self.acknowledged)
    }

    fn report(&self) -> Report {
        let mut report = self.report;
        report.sender.recovery_entries_by_dupacks = self.told.recoveries.load(Ordering::Relaxed);
        report.sender.cwnd_reductions = self.told.reductions.load(Ordering::Relaxed);
        report.sender.ecn_reductions = self.told.marked_reductions.load(Ordering::Relaxed);
        report
    }

    /// The streams accept data as far as the receive window and the send window allow: once all of
    /// it has been sent, one of them keeps the sender waiting.
    fn limit(&self) -> Limit {
        let sends = match &self.messages {
            Some(messages) => messages.waits(),
            None => self.fresh < self.written,
        };
        match &self.peer.connection {
            Some((_, connection)) if sends || connection.is_handshaking() => Limit::Path,
            Some(_) if self.unsent() > 0 => Limit::ReceiveWindow,
            Some(_) if self.closed => Limit::Path,
            _ => Limit::Application,
        }
    }

    fn window(&self) -> Option<Window> {
        let (_, connection) = self.peer.connection.as_ref()?;
        let mtu = f64::from(connection.current_mtu());
        let metrics = connection.congestion_state().metrics();
        let threshold = metrics.ssthresh.filter(|&bytes| bytes < u64::MAX);
        let measured = !connection.is_handshaking();
        let nanos = u64::try_from(connection.rtt().as_nanos()).unwrap_or(u64::MAX);
        Some(Window {
            cwnd: metrics.congestion_window as f64 / mtu,
            ssthresh: threshold.map_or(f64::INFINITY, |bytes| bytes as f64 / mtu),
            srtt: measured.then(|| Duration::from_nanos(nanos)),
            in_flight: self.told.in_flight.load(Ordering::Relaxed).div_ceil(mtu as u64),
        })
    }
}
