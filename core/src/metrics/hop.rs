//! What a hop of the path carried.

use crate::link::LinkCounters;
use crate::metrics::DelaySummary;

/// Totals of a shared hop at the end of a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum HopMetrics {
    /// A wired leg.
    Leg(LegMetrics),
    /// A link.
    Link(Box<LinkMetrics>),
}

/// Totals of a wired leg.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LegMetrics {
    /// Packets and bytes.
    pub counters: LegCounters,
    /// Packets in the queue, in the transmitter or on the way when the run ended.
    pub pending: u64,
    /// Packets that its queue marked, if any came that it may mark.
    pub marked: Option<u64>,
}

/// Totals of a link.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinkMetrics {
    /// Packets, bytes and LLDUs.
    pub counters: LinkCounters,
    /// Packets that waited or were on the way when the run ended.
    pub pending: u64,
    /// Share of the link's slots that its packets took, repairs included, 0 to 1.
    pub share_used: f64,
    /// What was sent beside the link, as a share of its slots: the repairs of a model that takes no time
    /// for them. It may exceed 1.
    pub share_beside: f64,
    /// IP bytes delivered over bytes put on the link for them, padding included; `None` if
    /// nothing was delivered.
    pub mean_coding_ratio: Option<f64>,
    /// Queue entry to delivery.
    pub delay: Option<DelaySummary>,
    /// Queue entry to the first LLDU.
    pub queueing_delay: Option<DelaySummary>,
    /// What this kind of link counts besides, by name.
    pub details: Vec<(&'static str, u64)>,
}

/// Totals of a leg, in packets and bytes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct LegCounters {
    /// Packets offered.
    pub offered: u64,
    /// Packets dropped by a full queue.
    pub dropped: u64,
    /// Packets lost behind the transmitter.
    pub lost: u64,
    /// Bytes sent, lost ones included.
    pub bytes_sent: u64,
    /// Most packets that waited at once.
    pub longest_queue: u64,
}
