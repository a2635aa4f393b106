//! `[[path]]` and `[return]`: the forward and return path, hop by hop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kinds::Sections;
use super::leg::Leg;
use crate::config::parts;
use crate::transport::tcp::Pep;
use crate::units::Duration;

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
