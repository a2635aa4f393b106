//! Seeds and named random streams: the only source of randomness in CLIFT.
//!
//! Every draw names its stream. An additional flow therefore does not change the channel, and every
//! scheme sees the same channel (paired comparisons; DESIGN: determinism).

mod geometric;
mod keyed;

pub(crate) use geometric::Geometric;
pub(crate) use keyed::KeyedRandom;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A draw from [0, 1), of the 53 bits that a double holds.
#[inline]
pub(crate) fn uniform(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// The seed of a run. It has no default: the caller must choose one.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Seed(pub u64);

/// The purpose of a random stream; the number distinguishes streams of the same kind.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stream {
    /// Erasures of the n-th channel.
    Channel(u32),
    /// Packet losses on the n-th wired leg.
    Leg(u32),
    /// The application or transport of the n-th flow.
    Flow(u32),
    /// Start times drawn for the n-th replication.
    Replication(u32),
    /// Draws of the n-th link: losses of units, decoding thresholds.
    Link(u32),
    /// Losses of the feedback of the n-th link.
    Feedback(u32),
    /// Erasures of the channel that carries the feedback of the n-th link.
    FeedbackChannel(u32),
    /// Errors of the control channels of the n-th link: grants, HARQ feedback.
    Control(u32),
    /// Losses of the n-th time series that is converted to a trace.
    Import(u32),
    /// Random drops of the queue before the n-th hop.
    Queue(u32),
    /// Sample points of a campaign along its n-th key.
    Sample(u32),
    /// The transport of a flow after its n-th proxy, counted from 1.
    Proxy(u32, u32),
    /// Seed of the way back, if a host describes it by the forward path of a scenario.
    Reverse,
    /// Start times of the flows of the n-th source.
    Arrivals(u32),
    /// Seed of a further terminal of the n-th link, counted from 0.
    Terminal(u32, u32),
    /// Coefficients of the repair packets of the code around the n-th hop.
    Coding(u32),
    /// Draws of a user-defined scheme on the n-th link.
    OwnScheme(u32),
    /// Draws of a user-defined application in the n-th flow.
    OwnApplication(u32),
    /// Draws of a user-defined scheduler of the n-th link, a carrier.
    OwnScheduler(u32),
    /// Seed of a named part, one step for each number that spells its name.
    Name(u32),
}

impl Seed {
    /// Draws a seed from a stream, for a generator outside the core.
    pub fn drawn(mut rng: ChaCha8Rng) -> Self {
        Self(rng.next_u64())
    }

    /// The seed of one direction of a link that has a name. It does not depend on the other links.
    pub(crate) fn of_link(self, name: &str, direction: u32) -> Self {
        let letters = name.as_bytes().chunks(4).map(|part| {
            let mut four = [0; 4];
            four[..part.len()].copy_from_slice(part);
            u32::from_le_bytes(four)
        });
        let step = |seed: Self, part| Self::drawn(seed.rng(Stream::Name(part)));
        [direction].into_iter().chain(letters).fold(self, step)
    }

    /// The generator of one stream. The same seed and stream always give the same draws.
    ///
    /// ```
    /// use clift::seed::{Seed, Stream};
    /// use rand::Rng;
    /// let mut a = Seed(7).rng(Stream::Channel(0));
    /// let mut b = Seed(7).rng(Stream::Channel(0));
    /// assert_eq!(a.next_u64(), b.next_u64());
    /// ```
    pub fn rng(self, stream: Stream) -> ChaCha8Rng {
        let (kind, number) = match stream {
            Stream::Channel(n) => (1u32, n),
            Stream::Leg(n) => (2, n),
            Stream::Flow(n) => (3, n),
            Stream::Replication(n) => (4, n),
            Stream::Link(n) => (5, n),
            Stream::Feedback(n) => (6, n),
            Stream::FeedbackChannel(n) => (7, n),
            Stream::Control(n) => (8, n),
            Stream::Import(n) => (9, n),
            Stream::Queue(n) => (10, n),
            Stream::Sample(n) => (11, n),
            Stream::Proxy(flow, _) => (12, flow),
            Stream::Reverse => (13, 0),
            Stream::Arrivals(n) => (15, n),
            Stream::Terminal(link, _) => (16, link),
            Stream::Coding(n) => (14, n),
            Stream::OwnScheme(n) => (20, n),
            Stream::OwnApplication(n) => (21, n),
            Stream::OwnScheduler(n) => (22, n),
            Stream::Name(n) => (23, n),
        };
        let mut key = [0u8; 32];
        key[..8].copy_from_slice(&self.0.to_le_bytes());
        key[8..12].copy_from_slice(&kind.to_le_bytes());
        key[12..16].copy_from_slice(&number.to_le_bytes());
        if let Stream::Proxy(_, part) | Stream::Terminal(_, part) = stream {
            key[16..20].copy_from_slice(&part.to_le_bytes());
        }
        ChaCha8Rng::from_seed(key)
    }
}
