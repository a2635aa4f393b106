//! Metrics of one flow.

use std::sync::Arc;

use crate::metrics::{
    ConferenceMetrics, DelaySummary, PageMetrics, RequestMetrics, VideoMetrics, VoiceMetrics,
};
use crate::transport::tcp::{ReceiverCounters, SenderCounters};
use crate::transport::{BrokenOff, Report, Window};
use crate::units::{Duration, Instant};

/// Totals of a flow at the end of a run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FlowMetrics {
    /// Name of the flow, if it has one.
    pub name: Option<Arc<str>>,
    /// Start time.
    pub start: Instant,
    /// End time: that of its completion; else, of an application that stops, the time of the last data
    /// that arrived; else that of the run.
    pub end: Instant,
    /// In-order payload bytes at the receiver.
    pub bytes_in_order: u64,
    /// Counters of the sender.
    pub sender: SenderCounters,
    /// Counters of the receiver.
    pub receiver: ReceiverCounters,
    /// True if explicit congestion notification (ECN) is in use.
    pub ecn: bool,
    /// If an end broke the connection off before all data were through: when, and why.
    pub broken_off: Option<BrokenOff>,
    /// Delay of segments from their first transmission by the transport to their first arrival.
    pub segment_delay: Option<DelaySummary>,
    /// Delay of segments from their first transmission by TCP to their in-order delivery.
    pub in_order_delay: Option<DelaySummary>,
    /// Arrival time of the last byte of a file, the last object of a page, or the last answer.
    pub completed: Option<Instant>,
    /// Time at which the sender received the acknowledgement of the last byte.
    pub acknowledged: Option<Instant>,
    /// Time in which the sender had no data of the application left to send.
    pub waited_for_application: Duration,
    /// Time in which only the receive window, or the upper limit of the congestion window, kept the
    /// sender from sending.
    pub waited_for_receive_window: Duration,
    /// Metrics of a constant-rate application.
    pub messages: Option<MessageMetrics>,
    /// Metrics of the web page of a session; only its first connection has them.
    pub page: Option<PageMetrics>,
    /// Metrics of requests and answers.
    pub requests: Option<RequestMetrics>,
    /// Metrics of a video.
    pub video: Option<VideoMetrics>,
    /// Metrics of a call.
    pub voice: Option<VoiceMetrics>,
    /// Metrics of a conference.
    pub conference: Option<ConferenceMetrics>,
    /// Metrics of the proxies that split the flow, from the first to the last.
    pub proxies: Vec<ProxyMetrics>,
    /// Metrics of the paths of a flow over several, in their order.
    pub paths: Vec<PathMetrics>,
    /// How the data of these paths were put in order.
    pub reordering: Option<ReorderingMetrics>,
}

/// Metrics of one path of a flow over several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PathMetrics {
    /// Counters of the path.
    pub report: Report,
    /// State of its congestion control at the end of the run.
    pub window: Option<Window>,
    /// Bytes that it carried because another path seemed to have failed.
    pub reinjected: u64,
}

/// How a receiver put the data of several paths in order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ReorderingMetrics {
    /// Time from the arrival of a packet to its delivery in order; 0 for most.
    pub delay: Option<DelaySummary>,
    /// Mean over time of the bytes that waited for earlier ones.
    pub mean_held: f64,
    /// Maximum of these bytes.
    pub most_held: u64,
}

/// Metrics of a proxy for one flow.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ProxyMetrics {
    /// Bytes forwarded.
    pub relayed: u64,
    /// Maximum of the bytes in both buffers together.
    pub most_held: u64,
}

/// Metrics of a constant-rate application.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MessageMetrics {
    /// Messages handed to the transport.
    pub sent: u64,
    /// Those that arrived, or whose deadline passed, before the run ended; without a deadline, all.
    pub judged: u64,
    /// Messages that arrived completely (TCP: in order).
    pub received: u64,
    /// Messages received within the deadline; without a deadline, all received.
    pub in_time: u64,
    /// Delay from application to application.
    pub delay: Option<DelaySummary>,
}

impl MessageMetrics {
    /// Messages in time divided by those judged; `None` if none was.
    pub fn share_in_time(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.in_time as f64 / self.judged as f64)
    }
}

impl FlowMetrics {
    /// Duration of the flow.
    pub fn lasted(&self) -> Duration {
        self.end.saturating_since(self.start)
    }

    /// In-order payload divided by the duration of the flow, bit/s.
    pub fn goodput(&self) -> f64 {
        rate(self.bytes_in_order, self.lasted())
    }

    /// Bytes of IP packets sent divided by the duration of the flow, bit/s.
    pub fn throughput(&self) -> f64 {
        rate(self.sender.bytes_sent, self.lasted())
    }

    /// Distinct IP bytes received divided by the duration of the flow, bit/s, as in the figures of
    /// Kuhn 2014.
    pub fn ip_throughput(&self) -> f64 {
        rate(self.receiver.distinct_bytes, self.lasted())
    }

    /// Data packets that arrived with an ECN mark, divided by those that arrived; `None` if none
    /// arrived.
    pub fn share_marked(&self) -> Option<f64> {
        let ReceiverCounters { marked_segments, segments_received, .. } = self.receiver;
        (segments_received > 0).then(|| marked_segments as f64 / segments_received as f64)
    }

    /// A time divided by the duration of the flow, 0 to 1.
    pub(super) fn share(&self, of: Duration) -> f64 {
        let lasted = self.lasted().as_secs_f64();
        if lasted > 0.0 { of.as_secs_f64() / lasted } else { 0.0 }
    }

    /// Time from the first segment sent to the last byte of the file received.
    pub fn completion(&self) -> Option<Duration> {
        self.completed.map(|at| at.saturating_since(self.start))
    }

    /// Time from the first segment sent to the last byte of the file acknowledged.
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

/// Jain's fairness index of the flows' goodputs, 1/n to 1; 1 if all goodputs are 0.
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
