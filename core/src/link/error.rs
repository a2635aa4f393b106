//! Errors in building a link.

use thiserror::Error;

/// The reason why a link cannot be built.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum LinkError {
    /// The header leaves no room in the LLDU.
    #[error(
        "an LLDU of {lldu} bytes has no room for data after its header of {header}; give a smaller header"
    )]
    Header {
        /// Bytes of an LLDU.
        lldu: u32,
        /// Header bytes.
        header: u32,
    },
    /// Invalid parameters of a scheme.
    #[error("{0}")]
    Scheme(String),
    /// An option that only links over a link trace support.
    #[error("{0} needs a link trace; remove it for a live link")]
    OnlyTraces(&'static str),
    /// A packet larger than any queue of the link accepts.
    #[error(
        "packets of {packet} bytes are larger than the link's maximum of {most}; give smaller ones"
    )]
    PacketTooLarge {
        /// Bytes of the packet.
        packet: u32,
        /// Bytes of the largest that fits.
        most: u32,
    },
    /// A single slot, which has no period.
    #[error("a trace of one slot cannot be wrapped; give one of at least two slots")]
    NoPeriod,
    /// An additional LLDU per packet, although packets share LLDUs.
    #[error("extra_lldu needs whole LLDUs per packet; remove it, or give packing = \"packet\"")]
    SharedExtra,
    /// Slots of different sizes under a live scheme that counts in units.
    #[error(
        "slots from {least} to {most} bytes: a live link with a registered scheme needs slots of one size; remove `live` to use a precomputed link trace, which supports different sizes; or write a trace with one size for all (`clift trace convert FILE OUTPUT --lldu BYTES`), which changes its rate"
    )]
    LiveSizes {
        /// Bytes of the smallest slot.
        least: u32,
        /// Of the largest.
        most: u32,
    },
    /// Two re-sequencing buffers in a row.
    #[error("the link already has a re-sequencing buffer; remove one of them")]
    TwoBuffers,
}
