//! Stage 4: transports, state machines without I/O, clock or knowledge of links.
//!
//! A [`Protocol`] is a configured transport; it makes the two [`Endpoint`]s of a connection, which
//! exchange packets only. [`tcp`] and [`datagram`] are such protocols, and another crate may add
//! further ones ([`Kind`]); [`quic`] is described here and run by `clift-quic`.

pub mod datagram;
mod end;
mod endpoint;
mod handover;
mod log;
mod outbox;
mod packet;
mod protocol;
pub mod quic;
mod registry;
pub mod segment;
pub mod tcp;
pub(crate) mod train;

pub use end::{Answer, End, Limit, Received};
pub use endpoint::{BrokenOff, Chunk, Endpoint, EndpointChange, PathReport, Report, Window};
pub use handover::{Handover, Timetable};
pub use log::Log;
pub use outbox::Outbox;
pub use packet::{Contents, Packet};
pub use protocol::{FlowControl, Protocol, Purpose, Streams};
pub use registry::{Choice, Kind, Options};
pub use segment::{EcnFlags, SackBlock, SackList, Segment};
pub use train::Train;
