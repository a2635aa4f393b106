//! What packet sniffers would have seen of a run: pcapng with the sender, the link and the receiver as
//! three interfaces.
//!
//! [`record`] runs a setup and writes such a file; a live emulator gives its packets to a [`Timeline`]
//! itself. [`record_log`] writes what a transport logs of itself, as QUIC's qlog, in which headers that
//! are encrypted on the wire stand open. Each packet has its fate and the link's units as a comment.
//!
//! Tools such as Wireshark analyse a connection by its addresses, and one that is seen at three places
//! would look to them like one that sends everything three times. So each place has its own network
//! ([`Place::NETWORK`]), as if addresses were translated between them, and is a stream of its own.

mod comment;
mod engine;
mod frame;
mod log;
mod pcapng;
mod place;
mod timeline;

pub use comment::{Fate, Units};
pub use engine::{CaptureError, Options, Recorder, Summary, check_name, record};
pub use log::record_log;
pub use place::Place;
pub use timeline::{Seen, Ticket, Timeline};

/// Bytes kept of a packet unless more are asked for: the longest headers of IPv4 and TCP.
pub const SNAP: u32 = 80;
