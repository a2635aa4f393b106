//! A client that sends a request after each answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::line::MessageConnection;
use super::page::{check_tls, dialogues};
use super::session::{Connections, InSession, Session};
use super::{Application, Traffic};
use crate::config::Fault;
use crate::metrics::{Distribution, FlowMetrics, RequestMetrics};
use crate::transport::{End, Protocol, Streams};
use crate::units::{Bytes, Duration, Instant, Size};

/// Requests and answers over one connection, one after the other. The response time is measured
/// from the request, on an open connection, to the last byte of the answer at the client.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Requests {
    /// Request: bytes of a request.
    pub request: Bytes,
    /// Request: bytes of an answer.
    pub response: Size,
    /// Request: processing time of the server. Default: 0.
    pub think: Option<Duration>,
    /// Request: pause from the arrival of an answer to the next request. Default: 0.
    pub pause: Option<Duration>,
    /// Request: number of requests. Without it, requests continue until the run ends.
    pub count: Option<u64>,
    /// Request: round trips of the TLS handshake after the TCP handshake. Default: 1 (TLS 1.3).
    pub tls: Option<u32>,
    /// Request: maximum time from a request to its answer, to count as in time.
    pub deadline: Option<Duration>,
}

impl Application for Requests {
    fn check(&self) -> Result<(), Fault> {
        if self.request == Bytes(0) {
            return Err(Fault::new("request", "a request of 0 bytes; give 1 B or more"));
        }
        if self.response == Size(0) {
            return Err(Fault::new("response", "an answer of 0 bytes; give 1 B or more"));
        }
        if self.count == Some(0) {
            return Err(Fault::new("count", "0 requests; give 1 or more, or leave it out"));
        }
        check_tls(self.tls)
    }

    fn check_over(&self, transport: &dyn Protocol) -> Result<(), Fault> {
        dialogues(transport).map(|_| ())
    }

    fn is_session(&self) -> bool {
        true
    }

    fn ends(&self) -> bool {
        self.count.is_some()
    }

    fn start(&self, _: Instant, _: Bytes) -> Box<dyn Traffic> {
        Box::new(InSession)
    }

    fn session(&self, start: Instant, streams: Streams) -> Option<Box<dyn Session>> {
        Some(Box::new(Conversation {
            config: *self,
            start,
            line: MessageConnection::new(streams, self.tls.unwrap_or(1)),
            next: Next::Open,
            asked: start,
            missing: 0,
            sent: 0,
            received: 0,
            in_time: 0,
            last: start,
            time: Distribution::default(),
        }))
    }
}

/// The next step of the dialogue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Next {
    /// The client opens the connection.
    Open,
    /// The client sends a request at or after this time.
    Ask(Instant),
    /// The request reaches the server.
    Request,
    /// The server answers at this time.
    Answer(Instant),
    /// The answer reaches the client.
    Response,
    /// Nothing.
    End,
}

/// Both ends of the requests of one flow.
struct Conversation {
    config: Requests,
    start: Instant,
    line: MessageConnection,
    next: Next,
    /// Send time of the current request.
    asked: Instant,
    /// Missing bytes of the request or the answer.
    missing: u64,
    sent: u64,
    received: u64,
    in_time: u64,
    last: Instant,
    time: Distribution,
}

impl Conversation {
    /// Message number of the current request.
    fn message(&self) -> u32 {
        // Larger numbers belong to the handshake; no client sends that many requests.
        (self.sent % (1 << 31)) as u32
    }

    fn hear(&mut self, bytes: u64, end: End, now: Instant) {
        self.missing = self.missing.saturating_sub(bytes);
        if self.missing > 0 {
            return;
        }
        match (self.next, end) {
            (Next::Request, End::Sender) => {
                self.next = Next::Answer(now + self.config.think.unwrap_or_default());
            }
            (Next::Response, End::Receiver) => {
                let took = now.saturating_since(self.asked);
                self.time.record(took);
                self.received += 1;
                let deadline = self.config.deadline;
                self.in_time += u64::from(deadline.is_none_or(|deadline| took <= deadline));
                self.last = now;
                self.next = match self.config.count {
                    Some(count) if self.sent >= count => Next::End,
                    _ => Next::Ask(now + self.config.pause.unwrap_or_default()),
                };
            }
            _ => {}
        }
    }
}

impl Session for Conversation {
    fn run(&mut self, now: Instant, connections: &mut dyn Connections) -> Option<Instant> {
        if self.next == Next::Open {
            self.line.open(&mut connections.take(0));
            self.next = Next::Ask(now);
        }
        match self.next {
            Next::Ask(at) if at <= now && self.line.is_ready() => {
                self.sent += 1;
                self.asked = now;
                self.missing = u64::from(self.config.request.0);
                self.next = Next::Request;
                let message = self.message();
                self.line.ask(&mut connections.take(0), message, self.missing);
                None
            }
            Next::Answer(at) if at <= now => {
                self.missing = self.config.response.0;
                self.next = Next::Response;
                let message = self.message();
                self.line.say(&mut connections.take(0), End::Sender, message, self.missing, true);
                None
            }
            // If the connection is not open, the arrival of a packet triggers the next step.
            Next::Ask(at) | Next::Answer(at) => (at > now).then_some(at),
            Next::Open | Next::Request | Next::Response | Next::End => None,
        }
    }

    fn arrived(
        &mut self,
        now: Instant,
        number: usize,
        end: End,
        connections: &mut dyn Connections,
    ) -> Option<Instant> {
        let mut heard = 0;
        self.line.hear(&mut connections.take(number), end, |_, bytes| heard += bytes);
        if heard > 0 {
            self.hear(heard, end, now);
        }
        self.run(now, connections)
    }

    fn is_done(&self) -> bool {
        self.next == Next::End
    }

    fn report(&self, _: usize, metrics: &mut FlowMetrics) {
        metrics.start = self.start;
        if self.is_done() {
            metrics.completed = Some(self.last);
            metrics.end = self.last;
        }
        metrics.requests = Some(RequestMetrics {
            sent: self.sent,
            answered: self.received,
            in_time: self.in_time,
            response_time: self.time.summary(),
        });
    }
}
