//! Messages in datagrams of a QUIC connection (RFC 9221): unordered and not retransmitted.

use std::collections::VecDeque;

use bytes::Bytes;
use quinn_proto::Connection;

/// Bytes of a packet that are not part of a message: header of a short packet with a four-byte
/// number, tag, and header of a DATAGRAM frame, with quinn's upper bound.
pub(crate) const OVERHEAD: u32 = 1 + 8 + 4 + 16 + 9;

/// A message, by its position among the bytes of the flow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Message {
    number: u64,
    pub(crate) start: u64,
    pub(crate) len: u32,
}

/// State of the messages at their sender.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    supplied: u64,
    count: u64,
    /// Messages that wait for the connection to open.
    waiting: VecDeque<Message>,
    /// Messages that the connection has accepted and not sent, oldest first. It drops the oldest if
    /// there are too many.
    taken: VecDeque<Message>,
}

impl Messages {
    /// The application supplies a message of `len` bytes.
    pub(crate) fn supply(&mut self, len: u64) {
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        self.waiting.push_back(Message { number: self.count, start: self.supplied, len });
        self.count += 1;
        self.supplied += u64::from(len);
    }

    /// Whether a message waits for the connection to open.
    pub(crate) fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Passes the waiting messages to the connection, once the peer's limits are known.
    pub(crate) fn write(&mut self, connection: &mut Connection) {
        while connection.datagrams().max_size().is_some()
            && let Some(message) = self.waiting.pop_front()
        {
            let mut bytes = vec![0; message.len as usize];
            let number = message.number.to_le_bytes();
            let told = bytes.len().min(number.len());
            bytes[..told].copy_from_slice(&number[..told]);
            // A message that is too large for the path is lost.
            if connection.datagrams().send(Bytes::from(bytes), true).is_ok() {
                self.taken.push_back(message);
            }
        }
    }

    /// Returns the message of `len` bytes that begin with `first`, which a packet carries. Messages
    /// leave in order, so earlier ones in the queue were dropped.
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
