//! Seeds and named random streams: the only way to randomness in CLIFT.
//!
//! Every draw names its stream, so one more flow never shifts the channel, and every scheme sees
//! the same channel (paired comparisons, DESIGN: determinism).

mod geometric;
mod keyed;

pub(crate) use geometric::Geometric;
pub(crate) use keyed::Keyed;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The seed of a run. There is no default: whoever starts a run names one.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Seed(pub u64);

/// What a random stream is for; the number tells streams of the same kind apart.
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
    /// What the n-th link draws: losses of units, decoding thresholds.
    Link(u32),
    /// Losses of the feedback of the n-th link.
    Feedback(u32),
    /// Erasures of the channel that the feedback of the n-th link meets.
    FeedbackChannel(u32),
    /// Errors of the control channels of the n-th link: grants, HARQ feedback.
    Control(u32),
    /// Losses of the n-th series that becomes a trace.
    Import(u32),
    /// What the queue before the n-th hop drops at random.
    Queue(u32),
    /// Points of a campaign's sample on its n-th key.
    Sample(u32),
    /// The transport of a flow beyond its n-th proxy, the first being 1.
    Proxy(u32, u32),
    /// What a scheme from outside the core draws on the n-th link.
    OwnScheme(u32),
    /// What an application from outside the core draws in the n-th flow.
    OwnApplication(u32),
}

impl Seed {
    /// A seed drawn from a stream, for a generator outside the core.
    pub fn drawn(mut rng: ChaCha8Rng) -> Self {
        Self(rng.next_u64())
    }

    /// The generator of one stream; the same seed and stream give the same draws for ever.
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
            Stream::OwnScheme(n) => (20, n),
            Stream::OwnApplication(n) => (21, n),
        };
        let mut key = [0u8; 32];
        key[..8].copy_from_slice(&self.0.to_le_bytes());
        key[8..12].copy_from_slice(&kind.to_le_bytes());
        key[12..16].copy_from_slice(&number.to_le_bytes());
        if let Stream::Proxy(_, proxy) = stream {
            key[16..20].copy_from_slice(&proxy.to_le_bytes());
        }
        ChaCha8Rng::from_seed(key)
    }
}
