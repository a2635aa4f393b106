//! What an attempt is: how long it takes and what it brings.

use std::sync::Arc;

use crate::config::Fault;
use crate::link::clock::SlotClock;
use crate::link::{HORIZON, TraceLinkConfig, Usage, span};
use crate::scheme::Building;
use crate::scheme::adaptive_harq::config::{AdaptiveHarqConfig, OfPacket, Sizing, Thresholds};
use crate::seed::Stream;
use crate::trace::MiTrace;
use crate::units::{BitRate, Bytes, Duration, Instant};

/// Makes attempts at packets over the channel.
#[derive(Clone, Debug)]
pub(super) struct Attempts {
    pub(super) channel: Channel,
    sizing: Sizing,
    thresholds: Thresholds,
    /// Most at one packet.
    most: usize,
    /// From one to the next.
    pub(super) step: i64,
    rate: BitRate,
    packet_header: Bytes,
}

/// Result of an attempt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Outcome {
    Decoded,
    /// Another attempt follows.
    Again,
    /// It was the last.
    Failed,
    /// The channel is not known for as long.
    Unknown,
}

impl Attempts {
    pub(super) fn new(config: &AdaptiveHarqConfig, with: &Building<'_>) -> Result<Self, Fault> {
        let options = &config.options;
        let rng = with.seed.rng(Stream::Link(with.number));
        Ok(Self {
            channel: Channel::new(&config.information, &with.usage)?,
            sizing: config.sizing.clone(),
            thresholds: Thresholds::new(options, rng),
            most: options.attempts(),
            step: span(options.step),
            rate: options.rate,
            packet_header: with.usage.fragmentation.packet_header,
        })
    }

    /// The next packet to be sent; draws its thresholds.
    #[inline]
    pub(super) fn word(&mut self, size: Bytes) -> CodeWord {
        let bits = (f64::from(size.0) + f64::from(self.packet_header.0)) * 8.0;
        CodeWord::new(bits, self.thresholds.draw(bits))
    }

    /// Sends the next attempt at a packet; returns its coded bits and its outcome.
    #[inline]
    pub(super) fn send(&self, word: &mut CodeWord, at: i64) -> (u64, Outcome) {
        let coded = word.coded_bits(&self.sizing);
        let outcome = match self.channel.at(at) {
            None => Outcome::Unknown,
            Some(information) if word.receive(coded, information) => Outcome::Decoded,
            Some(_) if word.attempts() < self.most => Outcome::Again,
            Some(_) => Outcome::Failed,
        };
        (coded, outcome)
    }

    /// Transmission time of `coded_bits`, rounded to the nearest nanosecond.
    #[inline]
    pub(super) fn serialisation(&self, coded_bits: u64) -> i64 {
        let rate = u128::from(self.rate.bits_per_second());
        let time = (u128::from(coded_bits) * 1_000_000_000 + rate / 2) / rate;
        time.min(HORIZON as u128) as i64
    }

    /// In bytes of coded bits, sent on the link and beside it: a slot is a byte at the link's rate,
    /// an LLDU an attempt. All bits sent are divided by the packets `delivered`, so that the coding
    /// ratio counts every bit sent and no planned one.
    pub(super) fn usage(&self, until: i64, on_link: u64, beside: u64, delivered: u64) -> Usage {
        let slots = until as f64 / 8e9 * self.rate.bits_per_second() as f64;
        let (used, beside) = (on_link as f64 / 8.0, beside as f64 / 8.0);
        Usage {
            slots,
            used,
            beside,
            per_lldu: if delivered == 0 { 0.0 } else { (used + beside) / delivered as f64 },
            slot: Bytes(1),
            repairs: true,
            ..Usage::NONE
        }
    }
}

/// A packet that is sent until it is decoded.
#[derive(Clone, Debug)]
pub(super) struct CodeWord {
    bits: f64,
    threshold: OfPacket,
    /// Attempts made.
    attempts: usize,
    received: f64,
    /// Mutual information still missing, as far as the sender knows.
    missing: f64,
}

impl CodeWord {
    #[inline]
    pub(super) fn new(bits: f64, threshold: OfPacket) -> Self {
        // Before the first attempt nobody knows more than the nominal need.
        Self { bits, threshold, attempts: 0, received: 0.0, missing: bits }
    }

    /// Attempts made so far.
    #[inline]
    pub(super) fn attempts(&self) -> usize {
        self.attempts
    }

    /// Coded bits of the next attempt.
    #[inline]
    pub(super) fn coded_bits(&self, sizing: &Sizing) -> u64 {
        sizing.coded_bits(self.attempts, self.bits, self.missing)
    }

    /// Adds an attempt of `coded` bits with `information` bits of mutual information each. True if
    /// the packet is decoded.
    #[inline]
    pub(super) fn receive(&mut self, coded: u64, information: f64) -> bool {
        let needed = self.threshold.at(self.attempts);
        self.attempts += 1;
        self.received += coded as f64 * information;
        self.missing = needed - self.received;
        self.missing <= 0.0
    }
}

/// The mutual information per coded bit, from a start offset on, perhaps repeated.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    information: Arc<MiTrace>,
    clock: SlotClock,
}

impl Channel {
    fn new(information: &Arc<MiTrace>, usage: &TraceLinkConfig) -> Result<Self, Fault> {
        let period = usage.wrap.then(|| length(information));
        let clock = SlotClock::new(0, usage.start_offset, period)?;
        Ok(Self { information: Arc::clone(information), clock })
    }

    /// The mutual information at an instant; `None` past the end.
    #[inline]
    fn at(&self, run_time: i64) -> Option<f64> {
        let at = Instant::from_nanos(self.clock.trace_time(run_time).max(0) as u64);
        self.information.at(at).map(f64::from)
    }

    /// The run time at which the channel ends.
    pub(super) fn end(&self) -> i64 {
        match self.clock.period() {
            Some(_) => HORIZON,
            None => span(length(&self.information)) - self.clock.offset(),
        }
    }
}

fn length(information: &MiTrace) -> Duration {
    let (every, values) = (information.every().as_nanos(), information.values().len() as u64);
    Duration::from_nanos(every.saturating_mul(values))
}
