//! `[link]`: its round-trip time, its queue, how packets are put onto LLDUs.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::channel::Channel;
use super::delays::{self, Delays};
use super::limit::{QueueBound, Start};
use super::reorder::Reorder;
use super::trace::Trace;
use crate::config::Fault;
use crate::trace::Packing;
use crate::units::{Bytes, Duration, Limit, Probability};

/// The link: its round-trip time, its queue, how packets are put onto LLDUs.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Link {
    /// Round-trip time of the link: an LLDU arrives half of it after it was decoded. Unless set, what
    /// the trace measured, and if it did not, 500 ms.
    pub rtt: Option<Duration>,
    /// From a slot until the sender can act on its loss, at least the round-trip time; that plus
    /// the decoding time unless set.
    pub feedback: Option<Duration>,
    /// The drop-tail queue before the link: "1000 packets", "64 kB" or "unlimited".
    pub queue: QueueBound,
    /// Trace time at which a run starts: a time, or "random" for one drawn anew in each run.
    pub start: Start,
    /// Repeat the link trace at its end instead of stopping with an error.
    pub wrap: bool,
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
    /// Whether the scheme runs with the traffic: slots are used only when there is something to
    /// send. Otherwise it repairs the trace beforehand, as if every slot were used. The keys below
    /// are for live links.
    pub live: bool,
    /// From the first unit of a FEC or HARQ block until it is closed, if nothing waits to fill it;
    /// without it a block is closed as soon as nothing waits.
    pub flush: Option<Duration>,
    /// Probability that a report of the far end (of ARQ and HARQ) is lost.
    pub feedback_loss: Option<Probability>,
    /// In its place the PHY trace of the way back, with the keys of `[trace]`: a report is lost if
    /// the slot that would carry it is erased. It starts at `start` as the link's trace does,
    /// repeats when it ends, and begins anew where the link's does.
    pub feedback_trace: Option<Trace>,
    /// The same from a model, with the keys of `[channel]`, alone or on top of that trace.
    pub feedback_channel: Option<Channel>,
    /// After how long a lost report is repeated; the feedback time unless set.
    pub feedback_repeat: Option<Duration>,
    /// Most LLDUs (HARQ: blocks) that the sender keeps until it hears of their end; without it
    /// there is no bound.
    pub send_buffer: Option<NonZeroU32>,
    /// Most LLDUs (HARQ: blocks) from the first gap to the newest, which the far end has to hold;
    /// without it there is no bound.
    pub receive_buffer: Option<NonZeroU32>,
}

impl Default for Link {
    fn default() -> Self {
        Self {
            rtt: None,
            feedback: None,
            queue: QueueBound::Packets(1000),
            start: Start::default(),
            wrap: false,
            overlap: Overlap::Free,
            packing: None,
            extra_lldu: false,
            lldu_header: Bytes(0),
            packet_header: Bytes(0),
            reorder: None,
            delays: None,
            keep_order: false,
            live: false,
            flush: None,
            feedback_loss: None,
            feedback_trace: None,
            feedback_channel: None,
            feedback_repeat: None,
            send_buffer: None,
            receive_buffer: None,
        }
    }
}

/// What happens to packets whose transmissions overlap.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Overlap {
    /// Each packet arrives as its LLDUs say.
    Free,
    /// Release times are moved apart by a packet's transmission time (the CLIFT papers, figure 4).
    Papers,
}

impl Link {
    /// The round-trip time of a link of which neither the scenario nor a trace says it.
    const RTT: Duration = Duration::from_millis(500);

    /// The round-trip time, given what the trace measured.
    pub(super) fn rtt(&self, measured: Option<Duration>) -> Duration {
        self.rtt.or(measured).unwrap_or(Self::RTT)
    }

    /// That a scheme does not hear of a loss before anything can have come back; `key` is the
    /// section that the link stands in.
    pub(super) fn check_feedback(&self, key: &str, rtt: Duration) -> Result<(), Fault> {
        if let Some(feedback) = self.feedback.filter(|&feedback| feedback < rtt) {
            let cure =
                format!("{feedback} is faster than the round trip; give `rtt` ({rtt}) or more");
            return Err(Fault::of(key, "feedback", cure));
        }
        Ok(())
    }

    /// Keys that contradict one another or are for other links; `key` is the section that they
    /// stand in.
    pub(super) fn check(&self, key: &str) -> Result<(), Fault> {
        if self.reorder.as_ref().is_some_and(|reorder| reorder.packets == Limit::AtMost(0)) {
            let cure =
                "a buffer of 0 packets holds nothing; give 1 or more, or leave `reorder` out";
            return Err(Fault::of(key, "reorder.packets", cure));
        }
        delays::check(key, None, self.delays.as_ref(), self.keep_order)?;
        if let Some(name) = self.live_key() {
            let cure = "is for links that run with their traffic; add live = true, or leave it out";
            return Err(Fault::of(key, name, cure));
        }
        if self.extra_lldu && self.packing == Some(Packing::Bytes) {
            let cure = "counts whole LLDUs a packet, but packets share them; leave it out, or give packing = \"packet\"";
            return Err(Fault::of(key, "extra_lldu", cure));
        }
        if self.live && self.overlap == Overlap::Papers {
            let cure = "\"papers\" is how ns-2 read link traces; a live link sends unit by unit, so leave it out";
            return Err(Fault::of(key, "overlap", cure));
        }
        match self.feedback_source() {
            Some(source) if self.feedback_loss.is_some() => {
                let cure = format!("`{source}` says which reports are lost; leave one of them out");
                Err(Fault::of(key, "feedback_loss", cure))
            }
            _ => Ok(()),
        }
    }

    /// The keys given that only links over slots have, which take their delay from `rtt`; a link with
    /// a section of its own does not.
    pub(super) fn of_slots(&self) -> impl Iterator<Item = &'static str> + use<> {
        let keys = [
            ("rtt", self.rtt.is_some()),
            ("feedback", self.feedback.is_some()),
            ("overlap", self.overlap == Overlap::Papers),
            ("packing", self.packing.is_some()),
            ("extra_lldu", self.extra_lldu),
            ("lldu_header", self.lldu_header != Bytes(0)),
            ("live", self.live),
        ];
        keys.into_iter().filter(|(_, given)| *given).map(|(name, _)| name)
    }

    /// The first key given that says how a scheme repairs a trace.
    pub(super) fn of_scheme(&self) -> Option<&'static str> {
        let keys = [
            ("link.live", self.live),
            ("link.feedback", self.feedback.is_some()),
            ("link.rtt", self.rtt.is_some()),
        ];
        keys.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }

    /// The key that says which reports are lost, slot by slot.
    fn feedback_source(&self) -> Option<&'static str> {
        let trace = self.feedback_trace.is_some().then_some("feedback_trace");
        trace.or(self.feedback_channel.is_some().then_some("feedback_channel"))
    }

    /// The first key that is for live links and given for another.
    fn live_key(&self) -> Option<&'static str> {
        let keys = [
            ("flush", self.flush.is_some()),
            ("feedback_loss", self.feedback_loss.is_some()),
            ("feedback_trace", self.feedback_trace.is_some()),
            ("feedback_channel", self.feedback_channel.is_some()),
            ("feedback_repeat", self.feedback_repeat.is_some()),
            ("send_buffer", self.send_buffer.is_some()),
            ("receive_buffer", self.receive_buffer.is_some()),
        ];
        keys.into_iter().find(|(_, given)| *given && !self.live).map(|(name, _)| name)
    }
}
