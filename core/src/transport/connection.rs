//! What the engine asks of a transport while a flow runs.

use crate::transport::{Dialogue, Outbox, Segment};
use crate::units::{Bytes, Duration, Ecn, Instant};

/// A transport connection with both its ends, for data from [`End::Sender`] to [`End::Receiver`].
///
/// The host moves [`Packet`]s between the ends and tells the time, which never falls. After anything
/// was handed in ([`Connection::supply`], [`Connection::close`], [`Connection::receive`],
/// [`Connection::handle_timeout`]), it calls [`Connection::transmit`] of that end.
///
/// ```
/// use clift::seed::{Seed, Stream};
/// use clift::transport::datagram::DatagramConfig;
/// use clift::transport::{End, Outbox, Protocol, Received};
/// use clift::units::{Bytes, Instant};
/// let now = Instant::ZERO;
/// let protocol = DatagramConfig { packet: Bytes(1500) };
/// let mut connection = protocol.connect(Seed(1).rng(Stream::Flow(0)));
/// connection.supply(1000);
/// let mut outbox = Outbox::default();
/// assert_eq!(connection.transmit(now, End::Sender, &mut outbox), None);
/// let packet = outbox[outbox.sent()[0]];
/// assert_eq!((packet.size, packet.len), (Bytes(1028), 1000));
/// let received = connection.receive(now, End::Receiver, &packet);
/// assert_eq!(received, Received::Data { in_vain: false, delivered: 1000 });
/// ```
pub trait Connection: Send {
    /// The application hands over `bytes` more (`u64::MAX`: it always has more). Nothing is taken
    /// after [`Connection::close`].
    fn supply(&mut self, bytes: u64);

    /// The application hands over nothing more.
    fn close(&mut self);

    /// The connection is to be opened before there are data for it, if it has a handshake.
    fn open(&mut self) {}

    /// The receiving application takes bytes below `edge` and no others: the receiver says so in each
    /// acknowledgement from now on, and sends one at once if it is to `tell`. The edge never falls.
    /// Without such a call the configuration says how much it takes. Transports without a window of
    /// this kind do nothing.
    fn permit(&mut self, _edge: u64, _tell: bool) {}

    /// `packet`, sent by the other end, arrived at `end`. Its body is not asked for again.
    fn receive(&mut self, now: Instant, end: End, packet: &Packet) -> Received;

    /// The path lost `packet`: its body is not asked for again. The ends do not learn of it.
    fn discard(&mut self, packet: &Packet);

    /// Puts all packets that `end` sends now into the outbox; says when
    /// [`Connection::handle_timeout`] must be called for `end` unless it is asked again before.
    fn transmit(&mut self, now: Instant, end: End, outbox: &mut Outbox) -> Option<Instant>;

    /// The instant named by [`Connection::transmit`] of `end` has come (calling early does no harm).
    fn handle_timeout(&mut self, now: Instant, end: End);

    /// Whether the receiving application gets one stream of bytes in order, or each packet's as it
    /// comes.
    fn in_order(&self) -> bool;

    /// Bytes that the receiving application got so far.
    fn delivered(&self) -> u64;

    /// Bytes that the sender knows to be delivered; `None`: it never learns.
    fn acknowledged(&self) -> Option<u64>;

    /// Totals of both ends so far.
    fn report(&self) -> Report;

    /// What congestion control does now; `None`: there is none.
    fn window(&self) -> Option<Window>;

    /// What the proxies on the way held, from the first to the last; none unless the connection is
    /// split.
    fn proxies(&self) -> Vec<Relayed> {
        Vec::new()
    }

    /// Itself as one on which both ends have data; `None`: they go from the sender to the receiver
    /// alone.
    fn dialogue(&mut self) -> Option<&mut dyn Dialogue> {
        None
    }
}

/// An end of a connection.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum End {
    /// Where the data come from.
    #[default]
    Sender,
    /// Where the data go to.
    Receiver,
}

/// A packet as a connection hands it to its host: what a path, an observer and measurements of delays
/// need, and what is in it, which is the connection's own business.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Packet {
    /// Bytes of the IP packet, headers included: what queues and links count.
    pub size: Bytes,
    /// Bytes of application data in it; 0: it only controls the connection.
    pub len: u32,
    /// The first of these bytes, counted from the first of the flow.
    pub start: u64,
    /// When these bytes were first sent.
    pub first_sent: Instant,
    /// How often these bytes were sent before.
    pub retransmission: u16,
    /// Whether queues may mark it instead of dropping it, or have.
    pub ecn: Ecn,
    /// What is in it, for a connection that keeps its packets' contents in a table: its own number.
    pub body: u32,
    /// What is in it, for TCP.
    pub segment: Segment,
}

impl Packet {
    /// A queue marks it.
    pub(crate) fn mark(&mut self) {
        self.ecn = Ecn::Ce;
        self.segment.ecn = Ecn::Ce;
    }
}

/// What a packet was to the end that it reached.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Received {
    /// Data, or control that comes with them.
    Data {
        /// All of them had arrived before, or they were too old to be taken.
        in_vain: bool,
        /// [`Connection::delivered`] from now on.
        delivered: u64,
    },
    /// An acknowledgement of the bytes before this one.
    Ack(u64),
    /// Data for a proxy on the way, which hands them on.
    Relayed {
        /// All of them had arrived before, or there are none.
        in_vain: bool,
    },
}

/// Totals of a connection.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Report {
    /// Bytes of IP packets with data sent, retransmissions included.
    pub bytes_sent: u64,
    /// Bytes of IP packets with data received, each packet once.
    pub bytes_received: u64,
    /// Packets with data sent, retransmissions included.
    pub sent: u64,
    /// Packets sent again.
    pub retransmissions: u64,
    /// Acknowledged packets by how often they were sent again: index 0 never, 1 once, ...; the last
    /// index counts all beyond. Without acknowledgements: the packets sent.
    pub by_retransmissions: [u64; 8],
    /// Packets received with nothing new in them: the original did arrive.
    pub spurious_retransmissions: u64,
    /// Packets thrown away at the receiver because they were too old, though something in them was
    /// new.
    pub stale: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Retransmissions made in recovery, before any timeout.
    pub fast_retransmits: u64,
    /// Entries into recovery.
    pub recovery_entries: u64,
    /// Duplicate acknowledgements received.
    pub duplicate_acks: u64,
    /// Reductions of the congestion window.
    pub window_reductions: u64,
    /// Reductions undone.
    pub undo_events: u64,
    /// The farthest that a packet arrived behind later ones, in packets.
    pub reordering: u64,
    /// What became of explicit congestion notification; `None`: it is not in use.
    pub ecn: Option<EcnReport>,
}

/// Explicit congestion notification (ECN) of a connection so far.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct EcnReport {
    /// Packets with data that arrived with a mark, and all of those that arrived.
    pub marked: u64,
    /// Packets with data that arrived, duplicates included.
    pub arrived: u64,
    /// Reductions of the window because of marks.
    pub reductions: u64,
}

/// What a proxy did for a connection so far.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Relayed {
    /// Bytes that it handed on.
    pub bytes: u64,
    /// Most bytes that it held at a time, in both its buffers together.
    pub most_held: u64,
}

/// What congestion control does at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Window {
    /// Congestion window, packets.
    pub cwnd: f64,
    /// Slow-start threshold, packets; infinite before the first loss.
    pub ssthresh: f64,
    /// Smoothed round-trip time, once measured.
    pub srtt: Option<Duration>,
    /// Packets sent, not acknowledged and not taken for lost.
    pub in_flight: u64,
}
