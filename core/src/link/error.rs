//! Why there can be no such link.

use thiserror::Error;

/// A link that cannot be built.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum LinkError {
    /// The header fills the LLDU.
    #[error(
        "an LLDU of {lldu} bytes has no room beside its header of {header}; give a smaller header"
    )]
    Header {
        /// Bytes of an LLDU.
        lldu: u32,
        /// Header bytes asked for.
        header: u32,
    },
    /// Parameters of a scheme.
    #[error("{0}")]
    Scheme(String),
    /// Something that only packets over a link trace have.
    #[error("{0} belongs to a link trace; leave it out for a live link")]
    OnlyTraces(&'static str),
    /// A packet that no queue of the link would take.
    #[error("packets of {packet} bytes over a link that carries at most {most}; give smaller ones")]
    PacketTooLarge {
        /// Bytes of the packet.
        packet: u32,
        /// Bytes of the largest that fits.
        most: u32,
    },
    /// A single slot has no period.
    #[error("a trace of one slot cannot be wrapped; give one of at least two slots")]
    NoPeriod,
    /// One LLDU more for each packet where packets share LLDUs.
    #[error("extra_lldu counts whole LLDUs a packet; leave it out, or give packing = \"packet\"")]
    SharedExtra,
    /// Slots of different size under a scheme that runs with the traffic.
    #[error(
        "slots from {least} to {most} bytes: a live link needs slots of one size; leave `live` out, and the link trace made beforehand counts with their sizes; or write a trace with one size for all (`clift trace convert FILE OUTPUT --lldu BYTES`), which changes its rate"
    )]
    LiveSizes {
        /// Bytes of the smallest slot.
        least: u32,
        /// Of the largest.
        most: u32,
    },
    /// A re-sequencing buffer behind a re-sequencing buffer.
    #[error("the link has a re-sequencing buffer of its own; leave one of them out")]
    TwoBuffers,
}
