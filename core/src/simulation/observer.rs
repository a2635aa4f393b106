//! Looking at a run while it goes: progress, interruption, time series, an event log.

use std::ops::ControlFlow;

use crate::link::{Transit, Transmission, Usage};
use crate::transport::tcp::SenderCounters;
use crate::transport::{End, Limit, Packet, Window};
use crate::units::{Duration, Instant};

/// What an observer wants to receive, besides samples and checkpoints: nothing unless it says so, and a
/// run pays for nothing else.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wants {
    /// [`Observer::event`] is called.
    pub events: bool,
    /// [`Observer::packet`] is called.
    pub packets: bool,
    /// [`Observer::sender`], [`Observer::reading`] and [`Observer::ended`] are called.
    pub senders: bool,
    /// [`Observer::units`] is called.
    pub units: bool,
}

/// Somebody who watches a run. Every method has a default that does nothing.
pub trait Observer {
    /// What it wants to receive; asked once, before the run.
    fn wants(&self) -> Wants {
        Wants::default()
    }

    /// Something happened to a segment, in order of time; but what a queue that manages itself dropped is
    /// told with the next packet that comes or arrives.
    fn event(&mut self, _at: Instant, _event: &Event) {}

    /// Something happened to a packet of a flow; `id` is its number while it is on its way.
    fn packet(&mut self, _now: Instant, _flow: u32, _id: u32, _step: Step<'_>) {}

    /// A sender has sent all that it can; `connection` counts those of the flow between proxies, or
    /// its paths: a flow over several paths has one state for each.
    fn sender(&mut self, _now: Instant, _flow: u32, _connection: u32, _state: &SenderState) {}

    /// When the observer wants a reading of the shared hops next; `None`: not yet.
    fn reading_due(&self) -> Option<Instant> {
        None
    }

    /// What a shared hop carried until the time that [`Observer::reading_due`] named, after everything
    /// that happened then; `None`: the hop has no rate.
    fn reading(&mut self, _at: Instant, _hop: usize, _usage: Option<&Usage>) {}

    /// What a shared hop carried in the whole run.
    fn ended(&mut self, _at: Instant, _hop: usize, _usage: Option<&Usage>) {}

    /// What live links sent since the last call, by time; `hop` counts the shared hops, forward
    /// ones first.
    fn units(&mut self, _hop: usize, _sent: Vec<Transmission>) {}

    /// How often [`Observer::sample`] is called; `None`: never.
    fn sample_interval(&self) -> Option<Duration> {
        None
    }

    /// The state of every flow at a sampling instant.
    fn sample(&mut self, _sample: &Sample) {}

    /// Called every few thousand events; `Break` stops the run.
    fn checkpoint(&mut self, _now: Instant, _bytes_in_order: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl Observer for () {}

/// A step of a packet on its way. Hops are numbered: the shared ones forward, then those backward, then
/// the flows' own legs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Step<'a> {
    /// An end sent it.
    Sent {
        /// Which.
        from: End,
        /// Number of the connection, of those of the flow between proxies, or of the path.
        connection: u32,
        /// What it sent.
        packet: &'a Packet,
        /// The UDP payload of a connection that has one; empty if the payload is not kept.
        payload: &'a [u8],
    },
    /// It is on a leg, and will arrive at its far end.
    OnLeg {
        /// The leg.
        hop: usize,
        /// When the leg begins to send it.
        begins: Instant,
    },
    /// It came through a link, or the link is about to give it up ([`Step::Lost`] follows).
    OverLink {
        /// The link.
        hop: usize,
        /// How.
        transit: Transit,
        /// What the link sent since the last step of this kind, for any packet.
        units: Vec<Transmission>,
    },
    /// A leg or a link lost it.
    Lost {
        /// Which.
        hop: usize,
        /// When a leg begins to send it; its loss is known at once.
        begins: Option<Instant>,
    },
    /// It was not taken.
    Dropped {
        /// By which leg or link.
        hop: usize,
        /// Because it is too large, not because a queue is full.
        too_large: bool,
    },
    /// The queue of a leg or a link marked it ([`Ecn::Ce`](crate::units::Ecn)).
    Marked {
        /// Which.
        hop: usize,
    },
    /// It is at the other end.
    Arrived {
        /// Why the receiver discarded its data; `None` if it took them.
        discarded: Option<Discarded>,
    },
}

/// Reason why a receiver discards the data of a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Discarded {
    /// All of them had arrived before.
    Duplicate,
    /// They came too late: TCP's timestamp is too old (PAWS, RFC 7323 section 5), or QUIC's
    /// datagram was no longer accepted.
    Stale,
}

/// What can happen to a segment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The sender put it on the path; `retransmission` counts earlier sendings.
    Sent {
        /// Index of the flow.
        flow: u32,
        /// First byte.
        seq: u64,
        /// Bytes of payload.
        len: u32,
        /// How often it was sent before.
        retransmission: u16,
    },
    /// It reached the receiver; `duplicate`: everything in it had arrived before.
    Received {
        /// Index of the flow.
        flow: u32,
        /// First byte.
        seq: u64,
        /// Bytes of payload.
        len: u32,
        /// Nothing new in it.
        duplicate: bool,
    },
    /// A queue had no room for it, a leg or a link lost it.
    Gone {
        /// Index of the flow.
        flow: u32,
        /// First byte.
        seq: u64,
        /// Bytes of payload; 0: an acknowledgement.
        len: u32,
    },
    /// An acknowledgement reached the sender.
    Acked {
        /// Index of the flow.
        flow: u32,
        /// The next byte expected.
        ack: u64,
    },
}

/// What happened to a segment, as logs number it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum EventKind {
    /// Sent for the first time.
    Sent = 0,
    /// Sent again.
    SentAgain = 1,
    /// Received with something new in it.
    Received = 2,
    /// Received with nothing new in it.
    ReceivedInVain = 3,
    /// Dropped by a queue, or lost.
    Gone = 4,
    /// Acknowledged, as far as the sender knows.
    Acknowledged = 5,
}

impl Event {
    /// Its kind.
    pub fn kind(&self) -> EventKind {
        match *self {
            Self::Sent { retransmission: 0, .. } => EventKind::Sent,
            Self::Sent { .. } => EventKind::SentAgain,
            Self::Received { duplicate: false, .. } => EventKind::Received,
            Self::Received { duplicate: true, .. } => EventKind::ReceivedInVain,
            Self::Gone { .. } => EventKind::Gone,
            Self::Acked { .. } => EventKind::Acknowledged,
        }
    }
}

/// The state of a sender after it has sent all that it can.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderState {
    /// What keeps it from sending.
    pub limit: Limit,
    /// Whether its path gets no data of the path scheduler, although it could send.
    pub is_passed_over: bool,
    /// State of congestion control.
    pub window: Window,
    /// Its counters.
    pub counters: SenderCounters,
    /// Bytes that the peer is known to have.
    pub acknowledged: u64,
    /// Bytes written and not sent.
    pub unsent: u64,
    /// Whether the handshake is over.
    pub is_open: bool,
}

/// The state of a run at one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// The instant.
    pub at: Instant,
    /// One for each flow.
    pub flows: Vec<FlowSample>,
    /// One for each shared hop, forward ones first.
    pub hops: Vec<HopSample>,
}

/// The state of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowSample {
    /// Congestion window, packets.
    pub cwnd: f64,
    /// Slow-start threshold, packets; infinite before the first loss.
    pub ssthresh: f64,
    /// Smoothed round-trip time, once measured.
    pub srtt: Option<Duration>,
    /// Packets sent, not acknowledged and not taken for lost.
    pub in_flight: u64,
    /// Bytes that the receiver has in order.
    pub bytes_in_order: u64,
    /// Segments sent so far.
    pub sent: u64,
    /// Retransmissions so far.
    pub retransmissions: u64,
    /// Retransmission timeouts so far.
    pub timeouts: u64,
}

/// The state of a hop.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HopSample {
    /// Packets that wait.
    pub queue: u64,
    /// Packets that a full queue dropped so far.
    pub dropped: u64,
    /// Bits put on the air so far for the packets that came (a leg: bits sent).
    pub bits_on_air: f64,
}
