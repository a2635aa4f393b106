//! `[[path]]` and `[return]`: the way there and back, hop by hop.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::adaptive_harq::AdaptiveHarq;
use super::channel::Channel;
use super::leg::Leg;
use super::link::Link;
use crate::config::parts;
use crate::scheme::nr::NtnOptions;
use crate::scheme::{HybridOptions, Scheme};
use crate::trace::TraceFile;
use crate::transport::tcp::Pep;
use crate::units::Duration;

/// What a link is made of: its trace or channel and its scheme, or a kind of link with a section of
/// its own.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Sections {
    /// A PHY trace from a file.
    pub trace: Option<TraceFile>,
    /// Erasures from a model, alone or on top of the trace.
    pub channel: Option<Channel>,
    /// A link trace in memory, in the place of trace, channel and scheme: what a scheme made of a PHY
    /// trace beforehand.
    pub link_trace: Option<PathBuf>,
    /// The link-layer reliability scheme: "none", "FEC(10/12)", "FEC(10/12, interleave 8)",
    /// "ARQ", "ARQ(max 3)", "HARQ(10/12)" or "HARQ(10/12, extra 1, rounds 2)"; "none" unless set.
    pub scheme: Option<Scheme>,
    /// The link: its round-trip time, its queue, how packets are put onto LLDUs.
    pub link: Option<Link>,
    /// A hybrid FEC/ARQ-SR link, which runs with its traffic.
    pub hybrid: Option<HybridOptions>,
    /// A 3GPP NR link, which runs with its traffic.
    pub ntn: Option<NtnOptions>,
    /// An adaptive-HARQ link, which runs with its traffic.
    pub adaptive_harq: Option<AdaptiveHarq>,
}

impl Sections {
    /// The keys that are given.
    pub(super) fn given(&self) -> impl Iterator<Item = &'static str> + use<> {
        let given = [
            ("trace", self.trace.is_some()),
            ("channel", self.channel.is_some()),
            ("link_trace", self.link_trace.is_some()),
            ("scheme", self.scheme.is_some()),
            ("hybrid", self.hybrid.is_some()),
            ("ntn", self.ntn.is_some()),
            ("adaptive_harq", self.adaptive_harq.is_some()),
            ("link", self.link.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name)
    }

    /// The first key that makes a link of it; `scheme` and `link` only change one.
    pub(super) fn makes_link(&self) -> Option<&'static str> {
        self.given().find(|name| !["scheme", "link"].contains(name))
    }

    /// The key that says where slots come from.
    pub(super) fn slots(&self) -> Option<&'static str> {
        self.given().find(|name| ["trace", "channel"].contains(name))
    }
}

/// One hop of a path: a wired leg, or a link with its trace or channel and its scheme.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[schemars(extend("additionalProperties" = false))]
pub struct Hop {
    /// The leg.
    #[serde(flatten)]
    pub wire: Wire,
    /// The link.
    #[serde(flatten)]
    pub sections: Sections,
}

parts!(Hop { wire, sections });

/// A hop that is no link.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Wire {
    /// A wired leg; then nothing else stands here.
    pub leg: Option<Leg>,
    /// A proxy that splits TCP here: true, or what it is like; then nothing else stands here. QUIC and
    /// datagrams pass it. In `[[return.path]]` `pep = true` marks where the proxies of `[[path]]` stand
    /// on the way back.
    pub pep: Option<Pep>,
}

/// The way back from the destination to the sources.
///
/// What stands here takes the place of the whole way back but the access legs: nothing of the path's
/// own delays, varying or not, comes on top. With `[return.trace]` or `[return.channel]` it is a link,
/// and what `[return.link]` leaves out is taken from `[link]`, `delays` included (but for
/// `feedback_trace` and `feedback_channel`, which belong to the way there).
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[schemars(extend("additionalProperties" = false))]
pub struct Return {
    /// A way back without a link, or with several.
    #[serde(flatten)]
    pub way: Way,
    /// A link.
    #[serde(flatten)]
    pub sections: Sections,
}

parts!(Return { way, sections });

/// A way back without a link, or with several.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Way {
    /// A fixed delay in place of that of the path.
    pub delay: Option<Duration>,
    /// The way back, hop by hop; then nothing else stands here.
    pub path: Vec<Hop>,
}
