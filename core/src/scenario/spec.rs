//! What a run needs of traces: the keys under which they are made once.

use serde::Serialize;

use crate::channel::ChannelConfig;
use crate::trace::TraceFile;

/// Which PHY trace a run needs; equal specs mean equal traces.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhySpec {
    /// The section that says which file, for messages: "path.1.trace".
    #[serde(skip)]
    pub key: String,
    /// From this file.
    pub trace: Option<TraceFile>,
    /// Of this channel, alone or on top of the file.
    pub channel: Option<ChannelConfig>,
    /// With so many slots where it stands alone.
    pub slots: Option<u64>,
    /// Seed of the channel.
    pub seed: u64,
    /// Whether only runs of one number need it, so that nobody asks for it again once they are done.
    #[serde(skip)]
    pub is_of_one_run: bool,
}
