//! The schema of a scenario file. This struct and its fields are the only definition: the reader,
//! the JSON Schema and the reference page all follow from them (doc comments become descriptions).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kinds::Sections;
use super::leg::Leg;
use super::network::Network;
use super::path::{Hop, Return};
use super::presets::Preset;
use super::printed::Printed;
use super::traffic::{Flow, Transport};
use super::vary::Vary;
use crate::application::ApplicationConfig;
use crate::config::{Fault, changed_keys, join, parts};
use crate::scheme::Scheme;
use crate::units::Duration;

/// A scenario: what the physical layer did, how the link repairs losses, and which flows use it.
///
/// The path is given either by `[trace]` and/or `[channel]`, `scheme` and `[link]`, or hop by hop
/// in `[[path]]`, or as a `[network]` of nodes and links. Quantities are text with a unit ("500 ms", "2.3 Mbit/s", "33 B"); probabilities
/// are numbers (0.02) or text ("2 %").
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[schemars(title = "CLIFT scenario", extend("additionalProperties" = false))]
pub struct Config {
    /// Title, seed, duration and replications of a run.
    #[serde(flatten)]
    pub run: Run,
    /// The link.
    #[serde(flatten)]
    pub sections: Sections,
    /// The path and the traffic over it.
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

/// Title, seed, duration and replications of a run.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Run {
    /// Short title, shown above the results.
    pub name: Option<String>,
    /// Description of the scenario; free text.
    pub description: Option<String>,
    /// Source of the scenario's numbers; free text.
    pub source: Option<String>,
    /// Values of a paper for the keys that the scenario leaves out: "geo-mobile-2014" (Kuhn 2014:
    /// round-trip time 500 ms, slots of 33 bytes every 1003802 ns, decoding time 36 ms, unlimited
    /// queue, packets of 1500 bytes, window of at most 1000) or "leo-2017" (Tauran 2017: 50 Mbit/s
    /// of adaptive HARQ, queue of 1000 packets, packets of 1040 bytes, window of 2 to at most
    /// 1000). The values apply as if they were written in this file, in `[transport]` and in the
    /// link or the links of `[[path]]`. Slots apply only to a `[channel]` without a `[trace]` and
    /// with a model other than "lms". The round-trip time does not apply to a link with its own
    /// delay.
    pub preset: Option<Preset>,
    /// Seed of every random draw. The same file and seed give the same results, bit for bit.
    pub seed: u64,
    /// Number of replications of each cell. The seed of a replication is derived from `seed` and
    /// its number.
    pub runs: u32,
    /// Simulated time after which a run ends.
    pub duration: Duration,
    /// End a run early once every flow has finished. Default: true unless a flow never finishes.
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

/// The path, if it has more than one link, and the traffic over it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Traffic {
    /// The path from the sources to the destination, hop by hop, for paths of more than one link.
    /// It replaces `[link]` and the other sections of a link.
    pub path: Vec<Hop>,
    /// The return path. Default: it takes as long as the forward path, that is half the round-trip
    /// time of every link plus the delay of every leg. Where delays on the forward path vary, they
    /// vary on the return path too.
    #[serde(rename = "return")]
    pub back: Option<Return>,
    /// Nodes and links instead of one path.
    pub network: Option<Network>,
    /// The wired legs at every source and at the destination.
    pub access: Option<Leg>,
    /// The transport of every flow.
    pub transport: Transport,
    /// The application of every flow.
    pub application: ApplicationConfig,
    /// Number of flows of this kind that share the path, all starting at 0. To give the flows
    /// different settings, list them in `[[flow]]`.
    pub flows: Option<u32>,
    /// Flows with different settings. A flow takes the keys that it leaves out from `[transport]`
    /// and `[application]`.
    pub flow: Vec<Flow>,
    /// A campaign: the keys that vary from cell to cell.
    pub vary: Vary,
    /// Values that a paper prints, shown next to the measured ones.
    pub printed: Vec<Printed>,
}

impl Traffic {
    /// Checks that some flow has a protocol that uses each key of `[transport]`, but for those of a
    /// preset.
    pub(super) fn check_transports(&self, of_preset: &[String]) -> Result<(), Fault> {
        let usual = Transport::default();
        let own: Vec<_> = self.flow.iter().map(|flow| &flow.transport).collect();
        // Listed flows take the place of those of `[transport]`.
        let all = if own.is_empty() { vec![&self.transport] } else { own.clone() };
        check_transport("transport", &self.transport, &usual, &all, of_preset)?;
        own.iter().enumerate().try_for_each(|(n, one)| {
            check_transport(&format!("flow.{n}.transport"), one, &self.transport, &[one], &[])
        })
    }
}

/// Checks that one of the flows uses each key that a transport sets and its base does not.
fn check_transport(
    key: &str,
    transport: &Transport,
    base: &Transport,
    flows: &[&Transport],
    of_preset: &[String],
) -> Result<(), Fault> {
    let users = |name: &str| match name {
        "quic" => &["quic"][..],
        "delayed_ack" | "timestamps" | "sack" | "linux" | "papers" => &["tcp"],
        "congestion" | "initial_window" | "cwnd_max" | "receive_window" | "careful_resume"
        | "ecn" => &["tcp", "quic"],
        _ => &["tcp", "quic", "udp"],
    };
    for name in changed_keys(transport, base) {
        let users = users(&name);
        // One that a program has added may use any key.
        let is_unused = |own: &&Transport| {
            let protocol = own.kind.protocol.name();
            ["tcp", "quic", "udp"].contains(&protocol) && !users.contains(&protocol)
        };
        if flows.iter().all(is_unused) && !of_preset.contains(&join(key, &name)) {
            let users = users.join("\" or \"");
            let cure = "set the protocol, or leave it out";
            let message = format!("belongs to protocol = \"{users}\"; {cure}");
            return Err(Fault::of(key, &name, message));
        }
    }
    Ok(())
}
