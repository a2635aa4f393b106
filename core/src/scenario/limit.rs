//! The `start` of a run.

use std::fmt;
use std::str::FromStr;

use crate::units::{Duration, QuantityError, number, quantity};

/// The trace time at which a run starts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Start {
    /// At this time of the trace.
    At(Duration),
    /// At a random time, drawn for each run and the same in every cell.
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
    concat!(r"^\s*(random|", number!(), r"\s*(ns|us|µs|ms|s|min|h))\s*$"),
    "a time within the trace, e.g. \"30 s\", or \"random\""
);
