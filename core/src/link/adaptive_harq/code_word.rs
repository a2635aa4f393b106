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

/// Sends a packet of `bits` until it is decoded or `attempts` were made. `needed` is the mutual
/// information that decoding takes at an attempt, in bits; `channel` that of each coded bit;
/// `sent` gets the coded bits.
#[inline]
pub(super) fn send(
    bits: f64,
    needed: impl Fn(usize) -> f64,
    attempts: usize,
    sizing: &Sizing,
    channel: impl Fn(usize) -> Option<f64>,
    mut sent: impl FnMut(usize, u64),
) -> Decoding {
    let (mut received, mut wanted) = (0.0, bits);
    for attempt in 0..attempts {
        // Before the first attempt nobody knows more than the nominal need.
        let missing = if attempt == 0 { bits } else { wanted - received };
        let coded = sizing.coded_bits(attempt, bits, missing);
        sent(attempt, coded);
        let Some(information) = channel(attempt) else { return Decoding::Unknown };
        received += coded as f64 * information;
        wanted = needed(attempt);
        if received >= wanted {
            return Decoding::Decoded(attempt);
        }
    }
    Decoding::Failed
}
