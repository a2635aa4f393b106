//! Small quantities of their own: starts.

use std::fmt;
use std::str::FromStr;

use crate::units::{Duration, QuantityError, quantity};

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
