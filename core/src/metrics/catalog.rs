//! The catalogue of metrics: name, unit, title, direction (whether more is better), meaning, and
//! source of each. Summaries, tables, plots and the docs follow it.

use std::borrow::Cow;
use std::sync::Arc;

use crate::metrics::{
    ConferenceMetrics, DelaySummary, FlowMetrics, HopMetrics, LegMetrics, LinkMetrics,
    MessageMetrics, Outcome, PageMetrics, PathMetrics, ProxyMetrics, ReorderingMetrics,
    RequestMetrics, Value, VideoMetrics, VoiceMetrics,
};
use crate::transport::BrokenOff;
use crate::units::Duration;

/// A row of the catalogue.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Metric {
    /// Key in a summary.
    pub name: &'static str,
    /// Title of a column or an axis.
    pub title: &'static str,
    /// Unit for display: `""` for counts and indices, `"%"` for shares, whose values are 0 to 1.
    pub unit: &'static str,
    /// Whether the smaller or the larger value is better; `None` if neither is.
    pub better: Option<Better>,
    /// Meaning, in one sentence.
    pub meaning: &'static str,
    sources: &'static [Source],
    /// One bit for each [`SummaryPart`] that has the metric.
    places: u16,
}

/// Direction of a metric: whether less or more is better.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Better {
    /// The smaller value is better.
    Less,
    /// The larger value is better.
    More,
}

macro_rules! parts {
    ($($(#[$doc:meta])* $part:ident $name:literal $($own:ty)?,)*) => {
        /// A part of a summary.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum SummaryPart {
            $($(#[$doc])* $part,)*
        }

        impl SummaryPart {
            /// All parts.
            pub const ALL: &[Self] = &[$(Self::$part,)*];

            /// Name of the part in a summary: `run`, `flow`, `messages` ...
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$part => $name,)*
                }
            }

            const fn bit(self) -> u16 {
                1 << self as u16
            }
        }

        /// How a metric is read.
        #[derive(Clone, Copy, Debug)]
        enum Source {
            Run(fn(&Outcome) -> Value),
            /// Of a run, if one of its flows has that application.
            Sometimes(fn(&Outcome) -> Option<Value>),
            Flow(fn(&FlowMetrics) -> Value),
            /// Of each flow; of the run, the sum over its flows.
            Each(fn(&FlowMetrics) -> u64),
            Ecn(fn(&FlowMetrics) -> Value),
            Campaign,
            $($($part(fn(&$own) -> Value),)?)*
        }

        impl Source {
            const fn places(self) -> u16 {
                match self {
                    Run(_) | Sometimes(_) => SummaryPart::Run.bit(),
                    Flow(_) => SummaryPart::Flow.bit(),
                    Each(_) => SummaryPart::Run.bit() | SummaryPart::Flow.bit(),
                    Ecn(_) => SummaryPart::Ecn.bit(),
                    Campaign => SummaryPart::Campaign.bit(),
                    $($($part(_) => <$own>::PART.bit(),)?)*
                }
            }
        }

        $($(
            impl Part for $own {
                const PART: SummaryPart = SummaryPart::$part;

                fn rows(&self) -> Vec<(&'static str, Value)> {
                    read(Self::PART, |source| match source {
                        $part(value) => Some(value(self)),
                        _ => None,
                    })
                }
            }
        )?)*
    };
}

parts! {
    /// The run as a whole.
    Run "run",
    /// Each of `flows`.
    Flow "flow",
    /// The `messages` of a flow.
    Messages "messages" MessageMetrics,
    /// The `page` of a flow.
    Page "page" PageMetrics,
    /// The `requests` of a flow.
    Requests "requests" RequestMetrics,
    /// The `video` of a flow.
    Video "video" VideoMetrics,
    /// The `voice` of a flow.
    Voice "voice" VoiceMetrics,
    /// The `conference` of a flow.
    Conference "conference" ConferenceMetrics,
    /// Each of the `proxies` of a flow.
    Proxies "proxies" ProxyMetrics,
    /// Each of the `paths` of a flow.
    Paths "paths" PathMetrics,
    /// The `reordering` of a flow over several paths.
    Reordering "reordering" ReorderingMetrics,
    /// The `ecn` of a flow.
    Ecn "ecn",
    /// Each link of `links` and `return_links`.
    Link "link" LinkMetrics,
    /// Each wired leg of `links` and `return_links`.
    Leg "leg" LegMetrics,
    /// Each delay.
    Delay "delay" DelaySummary,
    /// No part of a summary: campaigns derive the metric from the metrics of a run.
    Campaign "campaign",
}

/// Metrics that are one part of a summary.
trait Part {
    const PART: SummaryPart;

    /// The metrics by name, in the order of the catalogue.
    fn rows(&self) -> Vec<(&'static str, Value)>;

    fn table(&self) -> Value {
        Value::Table(self.rows())
    }
}

use Source::{
    Campaign, Conference, Delay, Each, Ecn, Flow, Leg, Link, Messages, Page, Paths, Proxies,
    Reordering, Requests, Run, Sometimes, Video, Voice,
};

const LESS: Option<Better> = Some(Better::Less);
const MORE: Option<Better> = Some(Better::More);

/// Every metric, in the order of summaries. A link names its additional counters itself
/// ([`LinkMetrics::details`]).
///
/// ```
/// use clift::metrics::{Better, CATALOG};
/// let goodput = CATALOG.iter().find(|metric| metric.name == "goodput_kbps").unwrap();
/// assert_eq!((goodput.title, goodput.unit), ("goodput", "kbit/s"));
/// assert_eq!(goodput.better, Some(Better::More));
/// ```
#[rustfmt::skip] // a row a metric
pub static CATALOG: &[Metric] = &[
    row("duration_s", "duration", "s", None, "length of the run",
        &[Run(|r| r.ended.as_secs_f64().into())]),
    row("start_s", "start", "s", None, "start time of the flow",
        &[Flow(|f| f.start.as_secs_f64().into())]),
    row("end_s", "end", "s", None, "end time of the flow: of the run, if it still lasted",
        &[Flow(|f| f.end.as_secs_f64().into())]),
    row("goodput_kbps", "goodput", "kbit/s", MORE, "in-order bytes at the receiver x 8 / duration of the run (flow: / duration of the flow); 0 where that is 0 s",
        &[Run(|r| (r.goodput() / 1e3).into()), Flow(|f| (f.goodput() / 1e3).into())]),
    row("throughput_kbps", "sent", "kbit/s", MORE, "rate of IP packets sent, including headers and retransmissions",
        &[Run(|r| r.kbps(|f| f.sender.bytes_sent).into()), Flow(|f| (f.throughput() / 1e3).into())]),
    row("ip_throughput_kbps", "IP received", "kbit/s", MORE, "rate of distinct IP packets received, including headers, as in figures 8 to 11 of Kuhn 2014",
        &[Run(|r| r.kbps(|f| f.receiver.distinct_bytes).into()), Flow(|f| (f.ip_throughput() / 1e3).into())]),
    row("completion_s", "completion", "s", LESS, "time from the first segment sent to the last byte of the file (of the page, of all answers) at the receiver, for the slowest flow, as in table 3 of Kuhn 2014",
        &[Run(|r| seconds(r.completion())), Flow(|f| seconds(f.completion()))]),
    row("completion_acked_s", "completion, acknowledged", "s", LESS, "time from the first segment sent to the last acknowledgement at the sender, for the slowest flow",
        &[Run(|r| seconds(r.completion_acknowledged())), Flow(|f| seconds(f.completion_acknowledged()))]),
    row("mean_completion_s", "mean completion", "s", LESS, "mean of these times over the flows that completed; only if several did",
        &[Sometimes(Outcome::mean_completion)]),
    row("median_completion_s", "median completion", "s", LESS, "median of these times over the flows that completed; only if several did",
        &[Sometimes(|r| r.completion_quantile(0.5))]),
    row("p95_completion_s", "completion, p95", "s", LESS, "95th percentile of these times over the flows that completed; only if several did",
        &[Sometimes(|r| r.completion_quantile(0.95))]),
    row("completed_flows", "flows completed", "", MORE, "number of flows that completed; only if several did",
        &[Sometimes(Outcome::completed)]),
    row("page_load_s", "page load time", "s", LESS, "time from the start of a page to the arrival of its last object, mean over the pages of the run; missing if a page is incomplete",
        &[Sometimes(Outcome::page_load), Page(|p| seconds(p.load))]),
    row("mos", "MOS", "", MORE, "mean opinion score of the E-model (ITU-T G.107), mean over the calls of the run",
        &[Sometimes(Outcome::opinion), Voice(|v| v.opinion.into())]),
    row("video_quality_kbps", "video quality", "kbit/s", MORE, "mean rate of a video, less the mean change of the rate, less the highest rate for each second of start-up and stalls, divided by the segments (Yin et al. 2015, equation 5, \"balanced\"), mean over the videos of the run",
        &[Sometimes(Outcome::video_quality), Video(|v| v.quality.map(|rate| rate / 1e3).into())]),
    row("video_rate_kbps", "video rate", "kbit/s", MORE, "mean rate of the segments of a video that arrived, mean over the videos of the run",
        &[Sometimes(Outcome::video_rate), Video(|v| v.mean_rate.map(|rate| rate / 1e3).into())]),
    row("share_stalled", "stalled", "%", LESS, "time in stalls as a share of the time from the first picture on, mean over the videos of the run",
        &[Sometimes(Outcome::stalled), Video(|v| v.share_stalled().into())]),
    row("conference_rate_kbps", "conference rate", "kbit/s", MORE, "mean of the rates at which the frames of a conference were encoded, mean over the conferences of the run",
        &[Sometimes(Outcome::conference_rate), Conference(|c| c.rate.map(|rate| rate / 1e3).into())]),
    row("share_frozen", "frozen", "%", LESS, "time in freezes as a share of the time from the first picture on, mean over the conferences of the run",
        &[Sometimes(Outcome::frozen), Conference(|c| c.share_frozen().into())]),
    row("freezes", "freezes", "", LESS, "times of 183 ms or more without a new picture: an interval between frames and 150 ms more, as in `freezeCount` of the W3C's WebRTC statistics",
        &[Conference(|c| c.freezes.into())]),
    row("frozen_s", "time frozen", "s", LESS, "total time of the freezes",
        &[Conference(|c| c.frozen.as_secs_f64().into())]),
    row("packets_sent", "packets sent", "", None, "RTP packets sent",
        &[Conference(|c| c.packets_sent.into())]),
    row("share_packets_lost", "packets lost", "%", LESS, "share of the RTP packets lost, among those up to the last one that arrived",
        &[Conference(|c| c.share_packets_lost().into())]),
    row("startup_s", "start-up", "s", LESS, "time from the start of a video to its first picture; missing if there was none",
        &[Video(|v| seconds(v.startup))]),
    row("stalls", "stalls", "", LESS, "interruptions of the playback because the buffer was empty",
        &[Video(|v| v.stalls.into())]),
    row("stalled_s", "time stalled", "s", LESS, "total time of the stalls",
        &[Video(|v| v.stalled.as_secs_f64().into())]),
    row("played_s", "time played", "s", MORE, "playing time that was played; with the start-up and the stalls it makes up the time of the video",
        &[Video(|v| v.played.as_secs_f64().into())]),
    row("rate_switches", "rate switches", "", LESS, "changes of the rate from one segment to the next",
        &[Video(|v| v.switches.into())]),
    row("segments_requested", "segments requested", "", None, "segments that the player requested",
        &[Video(|v| v.requested.into())]),
    row("segments_received", "segments received", "", MORE, "segments that arrived completely",
        &[Video(|v| v.received.into())]),
    row("connections", "connections", "", None, "connections opened",
        &[Page(|p| p.connections.into())]),
    row("objects", "objects", "", None, "objects of the page",
        &[Page(|p| p.objects.into())]),
    row("objects_received", "objects received", "", MORE, "objects that arrived completely",
        &[Page(|p| p.arrived.into())]),
    row("fairness", "fairness", "", MORE, "Jain's index over the goodputs of the flows that began",
        &[Run(|r| r.fairness().into())]),
    row("bytes_in_order", "received in order", "bytes", MORE, "in-order payload at the receiver",
        &[Each(|f| f.bytes_in_order)]),
    row("ip_bytes_sent", "IP sent", "bytes", None, "bytes of IP packets sent, including retransmissions",
        &[Each(|f| f.sender.bytes_sent)]),
    row("ip_bytes_received", "IP received", "bytes", MORE, "bytes of IP packets received, each packet counted once",
        &[Each(|f| f.receiver.distinct_bytes)]),
    row("segments_sent", "segments sent", "", None, "segments sent, including retransmissions",
        &[Each(|f| f.sender.segments_sent)]),
    row("retransmissions", "retransmissions", "", LESS, "segments retransmitted",
        &[Each(|f| f.sender.retransmissions)]),
    row("spurious_retransmissions", "spurious retransmissions", "", LESS, "segments that arrived without new data, because the original had arrived",
        &[Each(|f| f.receiver.duplicate_segments)]),
    row("stale_segments", "stale segments", "", LESS, "segments with new data that the receiver discarded because their timestamp was too old (PAWS); only with profile `linux` and reordering",
        &[Each(|f| f.receiver.stale_segments)]),
    row("timeouts", "timeouts", "", LESS, "retransmission timeouts",
        &[Each(|f| f.sender.timeouts)]),
    row("fast_retransmits", "fast retransmits", "", LESS, "retransmissions in fast recovery; all others follow a timeout",
        &[Each(|f| f.sender.fast_retransmits)]),
    row("recovery_entries", "recovery entries", "", LESS, "entries into recovery by duplicate acknowledgements, as in the DUPACK column of Tauran 2017",
        &[Each(|f| f.sender.recovery_entries_by_dupacks)]),
    row("duplicate_acks", "duplicate ACKs", "", LESS, "duplicate acknowledgements received by the sender",
        &[Each(|f| f.sender.duplicate_acks)]),
    row("window_reductions", "window reductions", "", LESS, "reductions of the congestion window",
        &[Each(|f| f.sender.cwnd_reductions)]),
    row("undo_events", "reductions undone", "", LESS, "window reductions that the sender undid as unnecessary",
        &[Each(|f| f.sender.undo_events)]),
    row("share_application_limited", "waits for application", "%", None, "share of the time in which the sender had no more data of the application to send (of the run: mean over the flows)",
        &[Run(|r| r.mean_share(|f| f.waited_for_application).into()), Flow(|f| f.share(f.waited_for_application).into())]),
    row("share_window_limited", "waits for receive window", "%", LESS, "share of the time in which only the receive window, or the limit `cwnd_max`, kept the sender from sending, as `tcp_info` of Linux counts `rwnd_limited` (of the run: mean over the flows)",
        &[Run(|r| r.mean_share(|f| f.waited_for_receive_window).into()), Flow(|f| f.share(f.waited_for_receive_window).into())]),
    row("share_without_flows", "no flow", "%", None, "share of the run in which there was no flow: before the first one starts, between flows, and after the last one ends",
        &[Run(|r| r.share_without_flows().into())]),
    row("segments_by_retransmissions", "segments by retransmissions", "", None, "acknowledged segments by number of retransmissions: 0, 1, ..., 7 or more",
        &[Flow(|f| Value::List(f.sender.acknowledged_by_transmissions.map(Value::Count).to_vec()))]),
    row("reordering_degree", "reordering degree", "packets", LESS, "largest displacement of a segment that arrived after later ones",
        &[Flow(|f| u64::from(f.receiver.max_reordering).into())]),
    row("segment_delay_ms", "segment delay", "ms", LESS, "time from the first transmission by the transport to the first arrival",
        &[Flow(|f| f.segment_delay.into())]),
    row("in_order_delay_ms", "in-order delay", "ms", LESS, "time from the first transmission by the transport to in-order delivery",
        &[Flow(|f| f.in_order_delay.into())]),
    row("sent", "messages sent", "", None, "messages, requests, voice packets or frames handed to the transport",
        &[Messages(|m| m.sent.into()), Requests(|r| r.sent.into()), Voice(|v| v.sent.into()), Conference(|c| c.sent.into())]),
    row("answered", "requests answered", "", MORE, "requests whose answer arrived completely",
        &[Requests(|r| r.answered.into())]),
    row("received", "messages received", "", MORE, "messages, voice packets or frames that arrived completely (TCP: in order)",
        &[Messages(|m| m.received.into()), Voice(|v| v.received.into()), Conference(|c| c.received.into())]),
    row("played", "packets played", "", MORE, "voice packets that arrived before their playout time",
        &[Voice(|v| v.played.into())]),
    row("share_lost", "not played", "%", LESS, "share of the voice packets due for playout before the end of the run that were lost or too late",
        &[Voice(|v| v.share_lost().into())]),
    row("in_time", "messages in time", "", MORE, "messages, objects, answers, voice packets or frames within the deadline; without a deadline, all that arrived (voice: that were played)",
        &[Messages(|m| m.in_time.into()), Page(|p| p.in_time.into()), Requests(|r| r.in_time.into()), Voice(|v| v.in_time.into()), Conference(|c| c.in_time.into())]),
    row("share_in_time", "messages in time", "%", MORE, "share in time of those that arrived, or whose deadline passed, before the run ended; without a deadline, of those sent (voice: of those due for playout)",
        &[Messages(|m| m.share_in_time().into()), Page(|p| p.share_in_time().into()), Requests(|r| r.share_in_time().into()), Voice(|v| v.share_in_time.into()), Conference(|c| c.share_in_time().into())]),
    row("delay_ms", "message delay", "ms", LESS, "delay of messages, voice packets and frames from application to application",
        &[Messages(|m| m.delay.into()), Voice(|v| v.delay.into()), Conference(|c| c.delay.into())]),
    row("object_delay_ms", "object delay", "ms", LESS, "time from the request of an object to its arrival",
        &[Page(|p| p.object_delay.into())]),
    row("response_time_ms", "response time", "ms", LESS, "time from a request to the last byte of its answer",
        &[Requests(|r| r.response_time.into())]),
    row("mouth_to_ear_ms", "mouth to ear", "ms", LESS, "total delay of codec, network and playout buffer",
        &[Voice(|v| v.mouth_to_ear.into())]),
    row("burst_ratio", "burst ratio", "", LESS, "BurstR of ITU-T G.107: mean length of the bursts of packets not played, divided by that of random losses",
        &[Voice(|v| v.burst_ratio.into())]),
    row("delay_impairment", "delay impairment", "", LESS, "delay impairment Idd of ITU-T G.107",
        &[Voice(|v| v.delay_impairment.into())]),
    row("loss_impairment", "loss impairment", "", LESS, "effective equipment impairment Ie-eff of ITU-T G.107, from the codec and the packets not played",
        &[Voice(|v| v.loss_impairment.into())]),
    row("rating", "R factor", "", MORE, "transmission rating factor R of ITU-T G.107, at most 93.2",
        &[Voice(|v| v.rating.into())]),
    row("path_bytes", "carried", "bytes", None, "payload that the receiver got over the path, in order there",
        &[Paths(|p| p.report.receiver.bytes_in_order.into())]),
    row("path_bytes_sent", "sent", "bytes", None, "bytes of IP packets sent over the path, including retransmissions",
        &[Paths(|p| p.report.sender.bytes_sent.into())]),
    row("path_retransmissions", "retransmissions", "", LESS, "segments retransmitted on the same path",
        &[Paths(|p| p.report.sender.retransmissions.into())]),
    row("path_timeouts", "timeouts", "", LESS, "retransmission timeouts of the path",
        &[Paths(|p| p.report.sender.timeouts.into())]),
    row("reinjected_bytes", "reinjected", "bytes", LESS, "payload that the path carried because another one seemed to have failed",
        &[Paths(|p| p.reinjected.into())]),
    row("srtt_ms", "round trip", "ms", LESS, "smoothed round-trip time of the path at the end of the run",
        &[Paths(|p| p.window.and_then(|window| window.srtt).map(|srtt| srtt.as_secs_f64() * 1e3).into())]),
    row("reordering_delay_ms", "reordering delay", "ms", LESS, "time from the arrival of a packet to its delivery in order, 0 for packets that arrive in order",
        &[Reordering(|r| r.delay.into())]),
    row("mean_held_bytes", "held", "bytes", LESS, "mean over time of the payload that waits for earlier data at the receiver",
        &[Reordering(|r| r.mean_held.into())]),
    row("relayed_bytes", "relayed", "bytes", MORE, "payload that the proxy forwarded",
        &[Proxies(|p| p.relayed.into())]),
    row("most_held_bytes", "most held", "bytes", LESS, "maximum payload in both buffers of the proxy, or that waits for earlier data at the receiver of several paths",
        &[Proxies(|p| p.most_held.into()), Reordering(|r| r.most_held.into())]),
    row("packets_marked", "packets marked", "", LESS, "data packets that arrived with an ECN mark",
        &[Ecn(|f| f.receiver.marked_segments.into())]),
    row("share_marked", "marked", "%", LESS, "share of the data packets received that were marked",
        &[Ecn(|f| f.share_marked().into())]),
    row("reductions", "reductions by marks", "", LESS, "reductions of the congestion window caused by marks; also counted in `window_reductions`",
        &[Ecn(|f| f.sender.ecn_reductions.into())]),
    row("packets_offered", "packets offered", "", None, "packets offered to the link: dropped, delivered, lost and pending ones",
        &[Link(|l| l.counters.offered.into()), Leg(|l| l.counters.offered.into())]),
    row("packets_delivered", "packets delivered", "", MORE, "packets delivered at the far end",
        &[Link(|l| l.counters.delivered.into())]),
    row("packets_dropped", "packets dropped", "", LESS, "packets dropped by a full queue",
        &[Link(|l| l.counters.dropped.into()), Leg(|l| l.counters.dropped.into())]),
    row("packets_lost", "packets lost", "", LESS, "packets lost after the queue",
        &[Link(|l| l.counters.lost.into()), Leg(|l| l.counters.lost.into())]),
    row("packets_pending", "packets pending", "", None, "packets waiting or in transit when the run ended",
        &[Link(|l| l.pending.into()), Leg(|l| l.pending.into())]),
    row("packets_overtaken", "packets overtaken", "", LESS, "packets delivered after a packet that was offered later",
        &[Link(|l| l.counters.overtaken.into())]),
    row("packets_held", "packets held", "", None, "packets held in a re-sequencing buffer",
        &[Link(|l| l.counters.held.into())]),
    row("reorder_flushes", "flushes", "", None, "flushes of a non-empty re-sequencing buffer",
        &[Link(|l| l.counters.flushes.into())]),
    row("lldus_taken", "LLDUs taken", "", None, "LLDUs that carried packets (frames, TBs or attempts on links that send those)",
        &[Link(|l| l.counters.lldus_taken.into())]),
    row("bytes_delivered", "delivered", "bytes", MORE, "IP bytes of delivered packets",
        &[Link(|l| l.counters.bytes_delivered.into())]),
    row("bytes_sent", "sent", "bytes", None, "bytes that the leg sent, including lost ones",
        &[Leg(|l| l.counters.bytes_sent.into())]),
    row("capacity_kbps", "capacity", "kbit/s", None, "bytes of the link's slots that passed, received or erased, x 8 / duration of the run",
        &[Link(|l| (l.capacity / 1e3).into())]),
    row("share_used", "link used", "%", LESS, "share of the link's slots used for packets, including repairs (leg: of the bytes that its rate allows; missing without a rate)",
        &[Link(|l| l.share_used.into()), Leg(|l| l.share_used.into())]),
    row("share_waiting", "link waits", "%", LESS, "share of the link's slots that passed unused although packets waited in it: no HARQ process, no grant, no assigned slot, a full window or buffer, or a handover; only NR, carriers and live links",
        &[Link(|l| l.share_waiting.into())]),
    row("share_beside", "sent beside the link", "%", LESS, "repairs sent outside the link's slots, as a share of the slots: the model takes no slots for them",
        &[Link(|l| l.share_beside.into())]),
    row("share_padding", "padding", "%", LESS, "share of the bytes of the LLDUs of delivered packets that carry no bytes of these; missing where packets share LLDUs or LLDUs differ in size",
        &[Link(|l| l.share_padding.into())]),
    row("mean_coding_ratio", "coding ratio", "%", MORE, "IP bytes delivered / bytes sent on the link for them, including padding",
        &[Link(|l| l.mean_coding_ratio.into())]),
    row("longest_queue", "longest queue", "packets", LESS, "maximum queue length",
        &[Link(|l| l.counters.longest_queue.into()), Leg(|l| l.counters.longest_queue.into())]),
    row("packet_delay_ms", "packet delay", "ms", LESS, "time from queue entry to delivery",
        &[Link(|l| l.delay.into())]),
    row("queueing_delay_ms", "queueing delay", "ms", LESS, "time from queue entry to the first LLDU",
        &[Link(|l| l.queueing_delay.into())]),
    row("count", "count", "", None, "number of samples",
        &[Delay(|d| d.count.into())]),
    row("min", "min", "ms", LESS, "minimum",
        &[Delay(|d| ms(d.min))]),
    row("mean", "mean", "ms", LESS, "mean",
        &[Delay(|d| (d.mean_ns / 1e6).into())]),
    row("p50", "p50", "ms", LESS, "median",
        &[Delay(|d| ms(d.p50))]),
    row("p85", "p85", "ms", LESS, "85th percentile",
        &[Delay(|d| ms(d.p85))]),
    row("p95", "p95", "ms", LESS, "95th percentile",
        &[Delay(|d| ms(d.p95))]),
    row("p99", "p99", "ms", LESS, "99th percentile",
        &[Delay(|d| ms(d.p99))]),
    row("max", "max", "ms", LESS, "maximum",
        &[Delay(|d| ms(d.max))]),
    row("events", "events", "", None, "events handled by the engine",
        &[Run(|r| r.events.into())]),
    row("share_reached", "of it reached", "%", MORE, "goodput as a share of the least capacity of the links on the way", &[Campaign]),
    row("share_sent_again", "sent again", "%", LESS, "retransmissions as a share of segments sent", &[Campaign]),
    row("segments_sent_once_share", "segments sent once", "%", MORE, "share of acknowledged segments that were sent once", &[Campaign]),
    row("segments_sent_twice_share", "segments sent twice", "%", LESS, "share of acknowledged segments that were retransmitted once", &[Campaign]),
    row("segments_sent_three_times_share", "segments sent three times", "%", LESS, "share of acknowledged segments that were retransmitted twice", &[Campaign]),
    row("segments_sent_four_times_share", "segments sent four times", "%", LESS, "share of acknowledged segments that were retransmitted three times", &[Campaign]),
    row("lldus_sent_once_share", "LLDUs sent once", "%", MORE, "share of the LLDUs of the first link trace that were sent once", &[Campaign]),
    row("lldus_sent_twice_share", "LLDUs sent twice", "%", LESS, "share of the LLDUs of the first link trace that were retransmitted once", &[Campaign]),
    row("lldus_sent_three_times_share", "LLDUs sent three times", "%", LESS, "share of the LLDUs of the first link trace that were retransmitted twice", &[Campaign]),
    row("lldus_sent_four_times_share", "LLDUs sent four times", "%", LESS, "share of the LLDUs of the first link trace that were retransmitted three times", &[Campaign]),
];

const fn row(
    name: &'static str,
    title: &'static str,
    unit: &'static str,
    better: Option<Better>,
    meaning: &'static str,
    sources: &'static [Source],
) -> Metric {
    let (mut places, mut next) = (0, 0);
    while next < sources.len() {
        places |= sources[next].places();
        next += 1;
    }
    Metric { name, title, unit, better, meaning, sources, places }
}

impl Metric {
    /// The parts of a summary that have the metric.
    pub fn places(&self) -> impl Iterator<Item = SummaryPart> {
        let places = self.places;
        SummaryPart::ALL.iter().copied().filter(move |place| places & place.bit() != 0)
    }
}

impl Outcome {
    /// All metrics by name: totals, then each flow and each hop. The result serialises to exactly
    /// what Python's `Run.summary()` returns.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use clift::application::File;
    /// use clift::metrics::Value;
    /// use clift::seed::Seed;
    /// use clift::simulation::{self, Flow, Hop, LegConfig, Routing, Setup};
    /// use clift::transport::tcp::{CongestionAlgorithm, TcpConfig};
    /// use clift::units::{Duration, Instant, Size};
    /// let leg = || vec![Hop::Leg(LegConfig::of_delay(Duration::from_millis(10)))];
    /// let flow = Flow {
    ///     start: Instant::ZERO,
    ///     transport: Arc::new(TcpConfig::papers(CongestionAlgorithm::CUBIC)),
    ///     application: Arc::new(File { size: Size(10_000) }),
    ///     source_leg: None,
    /// };
    /// let setup = Setup {
    ///     seed: Seed(1),
    ///     duration: Duration::from_secs(60),
    ///     stop_when_done: true,
    ///     forward: leg(),
    ///     backward: leg(),
    ///     flows: vec![flow],
    ///     proxies: Vec::new(),
    ///     changes: Vec::new(),
    ///     routing: Routing::default(),
    /// };
    /// let summary = simulation::run(&setup, &mut ())?.summary();
    /// assert_eq!(summary.get("bytes_in_order"), Some(&Value::Count(10_000)));
    /// # Ok::<(), simulation::RunError>(())
    /// ```
    pub fn summary(&self) -> Value {
        self.summary_with(Value::List(self.flows.iter().map(flow).collect()))
    }

    /// The summary with `flows` instead of the table of flows.
    pub(super) fn summary_with(&self, flows: Value) -> Value {
        let mut values = read(SummaryPart::Run, |source| match source {
            Run(value) => Some(value(self)),
            Each(count) => Some(self.total(count).into()),
            Sometimes(value) => value(self),
            _ => None,
        });
        let hops = |hops: &[HopMetrics], first: usize| {
            let names = self.hop_names.get(first..).unwrap_or_default().iter().map(Some);
            let names = names.chain(std::iter::repeat(None));
            Value::List(hops.iter().zip(names).map(|(own, name)| hop(own, name)).collect())
        };
        let parts = [
            ("flows", flows),
            ("links", hops(&self.forward, 0)),
            ("return_links", hops(&self.backward, self.forward.len())),
        ];
        // The engine's event count is last.
        let events = values.len() - 1;
        values.splice(events..events, parts);
        Value::Table(values)
    }
}

/// The metrics of a part, in the order of the catalogue.
fn read(place: SummaryPart, value: impl Fn(Source) -> Option<Value>) -> Vec<(&'static str, Value)> {
    let mut values = Vec::with_capacity(24);
    for metric in CATALOG.iter().filter(|metric| metric.places & place.bit() != 0) {
        values.extend(metric.sources.iter().find_map(|&of| Some((metric.name, value(of)?))));
    }
    values
}

pub(super) fn flow(flow: &FlowMetrics) -> Value {
    let mut values = read(SummaryPart::Flow, |source| match source {
        Flow(value) => Some(value(flow)),
        Each(count) => Some(count(flow).into()),
        _ => None,
    });
    values.extend(one(flow.messages.as_ref()));
    values.extend(one(flow.page.as_ref()));
    values.extend(one(flow.requests.as_ref()));
    values.extend(one(flow.video.as_ref()));
    values.extend(one(flow.voice.as_ref()));
    values.extend(one(flow.conference.as_ref()));
    values.extend(several(&flow.proxies));
    values.extend(several(&flow.paths));
    values.extend(one(flow.reordering.as_ref()));
    if flow.ecn {
        let found = read(SummaryPart::Ecn, |source| match source {
            Ecn(value) => Some(value(flow)),
            _ => None,
        });
        values.push(("ecn", Value::Table(found)));
    }
    if let Some(BrokenOff { at, why }) = flow.broken_off {
        let told = format!("at {:.1} s: {why}", at.as_secs_f64());
        values.push(("broken_off", Value::Text(told.into())));
    }
    named(flow.name.as_ref(), values)
}

fn one<T: Part>(part: Option<&T>) -> Option<(&'static str, Value)> {
    part.map(|part| (T::PART.name(), part.table()))
}

fn several<T: Part>(parts: &[T]) -> Option<(&'static str, Value)> {
    let list = || Value::List(parts.iter().map(Part::table).collect());
    (!parts.is_empty()).then(|| (T::PART.name(), list()))
}

/// A table with the name of what it describes, if it has one.
fn named(name: Option<&Arc<str>>, mut values: Vec<(&'static str, Value)>) -> Value {
    if let Some(name) = name {
        values.insert(0, ("name", Value::Text(Cow::Owned(name.to_string()))));
    }
    Value::Table(values)
}

fn hop(hop: &HopMetrics, name: Option<&Arc<str>>) -> Value {
    let (kind, found) = match hop {
        HopMetrics::Leg(leg) => {
            let mut found = leg.rows();
            found.extend(leg.marked.map(|marked| ("packets_marked", marked.into())));
            ("leg", found)
        }
        HopMetrics::Link(link) => {
            let mut found = link.rows();
            found.extend(link.details.iter().map(|&(name, count)| (name, count.into())));
            ("link", found)
        }
    };
    let mut values = vec![("kind", Value::Text(kind.into()))];
    values.extend(found);
    named(name, values)
}

impl From<DelaySummary> for Value {
    fn from(delay: DelaySummary) -> Self {
        delay.table()
    }
}

fn seconds(time: Option<Duration>) -> Value {
    time.map(Duration::as_secs_f64).into()
}

fn ms(time: Duration) -> Value {
    (time.as_secs_f64() * 1e3).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::LegCounters;
    use crate::transport::tcp::SenderCounters;
    use crate::units::Instant;

    /// The output of Python's `json.dumps` for `Run.summary()`, without spaces.
    #[test]
    fn a_summary_serialises_to_json() {
        let outcome = Outcome {
            ended: Instant::from_nanos(2_000_000_000),
            flows: vec![FlowMetrics {
                end: Instant::from_nanos(2_000_000_000),
                bytes_in_order: 1000,
                sender: SenderCounters { timeouts: 3, ..SenderCounters::default() },
                segment_delay: Some(DelaySummary {
                    count: 1,
                    min: Duration::from_millis(4),
                    mean_ns: 4.1e6,
                    p50: Duration::from_millis(5),
                    p85: Duration::from_millis(6),
                    p95: Duration::from_millis(7),
                    p99: Duration::from_millis(8),
                    max: Duration::from_millis(9),
                }),
                messages: Some(MessageMetrics {
                    sent: 3,
                    judged: 3,
                    in_time: 1,
                    ..Default::default()
                }),
                ..FlowMetrics::default()
            }],
            forward: vec![HopMetrics::Leg(LegMetrics {
                counters: LegCounters {
                    offered: 9,
                    dropped: 2,
                    lost: 1,
                    bytes_sent: 400,
                    longest_queue: 5,
                },
                pending: 3,
                marked: None,
                share_used: Some(0.5),
            })],
            backward: Vec::new(),
            hop_names: Vec::new(),
            events: 7,
        };
        let counts = r#""bytes_in_order":1000,"ip_bytes_sent":0,"ip_bytes_received":0,"segments_sent":0,"retransmissions":0,"spurious_retransmissions":0,"stale_segments":0,"timeouts":3,"fast_retransmits":0,"recovery_entries":0,"duplicate_acks":0,"window_reductions":0,"undo_events":0,"share_application_limited":0.0,"share_window_limited":0.0"#;
        let rates = r#""goodput_kbps":4.0,"throughput_kbps":0.0,"ip_throughput_kbps":0.0,"completion_s":null,"completion_acked_s":null"#;
        let delay =
            r#"{"count":1,"min":4.0,"mean":4.1,"p50":5.0,"p85":6.0,"p95":7.0,"p99":8.0,"max":9.0}"#;
        let messages = r#"{"sent":3,"received":0,"in_time":1,"share_in_time":0.3333333333333333,"delay_ms":null}"#;
        let flow = format!(
            r#"{{"start_s":0.0,"end_s":2.0,{rates},{counts},"segments_by_retransmissions":[0,0,0,0,0,0,0,0],"reordering_degree":0,"segment_delay_ms":{delay},"in_order_delay_ms":null,"messages":{messages}}}"#
        );
        let leg = r#"{"kind":"leg","packets_offered":9,"packets_dropped":2,"packets_lost":1,"packets_pending":3,"bytes_sent":400,"share_used":0.5,"longest_queue":5}"#;
        let expected = format!(
            r#"{{"duration_s":2.0,{rates},"fairness":1.0,{counts},"share_without_flows":0.0,"flows":[{flow}],"links":[{leg}],"return_links":[],"events":7}}"#
        );
        assert_eq!(serde_json::to_string(&outcome.summary()).unwrap(), expected);
    }

    #[test]
    fn names_are_unique_in_each_part_of_a_summary() {
        for &place in SummaryPart::ALL {
            let mut names: Vec<&str> = CATALOG
                .iter()
                .filter(|metric| metric.places().any(|one| one == place))
                .map(|metric| metric.name)
                .collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert!(count > 0 && names.len() == count, "{place:?}");
        }
    }
}
