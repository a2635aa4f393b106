//! Descriptions of PHY traces. A store makes each described trace once.

use serde::Serialize;

use crate::channel::ChannelConfig;
use crate::trace::TraceFile;

/// Description of a PHY trace; equal descriptions mean equal traces.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhySpec {
    /// The section that names the file, for messages: "path.1.trace".
    #[serde(skip)]
    pub key: String,
    /// The file.
    pub trace: Option<TraceFile>,
    /// The channel, alone or on top of the file.
    pub channel: Option<ChannelConfig>,
    /// Number of slots, if the channel stands alone.
    pub slots: Option<u64>,
    /// Seed of the channel.
    pub seed: u64,
    /// Whether only runs of one number need the trace, so that it can be dropped once they are
    /// done.
    #[serde(skip)]
    pub is_of_one_run: bool,
}
