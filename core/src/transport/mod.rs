//! Stage 4: transports, state machines without I/O, clock or knowledge of links.
//!
//! A [`Protocol`] is a configured transport; it makes the two [`Endpoint`]s of a connection, which
//! exchange packets only. [`tcp`] and [`datagram`] are such protocols, and another crate may add
//! further ones ([`Kind`]); [`quic`] is described here and run by `clift-quic`.

pub mod datagram;
mod endpoint;
mod handover;
mod log;
mod outbox;
mod protocol;
pub mod quic;
mod registry;
pub mod segment;
pub mod tcp;
pub(crate) mod train;

pub use endpoint::{
    Answer, BrokenOff, Chunk, Contents, End, Endpoint, EndpointChange, Limit, Packet, PathReport,
    Received, Report, Window,
};
pub use handover::{Handover, Timetable};
pub use log::Log;
pub use outbox::Outbox;
pub use protocol::{FlowControl, Protocol, Purpose, Streams};
pub use registry::{Choice, Kind, Options};
pub use segment::{EcnFlags, SackBlock, SackList, Segment};
pub use train::Train;
