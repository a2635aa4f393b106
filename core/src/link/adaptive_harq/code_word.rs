//! One packet's mutual information, attempt by attempt.

use super::sizing::Sizing;

/// What became of a packet over all its attempts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Decoding {
    /// Decoded by this attempt, from 0.
    Decoded(usize),
    /// Not even by the last.
    Failed,
    /// The channel is not known for as long.
    Unknown,
}

/// Sends a packet of `bits` that needs `needed` bits of mutual information, until it is decoded or
/// `attempts` were made. `channel` is the mutual information per coded bit during an attempt;
/// `sent` gets the coded bits of each.
#[inline]
pub(super) fn send(
    bits: f64,
    needed: f64,
    attempts: usize,
    sizing: &Sizing,
    channel: impl Fn(usize) -> Option<f64>,
    mut sent: impl FnMut(usize, u64),
) -> Decoding {
    let mut received = 0.0;
    for attempt in 0..attempts {
        // Before the first attempt nobody knows more than the nominal need.
        let missing = if attempt == 0 { bits } else { needed - received };
        let coded = sizing.coded_bits(attempt, bits, missing);
        sent(attempt, coded);
        let Some(information) = channel(attempt) else { return Decoding::Unknown };
        received += coded as f64 * information;
        if received >= needed {
            return Decoding::Decoded(attempt);
        }
    }
    Decoding::Failed
}
