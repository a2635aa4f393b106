//! The result of a run.

use std::sync::Arc;

use crate::metrics::{Distribution, FlowMetrics, HopMetrics, Value, fairness};
use crate::units::{Duration, Instant};

/// Everything that a run measured.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// When the run ended.
    pub ended: Instant,
    /// Metrics of each flow.
    pub flows: Vec<FlowMetrics>,
    /// Metrics of each shared hop from the sources to the destination.
    pub forward: Vec<HopMetrics>,
    /// Metrics of each shared hop from the destination to the sources.
    pub backward: Vec<HopMetrics>,
    /// Name of each shared hop, forward ones first; empty if hops have no names.
    pub hop_names: Vec<Arc<str>>,
    /// Events handled by the engine.
    pub events: u64,
}

impl Outcome {
    /// Goodput of all flows together in bit/s: in-order bytes divided by the duration of the run.
    pub fn goodput(&self) -> f64 {
        let bytes = self.total(|flow| flow.bytes_in_order);
        if self.ended == Instant::ZERO {
            0.0
        } else {
            bytes as f64 * 8.0 / self.ended.as_secs_f64()
        }
    }

    /// Metrics of a shared hop, forward ones first.
    pub(crate) fn hop(&self, number: usize) -> &HopMetrics {
        let back = number.wrapping_sub(self.forward.len());
        self.forward.get(number).unwrap_or_else(|| &self.backward[back])
    }

    /// Jain's index over the goodputs of the flows that began.
    pub fn fairness(&self) -> f64 {
        let began = self.flows.iter().filter(|flow| flow.start < self.ended);
        fairness(&began.map(FlowMetrics::goodput).collect::<Vec<_>>())
    }

    /// Time from the first segment sent to the last byte received, of the flow that took longest;
    /// `None` unless every flow had a file and completed it.
    pub fn completion(&self) -> Option<Duration> {
        self.longest(FlowMetrics::completion)
    }

    /// Time from the first segment sent to the last byte acknowledged, of the flow that took
    /// longest; `None` unless every flow had a file and all of it was acknowledged.
    pub fn completion_acknowledged(&self) -> Option<Duration> {
        self.longest(FlowMetrics::completion_acknowledged)
    }

    /// Mean time in s from the first segment sent to the last byte received, over the flows that
    /// completed a file; `None` unless several flows have one.
    pub(super) fn mean_completion(&self) -> Option<Value> {
        let times = self.completions()?;
        let sum: f64 = times.iter().map(|time| time.as_secs_f64()).sum();
        Some((sum / times.len() as f64).into())
    }

    /// A quantile of these times in s, by nearest rank.
    pub(super) fn completion_quantile(&self, share: f64) -> Option<Value> {
        let mut times = Distribution::default();
        self.completions()?.into_iter().for_each(|time| times.record(time));
        times.quantiles([share]).map(|[time]| time.as_secs_f64().into())
    }

    /// Number of these times.
    pub(super) fn completed(&self) -> Option<Value> {
        self.completions().map(|times| (times.len() as u64).into())
    }

    fn completions(&self) -> Option<Vec<Duration>> {
        let times: Vec<_> = self.flows.iter().filter_map(FlowMetrics::completion).collect();
        (times.len() > 1).then_some(times)
    }

    /// Mean page load time in s over the pages of the run; `None` without pages, missing if a page
    /// is incomplete.
    pub(super) fn page_load(&self) -> Option<Value> {
        let pages = self.flows.iter().filter_map(|flow| flow.page);
        mean(pages.map(|page| page.load.map(Duration::as_secs_f64)))
    }

    /// Mean opinion score over the calls of the run; `None` without calls.
    pub(super) fn opinion(&self) -> Option<Value> {
        mean(self.flows.iter().filter_map(|flow| flow.voice).map(|voice| voice.opinion))
    }

    /// Mean quality of experience in kbit/s over the videos of the run; `None` without videos.
    pub(super) fn video_quality(&self) -> Option<Value> {
        let videos = self.flows.iter().filter_map(|flow| flow.video.as_ref());
        mean(videos.map(|video| video.quality.map(|rate| rate / 1e3)))
    }

    /// Mean rate in kbit/s over the videos of the run; `None` without videos.
    pub(super) fn video_rate(&self) -> Option<Value> {
        let videos = self.flows.iter().filter_map(|flow| flow.video.as_ref());
        mean(videos.map(|video| video.mean_rate.map(|rate| rate / 1e3)))
    }

    /// Mean share of the stalled time over the videos of the run; `None` without videos.
    pub(super) fn stalled(&self) -> Option<Value> {
        mean(
            self.flows
                .iter()
                .filter_map(|flow| flow.video.as_ref())
                .map(|video| video.share_stalled()),
        )
    }

    /// Mean rate in kbit/s over the conferences of the run; `None` without conferences.
    pub(super) fn conference_rate(&self) -> Option<Value> {
        let conferences = self.flows.iter().filter_map(|flow| flow.conference);
        mean(conferences.map(|own| own.rate.map(|rate| rate / 1e3)))
    }

    /// Mean share of the frozen time over the conferences of the run; `None` without conferences.
    pub(super) fn frozen(&self) -> Option<Value> {
        mean(self.flows.iter().filter_map(|flow| flow.conference).map(|own| own.share_frozen()))
    }

    /// A count, summed over the flows.
    pub(super) fn total(&self, of: fn(&FlowMetrics) -> u64) -> u64 {
        self.flows.iter().map(of).sum()
    }

    /// Bytes divided by the duration of the run, in kbit/s.
    pub(super) fn kbps(&self, bytes: fn(&FlowMetrics) -> u64) -> f64 {
        let seconds = self.ended.as_secs_f64();
        if seconds > 0.0 { self.total(bytes) as f64 * 8e-3 / seconds } else { 0.0 }
    }

    /// A share of the flows' durations, mean over the flows.
    pub(super) fn mean_share(&self, of: fn(&FlowMetrics) -> Duration) -> f64 {
        let sum: f64 = self.flows.iter().map(|flow| flow.share(of(flow))).sum();
        if self.flows.is_empty() { 0.0 } else { sum / self.flows.len() as f64 }
    }

    /// Share of the run in which there was no flow.
    pub(super) fn share_without_flows(&self) -> f64 {
        let mut spans: Vec<_> = self.flows.iter().map(|flow| (flow.start, flow.end)).collect();
        spans.sort_unstable();
        let (mut covered, mut until) = (Duration::ZERO, Instant::ZERO);
        for (start, end) in spans {
            covered += end.saturating_since(start.max(until));
            until = until.max(end);
        }
        let run = self.ended.as_secs_f64();
        if run > 0.0 { 1.0 - covered.as_secs_f64() / run } else { 0.0 }
    }

    fn longest(&self, of: fn(&FlowMetrics) -> Option<Duration>) -> Option<Duration> {
        let all: Option<Vec<Duration>> = self.flows.iter().map(of).collect();
        all?.into_iter().max()
    }
}

/// The mean of all numbers; `None` without numbers, missing if one of them is.
fn mean(of: impl Iterator<Item = Option<f64>>) -> Option<Value> {
    let all: Vec<Option<f64>> = of.collect();
    let sum: Option<f64> = all.iter().copied().sum();
    (!all.is_empty()).then(|| sum.map(|sum| sum / all.len() as f64).into())
}
