//! Messages over one connection: which bytes belong to which message, and the TLS handshake before
//! them.

use std::collections::VecDeque;

use super::session::Ends;
use crate::transport::{End, Streams};

/// Bytes of TLS 1.3 records over TCP: those of the QUIC crate's handshake (rustls 0.23, X25519,
/// AES-256-GCM, one Ed25519 certificate of 330 bytes, without QUIC's transport parameters), plus 5
/// bytes of record header for each message and, if encrypted, 17 bytes of type and tag (RFC 8446
/// section 5.2).
pub(super) const CLIENT_HELLO: u64 = 179 + 5;
/// ServerHello, and EncryptedExtensions to Finished with the certificate.
pub(super) const SERVER_FLIGHT: u64 = 90 + 5 + 151 + 330 + 22;
/// The client's Finished; it is sent with the first request.
pub(super) const CLIENT_FINISHED: u64 = 30 + 22;

/// A message, by the number that its sender chose.
pub(super) type Message = u32;

/// Message numbers reserved for the handshake.
const HELLO: Message = u32::MAX;
const FINISHED: Message = u32::MAX - 1;

/// One connection and the messages in transit in both directions.
#[derive(Debug)]
pub(super) struct MessageConnection {
    streams: Streams,
    state: State,
    /// Remaining round trips of the TLS handshake.
    tls: u32,
    secure: bool,
    /// Messages in the order of their bytes: to the server, and to the client.
    order: [VecDeque<(Message, u64)>; 2],
}

/// State of a connection, as the client sees it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Closed,
    /// Transport handshake in progress.
    Opening,
    /// TLS handshake in progress.
    Greeting,
    /// Ready for requests.
    Ready,
}

impl MessageConnection {
    /// A closed connection with this number of TLS round trips after the TCP handshake; QUIC's
    /// handshake includes TLS.
    pub(super) fn new(streams: Streams, tls: u32) -> Self {
        let tls = if streams == Streams::Many { 0 } else { tls };
        let order = [VecDeque::new(), VecDeque::new()];
        Self { streams, state: State::Closed, tls, secure: tls > 0, order }
    }

    pub(super) fn open(&mut self, connection: &mut Ends<'_>) {
        if self.state == State::Closed {
            self.state = State::Opening;
            connection.client.open();
            self.greet(connection);
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// Whether the client may send requests.
    pub(super) fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    /// `end` sends `bytes` more of a message; `last` marks its end.
    pub(super) fn say(
        &mut self,
        connection: &mut Ends<'_>,
        end: End,
        message: Message,
        bytes: u64,
        last: bool,
    ) {
        if self.streams == Streams::One {
            self.order[end as usize].push_back((message, bytes));
        }
        connection.at(end).write(message, bytes, last);
    }

    /// The client sends a request; before the first one, the end of its TLS handshake.
    pub(super) fn ask(&mut self, connection: &mut Ends<'_>, message: Message, bytes: u64) {
        if std::mem::take(&mut self.secure) {
            self.say(connection, End::Receiver, FINISHED, CLIENT_FINISHED, false);
        }
        self.say(connection, End::Receiver, message, bytes, true);
    }

    /// Assigns the bytes that arrived at `end` to messages, in order. Handles those of the TLS
    /// handshake.
    pub(super) fn hear(
        &mut self,
        connection: &mut Ends<'_>,
        end: End,
        mut each: impl FnMut(Message, u64),
    ) {
        while let Some(heard) = connection.at(end).read() {
            if self.streams == Streams::Many {
                each(heard.stream, heard.bytes);
                continue;
            }
            let mut left = heard.bytes;
            let from = if end == End::Sender { End::Receiver } else { End::Sender };
            while left > 0
                && let Some((message, bytes)) = self.order[from as usize].front_mut()
            {
                let taken = left.min(*bytes);
                *bytes -= taken;
                left -= taken;
                let (message, whole) = (*message, *bytes == 0);
                if whole {
                    self.order[from as usize].pop_front();
                }
                match (message, end) {
                    (HELLO, End::Sender) if whole => {
                        self.say(connection, End::Sender, HELLO, SERVER_FLIGHT, false);
                    }
                    (HELLO, End::Receiver) if whole => {
                        self.tls -= 1;
                        self.state = State::Opening;
                    }
                    (HELLO | FINISHED, _) => {}
                    _ => each(message, taken),
                }
            }
        }
        if end == End::Receiver {
            self.greet(connection);
        }
    }

    /// Continues the client's TLS handshake once the connection allows it.
    fn greet(&mut self, connection: &mut Ends<'_>) {
        if self.state != State::Opening || !connection.client.is_open() {
            return;
        }
        if self.tls == 0 {
            self.state = State::Ready;
        } else {
            self.state = State::Greeting;
            self.say(connection, End::Receiver, HELLO, CLIENT_HELLO, false);
        }
    }
}
