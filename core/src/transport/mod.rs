//! Stage 4: transports, state machines without I/O, clock or knowledge of links.
//!
//! A [`Protocol`] is a configured transport; it makes a [`Connection`], both ends in one, which is all
//! that the engine asks. [`tcp`] and [`datagram`] are such protocols, and another crate may add
//! further ones ([`register_transport`]); [`quic`] is described here and run by `clift-quic`.

mod connection;
pub mod datagram;
mod dialogue;
mod log;
mod outbox;
mod protocol;
pub mod quic;
mod registry;
pub mod segment;
pub mod tcp;

pub use connection::{Connection, EcnReport, End, Packet, Received, Relayed, Report, Window};
pub use dialogue::{Dialogue, Heard, Streams};
pub use log::Log;
pub use outbox::Outbox;
pub use protocol::{FlowControl, Protocol};
pub use registry::{Choice, KINDS, Kind, Options, UnknownTransport, register_transport};
pub use segment::{EcnFlags, Endpoint, SackBlock, SackList, Segment};
