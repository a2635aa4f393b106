//! Metrics of a hop of the path.

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
    /// Packets in the queue, in the transmitter or in transit when the run ended.
    pub pending: u64,
    /// Packets marked by the queue; `None` if no ECN-capable packet came.
    pub marked: Option<u64>,
    /// Bytes sent as a share of those that the rate allows, 0 to 1; `None` without a rate.
    pub share_used: Option<f64>,
}

/// Totals of a link.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinkMetrics {
    /// Packets, bytes and LLDUs.
    pub counters: LinkCounters,
    /// Packets waiting or in transit when the run ended.
    pub pending: u64,
    /// Bytes of the slots that passed, received or erased, bit/s over the run.
    pub capacity: f64,
    /// Share of the link's slots used for packets, including repairs, 0 to 1.
    pub share_used: f64,
    /// Slots that passed unused although packets waited, 0 to 1: no HARQ process was free, or no slot was
    /// assigned. `None` if the link does not count them.
    pub share_waiting: Option<f64>,
    /// Repairs sent outside the link's slots, as a share of the slots, for models that take no
    /// slots for repairs. It may exceed 1.
    pub share_beside: f64,
    /// Share of the bytes of the LLDUs of delivered packets that do not carry these packets, 0 to 1;
    /// `None` if packets share LLDUs, LLDUs differ in size, or nothing was delivered.
    pub share_padding: Option<f64>,
    /// IP bytes delivered divided by the bytes sent on the link for them, including padding; `None`
    /// if nothing was delivered.
    pub mean_coding_ratio: Option<f64>,
    /// Time from queue entry to delivery.
    pub delay: Option<DelaySummary>,
    /// Time from queue entry to the first LLDU.
    pub queueing_delay: Option<DelaySummary>,
    /// Additional counters of this kind of link, by name.
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
    /// Packets lost after the transmitter.
    pub lost: u64,
    /// Bytes sent, including lost ones.
    pub bytes_sent: u64,
    /// Maximum queue length, in packets.
    pub longest_queue: u64,
}
