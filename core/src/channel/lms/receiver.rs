//! Interleaver, modulation and code of the receiver.

use std::num::NonZeroU32;

use super::code::Code;
use super::information::Modulation;
use crate::units::Duration;

/// How a level becomes a decoded or lost code word.
#[derive(Clone, Debug, PartialEq)]
pub struct Receiver {
    /// Modulation of the symbols.
    pub modulation: Modulation,
    /// Code: PER of a mean mutual information.
    pub code: Code,
    /// How the symbols of a code word are spread in time.
    pub interleaver: Interleaver,
    /// Added to Es/N0, in dB: what a receiver loses (negative), or a calibration.
    pub offset_db: f64,
}

/// The symbols of a code word that starts at `t` are spread over `t` to `t + depth`; the last one
/// must be there before it is decoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Interleaver {
    /// Length of the spreading; 0 for none.
    pub depth: Duration,
    /// `None`: evenly over the whole depth. A number J: in J equal parts at the instants
    /// `t + j depth / J`, an effective order of diversity.
    pub branches: Option<NonZeroU32>,
}

impl Interleaver {
    /// All symbols at once.
    pub const NONE: Self = Self { depth: Duration::ZERO, branches: None };

    /// From the start of a code word until it is decoded: the depth, else the slot itself.
    pub fn decoding_time(&self, slot: Duration) -> Duration {
        if self.depth == Duration::ZERO { slot } else { self.depth }
    }
}
