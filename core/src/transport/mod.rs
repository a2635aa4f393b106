//! Stage 4: transports, state machines without I/O, clock or knowledge of links.
//!
//! A [`Protocol`] is a configured transport; it makes a [`Connection`], both ends in one, which is all
//! that the engine asks. [`tcp`] and [`datagram`] are such protocols, and another crate may have
//! further ones.

mod connection;
pub mod datagram;
mod outbox;
mod protocol;
pub mod segment;
pub mod tcp;

pub use connection::{Connection, End, Packet, Received, Report, Window};
pub use outbox::Outbox;
pub use protocol::{FlowControl, KINDS, Kind, Protocol};
pub use segment::{Endpoint, SackBlock, SackList, Segment};
