//! Requests and answers over one connection, one after the other.

use super::line::MessageConnection;
use super::session::Connections;
use crate::transport::{End, Streams};
use crate::units::{Bytes, Duration, Instant};

/// A client and a server that answers one request at a time.
pub(super) struct Dialogue {
    line: MessageConnection,
    request: Bytes,
    /// Processing time of the server.
    think: Duration,
    step: Step,
    /// Bytes of the answer to the current request.
    response: u64,
    /// Send time of the current request.
    pub(super) asked: Instant,
    /// Missing bytes of the request or the answer.
    missing: u64,
    /// Requests sent.
    pub(super) sent: u64,
}

/// The next step of a dialogue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Step {
    /// The client opens the connection.
    Open,
    /// The client waits for the user.
    Idle,
    /// The client sends a request at or after this time.
    Ask(Instant),
    /// The request reaches the server.
    Request,
    /// The server answers at this time.
    Answer(Instant),
    /// The answer reaches the client.
    Response,
}

impl Dialogue {
    /// A dialogue over a closed connection, with this number of TLS round trips after the TCP
    /// handshake.
    pub(super) fn new(streams: Streams, tls: Option<u32>, request: Bytes, think: Duration) -> Self {
        Self {
            line: MessageConnection::new(streams, tls.unwrap_or(1)),
            request,
            think,
            step: Step::Open,
            response: 0,
            asked: Instant::ZERO,
            missing: 0,
            sent: 0,
        }
    }

    /// Opens the connection, once; returns whether it did.
    pub(super) fn open(&mut self, connections: &mut dyn Connections) -> bool {
        let opens = self.step == Step::Open;
        if opens {
            self.line.open(&mut connections.take(0));
            self.step = Step::Idle;
        }
        opens
    }

    /// Requests an answer of `response` bytes at `at`, or once the connection is ready.
    pub(super) fn ask(&mut self, at: Instant, response: u64) {
        self.step = Step::Ask(at);
        self.response = response;
    }

    /// Message number of the current request.
    fn message(&self) -> u32 {
        // Larger numbers belong to the handshake; no client sends that many requests.
        (self.sent % (1 << 31)) as u32
    }

    /// Sends what is due. Returns when it is to be called again, unless a packet arrives before.
    pub(super) fn run(
        &mut self,
        now: Instant,
        connections: &mut dyn Connections,
    ) -> Option<Instant> {
        match self.step {
            Step::Ask(at) if at <= now && self.line.is_ready() => {
                self.sent += 1;
                self.asked = now;
                self.missing = u64::from(self.request.0);
                self.step = Step::Request;
                let message = self.message();
                self.line.ask(&mut connections.take(0), message, self.missing);
                None
            }
            Step::Answer(at) if at <= now => {
                self.missing = self.response;
                self.step = Step::Response;
                let message = self.message();
                self.line.say(&mut connections.take(0), End::Sender, message, self.missing, true);
                None
            }
            // If the connection is not open, the arrival of a packet triggers the next step.
            Step::Ask(at) | Step::Answer(at) => (at > now).then_some(at),
            Step::Open | Step::Idle | Step::Request | Step::Response => None,
        }
    }

    /// A packet reached `end`. Returns whether the answer is complete with it.
    pub(super) fn arrived(
        &mut self,
        now: Instant,
        number: usize,
        end: End,
        connections: &mut dyn Connections,
    ) -> bool {
        let mut heard = 0;
        self.line.hear(&mut connections.take(number), end, |_, bytes| heard += bytes);
        self.missing = self.missing.saturating_sub(heard);
        if heard == 0 || self.missing > 0 {
            return false;
        }
        match (self.step, end) {
            (Step::Request, End::Sender) => {
                self.step = Step::Answer(now + self.think);
                false
            }
            (Step::Response, End::Receiver) => {
                self.step = Step::Idle;
                true
            }
            _ => false,
        }
    }
}
