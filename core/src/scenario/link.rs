//! `[link]`: round-trip time, queue, and how packets are put onto LLDUs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::channel::Channel;
use super::limit::Start;
use super::reorder::Reorder;
use crate::config::{Fault, first_changed_key, parts};
use crate::link::{Delays, Fragmentation, QueueLimit, check_delays};
use crate::queue::Aqm;
use crate::scheme::{LiveOptions, Timing};
use crate::trace::{Packing, PhyTrace, TraceFile};
use crate::transport::tcp::Pep;
use crate::units::{Bytes, Duration, Limit};

/// The link: its round-trip time, its queue, and how packets are put onto LLDUs.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[schemars(extend("additionalProperties" = false))]
pub struct Link {
    /// Keys of links over slots.
    #[serde(flatten)]
    pub slots: SlotLink,
    /// Keys of every link.
    #[serde(flatten)]
    pub usage: LinkUsage,
    /// Keys of live links.
    #[serde(flatten)]
    pub live: LiveOptions,
    /// Trace or channel that loses the feedback reports of a live link, slot by slot.
    #[serde(flatten)]
    pub reports: Reports,
}

parts!(Link { slots, usage, live, reports });

/// The keys of a link over slots, which has a scheme and takes its delay from `rtt`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct SlotLink {
    /// Round-trip time of the link: an LLDU arrives half of it after its decoding. Default: the
    /// value that the trace measured, else 100 ms (a round number, not that of a particular
    /// system).
    pub rtt: Option<Duration>,
    /// Time from a slot until the sender can act on its loss; at least the round-trip time.
    /// Default: the round-trip time plus the decoding time. Over a trace whose delays are measured
    /// one-way delays (an import), the default is that delay plus the delay of the return path.
    pub feedback: Option<Duration>,
    /// How packets whose transmissions overlap are sent: "free" (each as soon as it can) or
    /// "papers" (one at a time, as in the papers' ns-2 module).
    pub overlap: Overlap,
    /// How packets are put onto LLDUs: "packet" (each packet begins a new LLDU, as in the papers)
    /// or "bytes" (packets share LLDUs: each begins after the last byte of the one before it, as in
    /// GSE, RLE and RLC). Default: what the trace says ("bytes" for mahimahi), else "packet".
    pub packing: Option<Packing>,
    /// Count one LLDU more for each packet, as the papers do.
    pub extra_lldu: bool,
    /// Bytes of each LLDU that carry no packet data.
    pub lldu_header: Bytes,
    /// Run the scheme live, with the traffic: it uses a slot only when there is something to send.
    /// If false, the scheme repairs the trace beforehand, as if every slot were used. `flush`, the
    /// buffers and all keys of feedback except `feedback` itself are for live links.
    pub live: bool,
}

/// The keys that every link has.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct LinkUsage {
    /// The drop-tail queue before the link: "1000 packets", "64 kB" or "unlimited".
    pub queue: QueueLimit,
    /// Queue management that drops or marks packets before the queue is full: "none" (drop-tail),
    /// "codel", "fq-codel", "pie" or "dualpi2". Parameters that differ from the RFC's are given as
    /// in "codel(target 20 ms, interval 600 ms)".
    pub aqm: Aqm,
    /// Trace time at which a run starts: a time, or "random" to draw one for each run.
    pub start: Start,
    /// Repeat the link trace at its end instead of stopping with an error.
    pub wrap: bool,
    /// Bytes that the link adds to each packet.
    pub packet_header: Bytes,
    /// A re-sequencing buffer behind the link. Without it, packets leave in the order of their
    /// arrival.
    pub reorder: Option<Reorder>,
    /// Additional one-way delay behind the link that varies over time: a CSV file with columns
    /// `time_s` and `delay_ms`, as `clift constellation` writes it. The path is relative to the
    /// folder of the scenario file. Each delay holds until the next row. It applies to the return
    /// path too, unless `[return]` gives another.
    pub delays: Option<Delays>,
    /// With `delays`: a packet that left the link earlier never arrives later. If false, packets
    /// overtake one another when the delay decreases.
    pub keep_order: bool,
    /// The network hands the terminal over at every multiple of this time of the trace, or of the run
    /// over a link without one. The terminal knows this beforehand, and so does a congestion control
    /// that asks for it. The key changes nothing else: the trace has the effect.
    pub handover_every: Option<Duration>,
    /// Instead of `handover_every`, the times of the handovers, e.g. `["151 s", "505 s"]`.
    pub handover_times: Vec<Duration>,
    /// A pair of proxies around the link that split TCP: true, or the settings of the proxy before
    /// the link, which sends over the link. The proxy behind the link has the same buffers and
    /// sends on with the flow's own `[transport]`. QUIC and datagrams pass both unchanged.
    pub pep: Option<Pep>,
}

impl Default for LinkUsage {
    fn default() -> Self {
        Self {
            queue: QueueLimit::Packets(1000),
            aqm: Aqm::None,
            start: Start::default(),
            wrap: false,
            packet_header: Bytes(0),
            reorder: None,
            delays: None,
            keep_order: false,
            handover_every: None,
            handover_times: Vec::new(),
            pep: None,
        }
    }
}

/// Trace or channel that loses the reports of a live link, slot by slot.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Reports {
    /// Instead of `feedback_loss`, the PHY trace of the return path, with the keys of `[trace]`. A
    /// report is lost if its slot is erased. The trace starts at `start` like the link's trace,
    /// repeats when it ends, and restarts when the link's trace restarts.
    pub feedback_trace: Option<TraceFile>,
    /// The same from a model, with the keys of `[channel]`, alone or on top of that trace.
    pub feedback_channel: Option<Channel>,
}

impl Reports {
    /// The first of these keys that is given.
    pub(super) fn given(&self) -> Option<&'static str> {
        let trace = self.feedback_trace.is_some().then_some("feedback_trace");
        trace.or(self.feedback_channel.is_some().then_some("feedback_channel"))
    }
}

/// How packets whose transmissions overlap are sent.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Overlap {
    /// Each packet arrives when the last of its LLDUs does.
    #[default]
    Free,
    /// Release times are moved apart by a packet's transmission time (the CLIFT papers, figure 4).
    Papers,
}

impl SlotLink {
    /// Default round-trip time, if neither the scenario nor a trace gives one.
    pub(super) const RTT: Duration = Duration::from_millis(100);

    /// The times that a scheme over the link uses, given the round-trip time that the trace
    /// measured.
    ///
    /// # Errors
    /// Fails if the sender would learn of a loss before a report can have arrived.
    pub(super) fn timing(&self, measured: Option<Duration>) -> Result<Timing, Fault> {
        let (rtt, feedback) = (self.rtt.or(measured).unwrap_or(Self::RTT), self.feedback);
        if let Some(feedback) = feedback.filter(|&feedback| feedback < rtt) {
            let cure =
                format!("{feedback} is faster than the round trip; give `rtt` ({rtt}) or more");
            return Err(Fault::new("feedback", cure));
        }
        Ok(Timing { rtt, feedback })
    }

    /// Whether the link takes one-way delays from its trace, so that its round-trip time is 0.
    pub(super) fn takes_delays_of(&self, phy: &PhyTrace) -> bool {
        let none = Some(Duration::ZERO);
        phy.header().rtt == none && self.rtt.or(none) == none
    }

    /// Time from a slot until its sender can act on its loss, if the link takes one-way delays from
    /// its trace and reports take `back`; else `None`.
    pub(super) fn feedback_over(&self, phy: &PhyTrace, back: Option<Duration>) -> Option<Duration> {
        let back = back.filter(|_| self.feedback.is_none() && self.takes_delays_of(phy));
        back.map(|back| phy.nominal_decoding() + back)
    }
}

impl Link {
    /// How its packets are put onto LLDUs, unless its trace says more.
    pub(super) fn fragmentation(&self) -> Fragmentation {
        let Self { slots, usage, .. } = self;
        Fragmentation {
            lldu_header: slots.lldu_header,
            packet_header: usage.packet_header,
            extra_lldu: slots.extra_lldu,
            packing: slots.packing,
        }
    }

    /// Checks for keys that contradict one another or apply to other links.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let LinkUsage { queue, reorder, delays, keep_order, .. } = &self.usage;
        if matches!(queue, QueueLimit::Packets(0) | QueueLimit::Bytes(0)) {
            let cure = "a queue of 0 lets nothing through, because a packet waits for its slot; give \
                        1 packet or more";
            return Err(Fault::new("queue", cure));
        }
        if reorder.as_ref().is_some_and(|reorder| reorder.packets == Limit::AtMost(0)) {
            let cure =
                "a buffer of 0 packets holds nothing; give 1 or more, or leave `reorder` out";
            return Err(Fault::new("reorder.packets", cure));
        }
        check_delays(None, delays.as_ref(), *keep_order)?;
        if !self.slots.live {
            let is_changed = self.live != LiveOptions::default();
            let key = is_changed.then(|| first_changed_key(&self.live)).flatten();
            let given = key.or(self.reports.given().map(str::to_owned));
            return given.map_or(Ok(()), |name| {
                let cure = "applies only to live links; add live = true, or leave it out";
                Err(Fault::new(&name, cure))
            });
        }
        if self.slots.extra_lldu && self.slots.packing == Some(Packing::Bytes) {
            let cure = "counts whole LLDUs per packet, but here packets share them; leave it out, or give packing = \"packet\"";
            return Err(Fault::new("extra_lldu", cure));
        }
        if self.slots.overlap == Overlap::Papers {
            let cure = "\"papers\" applies to link traces, as ns-2 reads them; a live link sends unit by unit, so leave it out";
            return Err(Fault::new("overlap", cure));
        }
        if self.live.feedback_repeat.is_some()
            && self.live.feedback_loss.is_none()
            && self.reports.given().is_none()
        {
            let cure = "no report is lost; give `feedback_loss`, `feedback_trace` or `feedback_channel`, or leave it out";
            return Err(Fault::new("feedback_repeat", cure));
        }
        match self.reports.given() {
            Some(source) if self.live.feedback_loss.is_some() => {
                let cure = format!(
                    "`{source}` already says which reports are lost; leave one of them out"
                );
                Err(Fault::new("feedback_loss", cure))
            }
            _ => Ok(()),
        }
    }
}
