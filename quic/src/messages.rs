//! Messages in datagrams of a QUIC connection (RFC 9221): neither ordered nor repaired.

use std::collections::VecDeque;

use bytes::Bytes;
use quinn_proto::Connection;

/// Bytes of a packet that are none of a message: header of a short packet with a number of four bytes,
/// tag, header of a DATAGRAM frame, as quinn bounds it.
pub(crate) const OVERHEAD: u32 = 1 + 8 + 4 + 16 + 9;

/// A message, by its place among the bytes of the flow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Message {
    number: u64,
    pub(crate) start: u64,
    pub(crate) len: u32,
}

/// What became of messages at the end that sends them.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    supplied: u64,
    count: u64,
    /// Those that the connection has not taken, because it is not open.
    waiting: VecDeque<Message>,
    /// Those that it has, oldest first, and has not sent. It drops the oldest if they are too many.
    taken: VecDeque<Message>,
}

impl Messages {
    /// The application hands over a message of `len` bytes.
    pub(crate) fn supply(&mut self, len: u64) {
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        self.waiting.push_back(Message { number: self.count, start: self.supplied, len });
        self.count += 1;
        self.supplied += u64::from(len);
    }

    /// Whether there is something for which to open the connection.
    pub(crate) fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Hands what waits to the connection, once that knows what its other end takes.
    pub(crate) fn write(&mut self, connection: &mut Connection) {
        while connection.datagrams().max_size().is_some()
            && let Some(message) = self.waiting.pop_front()
        {
            let mut bytes = vec![0; message.len as usize];
            let number = message.number.to_le_bytes();
            let told = bytes.len().min(number.len());
            bytes[..told].copy_from_slice(&number[..told]);
            // One that is too large for the path is lost, as others are.
            if connection.datagrams().send(Bytes::from(bytes), true).is_ok() {
                self.taken.push_back(message);
            }
        }
    }

    /// The message that a packet carries, of `len` bytes that begin with `first`. Messages leave in
    /// order; those before it were dropped.
    pub(crate) fn leaves(&mut self, first: u64, len: u32) -> Option<Message> {
        let told = match len {
            0..8 => (1 << (8 * len)) - 1,
            _ => u64::MAX,
        };
        while let Some(message) = self.taken.pop_front() {
            if message.number & told == first && message.len == len {
                return Some(message);
            }
        }
        None
    }
}
