//! What drives a flow, and the fate of its messages.

use std::collections::BTreeMap;

use crate::metrics::{Distribution, MessageMetrics};
use crate::simulation::setup::Application;
use crate::units::{BitRate, Bytes, Duration, Instant};

/// Messages of one size at a constant rate: when the next is due and what became of the others.
#[derive(Debug)]
pub(super) struct Messages {
    rate: BitRate,
    size: Bytes,
    deadline: Option<Duration>,
    start: Instant,
    sent: u64,
    received: u64,
    in_time: u64,
    delay: Distribution,
    /// Bytes still missing of messages that arrive in several datagrams, by message.
    missing: BTreeMap<u64, u32>,
}

impl Messages {
    pub(super) fn of(application: &Application, start: Instant) -> Option<Self> {
        let Application::ConstantRate { rate, message, deadline } = application else {
            return None;
        };
        Some(Self {
            rate: *rate,
            size: *message,
            deadline: *deadline,
            start,
            sent: 0,
            received: 0,
            in_time: 0,
            delay: Distribution::default(),
            missing: BTreeMap::new(),
        })
    }

    /// When message `n` is due: `n` message times after the start, without accumulated rounding.
    pub(super) fn due(&self, n: u64) -> Instant {
        let bits = u128::from(n) * u128::from(self.size.0) * 8 * 1_000_000_000;
        let nanos = bits / u128::from(self.rate.bits_per_second());
        self.start + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX / 2))
    }

    pub(super) fn next_due(&self) -> Instant {
        self.due(self.sent)
    }

    /// Takes the next message; gives its bytes.
    pub(super) fn send(&mut self) -> u64 {
        self.sent += 1;
        u64::from(self.size.0)
    }

    /// A stream has `bytes` in order at the receiver.
    pub(super) fn stream_reached(&mut self, bytes: u64, now: Instant) {
        while (self.received + 1) * u64::from(self.size.0) <= bytes {
            self.complete(self.received, now);
        }
    }

    /// A datagram with bytes `seq..seq + len` arrived, in any order, once.
    pub(super) fn datagram(&mut self, seq: u64, len: u32, now: Instant) {
        let message = seq / u64::from(self.size.0);
        if len == self.size.0 {
            return self.complete(message, now);
        }
        let missing = self.missing.entry(message).or_insert(self.size.0);
        *missing -= len;
        if *missing == 0 {
            self.missing.remove(&message);
            self.complete(message, now);
        }
    }

    pub(super) fn metrics(&self) -> MessageMetrics {
        MessageMetrics {
            sent: self.sent,
            received: self.received,
            in_time: self.in_time,
            delay: self.delay.summary(),
        }
    }

    fn complete(&mut self, message: u64, now: Instant) {
        let took = now.saturating_since(self.due(message));
        self.received += 1;
        self.in_time += u64::from(self.deadline.is_none_or(|deadline| took <= deadline));
        self.delay.record(took);
    }
}
