//! The interface between one side of a transport connection and its host.

use rand_chacha::ChaCha8Rng;

use crate::transport::tcp::{ReceiverCounters, SenderCounters, TcpConfig};
use crate::transport::train::{Arrival, Train};
use crate::transport::{Answer, Contents, Limit, Outbox, Packet, Received, Timetable};
use crate::units::{Duration, Instant};

/// One side of a transport connection, without I/O and clock. The two endpoints of a connection
/// exchange [`Packet`]s and share no state.
///
/// The host moves the packets and passes the current time, which never decreases. After each call
/// that may let an endpoint send ([`Endpoint::write`], [`Endpoint::close`], [`Endpoint::open`],
/// [`Endpoint::permit`], [`Endpoint::handle`], [`Endpoint::handle_timeout`]) the host calls
/// [`Endpoint::transmit`].
///
/// An application writes and reads numbers of bytes; there are no contents.
///
/// ```
/// use clift::seed::{Seed, Stream};
/// use clift::transport::datagram::DatagramConfig;
/// use clift::transport::{Endpoint, Outbox, Protocol, Purpose, Received};
/// use clift::units::{Bytes, Instant};
/// let now = Instant::ZERO;
/// let protocol = DatagramConfig { packet: Bytes(1500) };
/// let rng = Seed(1).rng(Stream::Flow(0));
/// let [mut sender, mut receiver] = protocol.connect(Purpose::OneWay, [None; 2], rng).unwrap();
/// sender.write(0, 1000, false);
/// let mut outbox = Outbox::default();
/// assert_eq!(sender.transmit(now, &mut outbox), None);
/// let packet = outbox[outbox.sent()[0]];
/// assert_eq!((packet.size, packet.len), (Bytes(1028), 1000));
/// let received = receiver.handle(now, &packet, None);
/// assert_eq!(received, Received::Data { in_vain: false, delivered: 1000 });
/// ```
pub trait Endpoint: Send {
    /// Starts the handshake, if the protocol has one. The first [`Endpoint::write`] does so too,
    /// but for the client of a dialogue ([`Purpose::Dialogue`](crate::transport::Purpose)).
    fn open(&mut self) {}

    /// True once the peer has answered the handshake, so that data may be sent.
    fn is_open(&self) -> bool {
        true
    }

    /// True once the peer has asked to open the connection, for an endpoint at a proxy.
    fn is_called(&self) -> bool {
        false
    }

    /// The application writes `bytes` more into a stream; `u64::MAX` means an endless supply, and
    /// `last` ends the stream. A protocol with one stream ignores `stream` and `last`. Ignored
    /// after [`Endpoint::close`].
    fn write(&mut self, stream: u32, bytes: u64, last: bool);

    /// The application writes no more.
    fn close(&mut self);

    /// The application will close although its data are unlimited: few of them may wait in buffers of
    /// the endpoint that a close does not empty. Endpoints without such buffers ignore the call.
    fn will_close(&mut self) {}

    /// The next in-order bytes that arrived and that this function has not returned yet, one stream
    /// per call.
    fn read(&mut self) -> Option<Chunk>;

    /// Bytes written and not sent yet.
    fn unsent(&self) -> u64 {
        0
    }

    /// Whether the application has more data that it does not write yet, because this is one path of
    /// several. Endpoints without congestion control ignore the call.
    fn expect(&mut self, _more: bool) {}

    /// Counters of each path, of a connection over several; empty for others.
    fn paths(&self) -> Vec<PathReport> {
        Vec::new()
    }

    /// Bytes of all data written, once the application has closed. (A FIN tells the peer's
    /// application the same, which packets here do not carry.)
    fn total(&self) -> Option<u64> {
        None
    }

    /// Sets the receive window of an endpoint at a proxy: the application accepts bytes below
    /// `edge` only. The edge never decreases. Other endpoints ignore the call.
    fn permit(&mut self, _edge: u64) {}

    /// Handles a packet from the peer; `contents` is what the peer attached
    /// ([`Outbox::attach`]).
    fn handle(&mut self, now: Instant, packet: &Packet, contents: Option<Contents>) -> Received;

    /// The UDP payload in the contents of a packet that this endpoint sent, for captures; empty if
    /// the protocol keeps none.
    fn payload<'c>(&self, _contents: &'c Contents) -> &'c [u8] {
        &[]
    }

    /// Puts all packets that can be sent now into the outbox. Returns when
    /// [`Endpoint::handle_timeout`] must be called, unless `transmit` is called again earlier.
    fn transmit(&mut self, now: Instant, outbox: &mut Outbox) -> Option<Instant>;

    /// Handles the packet with this number in the outbox, and sends what it lets this endpoint send:
    /// [`Endpoint::handle`] and [`Endpoint::transmit`] in one call, for a host that does nothing between
    /// them. The packet stays in the outbox.
    // Called for every packet: a call costs a tenth of what it does. A web page loads each copy.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn answer(&mut self, now: Instant, number: u32, outbox: &mut Outbox) -> Answer {
        let contents = outbox.take_contents(number);
        let received = self.handle(now, &outbox[number], contents);
        let timeout = self.transmit(now, outbox);
        Answer { received, timeout, limit: self.limit() }
    }

    /// [`Endpoint::answer`] for packets that arrive one after the other, and
    /// [`Endpoint::handle_timeout`] where the timer expires before one of them.
    fn answer_all(&mut self, train: &mut Train, outbox: &mut Outbox) {
        for number in 0..train.arrivals.len() {
            self.answer_one(number, train, outbox);
        }
    }

    /// [`Endpoint::answer_all`] for the arrival with this number.
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as `answer`
    fn answer_one(&mut self, number: usize, train: &mut Train, outbox: &mut Outbox) {
        let Arrival { key, packet, .. } = train.arrivals[number];
        while let Some(now) = train.alarm_before(key) {
            self.handle_timeout(now);
            let timeout = self.transmit(now, outbox);
            train.note(now, timeout, self.limit(), outbox);
        }
        let answer = self.answer(key.0, packet, outbox);
        train.note_answer(key.0, answer, outbox);
    }

    /// Handles the timeout that [`Endpoint::transmit`] returned. An early call has no effect.
    fn handle_timeout(&mut self, now: Instant);

    /// True if the application reads one byte stream in order, false if it gets each packet's data
    /// on arrival.
    fn in_order(&self) -> bool {
        true
    }

    /// Bytes delivered to the application so far.
    fn delivered(&self) -> u64;

    /// Bytes that the peer is known to have; `None` if the protocol has no acknowledgements, or
    /// this endpoint sends no data.
    fn acknowledged(&self) -> Option<u64> {
        None
    }

    /// Counters of the data sent and of the data received so far.
    fn report(&self) -> Report;

    /// What keeps the data of this endpoint from leaving, after [`Endpoint::transmit`] has sent all
    /// that it can.
    fn limit(&self) -> Limit {
        Limit::Application
    }

    /// State of congestion control; `None` without congestion control.
    fn window(&self) -> Option<Window> {
        None
    }

    /// Changes the course of the connection from now on. Returns false if the endpoint has no such
    /// change, and is then as before.
    fn change(&mut self, _now: Instant, _change: &EndpointChange) -> bool {
        false
    }
}

/// A change to an endpoint: what it may know beforehand, or a change in the middle of a connection, for
/// a run that is compared with the one without it.
#[derive(Clone, Debug)]
pub enum EndpointChange {
    /// The next reduction of the congestion window leaves the window as it is. What was declared lost
    /// is sent again all the same; slow start ends, if it was on. It concerns one path of a connection
    /// over several.
    KeepWindow {
        /// Number of the path; else 0.
        path: u32,
    },
    /// The congestion control of this configuration takes over, with these random draws. It begins
    /// with the window and the threshold of the one before. A control with a model of the path does
    /// not replace one without, or the other way round.
    Control(Box<(TcpConfig, ChaCha8Rng)>),
    /// The terminal knows these handovers: congestion control hears of them, before the connection
    /// opens.
    Foresee {
        /// Number of the path; else 0.
        path: u32,
        /// The handovers on it.
        timetable: Timetable,
    },
}

/// In-order bytes of one stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Chunk {
    /// Stream number.
    pub stream: u32,
    /// Number of bytes.
    pub bytes: u64,
}

/// Counters of an endpoint.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Report {
    /// Counters of the data that it sends.
    pub sender: SenderCounters,
    /// Counters of the data that it receives.
    pub receiver: ReceiverCounters,
    /// True if explicit congestion notification (ECN) is in use.
    pub ecn: bool,
    /// If an end has broken the connection off: when, and why.
    pub broken_off: Option<BrokenOff>,
}

/// The end of a connection by a fault or a limit of an end, with data outstanding.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BrokenOff {
    /// When the first end noticed.
    pub at: Instant,
    /// Why, e.g. "idle for too long".
    pub why: &'static str,
}

impl Report {
    /// The counters of the data from this endpoint to its `peer`: what this one sent, and what the
    /// peer received.
    #[must_use]
    pub fn to(self, peer: &Self) -> Self {
        let ends = self.broken_off.into_iter().chain(peer.broken_off);
        Self {
            sender: self.sender,
            receiver: peer.receiver,
            ecn: self.ecn && peer.ecn,
            broken_off: ends.min_by_key(|end| end.at),
        }
    }

    /// The counters of two paths together.
    #[must_use]
    pub(crate) fn beside(self, other: &Self) -> Self {
        let sender = self.sender.plus(&other.sender);
        Self {
            sender,
            receiver: self.receiver.plus(&other.receiver),
            ecn: self.ecn || other.ecn,
            broken_off: None,
        }
    }

    /// The counters of data that go on over a `next` connection: sent over both, received over the
    /// last.
    #[must_use]
    pub fn then(self, next: &Self) -> Self {
        let (own, last) = (&self.receiver, &next.receiver);
        let receiver = ReceiverCounters {
            duplicate_segments: own.duplicate_segments + last.duplicate_segments,
            stale_segments: own.stale_segments + last.stale_segments,
            max_reordering: own.max_reordering.max(last.max_reordering),
            ..*last
        };
        Self { sender: self.sender.plus(&next.sender), receiver, ecn: false, broken_off: None }
    }
}

/// Counters of one path of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathReport {
    /// Counters of the path's own data.
    pub report: Report,
    /// State of its congestion control; `None` at a receiver.
    pub window: Option<Window>,
    /// Bytes that it carried because another path seemed to have failed.
    pub reinjected: u64,
    /// What keeps it from sending; `None`: the path scheduler gives it no data, although its window
    /// has room.
    pub limit: Option<Limit>,
    /// Bytes of its own sequence that the peer is known to have.
    pub acknowledged: u64,
    /// Whether it may carry data.
    pub is_open: bool,
}

/// State of congestion control at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Window {
    /// Congestion window, packets.
    pub cwnd: f64,
    /// Slow-start threshold, packets; infinite before the first loss.
    pub ssthresh: f64,
    /// Smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Duration>,
    /// Packets sent that are neither acknowledged nor marked lost.
    pub in_flight: u64,
}
