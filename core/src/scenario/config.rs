//! The schema of a scenario file. This struct and what it holds are the only definition: what is
//! read, the JSON Schema and the reference page all follow from them (doc comments become
//! descriptions).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::leg::Leg;
use super::path::{Hop, Return, Sections};
use super::presets::Preset;
use super::printed::Printed;
use super::traffic::{Flow, Transport};
use super::vary::Vary;
use crate::application::ApplicationConfig;
use crate::config::parts;
use crate::scheme::Scheme;
use crate::units::Duration;

/// What the physical layer did, how the link repairs it, and who sends what over it.
///
/// A path is given by `[trace]` and/or `[channel]`, `scheme` and `[link]`, or leg by leg in
/// `[[path]]`. Quantities are text with a unit ("500 ms", "2.3 Mbit/s", "33 B"); probabilities are
/// numbers (0.02) or text ("2 %").
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[schemars(title = "CLIFT scenario", extend("additionalProperties" = false))]
pub struct Config {
    /// What a run is.
    #[serde(flatten)]
    pub run: Run,
    /// The link.
    #[serde(flatten)]
    pub sections: Sections,
    /// The path and what is sent over it.
    #[serde(flatten)]
    pub traffic: Traffic,
}

parts!(Config { run, sections, traffic });

impl Config {
    /// The link-layer reliability scheme.
    pub fn scheme(&self) -> &Scheme {
        self.sections.scheme.as_ref().unwrap_or(&Scheme::None)
    }
}

/// What a run is.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Run {
    /// A short title, shown above the results.
    pub name: Option<String>,
    /// What the scenario is about; free text.
    pub description: Option<String>,
    /// Where its numbers come from; free text.
    pub source: Option<String>,
    /// Values of a paper for what the scenario leaves out: "geo-mobile-2014" (Kuhn 2014: a round trip
    /// of 500 ms, slots of 33 bytes every 1003802 ns decoded after 36 ms, an unlimited queue, packets
    /// of 1500 bytes, a window of at most 1000) or "leo-2017" (Tauran 2017: 50 Mbit/s of adaptive HARQ,
    /// a queue of 1000 packets, packets of 1040 bytes, a window of 2 to at most 1000). They count as if
    /// they stood here, in `[transport]` and in the link or those of `[[path]]`; slots only in a
    /// `[channel]` without a `[trace]` and of another model than "lms", and no round trip for a link
    /// with a delay of its own.
    pub preset: Option<Preset>,
    /// Seed of every random draw; the same file and seed give the same results, bit for bit.
    pub seed: u64,
    /// Replications of each cell; each has its own seed, made from `seed` and its number.
    pub runs: u32,
    /// Simulated time after which a run ends.
    pub duration: Duration,
    /// End a run early once every flow has finished; true unless a flow never finishes.
    pub stop_when_done: Option<bool>,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            name: None,
            description: None,
            source: None,
            preset: None,
            seed: 1,
            runs: 1,
            duration: Duration::from_secs(400),
            stop_when_done: None,
        }
    }
}

/// The path where one link is not enough, and what is sent over it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Traffic {
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
