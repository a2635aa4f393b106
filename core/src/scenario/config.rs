//! The schema of a scenario file. These structs are the only definition: what is read, the JSON
//! Schema and the reference page all follow from them (doc comments become descriptions).

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::adaptive_harq::AdaptiveHarq;
use super::channel::Channel;
use super::hybrid::Hybrid;
use super::limit::{QueueBound, Start};
use super::ntn::Ntn;
use super::printed::Printed;
use super::traffic::{Application, Flow, Transport};
use super::vary::Vary;
use crate::scheme::Scheme;
use crate::units::{BitRate, Bytes, Duration, Probability};

/// What the physical layer did, how the link repairs it, and who sends what over it.
///
/// A path is given by `[trace]` and/or `[channel]`, `scheme` and `[link]`, or leg by leg in
/// `[[path]]`. Quantities are text with a unit ("500 ms", "2.3 Mbit/s", "33 B"); probabilities are
/// numbers (0.02) or text ("2 %").
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "CLIFT scenario")]
pub struct Config {
    /// A short title, shown above the results.
    pub name: Option<String>,
    /// What the scenario is about; free text.
    pub description: Option<String>,
    /// Where its numbers come from; free text.
    pub source: Option<String>,
    /// Seed of every random draw; the same file and seed give the same results, bit for bit.
    pub seed: u64,
    /// Replications of each cell; each has its own seed, made from `seed` and its number.
    pub runs: u32,
    /// Simulated time after which a run ends.
    pub duration: Duration,
    /// End a run early once every flow has finished; true unless a flow never finishes.
    pub stop_when_done: Option<bool>,
    /// A PHY trace from a file.
    pub trace: Option<Trace>,
    /// Erasures from a model, alone or on top of the trace.
    pub channel: Option<Channel>,
    /// The link-layer reliability scheme: "none", "FEC(10/12)", "FEC(10/12, interleave 8)",
    /// "ARQ", "ARQ(max 3)", "HARQ(10/12)" or "HARQ(10/12, extra 1, rounds 2)".
    pub scheme: Scheme,
    /// The link: its round-trip time, its queue, how packets are put onto LLDUs.
    pub link: Link,
    /// A hybrid FEC/ARQ-SR link, which runs with its traffic.
    pub hybrid: Option<Hybrid>,
    /// A 3GPP NR link, which runs with its traffic.
    pub ntn: Option<Ntn>,
    /// An adaptive-HARQ link, which runs with its traffic.
    pub adaptive_harq: Option<AdaptiveHarq>,
    /// The path from the sources to the destination, hop by hop, where one link is not enough;
    /// takes the place of `[trace]`, `[channel]`, `scheme`, `[hybrid]`, `[ntn]`, `[adaptive_harq]`
    /// and `[link]`.
    pub path: Vec<Hop>,
    /// The way back; without it a delay of half the round-trip time of every link, which varies where
    /// that of a link does.
    #[serde(rename = "return")]
    pub back: Option<Return>,
    /// The wired legs at every source and at the destination.
    pub access: Option<Leg>,
    /// The transport of every flow.
    pub transport: Transport,
    /// What drives every flow.
    pub application: Application,
    /// How many flows of the kind above share the path, all starting at 0; or list them in
    /// `[[flow]]`.
    pub flows: Option<u32>,
    /// Flows of their own kinds; what one leaves out is taken from `[transport]` and
    /// `[application]`.
    pub flow: Vec<Flow>,
    /// A campaign: what varies from cell to cell.
    pub vary: Vary,
    /// Values that a paper prints, shown beside the measured ones.
    pub printed: Vec<Printed>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            name: None,
            description: None,
            source: None,
            seed: 1,
            runs: 1,
            duration: Duration::from_secs(400),
            stop_when_done: None,
            trace: None,
            channel: None,
            scheme: Scheme::None,
            link: Link::default(),
            hybrid: None,
            ntn: None,
            adaptive_harq: None,
            path: Vec::new(),
            back: None,
            access: None,
            transport: Transport::default(),
            application: Application::default(),
            flows: None,
            flow: Vec::new(),
            vary: Vary::default(),
            printed: Vec::new(),
        }
    }
}

/// A PHY trace from a file.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// The file, relative to the folder of the scenario file.
    pub file: String,
    /// Its format, where the suffix does not tell.
    #[serde(default)]
    pub format: Option<TraceFormat>,
    /// Unit of the times in a bare two-column file.
    #[serde(default)]
    pub unit: Option<TimeUnit>,
    /// Payload of an LLDU, where the file does not say.
    #[serde(default)]
    pub lldu: Option<Bytes>,
    /// Which direction of a two-way measurement ("probes"): "up" or "down".
    #[serde(default)]
    pub direction: Option<Direction>,
    /// The file of loss flags that belongs to "delay-loss", relative to the same folder.
    #[serde(default)]
    pub losses: Option<String>,
    /// Time between the packets of "delay-loss".
    #[serde(default)]
    pub interval: Option<Duration>,
    /// Rate of the slots made from "probes" or "delay-loss"; without it, a slot a packet.
    #[serde(default)]
    pub rate: Option<BitRate>,
    /// Time between the slots of "loss" and "runs".
    #[serde(default)]
    pub slot: Option<Duration>,
    /// Decoding time of the slots of "loss" and "runs" that were received.
    #[serde(default)]
    pub decoding: Option<Duration>,
    /// Keep one slot in so many: a link shared fairly by so many users.
    #[serde(default = "one")]
    pub share: u32,
    /// Trace time that becomes time 0, before anything else.
    #[serde(default)]
    pub offset: Duration,
}

/// A format of trace files.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceFormat {
    /// CLIFT's own.
    Text,
    /// Two bare columns of times.
    Columns,
    /// CLIFT's own, as Parquet.
    Parquet,
    /// Delivery opportunities in milliseconds.
    Mahimahi,
    /// Per-packet delay and loss with a header.
    Probes,
    /// A file of delays and one of loss flags.
    DelayLoss,
    /// 0/1 strings.
    Loss,
    /// ns-2 run lengths.
    Runs,
}

/// Unit of bare numbers in a trace file.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum TimeUnit {
    S,
    Ms,
    Us,
    Ns,
}

/// One direction of a two-way measurement.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Direction {
    Up,
    Down,
}

/// The link: its round-trip time, its queue, how packets are put onto LLDUs.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Link {
    /// Round-trip time of the link: an LLDU arrives half of it after it was decoded.
    pub rtt: Duration,
    /// From a slot until the sender can act on its loss; round-trip time plus decoding time
    /// unless set.
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
    /// One LLDU more for each packet, as the papers count.
    pub extra_lldu: bool,
    /// Bytes of each LLDU that carry no packet.
    pub lldu_header: Bytes,
    /// Bytes that the link adds to each packet.
    pub packet_header: Bytes,
    /// A re-sequencing buffer behind the link; without it packets leave as they come.
    pub reorder: Option<Reorder>,
    /// Whether the scheme runs with the traffic: slots are used only when there is something to
    /// send. Otherwise it repairs the trace beforehand, as if every slot were used. The keys below
    /// are for live links.
    pub live: bool,
    /// From the first unit of a FEC or HARQ block until it is closed, if nothing waits to fill it;
    /// without it a block is closed as soon as nothing waits.
    pub flush: Option<Duration>,
    /// Probability that a report of the far end (of ARQ and HARQ) is lost.
    pub feedback_loss: Option<Probability>,
    /// After how long a lost report is repeated; the feedback time unless set.
    pub feedback_repeat: Option<Duration>,
    /// Most LLDUs (HARQ: blocks) that the sender keeps until it hears of their end; without it
    /// there is no bound.
    pub send_buffer: Option<NonZeroU32>,
    /// Most LLDUs (HARQ: blocks) from the first gap to the newest, which the far end has to hold;
    /// without it there is no bound.
    pub receive_buffer: Option<NonZeroU32>,
}

impl Link {
    /// The first key that is for live links and given for another.
    pub(super) fn live_key(&self) -> Option<&'static str> {
        let keys = [
            ("flush", self.flush.is_some()),
            ("feedback_loss", self.feedback_loss.is_some()),
            ("feedback_repeat", self.feedback_repeat.is_some()),
            ("send_buffer", self.send_buffer.is_some()),
            ("receive_buffer", self.receive_buffer.is_some()),
        ];
        keys.into_iter().find(|(_, given)| *given && !self.live).map(|(name, _)| name)
    }
}

impl Default for Link {
    fn default() -> Self {
        Self {
            rtt: Duration::from_millis(500),
            feedback: None,
            queue: QueueBound::Packets(1000),
            start: Start::default(),
            wrap: false,
            overlap: Overlap::Free,
            extra_lldu: false,
            lldu_header: Bytes(0),
            packet_header: Bytes(0),
            reorder: None,
            live: false,
            flush: None,
            feedback_loss: None,
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
    /// Release times are moved apart by a packet's transmission time (seeds 001 and 003, figure 4).
    Papers,
}

/// A re-sequencing buffer.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reorder {
    /// Packets that it holds before it is flushed; without it, each packet waits until every
    /// earlier one was delivered or given up.
    pub packets: Option<u32>,
    /// Flush when a packet is given up.
    pub flush_on_loss: bool,
    /// Flush the whole buffer when it is full; otherwise only the first gap is given up.
    pub flush_when_full: bool,
    /// What the order is: "link", in which the link took the packets, or "tcp", that of TCP
    /// sequence numbers (seed 004).
    pub key: ReorderKey,
}

/// What a re-sequencing buffer calls order.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReorderKey {
    /// The order in which the link took the packets.
    Link,
    /// TCP sequence numbers, flow by flow; a packet given up stays missing until TCP sends it
    /// again, or a flush jumps over it.
    Tcp,
}

impl Default for Reorder {
    fn default() -> Self {
        Self { packets: None, flush_on_loss: true, flush_when_full: true, key: ReorderKey::Link }
    }
}

/// One hop of a path: a wired leg, or a link with its trace or channel and its scheme.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hop {
    /// A wired leg; then nothing else stands here.
    pub leg: Option<Leg>,
    /// A PHY trace from a file.
    pub trace: Option<Trace>,
    /// Erasures from a model, alone or on top of the trace.
    pub channel: Option<Channel>,
    /// The link-layer reliability scheme.
    pub scheme: Option<Scheme>,
    /// A hybrid FEC/ARQ-SR link.
    pub hybrid: Option<Hybrid>,
    /// A 3GPP NR link.
    pub ntn: Option<Ntn>,
    /// An adaptive-HARQ link.
    pub adaptive_harq: Option<AdaptiveHarq>,
    /// The link.
    pub link: Option<Link>,
}

/// The way back from the destination to the sources.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Return {
    /// A fixed delay in place of half the round-trip time.
    pub delay: Option<Duration>,
    /// A PHY trace from a file.
    pub trace: Option<Trace>,
    /// Erasures from a model, alone or on top of the trace.
    pub channel: Option<Channel>,
    /// The link-layer reliability scheme.
    pub scheme: Option<Scheme>,
    /// A hybrid FEC/ARQ-SR link.
    pub hybrid: Option<Hybrid>,
    /// A 3GPP NR link.
    pub ntn: Option<Ntn>,
    /// An adaptive-HARQ link.
    pub adaptive_harq: Option<AdaptiveHarq>,
    /// The link.
    pub link: Option<Link>,
    /// The way back, hop by hop; then nothing else stands here.
    pub path: Vec<Hop>,
}

/// A wired leg: a drop-tail queue, a transmitter, random loss behind it, a delay.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Leg {
    /// Serialisation rate; without it packets take no time.
    pub rate: Option<BitRate>,
    /// Propagation delay, one way.
    pub delay: Duration,
    /// The drop-tail queue before the transmitter.
    pub queue: QueueBound,
    /// Probability that a packet is lost behind the transmitter.
    pub loss: Probability,
}

impl Default for Leg {
    fn default() -> Self {
        Self {
            rate: None,
            delay: Duration::ZERO,
            queue: QueueBound::Unlimited,
            loss: Probability::ZERO,
        }
    }
}

fn one() -> u32 {
    1
}
