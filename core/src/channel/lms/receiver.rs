//! Interleaver, modulation and code of the receiver.

use std::num::NonZeroU32;

use super::code::Code;
use super::information::Modulation;
use crate::units::Duration;

/// Decides from the level whether a code word is decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Receiver {
    /// Modulation of the symbols.
    pub modulation: Modulation,
    /// Code: PER as a function of the mean mutual information.
    pub code: Code,
    /// Spreading of the symbols of a code word in time.
    pub interleaver: Interleaver,
    /// Added to Es/N0, in dB: the implementation loss of a receiver (negative), or a calibration.
    pub offset_db: f64,
}

/// The symbols of a code word that starts at `t` are spread over `t` to `t + depth`. The code word
/// is decoded after its last symbol has arrived.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Interleaver {
    /// Depth in time; 0 for none.
    pub depth: Duration,
    /// `None`: evenly over the whole depth. A number J: in J equal parts at the instants
    /// `t + j depth / J`, an effective diversity order.
    pub branches: Option<NonZeroU32>,
}

impl Interleaver {
    /// Time from the start of a code word until it is decoded: the depth, else the slot duration.
    pub fn decoding_time(&self, slot: Duration) -> Duration {
        if self.depth == Duration::ZERO { slot } else { self.depth }
    }
}
