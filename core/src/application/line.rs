//! Messages over one connection: which bytes of it are whose, and the handshake of TLS before them.

use std::collections::VecDeque;

use crate::transport::{Dialogue, End, Streams};

/// Bytes of TLS 1.3 records over TCP, those of the QUIC crate's handshake (rustls 0.23, X25519,
/// AES-256-GCM, one Ed25519 certificate of 330 bytes, without QUIC's transport parameters) with 5
/// bytes of record header for each message and, encrypted, 17 of type and tag (RFC 8446 section 5.2).
pub(super) const CLIENT_HELLO: u64 = 179 + 5;
/// ServerHello, and EncryptedExtensions to Finished with the certificate.
pub(super) const SERVER_FLIGHT: u64 = 90 + 5 + 151 + 330 + 22;
/// The client's Finished; it goes with the first request.
pub(super) const CLIENT_FINISHED: u64 = 30 + 22;

/// A message: whatever number its sender gave it.
pub(super) type Message = u32;

/// What the numbers of messages are beyond those of the application.
const HELLO: Message = u32::MAX;
const FINISHED: Message = u32::MAX - 1;

/// One connection: the messages under way in both directions.
#[derive(Debug)]
pub(super) struct Line {
    streams: Streams,
    state: State,
    /// Round trips of TLS still to come.
    tls: u32,
    secure: bool,
    /// To the server, and to the client: messages in the order of their bytes.
    order: [VecDeque<(Message, u64)>; 2],
}

/// How far a connection is, to its client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Closed,
    /// Its handshake goes on.
    Opening,
    /// That of TLS goes on.
    Greeting,
    /// It takes requests.
    Ready,
}

impl Line {
    /// A line that nobody has opened, with so many round trips of TLS after the handshake of TCP; that
    /// of QUIC has it in it.
    pub(super) fn new(streams: Streams, tls: u32) -> Self {
        let tls = if streams == Streams::Many { 0 } else { tls };
        let order = [VecDeque::new(), VecDeque::new()];
        Self { streams, state: State::Closed, tls, secure: tls > 0, order }
    }

    pub(super) fn open(&mut self, connection: &mut dyn Dialogue) {
        if self.state == State::Closed {
            self.state = State::Opening;
            connection.open();
            self.greet(connection);
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// Whether the client may ask.
    pub(super) fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    /// `end` says `bytes` more of a message; `last`: that is its end.
    pub(super) fn say(
        &mut self,
        connection: &mut dyn Dialogue,
        end: End,
        message: Message,
        bytes: u64,
        last: bool,
    ) {
        if self.streams == Streams::One {
            self.order[end as usize].push_back((message, bytes));
        }
        connection.say(end, message, bytes, last);
    }

    /// The client asks: before its first request, the end of its handshake.
    pub(super) fn ask(&mut self, connection: &mut dyn Dialogue, message: Message, bytes: u64) {
        if std::mem::take(&mut self.secure) {
            self.say(connection, End::Receiver, FINISHED, CLIENT_FINISHED, false);
        }
        self.say(connection, End::Receiver, message, bytes, true);
    }

    /// What arrived at `end`: bytes of which message, in order. The handshake is worked off here.
    pub(super) fn hear(
        &mut self,
        connection: &mut dyn Dialogue,
        end: End,
        mut each: impl FnMut(Message, u64),
    ) {
        while let Some(heard) = connection.heard(end) {
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

    /// The client goes on with the handshake once it can.
    fn greet(&mut self, connection: &mut dyn Dialogue) {
        if self.state != State::Opening || !connection.is_open() {
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
