//! `[link]`: its round-trip time, its queue, how packets are put onto LLDUs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::channel::Channel;
use super::limit::Start;
use super::reorder::Reorder;
use crate::config::{Fault, first_changed_key, parts};
use crate::link::{Delays, QueueLimit, check_delays};
use crate::queue::Aqm;
use crate::scheme::{LiveOptions, Timing};
use crate::trace::{Packing, TraceFile};
use crate::transport::tcp::Pep;
use crate::units::{Bytes, Duration, Limit};

/// The link: its round-trip time, its queue, how packets are put onto LLDUs.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[schemars(extend("additionalProperties" = false))]
pub struct Link {
    /// What only links over slots have.
    #[serde(flatten)]
    pub slots: SlotLink,
    /// What every link has.
    #[serde(flatten)]
    pub usage: LinkUsage,
    /// What only links have that run with their traffic.
    #[serde(flatten)]
    pub live: LiveOptions,
    /// What loses the reports of such a link, slot by slot.
    #[serde(flatten)]
    pub reports: Reports,
}

parts!(Link { slots, usage, live, reports });

/// The keys of a link over slots, which has a scheme and takes its delay from `rtt`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct SlotLink {
    /// Round-trip time of the link: an LLDU arrives half of it after it was decoded. Unless set, what
    /// the trace measured, and if it did not, 100 ms: a round number, of no system in particular.
    pub rtt: Option<Duration>,
    /// From a slot until the sender can act on its loss, at least the round-trip time; that plus
    /// the decoding time unless set. Over a trace whose delays are those of the way there (an import of
    /// measured delays) they and the way back.
    pub feedback: Option<Duration>,
    /// What happens to packets whose transmissions overlap: "free" (each goes as soon as it can)
    /// or "papers" (they leave one at a time, as in the papers' ns-2 module).
    pub overlap: Overlap,
    /// What packets share: nothing ("packet": each begins an LLDU of its own, as in the papers), or
    /// LLDUs ("bytes": each begins behind the last byte of the one before it, as GSE, RLE and RLC do
    /// it). Unless set, what the trace says ("mahimahi": bytes), and if it does not, "packet".
    pub packing: Option<Packing>,
    /// One LLDU more for each packet, as the papers count.
    pub extra_lldu: bool,
    /// Bytes of each LLDU that carry no packet.
    pub lldu_header: Bytes,
    /// Whether the scheme runs with the traffic: slots are used only when there is something to
    /// send. Otherwise it repairs the trace beforehand, as if every slot were used. `flush`, the
    /// buffers and all keys of feedback but `feedback` itself are for live links.
    pub live: bool,
}

/// The keys that every link has.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct LinkUsage {
    /// The drop-tail queue before the link: "1000 packets", "64 kB" or "unlimited".
    pub queue: QueueLimit,
    /// What drops packets before that queue is full: "none" (drop-tail), "codel", "fq-codel",
    /// "pie" or "dualpi2", with parameters as in "codel(target 20 ms, interval 600 ms)" where they are not its RFC's.
    pub aqm: Aqm,
    /// Trace time at which a run starts: a time, or "random" for one drawn anew in each run.
    pub start: Start,
    /// Repeat the link trace at its end instead of stopping with an error.
    pub wrap: bool,
    /// Bytes that the link adds to each packet.
    pub packet_header: Bytes,
    /// A re-sequencing buffer behind the link; without it packets leave as they come.
    pub reorder: Option<Reorder>,
    /// Delays that vary behind the link, one way, beside its own: a CSV file with columns `time_s`
    /// and `delay_ms`, as `clift constellation` writes them, relative to the folder of the scenario
    /// file. Each holds until the next, and for the way back as well unless `[return]` says
    /// something else of it.
    pub delays: Option<Delays>,
    /// With `delays`: what left the link earlier never arrives later. Otherwise packets overtake one
    /// another where the path gets shorter.
    pub keep_order: bool,
    /// A pair of proxies around the link that split TCP: true, or what the one before the link is
    /// like. That one sends over the link; the one behind it has the same buffers, and sends on as
    /// the flow's own `[transport]` does. QUIC and datagrams pass both.
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
            pep: None,
        }
    }
}

/// What loses the reports of a live link, slot by slot.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Reports {
    /// In the place of `feedback_loss` the PHY trace of the way back, with the keys of `[trace]`: a
    /// report is lost if the slot that would carry it is erased. It starts at `start` as the link's
    /// trace does, repeats when it ends, and begins anew where the link's does.
    pub feedback_trace: Option<TraceFile>,
    /// The same from a model, with the keys of `[channel]`, alone or on top of that trace.
    pub feedback_channel: Option<Channel>,
}

impl Reports {
    /// The key that is given.
    pub(super) fn given(&self) -> Option<&'static str> {
        let trace = self.feedback_trace.is_some().then_some("feedback_trace");
        trace.or(self.feedback_channel.is_some().then_some("feedback_channel"))
    }
}

/// What happens to packets whose transmissions overlap.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Overlap {
    /// Each packet arrives as its LLDUs say.
    #[default]
    Free,
    /// Release times are moved apart by a packet's transmission time (the CLIFT papers, figure 4).
    Papers,
}

impl SlotLink {
    /// The round-trip time of a link of which neither the scenario nor a trace says it.
    pub(super) const RTT: Duration = Duration::from_millis(100);

    /// The times that a scheme over the link knows, given the round-trip time that the trace measured.
    ///
    /// # Errors
    /// If the scheme would hear of a loss before anything can have come back.
    pub(super) fn timing(&self, measured: Option<Duration>) -> Result<Timing, Fault> {
        let (rtt, feedback) = (self.rtt.or(measured).unwrap_or(Self::RTT), self.feedback);
        if let Some(feedback) = feedback.filter(|&feedback| feedback < rtt) {
            let cure =
                format!("{feedback} is faster than the round trip; give `rtt` ({rtt}) or more");
            return Err(Fault::new("feedback", cure));
        }
        Ok(Timing { rtt, feedback })
    }
}

impl Link {
    /// Keys that contradict one another or are for other links.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let LinkUsage { reorder, delays, keep_order, .. } = &self.usage;
        if reorder.as_ref().is_some_and(|reorder| reorder.packets == Limit::AtMost(0)) {
            let cure =
                "a buffer of 0 packets holds nothing; give 1 or more, or leave `reorder` out";
            return Err(Fault::new("reorder.packets", cure));
        }
        check_delays(None, delays.as_ref(), *keep_order)?;
        if !self.slots.live {
            let given = first_changed_key(&self.live).or(self.reports.given().map(str::to_owned));
            return given.map_or(Ok(()), |name| {
                let cure =
                    "is for links that run with their traffic; add live = true, or leave it out";
                Err(Fault::new(&name, cure))
            });
        }
        if self.slots.extra_lldu && self.slots.packing == Some(Packing::Bytes) {
            let cure = "counts whole LLDUs a packet, but packets share them; leave it out, or give packing = \"packet\"";
            return Err(Fault::new("extra_lldu", cure));
        }
        if self.slots.overlap == Overlap::Papers {
            let cure = "\"papers\" is how ns-2 read link traces; a live link sends unit by unit, so leave it out";
            return Err(Fault::new("overlap", cure));
        }
        match self.reports.given() {
            Some(source) if self.live.feedback_loss.is_some() => {
                let cure = format!("`{source}` says which reports are lost; leave one of them out");
                Err(Fault::new("feedback_loss", cure))
            }
            _ => Ok(()),
        }
    }
}
