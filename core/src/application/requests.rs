//! A client that sends a request after each answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dialogue::Dialogue;
use super::page::{check_tls, dialogues};
use super::session::{Connections, Session};
use super::{Application, deadline};
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

    fn session(&self, start: Instant, streams: Streams) -> Option<Box<dyn Session>> {
        let think = self.think.unwrap_or_default();
        Some(Box::new(Conversation {
            config: *self,
            start,
            dialogue: Dialogue::new(streams, self.tls, self.request, think),
            received: 0,
            in_time: 0,
            last: start,
            time: Distribution::default(),
        }))
    }
}

/// Both ends of the requests of one flow.
struct Conversation {
    config: Requests,
    start: Instant,
    dialogue: Dialogue,
    received: u64,
    in_time: u64,
    last: Instant,
    time: Distribution,
}

impl Conversation {
    /// An answer is complete.
    fn answered(&mut self, now: Instant) {
        let took = now.saturating_since(self.dialogue.asked);
        self.time.record(took);
        self.received += 1;
        self.in_time += u64::from(deadline::is_met(self.config.deadline, took));
        self.last = now;
        if !self.is_done() {
            let next = now + self.config.pause.unwrap_or_default();
            self.dialogue.ask(next, self.config.response.0);
        }
    }
}

impl Session for Conversation {
    fn run(&mut self, now: Instant, connections: &mut dyn Connections) -> Option<Instant> {
        if self.dialogue.open(connections) {
            self.dialogue.ask(now, self.config.response.0);
        }
        self.dialogue.run(now, connections)
    }

    fn arrived(
        &mut self,
        now: Instant,
        number: usize,
        end: End,
        connections: &mut dyn Connections,
    ) -> Option<Instant> {
        if self.dialogue.arrived(now, number, end, connections) {
            self.answered(now);
        }
        self.run(now, connections)
    }

    fn is_done(&self) -> bool {
        self.config.count.is_some_and(|count| self.received >= count)
    }

    fn end(&self) -> Option<Instant> {
        Some(self.last)
    }

    fn report(&self, _: usize, metrics: &mut FlowMetrics) {
        metrics.start = self.start;
        if self.is_done() {
            metrics.completed = Some(self.last);
        }
        let sent = self.dialogue.sent;
        let is_open = deadline::is_open(self.config.deadline, self.dialogue.asked, metrics.end);
        metrics.requests = Some(RequestMetrics {
            sent,
            answered: self.received,
            judged: if is_open { self.received } else { sent },
            in_time: self.in_time,
            response_time: self.time.summary(),
        });
    }
}
