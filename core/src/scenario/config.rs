//! The schema of a scenario file. This struct and what it holds are the only definition: what is
//! read, the JSON Schema and the reference page all follow from them (doc comments become
//! descriptions).

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::adaptive_harq::AdaptiveHarq;
use super::channel::Channel;
use super::hybrid::Hybrid;
use super::leg::Leg;
use super::link::Link;
use super::ntn::Ntn;
use super::path::{Hop, Return};
use super::printed::Printed;
use super::trace::Trace;
use super::traffic::{Flow, Transport};
use super::vary::Vary;
use crate::application::ApplicationConfig;
use crate::scheme::Scheme;
use crate::units::Duration;

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
    /// A link trace in memory, in the place of trace, channel and scheme: what a scheme made of a PHY
    /// trace beforehand.
    pub link_trace: Option<PathBuf>,
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
    /// The way back; without it, it takes as long as the path: half the round-trip time of every
    /// link and the delay of every leg, which vary where those of the path do.
    #[serde(rename = "return")]
    pub back: Option<Return>,
    /// The wired legs at every source and at the destination.
    pub access: Option<Leg>,
    /// The transport of every flow.
    pub transport: Transport,
    /// What drives every flow.
    pub application: ApplicationConfig,
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
            link_trace: None,
            scheme: Scheme::None,
            link: Link::default(),
            hybrid: None,
            ntn: None,
            adaptive_harq: None,
            path: Vec::new(),
            back: None,
            access: None,
            transport: Transport::default(),
            application: ApplicationConfig::default(),
            flows: None,
            flow: Vec::new(),
            vary: Vary::default(),
            printed: Vec::new(),
        }
    }
}
