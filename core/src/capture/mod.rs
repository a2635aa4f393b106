//! Captures of a run as packet sniffers would record them: pcapng with the sender, the link and the
//! receiver as three interfaces.
//!
//! [`record`] runs a setup and writes such a file; a live emulator passes its packets to a
//! [`Timeline`] itself. [`record_log`] writes the log of a transport, such as QUIC's qlog, which
//! shows headers that are encrypted on the wire. Each packet has its fate, the link's units and
//! the window cut that it led to as a comment.
//!
//! Tools such as Wireshark identify a connection by its addresses; a connection captured at three
//! places would look as if it sent everything three times. Each place therefore has its own network
//! ([`Place::network`]), as with address translation between them, and its own stream.

mod comment;
mod engine;
mod frame;
mod log;
mod pcapng;
mod place;
mod timeline;

pub use engine::{CaptureError, Summary, check_name, record};
pub use log::record_log;
pub use place::Place;
pub use timeline::{Fate, Seen, Ticket, Timeline};
