//! What applications of today are measured by.

use crate::metrics::DelaySummary;
use crate::units::Duration;

/// What became of a web page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PageMetrics {
    /// From the start until all objects had arrived; `None`: they have not.
    pub load: Option<Duration>,
    /// Connections that were opened.
    pub connections: u64,
    /// Objects of the page.
    pub objects: u64,
    /// Of these, arrived.
    pub arrived: u64,
    /// Of these, within the deadline from the start; all of them without one.
    pub in_time: u64,
    /// From asking for an object to its arrival.
    pub object_delay: Option<DelaySummary>,
}

/// What became of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RequestMetrics {
    /// Requests made.
    pub sent: u64,
    /// Requests answered.
    pub answered: u64,
    /// Of these, within the deadline; all of them without one.
    pub in_time: u64,
    /// From the request to the last byte of the answer.
    pub response_time: Option<DelaySummary>,
}

/// What became of a call, in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct VoiceMetrics {
    /// Packets sent.
    pub sent: u64,
    /// Packets that arrived.
    pub received: u64,
    /// Packets that were to be played before the run ended.
    pub judged: u64,
    /// Of these, played.
    pub played: u64,
    /// Packets within the deadline; those played without one.
    pub in_time: u64,
    /// These as a share: of packets sent, without a deadline of those that were to be played.
    pub share_in_time: Option<f64>,
    /// From application to application.
    pub delay: Option<DelaySummary>,
    /// From mouth to ear, in ms: codec, network and playout buffer.
    pub mouth_to_ear: Option<f64>,
    /// Mean length of bursts of packets not played over that of losses by chance.
    pub burst_ratio: Option<f64>,
    /// Idd of the E-model.
    pub delay_impairment: Option<f64>,
    /// Ie-eff of the E-model.
    pub loss_impairment: Option<f64>,
    /// R of the E-model.
    pub rating: Option<f64>,
    /// Mean opinion score of the E-model.
    pub opinion: Option<f64>,
}

impl PageMetrics {
    /// Objects in time over all objects.
    pub fn share_in_time(&self) -> Option<f64> {
        share(self.in_time, self.objects)
    }
}

impl RequestMetrics {
    /// Answers in time over requests; `None` if none was made.
    pub fn share_in_time(&self) -> Option<f64> {
        share(self.in_time, self.sent)
    }
}

impl VoiceMetrics {
    /// Packets not played of those that were to be.
    pub fn share_lost(&self) -> Option<f64> {
        share(self.judged - self.played, self.judged)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
