//! `[[path]]` and `[return]`: the way there and back, hop by hop.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::adaptive_harq::AdaptiveHarq;
use super::channel::Channel;
use super::hybrid::Hybrid;
use super::leg::Leg;
use super::link::Link;
use super::ntn::Ntn;
use super::trace::Trace;
use crate::scheme::Scheme;
use crate::units::Duration;

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
    /// A link trace in memory, in the place of trace, channel and scheme: what a scheme made of a PHY
    /// trace beforehand.
    pub link_trace: Option<PathBuf>,
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
///
/// What stands here takes the place of the whole way back but the access legs: nothing of the path's
/// own delays, varying or not, comes on top. With `[return.trace]` or `[return.channel]` it is a link,
/// and what `[return.link]` leaves out is taken from `[link]`, `delays` included (but for
/// `feedback_trace` and `feedback_channel`, which belong to the way there).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Return {
    /// A fixed delay in place of that of the path.
    pub delay: Option<Duration>,
    /// A PHY trace from a file.
    pub trace: Option<Trace>,
    /// Erasures from a model, alone or on top of the trace.
    pub channel: Option<Channel>,
    /// A link trace in memory, in the place of trace, channel and scheme: what a scheme made of a PHY
    /// trace beforehand.
    pub link_trace: Option<PathBuf>,
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
