//! Connections on which both ends have data: a client asks, a server answers.

use crate::transport::End;

/// A connection in which the client stands at [`End::Receiver`] and opens it, and the server at
/// [`End::Sender`]: requests go the way of acknowledgements, answers the way of data. A
/// [`Connection`](crate::transport::Connection) that is one says so
/// ([`Connection::dialogue`](crate::transport::Connection::dialogue)).
///
/// Both ends have the bytes of a stream in order. The connection neither knows nor keeps what they
/// say.
pub trait Dialogue {
    /// The client opens it, unless it has.
    fn open(&mut self);

    /// Whether the client knows that the server answered, so that it may send data.
    fn is_open(&self) -> bool;

    /// `end` hands over `bytes` more of a stream; `last`: the stream ends with them. With
    /// [`Streams::One`] all is one stream, whatever its number.
    fn say(&mut self, end: End, stream: u32, bytes: u64, last: bool);

    /// What `end` received in order and has not been told yet, stream by stream.
    fn heard(&mut self, end: End) -> Option<Heard>;

    /// Bytes that `end` handed over and that have never been sent.
    fn unsent(&self, end: End) -> u64;
}

/// Bytes in order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Heard {
    /// Of which stream.
    pub stream: u32,
    /// How many since the last time.
    pub bytes: u64,
}

/// How many streams a dialogue has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Streams {
    /// One in each direction: a loss holds back all that was sent later (TCP).
    One,
    /// As many as are asked for, and none waits for another (QUIC).
    Many,
}
