//! The use of the capacity of a hop.

use crate::diagnosis::blame::Cause;

/// The capacity of a hop, the goodput, and what the difference was spent on.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// The hop, counted from the sources: of the hops with a rate, the one with the least capacity.
    pub hop: usize,
    /// Bits of all slots that passed.
    pub capacity_bits: u64,
    /// Payload that the receivers got in order, in bits.
    pub goodput_bits: u64,
    /// The causes that cost something, in the order of [`Cause::ALL`]; with the goodput they add up to
    /// the capacity.
    pub parts: Vec<Part>,
}

/// Capacity that a cause cost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Part {
    /// The cause.
    pub cause: Cause,
    /// What it cost.
    pub bits: u64,
}

/// Bits that are shared out, one demand after the other.
#[derive(Debug)]
pub(super) struct Shares {
    left: u64,
    parts: [u64; Cause::ALL.len()],
}

impl Shares {
    pub(super) fn of(bits: u64) -> Self {
        Self { left: bits, parts: [0; Cause::ALL.len()] }
    }

    /// Charges a cause with as much of `bytes` as is left; returns the bits.
    pub(super) fn charge(&mut self, cause: Cause, bytes: f64) -> u64 {
        let bits = self.take(bytes);
        self.parts[cause as usize] += bits;
        bits
    }

    /// As much of `bytes` as is left, in bits.
    pub(super) fn take(&mut self, bytes: f64) -> u64 {
        let bits = ((bytes.max(0.0) * 8.0).round() as u64).min(self.left);
        self.left -= bits;
        bits
    }

    /// Charges a cause with all that is left.
    pub(super) fn charge_rest(&mut self, cause: Cause) {
        self.parts[cause as usize] += std::mem::take(&mut self.left);
    }

    pub(super) fn parts(&self) -> Vec<Part> {
        let parts =
            Cause::ALL.into_iter().map(|cause| Part { cause, bits: self.parts[cause as usize] });
        parts.filter(|part| part.bits > 0).collect()
    }
}

impl Budget {
    /// What a cause cost, in bits.
    pub fn bits(&self, cause: Cause) -> u64 {
        self.parts.iter().find(|part| part.cause == cause).map_or(0, |part| part.bits)
    }
}
