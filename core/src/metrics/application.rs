//! Metrics of web pages, requests, videos, voice calls and conferences.

use crate::metrics::DelaySummary;
use crate::units::Duration;

/// Metrics of a web page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PageMetrics {
    /// Time from the start until all objects had arrived; `None` if some had not.
    pub load: Option<Duration>,
    /// Number of connections opened.
    pub connections: u64,
    /// Objects of the page.
    pub objects: u64,
    /// Objects that arrived.
    pub arrived: u64,
    /// Those that arrived, or all if the deadline passed before the run ended; without a deadline, all.
    pub judged: u64,
    /// Objects that arrived within the deadline, counted from the start; without a deadline, all
    /// that arrived.
    pub in_time: u64,
    /// Time from the request of an object to its arrival.
    pub object_delay: Option<DelaySummary>,
}

/// Metrics of requests and answers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RequestMetrics {
    /// Requests sent.
    pub sent: u64,
    /// Requests answered.
    pub answered: u64,
    /// Those answered, or whose deadline passed, before the run ended; without a deadline, all sent.
    pub judged: u64,
    /// Requests answered within the deadline; without a deadline, all that were answered.
    pub in_time: u64,
    /// Time from the request to the last byte of the answer.
    pub response_time: Option<DelaySummary>,
}

/// Metrics of a video.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct VideoMetrics {
    /// Segments requested.
    pub requested: u64,
    /// Segments that arrived.
    pub received: u64,
    /// Time from the start to the first picture; `None` if there was none.
    pub startup: Option<Duration>,
    /// Interruptions of the playback.
    pub stalls: u64,
    /// Total time of these.
    pub stalled: Duration,
    /// Playing time that was played.
    pub played: Duration,
    /// Changes of the rate from one segment to the next.
    pub switches: u64,
    /// Mean rate of the segments received, bit/s; `None` without any.
    pub mean_rate: Option<f64>,
    /// Quality of experience, bit/s: mean rate, less the mean change of the rate, less the highest
    /// rate for each second of start-up and stalls, divided by the segments (Yin et al. 2015,
    /// equation 5, "balanced"); `None` before the first picture.
    pub quality: Option<f64>,
    /// Playing time of a segment.
    pub segment: Duration,
    /// Rates in which each segment was available, bit/s.
    pub ladder: Vec<u64>,
    /// Rate of each segment received, bit/s, in order.
    pub rates: Vec<u64>,
    /// Interruptions of the playback: playing time before each, and how long it lasted.
    pub interruptions: Vec<(Duration, Duration)>,
}

/// Metrics of a voice call, in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct VoiceMetrics {
    /// Packets sent.
    pub sent: u64,
    /// Packets that arrived.
    pub received: u64,
    /// Packets whose playout time came before the run ended.
    pub judged: u64,
    /// Packets played.
    pub played: u64,
    /// Packets within the deadline; without a deadline, the packets played.
    pub in_time: u64,
    /// `in_time` as a share of the packets that arrived, or whose deadline passed, before the run ended;
    /// without a deadline, of `judged`.
    pub share_in_time: Option<f64>,
    /// Delay from the sending to the receiving application.
    pub delay: Option<DelaySummary>,
    /// Mouth-to-ear delay in ms: codec, network and playout buffer.
    pub mouth_to_ear: Option<f64>,
    /// Mean length of the bursts of packets not played, divided by that of random losses.
    pub burst_ratio: Option<f64>,
    /// Delay impairment Idd of the E-model.
    pub delay_impairment: Option<f64>,
    /// Effective equipment impairment Ie-eff of the E-model.
    pub loss_impairment: Option<f64>,
    /// Rating factor R of the E-model.
    pub rating: Option<f64>,
    /// Mean opinion score of the E-model.
    pub opinion: Option<f64>,
}

/// Metrics of a conference, in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ConferenceMetrics {
    /// Frames encoded.
    pub sent: u64,
    /// Frames that arrived completely.
    pub received: u64,
    /// Those that arrived completely, or whose deadline passed, before the run ended; without a
    /// deadline, all encoded.
    pub judged: u64,
    /// Frames within the deadline; without a deadline, all that arrived completely.
    pub in_time: u64,
    /// Time from the capture of a frame to the arrival of its last packet.
    pub delay: Option<DelaySummary>,
    /// Packets sent.
    pub packets_sent: u64,
    /// Packets sent up to the last one, in the order of sending, that arrived.
    pub packets_expected: u64,
    /// Packets that arrived.
    pub packets_received: u64,
    /// Mean of the rates at which frames were encoded, bit/s; `None` without any.
    pub rate: Option<f64>,
    /// Times in which the picture froze.
    pub freezes: u64,
    /// Total of these times.
    pub frozen: Duration,
    /// Time from the first picture on; `None` if there was none.
    pub watched: Option<Duration>,
}

impl PageMetrics {
    /// Objects in time divided by those judged; `None` if none was.
    pub fn share_in_time(&self) -> Option<f64> {
        share(self.in_time, self.judged)
    }
}

impl RequestMetrics {
    /// Answers in time divided by the requests judged; `None` if none was.
    pub fn share_in_time(&self) -> Option<f64> {
        share(self.in_time, self.judged)
    }
}

impl VoiceMetrics {
    /// Share of the packets due for playout that were not played.
    pub fn share_lost(&self) -> Option<f64> {
        share(self.judged - self.played, self.judged)
    }
}

impl ConferenceMetrics {
    /// Frames in time divided by those judged; `None` if none was.
    pub fn share_in_time(&self) -> Option<f64> {
        share(self.in_time, self.judged)
    }

    /// Share of the packets lost, among those up to the last one that arrived.
    pub fn share_packets_lost(&self) -> Option<f64> {
        share(self.packets_expected - self.packets_received, self.packets_expected)
    }

    /// Frozen time as a share of the time from the first picture on.
    pub fn share_frozen(&self) -> Option<f64> {
        share(self.frozen.as_nanos(), self.watched?.as_nanos())
    }
}

impl VideoMetrics {
    /// Stalled time as a share of stalled and played time; `None` before the first picture.
    pub fn share_stalled(&self) -> Option<f64> {
        let (stalled, played) = (self.stalled.as_nanos(), self.played.as_nanos());
        share(stalled, stalled + played)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
