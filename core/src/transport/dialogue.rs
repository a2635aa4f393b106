//! Connections on which both ends send data: a client sends requests, a server answers.

use crate::transport::End;

/// A connection on which both ends send data. The client is at [`End::Receiver`] and opens the
/// connection; the server is at [`End::Sender`]. Requests go in the direction of acknowledgements,
/// answers in the direction of data.
/// [`Connection::dialogue`](crate::transport::Connection::dialogue) returns it.
///
/// Each end gets the bytes of a stream in order. The connection handles byte counts only, not
/// contents.
pub trait Dialogue {
    /// The client opens the connection, unless it is already open or opening.
    fn open(&mut self);

    /// True once the client has the server's answer to the handshake and may send data.
    fn is_open(&self) -> bool;

    /// `end` supplies `bytes` more for a stream; `last` ends the stream. With [`Streams::One`] all
    /// bytes go into one stream and `stream` is ignored.
    fn say(&mut self, end: End, stream: u32, bytes: u64, last: bool);

    /// Next in-order data that `end` received and that this function has not returned yet, one
    /// stream per call.
    fn heard(&mut self, end: End) -> Option<Heard>;

    /// Bytes that `end` supplied and that have not been sent yet.
    fn unsent(&self, end: End) -> u64;
}

/// In-order bytes of one stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Heard {
    /// Stream number.
    pub stream: u32,
    /// Bytes received since the last call.
    pub bytes: u64,
}

/// Number of streams of a dialogue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Streams {
    /// One per direction: a loss delays all later bytes (TCP).
    One,
    /// Many: a loss on one stream does not delay the others (QUIC).
    Many,
}
