//! `[link.reorder]`: a re-sequencing buffer.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::link::Resequencing;
use crate::units::Limit;

/// A re-sequencing buffer.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reorder {
    /// Capacity of the buffer in packets; a full buffer is flushed. "unlimited": each packet waits
    /// until every earlier one is delivered or given up.
    pub packets: Limit,
    /// Flush the buffer when a packet is given up.
    pub flush_on_loss: bool,
    /// When the buffer is full, flush all of it. If false, only the first gap is given up.
    pub flush_when_full: bool,
    /// Order that the buffer restores: "link", in which the link took the packets, or "tcp", that
    /// of TCP sequence numbers (Tauran 2017).
    pub key: ReorderKey,
}

/// The order that a re-sequencing buffer restores.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReorderKey {
    /// The order in which the link took the packets.
    Link,
    /// TCP sequence numbers, flow by flow. A packet that is given up stays missing until TCP sends
    /// it again or a flush skips it.
    Tcp,
}

impl Default for Reorder {
    fn default() -> Self {
        Self {
            packets: Limit::AtMost(125),
            flush_on_loss: true,
            flush_when_full: true,
            key: ReorderKey::Link,
        }
    }
}

impl Reorder {
    /// The buffer's configuration in the engine.
    pub(super) fn config(&self) -> Resequencing {
        let Self { flush_when_full, flush_on_loss, .. } = *self;
        match (self.key, self.packets.get().and_then(NonZeroU32::new)) {
            (ReorderKey::Tcp, packets) => {
                Resequencing::TcpSequence { packets, flush_when_full, flush_on_loss }
            }
            (ReorderKey::Link, None) => Resequencing::InOrder,
            (ReorderKey::Link, Some(packets)) => {
                Resequencing::Bounded { packets, flush_when_full, flush_on_loss }
            }
        }
    }
}
