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
    /// Packets that the buffer holds before it is flushed; "unlimited": each packet waits until every
    /// earlier one was delivered or given up.
    pub packets: Limit,
    /// Flush when a packet is given up.
    pub flush_on_loss: bool,
    /// Flush the whole buffer when it is full; otherwise only the first gap is given up.
    pub flush_when_full: bool,
    /// What the order is: "link", in which the link took the packets, or "tcp", that of TCP
    /// sequence numbers (Tauran 2017).
    pub key: ReorderKey,
}

/// What a re-sequencing buffer calls order.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReorderKey {
    /// The order in which the link took the packets.
    Link,
    /// TCP sequence numbers, flow by flow; a packet given up stays missing until TCP sends it
    /// again, or a flush jumps over it.
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
    /// The buffer of the engine.
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
