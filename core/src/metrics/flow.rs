//! What one flow achieved and what it went through.

use crate::metrics::{DelaySummary, PageMetrics, RequestMetrics, VoiceMetrics};
use crate::units::{Duration, Instant};

/// Totals of a flow at the end of a run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FlowMetrics {
    /// When it started.
    pub start: Instant,
    /// When it ended: at its completion, else with the run.
    pub end: Instant,
    /// Payload bytes that the receiver has in order.
    pub bytes_in_order: u64,
    /// Bytes of IP packets received, each packet once.
    pub ip_bytes_received: u64,
    /// Bytes of IP packets sent, retransmissions included.
    pub ip_bytes_sent: u64,
    /// Segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Acknowledged segments by how often they were sent again: index 0 never, 1 once, ...; the
    /// last index counts all beyond. Datagrams: those sent.
    pub segments_by_retransmissions: [u64; 8],
    /// Segments that arrived with nothing new in them: the original did arrive.
    pub spurious_retransmissions: u64,
    /// Segments that brought something new and were thrown away at the receiver because their
    /// timestamp was too old (PAWS; none in profile `papers`).
    pub stale_segments: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast retransmits.
    pub fast_retransmits: u64,
    /// Entries into recovery by duplicate acknowledgements.
    pub recovery_entries: u64,
    /// Duplicate acknowledgements received.
    pub duplicate_acks: u64,
    /// Reductions of the congestion window.
    pub window_reductions: u64,
    /// Reductions undone.
    pub undo_events: u64,
    /// The farthest that a segment arrived behind later ones, in packets.
    pub reordering_degree: u64,
    /// First transmission by the transport to first arrival, over segments.
    pub segment_delay: Option<DelaySummary>,
    /// First transmission by TCP to delivery in order, over segments.
    pub in_order_delay: Option<DelaySummary>,
    /// When the last byte of a file arrived, the last object of a page, the last answer.
    pub completed: Option<Instant>,
    /// When the sender had the acknowledgement of the last byte.
    pub acknowledged: Option<Instant>,
    /// Messages of a constant-rate application.
    pub messages: Option<MessageMetrics>,
    /// The web page of a session, with its first connection.
    pub page: Option<PageMetrics>,
    /// Requests and their answers.
    pub requests: Option<RequestMetrics>,
    /// A call.
    pub voice: Option<VoiceMetrics>,
    /// The proxies that split the flow, from the first to the last.
    pub proxies: Vec<ProxyMetrics>,
    /// Explicit congestion notification, where it is in use.
    pub ecn: Option<EcnMetrics>,
}

/// What a proxy did for a flow.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ProxyMetrics {
    /// Bytes that it handed on.
    pub relayed: u64,
    /// Most bytes that it held at a time, in both buffers together.
    pub most_held: u64,
}

/// What explicit congestion notification did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EcnMetrics {
    /// Packets with data that arrived marked.
    pub marked: u64,
    /// Packets with data that arrived, duplicates included.
    pub arrived: u64,
    /// Reductions of the congestion window because of marks.
    pub reductions: u64,
}

impl EcnMetrics {
    /// Marked packets over those that arrived; `None` if none did.
    pub fn share_marked(&self) -> Option<f64> {
        (self.arrived > 0).then(|| self.marked as f64 / self.arrived as f64)
    }
}

/// What became of the messages of a constant-rate application.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MessageMetrics {
    /// Messages handed to the transport.
    pub sent: u64,
    /// Messages that arrived whole (TCP: in order).
    pub received: u64,
    /// Of these, within the deadline; all of them without one.
    pub in_time: u64,
    /// From the application to the application.
    pub delay: Option<DelaySummary>,
}

impl MessageMetrics {
    /// Messages in time over messages sent; `None` if none was sent.
    pub fn share_in_time(&self) -> Option<f64> {
        (self.sent > 0).then(|| self.in_time as f64 / self.sent as f64)
    }
}

impl FlowMetrics {
    /// How long the flow lasted.
    pub fn lasted(&self) -> Duration {
        self.end.saturating_since(self.start)
    }

    /// In-order payload over the time that the flow lasted, bit/s.
    pub fn goodput(&self) -> f64 {
        rate(self.bytes_in_order, self.lasted())
    }

    /// Everything sent over the time that the flow lasted, bit/s.
    pub fn throughput(&self) -> f64 {
        rate(self.ip_bytes_sent, self.lasted())
    }

    /// Distinct IP packets received over the time that the flow lasted, bit/s: what the figures
    /// of Kuhn 2014 count.
    pub fn ip_throughput(&self) -> f64 {
        rate(self.ip_bytes_received, self.lasted())
    }

    /// First segment sent to last byte of the file received.
    pub fn completion(&self) -> Option<Duration> {
        self.completed.map(|at| at.saturating_since(self.start))
    }

    /// First segment sent to last byte of the file acknowledged.
    pub fn completion_acknowledged(&self) -> Option<Duration> {
        self.acknowledged.map(|at| at.saturating_since(self.start))
    }
}

fn rate(bytes: u64, time: Duration) -> f64 {
    if time == Duration::ZERO {
        return 0.0;
    }
    bytes as f64 * 8.0 / time.as_secs_f64()
}

/// Jain's fairness index of the flows' goodputs, 1/n to 1; 1 if nobody got anything.
///
/// ```
/// use clift::metrics::fairness;
/// assert_eq!(fairness(&[2.0, 2.0]), 1.0);
/// assert_eq!(fairness(&[4.0, 0.0]), 0.5);
/// ```
pub fn fairness(goodputs: &[f64]) -> f64 {
    let sum: f64 = goodputs.iter().sum();
    let squares: f64 = goodputs.iter().map(|g| g * g).sum();
    if squares == 0.0 {
        return 1.0;
    }
    sum * sum / (goodputs.len() as f64 * squares)
}
