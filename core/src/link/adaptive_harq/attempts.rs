//! What an attempt is: how long it takes and what it brings.

use super::channel::Channel;
use super::code_word::CodeWord;
use super::config::AdaptiveHarqConfig;
use super::sizing::Sizing;
use super::threshold::Thresholds;
use crate::link::{HORIZON, LinkConfig, Usage, span};
use crate::seed::{Seed, Stream};
use crate::units::{BitRate, Bytes};

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

/// What came of an attempt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Outcome {
    Decoded,
    /// There will be another.
    Again,
    /// It was the last.
    Failed,
    /// The channel is not known for as long.
    Unknown,
}

impl Attempts {
    pub(super) fn new(
        config: &AdaptiveHarqConfig,
        usage: &LinkConfig,
        seed: Seed,
        number: u32,
    ) -> Self {
        let rng = seed.rng(Stream::Link(number));
        Self {
            channel: Channel::new(&config.information, usage),
            sizing: config.sizing.clone(),
            thresholds: Thresholds::new(config.threshold, config.attempts(), rng),
            most: config.attempts(),
            step: span(config.step),
            rate: config.rate,
            packet_header: usage.fragmentation.packet_header,
        }
    }

    /// The next packet to be sent; draws its thresholds.
    #[inline]
    pub(super) fn word(&mut self, size: Bytes) -> CodeWord {
        let bits = (f64::from(size.0) + f64::from(self.packet_header.0)) * 8.0;
        CodeWord::new(bits, self.thresholds.draw(bits))
    }

    /// Sends the next attempt at a packet; its coded bits, and what came of it.
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

    /// How long so many coded bits take, rounded to the nearest nanosecond.
    #[inline]
    pub(super) fn serialisation(&self, coded_bits: u64) -> i64 {
        let rate = u128::from(self.rate.bits_per_second());
        let time = (u128::from(coded_bits) * 1_000_000_000 + rate / 2) / rate;
        time.min(HORIZON as u128) as i64
    }

    /// In bytes of coded bits: a slot is a byte at the link's rate, an LLDU an attempt.
    pub(super) fn usage(&self, until: i64, coded_bits: u64, sent: u64) -> Usage {
        let used = coded_bits as f64 / 8.0;
        Usage {
            slots: until as f64 / 8e9 * self.rate.bits_per_second() as f64,
            used,
            per_lldu: if sent == 0 { 0.0 } else { used / sent as f64 },
            slot: Bytes(1),
        }
    }
}
