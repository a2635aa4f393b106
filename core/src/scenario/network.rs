//! `[network]`: nodes, and links between them by name.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kinds::Sections;
use super::path::{Hop, Wire};
use crate::config::parts;
use crate::units::Duration;

/// A network: nodes that forward packets, and links between them.
///
/// It replaces `[link]` and the other sections of a link, `[[path]]`, `[return]` and `[access]`. Every
/// `[[flow]]` names the nodes at which it begins and ends. Links are numbered in the order of their
/// names.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// The links, by name: `[network.links.NAME]`. A name has letters, digits, `_` and `-`.
    pub links: BTreeMap<String, NetworkLink>,
    /// Routes of packets: "links" (fewest links) or "delay" (smallest sum of the links' propagation
    /// delays at the start of the run; of equal sums, the fewest links). Of equal routes a node
    /// takes the link with the first name. A flow may give its own route.
    #[serde(default)]
    pub routing: RouteChoice,
    /// With `routing = "delay"`: routes are chosen again after each of these times, by the delays of
    /// then, as routers of a constellation do (e.g. "15 s"). A packet stays on its link, and each node
    /// then forwards it on the new route. Without it, routes do not change.
    #[serde(default)]
    pub reroute_every: Option<Duration>,
}

/// How routes are chosen.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RouteChoice {
    /// By fewest links.
    #[default]
    Links,
    /// By smallest delay.
    Delay,
}

/// A link of a network: a leg, or a link with its trace or channel and its scheme.
#[derive(Clone, Debug, JsonSchema, Serialize)]
#[schemars(extend("additionalProperties" = false))]
pub struct NetworkLink {
    /// Where the link begins and ends.
    #[serde(flatten)]
    pub ends: Ends,
    /// The leg.
    #[serde(flatten)]
    pub wire: Wire,
    /// The link.
    #[serde(flatten)]
    pub sections: Sections,
}

parts!(NetworkLink { ends, wire, sections });

/// The nodes of a link.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Ends {
    /// Node at which the link begins.
    pub from: String,
    /// Node at which the link ends.
    pub to: String,
    /// True: the same link exists in the other direction too, with its own queue and its own random
    /// draws.
    #[serde(default)]
    pub duplex: bool,
    /// The link in the other direction, with the keys of a hop of `[[path]]`. Without this key and
    /// `duplex`, packets cross the link in one direction only.
    #[serde(default, rename = "return")]
    pub back: Option<Hop>,
}
