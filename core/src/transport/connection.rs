//! The interface between a running transport connection and its host.

use crate::transport::{Dialogue, Outbox, Segment};
use crate::units::{Bytes, Duration, Ecn, Instant};

/// A transport connection with both ends. Data go from [`End::Sender`] to [`End::Receiver`].
///
/// The host moves [`Packet`]s between the ends and passes the current time, which never decreases.
/// After each call of [`Connection::supply`], [`Connection::close`], [`Connection::receive`] or
/// [`Connection::handle_timeout`], the host calls [`Connection::transmit`] for that end.
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
    /// The application supplies `bytes` more; `u64::MAX` means an endless supply. Ignored after
    /// [`Connection::close`].
    fn supply(&mut self, bytes: u64);

    /// The application supplies no more data.
    fn close(&mut self);

    /// Starts the handshake before the application has data, if the protocol has a handshake.
    fn open(&mut self) {}

    /// Sets the receive window: the receiving application accepts bytes below `edge` only. The
    /// receiver announces the edge in each following acknowledgement, and sends one at once if
    /// `tell` is true. The edge never decreases. Without this call the configuration sets the
    /// window. Transports without a receive window ignore the call.
    fn permit(&mut self, _edge: u64, _tell: bool) {}

    /// Handles `packet`, sent by the other end, at `end`. The host does not use its body again.
    fn receive(&mut self, now: Instant, end: End, packet: &Packet) -> Received;

    /// The path lost `packet`. The ends are not told; only the packet's body may be freed.
    fn discard(&mut self, packet: &Packet);

    /// Puts all packets that `end` can send now into the outbox. Returns when
    /// [`Connection::handle_timeout`] must be called for `end`, unless `transmit` is called again
    /// earlier.
    fn transmit(&mut self, now: Instant, end: End, outbox: &mut Outbox) -> Option<Instant>;

    /// Handles the timeout that [`Connection::transmit`] of `end` returned. An early call has no
    /// effect.
    fn handle_timeout(&mut self, now: Instant, end: End);

    /// True if the receiving application gets one byte stream in order, false if it gets each
    /// packet's data on arrival.
    fn in_order(&self) -> bool;

    /// Bytes delivered to the receiving application so far.
    fn delivered(&self) -> u64;

    /// Bytes that the sender knows to be delivered; `None` if it gets no acknowledgements.
    fn acknowledged(&self) -> Option<u64>;

    /// Totals of both ends so far.
    fn report(&self) -> Report;

    /// State of congestion control; `None` without congestion control.
    fn window(&self) -> Option<Window>;

    /// Counters of the proxies on the path, from the first to the last. Empty unless the connection
    /// is split.
    fn proxies(&self) -> Vec<Relayed> {
        Vec::new()
    }

    /// This connection as a [`Dialogue`], if both ends can send data; `None` if only the sender
    /// can.
    fn dialogue(&mut self) -> Option<&mut dyn Dialogue> {
        None
    }
}

/// An end of a connection.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum End {
    /// Source of the data.
    #[default]
    Sender,
    /// Destination of the data.
    Receiver,
}

/// A packet as a connection hands it to its host: the fields that paths, observers and delay
/// measurements need, and contents that only the connection reads.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Packet {
    /// Bytes of the IP packet, headers included: what queues and links count.
    pub size: Bytes,
    /// Bytes of application data; 0 for a control packet.
    pub len: u32,
    /// Position of the first of these bytes in the flow.
    pub start: u64,
    /// When these bytes were first sent.
    pub first_sent: Instant,
    /// Number of earlier transmissions of these bytes.
    pub retransmission: u16,
    /// ECN field: whether queues may mark the packet instead of dropping it, or already did.
    pub ecn: Ecn,
    /// Key of the contents, for a connection that keeps them in a table of its own.
    pub body: u32,
    /// Contents, for TCP.
    pub segment: Segment,
}

impl Packet {
    /// Sets the Congestion Experienced mark, as a queue does.
    pub(crate) fn mark(&mut self) {
        self.ecn = Ecn::Ce;
        self.segment.ecn = Ecn::Ce;
    }
}

/// Result of a packet's arrival at an end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Received {
    /// Data, or a control packet that belongs to the data direction.
    Data {
        /// True if all bytes had arrived before, or were too old to be accepted.
        in_vain: bool,
        /// New value of [`Connection::delivered`].
        delivered: u64,
    },
    /// An acknowledgement of all bytes below this one.
    Ack(u64),
    /// Data for a proxy on the path, which forwards them.
    Relayed {
        /// True if all bytes had arrived before, or the packet has no data.
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
    /// Acknowledged packets by number of retransmissions: index 0 never retransmitted, 1 once, ...;
    /// the last index counts all larger numbers. Without acknowledgements: packets sent.
    pub by_retransmissions: [u64; 8],
    /// Packets received without new data: the original had arrived.
    pub spurious_retransmissions: u64,
    /// Packets with new data that the receiver discarded because they were too old.
    pub stale: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Retransmissions made in fast recovery, before any timeout.
    pub fast_retransmits: u64,
    /// Entries into recovery.
    pub recovery_entries: u64,
    /// Duplicate acknowledgements received.
    pub duplicate_acks: u64,
    /// Reductions of the congestion window.
    pub window_reductions: u64,
    /// Reductions undone.
    pub undo_events: u64,
    /// Largest reordering extent seen by the receiver, in packets.
    pub reordering: u64,
    /// ECN counters; `None` if ECN is not in use.
    pub ecn: Option<EcnReport>,
}

/// Counters of explicit congestion notification (ECN) of a connection.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct EcnReport {
    /// Data packets that arrived with a Congestion Experienced mark.
    pub marked: u64,
    /// All data packets that arrived, duplicates included.
    pub arrived: u64,
    /// Window reductions caused by marks.
    pub reductions: u64,
}

/// Counters of one proxy of a split connection.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Relayed {
    /// Bytes forwarded.
    pub bytes: u64,
    /// Maximum number of bytes held at a time, in both buffers together.
    pub most_held: u64,
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
