//! `[[path]]` and `[return]`: the forward and return path, hop by hop.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::adaptive_harq::AdaptiveHarq;
use super::channel::Channel;
use super::leg::Leg;
use super::link::Link;
use crate::config::parts;
use crate::link::Coding;
use crate::scheme::carrier::CarrierOptions;
use crate::scheme::ntn::NtnOptions;
use crate::scheme::{HybridOptions, Scheme};
use crate::trace::TraceFile;
use crate::transport::tcp::Pep;
use crate::units::Duration;

/// The sections of a link: a trace or channel with a scheme, or a kind of link with its own
/// section.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Sections {
    /// A PHY trace from a file.
    pub trace: Option<TraceFile>,
    /// Erasures from a model, alone or on top of the trace.
    pub channel: Option<Channel>,
    /// A link trace in memory, instead of trace, channel and scheme: the result of a scheme on a
    /// PHY trace.
    pub link_trace: Option<PathBuf>,
    /// The link-layer reliability scheme: "none", "FEC(10/12)", "FEC(10/12, interleave 8)", "ARQ",
    /// "ARQ(max 3)", "HARQ(10/12)" or "HARQ(10/12, extra 1, rounds 2)". Default: "none".
    pub scheme: Option<Scheme>,
    /// The link: its round-trip time, its queue, and how packets are put onto LLDUs.
    pub link: Option<Link>,
    /// Erasure coding above the link: around the whole path, or in a hop of `[[path]]` from that hop
    /// on.
    pub coding: Option<Coding>,
    /// A live hybrid FEC/ARQ-SR link.
    pub hybrid: Option<HybridOptions>,
    /// A live 3GPP NR link.
    pub ntn: Option<NtnOptions>,
    /// A live adaptive-HARQ link.
    pub adaptive_harq: Option<AdaptiveHarq>,
    /// A carrier that terminals share.
    pub carrier: Option<CarrierOptions>,
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
            ("carrier", self.carrier.is_some()),
            ("link", self.link.is_some()),
            ("coding", self.coding.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name)
    }

    /// The first key that defines a link; `scheme`, `link` and `coding` only modify one.
    pub(super) fn makes_link(&self) -> Option<&'static str> {
        self.given().find(|name| !["scheme", "link", "coding"].contains(name))
    }

    /// The first key that provides slots.
    pub(super) fn slots(&self) -> Option<&'static str> {
        self.given().find(|name| ["trace", "channel"].contains(name))
    }
}

/// One hop of a path: a wired leg, or a link with its trace or channel and its scheme.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[schemars(extend("additionalProperties" = false))]
pub struct Hop {
    /// The leg or proxy.
    #[serde(flatten)]
    pub wire: Wire,
    /// The link.
    #[serde(flatten)]
    pub sections: Sections,
}

parts!(Hop { wire, sections });

/// The part of a hop that is not a link: a leg or a proxy.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Wire {
    /// A wired leg. The hop then has no other key, except `coding`.
    pub leg: Option<Leg>,
    /// A proxy that splits TCP at this place: true, or its settings. The hop then has no other key.
    /// QUIC and datagrams pass it unchanged. In `[[return.path]]`, `pep = true` marks the position
    /// of a proxy of `[[path]]` on the return path.
    pub pep: Option<Pep>,
}

/// The return path from the destination to the sources.
///
/// These keys replace the whole return path except the access legs: the delays of the forward path,
/// fixed or varying, are not added. With `[return.trace]` or `[return.channel]` the return path is
/// a link. Keys that `[return.link]` leaves out, `delays` included, are then taken from `[link]`
/// (except `feedback_trace` and `feedback_channel`, which belong to the forward path).
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[schemars(extend("additionalProperties" = false))]
pub struct Return {
    /// A return path without a link, or with several.
    #[serde(flatten)]
    pub way: Way,
    /// A link.
    #[serde(flatten)]
    pub sections: Sections,
}

parts!(Return { way, sections });

/// A return path without a link, or with several.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Way {
    /// A fixed one-way delay instead of that of the forward path.
    pub delay: Option<Duration>,
    /// The return path, hop by hop. `[return]` then has no other key.
    pub path: Vec<Hop>,
}
