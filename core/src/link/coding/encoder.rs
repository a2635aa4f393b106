//! The sending end of a code: which packets are followed by repair packets, and what these cover.

use std::collections::VecDeque;

use crate::link::coding::{Code, Coding};
use crate::seed::KeyedRandom;
use crate::units::{Bytes, Duration, Instant};

/// A repair packet: a linear combination of the source packets `first..=last`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Repair {
    pub(super) first: u64,
    pub(super) last: u64,
    /// Number of the repair packet, for its coefficients: within its block (block), or in all.
    number: u64,
}

/// Coefficients of repair packets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Coefficients {
    /// Uniform over GF(256), 0 included: then the law of the rank is that of random matrices.
    Random(KeyedRandom),
    /// A Cauchy matrix, of which every square part has full rank: the code is ideal.
    #[default]
    Cauchy,
}

impl Coefficients {
    /// The coefficient of a source packet, which the repair packet covers.
    pub(super) fn of(self, repair: &Repair, packet: u64) -> u8 {
        let place = packet - repair.first;
        match self {
            Self::Random(random) => {
                let key =
                    repair.number.wrapping_mul(u64::from(Coding::MOST_WINDOW)).wrapping_add(place);
                (random.uniform(key) * 256.0) as u8
            }
            // Source packets count from 0, repair packets from 255 down; they never meet, since a
            // block has at most 256 packets.
            Self::Cauchy => super::system::inverse((255 - repair.number as u8) ^ place as u8),
        }
    }
}

/// State of the decoder, for the encoder.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Report {
    /// One more than the highest number of a packet that arrived, repair packets included.
    pub(super) heard: u64,
    /// Packets that arrived.
    pub(super) received: u64,
    /// Source packets that the decoder lacks among those that later repair packets cover, less the
    /// equations that it has for them.
    pub(super) deficit: u64,
}

/// The sending end.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    code: Code,
    window: u64,
    adapt: Option<f64>,
    on_demand: bool,
    flush: Duration,
    /// Repair packets for each source packet.
    overhead: f64,
    /// Part of a repair packet that is due.
    credit: f64,
    /// Source packets so far, and the first one of the open block.
    next: u64,
    block: u64,
    /// Sizes of the source packets of a window.
    sizes: VecDeque<u32>,
    /// Repair packets so far.
    made: u64,
    /// Whether the last source packets are uncovered, and since when.
    open_since: Option<Instant>,
    /// Numbers of the repair packets that no report knows of.
    unheard: VecDeque<u64>,
    last_report: Report,
    loss: f64,
}

/// Weight of one packet in the mean loss.
const LOSS_GAIN: f64 = 1.0 / 256.0;
/// Rounding of the code rate must not delay a repair packet by one source packet.
const TOLERANCE: f64 = 1e-9;

impl Encoder {
    pub(super) fn new(coding: &Coding) -> Self {
        Self {
            code: coding.code,
            window: u64::from(coding.window),
            adapt: coding.adapt,
            on_demand: coding.on_demand,
            flush: coding.flush,
            overhead: coding.overhead(),
            ..Self::default()
        }
    }

    /// First source packet that a repair packet sent after source packet `packet` can cover.
    fn first(&self, packet: u64) -> u64 {
        match self.code {
            Code::Rlc => (packet + 1).saturating_sub(self.window),
            Code::Block => self.block,
        }
    }

    /// Takes a source packet of `size`. Returns its number, and the first packet that later repair
    /// packets can cover.
    pub(super) fn take(&mut self, now: Instant, size: Bytes) -> (u64, u64) {
        let packet = self.next;
        self.next += 1;
        if self.sizes.len() as u64 == self.window {
            self.sizes.pop_front();
        }
        self.sizes.push_back(size.0);
        self.credit += self.overhead;
        self.open_since = (self.overhead > 0.0).then_some(now);
        (packet, self.first(packet))
    }

    /// Repair packets that are due after the source packets so far.
    pub(super) fn due(&mut self) -> u64 {
        match self.code {
            Code::Rlc => {
                let count = (self.credit + TOLERANCE) as u64;
                self.credit -= count as f64;
                count
            }
            Code::Block if self.next - self.block == self.window => self.of_block(),
            Code::Block => 0,
        }
    }

    /// Repair packets of the open block; without any it is complete.
    fn of_block(&mut self) -> u64 {
        let data = self.next - self.block;
        let count = libm::round(data as f64 * self.overhead) as u64;
        let least = u64::from(self.overhead > 0.0);
        let count = count.max(least).min(u64::from(Coding::MOST_BLOCK).saturating_sub(self.window));
        if count == 0 {
            self.close();
        }
        count
    }

    /// When the block is closed, or the last packets are covered, if no other packet comes.
    pub(super) fn flush_at(&self) -> Option<Instant> {
        self.open_since.map(|since| since + self.flush)
    }

    /// Repair packets that are due because no packet came.
    pub(super) fn flush(&mut self, now: Instant) -> u64 {
        if self.flush_at().is_none_or(|at| at > now) {
            return 0;
        }
        self.open_since = None;
        match self.code {
            Code::Rlc => {
                self.credit = 0.0;
                1
            }
            Code::Block => self.of_block(),
        }
    }

    /// The repair packets that were due have been made: a block is complete.
    pub(super) fn close(&mut self) {
        if self.code == Code::Block {
            self.block = self.next;
        }
        self.open_since = None;
    }

    /// A repair packet over the source packets so far, the `index`-th of those made at once, with
    /// its size. `number`: that among all packets.
    pub(super) fn repair(&mut self, index: u64, number: u64) -> Option<(Repair, Bytes)> {
        let last = self.next.checked_sub(1)?;
        let first = self.first(last);
        if first > last {
            return None;
        }
        let covered = self.sizes.iter().rev().take((last - first + 1) as usize);
        let size = Bytes(covered.copied().max().unwrap_or(0));
        let own = if self.code == Code::Block { index } else { self.made };
        self.made += 1;
        if self.on_demand {
            self.unheard.push_back(number);
        }
        Some((Repair { first, last, number: own }, size))
    }

    /// A report arrives. Returns the repair packets that it asks for.
    pub(super) fn hear(&mut self, report: Report) -> u64 {
        let passed = report.heard.saturating_sub(self.last_report.heard);
        if let (Some(factor), true) = (self.adapt, passed > 0) {
            let arrived = report.received - self.last_report.received;
            // Packets that were late in the last report arrive in this one, so a share may be
            // negative.
            let share = 1.0 - arrived as f64 / passed as f64;
            let keep = libm::pow(1.0 - LOSS_GAIN, passed as f64);
            self.loss = (self.loss * keep + share * (1.0 - keep)).clamp(0.0, 0.9);
            self.overhead = (factor * self.loss / (1.0 - self.loss)).min(Coding::MOST_OVERHEAD);
        }
        self.last_report = report;
        if !self.on_demand {
            return 0;
        }
        while self.unheard.front().is_some_and(|&number| number < report.heard) {
            self.unheard.pop_front();
        }
        report.deficit.saturating_sub(self.unheard.len() as u64)
    }

    /// Repair packets so far.
    pub(super) fn made(&self) -> u64 {
        self.made
    }
}
