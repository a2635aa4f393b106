//! Messages of one size at a constant rate.

use std::collections::{BTreeMap, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Application, Arrival, Traffic, deadline};
use crate::config::Fault;
use crate::metrics::{Distribution, FlowMetrics, MessageMetrics};
use crate::transport::{Endpoint, Protocol};
use crate::units::{BitRate, Bytes, Duration, Instant};

/// Messages of one size at a constant rate.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ConstantRate {
    /// Constant rate: rate of the payload.
    pub rate: BitRate,
    /// Constant rate: payload of a message. Default: as much as fits into a packet.
    pub message: Option<Bytes>,
    /// Constant rate: maximum delay of a message from application to application, to count as in
    /// time.
    pub deadline: Option<Duration>,
}

impl Application for ConstantRate {
    fn check(&self) -> Result<(), Fault> {
        match self.message {
            Some(Bytes(0)) => Err(Fault::new("message", "a message of 0 bytes; give 1 B or more")),
            _ => Ok(()),
        }
    }

    fn check_over(&self, transport: &dyn Protocol) -> Result<(), Fault> {
        match (self.message, transport.datagram()) {
            (Some(message), Some(most)) if message > most => {
                let message = format!(
                    "{} bytes do not fit into a datagram of at most {}; give no more, a larger \
                     [transport.quic] initial_mtu, or protocol = \"udp\" or \"tcp\"",
                    message.0, most.0
                );
                Err(Fault::new("message", message))
            }
            _ => Ok(()),
        }
    }

    fn sends_messages(&self) -> bool {
        true
    }

    fn start(&self, start: Instant, payload: Bytes) -> Box<dyn Traffic> {
        Box::new(Messages {
            config: *self,
            message: self.message.unwrap_or(payload).0,
            start,
            sent: 0,
            received: 0,
            in_time: 0,
            delay: Distribution::default(),
            early: VecDeque::new(),
            missing: BTreeMap::new(),
        })
    }
}

/// State of the messages so far.
#[derive(Debug)]
struct Messages {
    config: ConstantRate,
    /// Payload bytes of a message.
    message: u32,
    start: Instant,
    sent: u64,
    received: u64,
    in_time: u64,
    delay: Distribution,
    /// Messages that arrived before their deadline, which may not have passed.
    early: VecDeque<u64>,
    /// Missing bytes of messages that arrive in several datagrams, by message.
    missing: BTreeMap<u64, u32>,
}

impl Traffic for Messages {
    fn drive(&mut self, _: Instant, sender: &mut dyn Endpoint) -> Option<Instant> {
        self.sent += 1;
        sender.write(0, self.bytes(), false);
        Some(self.due(self.sent))
    }

    fn arrived(&mut self, now: Instant, what: Arrival) {
        match what {
            Arrival::Stream(bytes) => {
                while (self.received + 1) * self.bytes() <= bytes {
                    self.complete(self.received, now);
                }
            }
            Arrival::Datagram { start, len } => self.datagram(start, len, now),
        }
    }

    fn report(&self, metrics: &mut FlowMetrics) {
        let is_open = |message: &u64| self.is_open(*message, metrics.end);
        let open = (0..self.sent).rev().take_while(is_open).count();
        let arrived = self.early.iter().copied().filter(is_open).count();
        metrics.messages = Some(MessageMetrics {
            sent: self.sent,
            judged: self.sent - (open - arrived) as u64,
            received: self.received,
            in_time: self.in_time,
            delay: self.delay.summary(),
        });
    }
}

impl Messages {
    /// Payload bytes of a message.
    fn bytes(&self) -> u64 {
        u64::from(self.message)
    }

    /// Due time of message `n`: `n` message intervals after the start, without accumulated rounding
    /// errors.
    fn due(&self, n: u64) -> Instant {
        let bits = u128::from(n) * u128::from(self.bytes()) * 8 * 1_000_000_000;
        let nanos = bits / u128::from(self.config.rate.bits_per_second());
        self.start + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX / 2))
    }

    fn is_open(&self, message: u64, now: Instant) -> bool {
        deadline::is_open(self.config.deadline, self.due(message), now)
    }

    /// A packet with bytes `seq..seq + len` arrived. Packets may arrive in any order; each arrives
    /// once.
    fn datagram(&mut self, seq: u64, len: u32, now: Instant) {
        let message = seq / self.bytes();
        if len.is_multiple_of(self.message) {
            let count = u64::from(len / self.message);
            return (0..count).for_each(|number| self.complete(message + number, now));
        }
        let missing = self.missing.entry(message).or_insert(self.message);
        *missing -= len;
        if *missing == 0 {
            self.missing.remove(&message);
            self.complete(message, now);
        }
    }

    fn complete(&mut self, message: u64, now: Instant) {
        let took = now.saturating_since(self.due(message));
        self.received += 1;
        self.in_time += u64::from(deadline::is_met(self.config.deadline, took));
        self.delay.record(took);
        if self.is_open(message, now) {
            self.early.push_back(message);
        }
        while self.early.front().is_some_and(|&first| !self.is_open(first, now)) {
            self.early.pop_front();
        }
    }
}
