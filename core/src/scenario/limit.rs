//! Small quantities of their own: queue bounds and starts.

use std::fmt;
use std::str::FromStr;

use crate::link::QueueLimit;
use crate::units::{Duration, QuantityError, Size, packets, quantity};

/// The bound of a drop-tail queue: `"1000 packets"`, `"64 kB"` or `"unlimited"`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum QueueBound {
    /// So many packets.
    Packets(u64),
    /// So many bytes.
    Bytes(u64),
    /// No bound.
    Unlimited,
}

impl FromStr for QueueBound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "unlimited" {
            return Ok(Self::Unlimited);
        }
        if let Some(packets) = packets(text) {
            return packets.map(Self::Packets);
        }
        text.parse().map(|Size(bytes)| Self::Bytes(bytes)).map_err(|_: QuantityError| {
            format!(
                "`{text}` is not a queue; write e.g. \"1000 packets\", \"64 kB\" or \"unlimited\""
            )
        })
    }
}

impl fmt::Display for QueueBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Packets(packets) => write!(f, "{packets} packets"),
            Self::Bytes(bytes) => Size(bytes).fmt(f),
            Self::Unlimited => f.write_str("unlimited"),
        }
    }
}

impl QueueBound {
    /// The bound of the engine.
    pub(super) fn limit(self) -> QueueLimit {
        match self {
            Self::Unlimited => QueueLimit::Unlimited,
            Self::Bytes(bytes) => QueueLimit::Bytes(bytes),
            // More packets than 2^32 - 1 do not fit into memory: no limit that anybody meets.
            Self::Packets(packets) => {
                QueueLimit::Packets(u32::try_from(packets).unwrap_or(u32::MAX))
            }
        }
    }
}

quantity!(
    QueueBound,
    "Queue",
    r"^\s*(unlimited|[0-9]+\s*packets?|[0-9]+(\.[0-9]+)?\s*(B|kB|KiB|MB|MiB|GB|GiB))\s*$",
    "a queue, e.g. \"1000 packets\", \"64 kB\" or \"unlimited\""
);

/// The trace time at which a run starts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Start {
    /// At this time of the trace.
    At(Duration),
    /// At a time drawn anew for each run, the same in every cell.
    Random,
}

impl Default for Start {
    fn default() -> Self {
        Self::At(Duration::ZERO)
    }
}

impl FromStr for Start {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        if text.trim() == "random" { Ok(Self::Random) } else { text.parse().map(Self::At) }
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(time) => time.fmt(f),
            Self::Random => f.write_str("random"),
        }
    }
}

quantity!(
    Start,
    "Start",
    r"^\s*(random|[0-9]+(\.[0-9]+)?\s*(ns|us|µs|ms|s|min|h))\s*$",
    "a time of the trace, e.g. \"30 s\", or \"random\""
);
