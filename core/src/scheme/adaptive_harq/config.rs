//! What an adaptive-HARQ link is.

use std::sync::Arc;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

use crate::link::{Propagation, Resequencing};
use crate::trace::MiTrace;
use crate::units::{BitRate, Duration, Probability};

/// Adaptive HARQ over a channel (Tauran 2017, section 2.2; DESIGN section 5): a link whose packets
/// are code words, sent again in part until they are decoded.
///
/// Attempt i of a packet starts i steps after the first, or as soon as [`Repairs`] let it, and is
/// credited its coded bits times the channel's mutual information at its start. A packet is
/// decoded once what it was credited passes its threshold, and arrives a propagation delay after
/// the attempt's last bit.
///
/// Every packet that is sent draws its thresholds from the stream of the link.
///
/// ```
/// use std::sync::Arc;
/// use clift::link::{Propagation, deliver};
/// use clift::scheme::{AdaptiveHarqConfig, LinkConfig, Medium, Repairs};
/// use clift::seed::Seed;
/// use clift::trace::MiTrace;
/// use clift::units::{BitRate, Bytes, Duration};
///
/// // A channel that lets 0.8 bits through per coded bit, in every millisecond of 10 s.
/// let information = Arc::new(MiTrace::new(Duration::from_millis(1), vec![0.8; 10_000]).unwrap());
/// let (sizing, threshold) = AdaptiveHarqConfig::fitted(information.mean());
/// let (max_retransmissions, step) = AdaptiveHarqConfig::PAPER;
/// let config = AdaptiveHarqConfig {
///     information,
///     rate: BitRate::from_bits_per_second(50_000_000).unwrap(),
///     delay: Propagation::Fixed(Duration::from_millis(80)),
///     sizing,
///     max_retransmissions,
///     step,
///     threshold,
///     repairs: Repairs::Beside,
///     reorder: None,
/// };
/// let medium = Medium::AdaptiveHarq(Arc::new(config));
/// let mut link = LinkConfig::new(medium).build(Seed(1), 0, None).unwrap();
/// let arrivals: Vec<i64> = (0..1000).map(|n| n * 1_000_000).collect();
/// let packets = deliver(&mut *link, &arrivals, Bytes(1040)).unwrap();
/// // 8320 bits, 1.25 coded bits each, at 50 Mbit/s, then the path; or as many steps later.
/// let at_once = 208_000 + 80_000_000;
/// assert!(packets.delivered.iter().zip(&arrivals).all(|(at, from)| {
///     *at == -1 || (at - from - at_once) % 21_000_000 == 0
/// }));
/// // What was sent first carries just what an average packet needs.
/// let first = packets.delivered.iter().zip(&arrivals).filter(|(at, from)| *at - *from == at_once);
/// assert!((450..550).contains(&first.count()));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptiveHarqConfig {
    /// Mutual information per coded bit over time.
    pub information: Arc<MiTrace>,
    /// Rate of coded bits.
    pub rate: BitRate,
    /// From the sender to the receiver, one way; taken when the last bit of the last attempt was
    /// sent.
    pub delay: Propagation,
    /// Coded bits of each attempt.
    pub sizing: Sizing,
    /// Retransmissions of a packet before it is given up, at most [`Self::MOST_RETRANSMISSIONS`].
    pub max_retransmissions: u32,
    /// From an attempt to the next.
    pub step: Duration,
    /// Mutual information that decoding takes.
    pub threshold: Threshold,
    /// Whether retransmissions take time from other packets.
    pub repairs: Repairs,
    /// A re-sequencing buffer at the far end; `None`: packets leave as they come.
    pub reorder: Option<Resequencing>,
}

/// Whether retransmissions take time from other packets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Repairs {
    /// They don't, as in the paper's module: the next packet is sent right after the first attempt
    /// of the one before, and the bits of retransmissions are counted only. Right while the link
    /// has time to spare.
    #[default]
    Beside,
    /// They do, and go before new packets. A step that is due while something else is sent waits
    /// for its end.
    Compete,
}

impl AdaptiveHarqConfig {
    /// The most that [`Self::max_retransmissions`] may be.
    pub const MOST_RETRANSMISSIONS: u32 = 7;

    /// Retransmissions of Tauran 2017, and what its worst case of 70 ms to the far end of a last
    /// hop of 7 ms leaves for each.
    pub const PAPER: (u32, Duration) = (3, Duration::from_millis(21));

    /// Sizes and spread with which the tables of Tauran 2017 come out, at a channel's mean mutual
    /// information per coded bit: the three numbers of the model that are fitted.
    pub fn fitted(mean_information: f64) -> (Sizing, Threshold) {
        let sizing =
            Sizing::Fixed { first: 1.0 / mean_information, increment: 0.47 / mean_information };
        (sizing, Threshold { packet_sigma: 0.25, attempt_sigma: 0.0 })
    }

    /// Attempts at a packet, the first included.
    pub(super) fn attempts(&self) -> usize {
        self.max_retransmissions as usize + 1
    }

    /// That there can be such a link.
    ///
    /// # Errors
    /// What is out of its range.
    pub fn check(&self) -> Result<(), AdaptiveHarqError> {
        if self.max_retransmissions > Self::MOST_RETRANSMISSIONS {
            return Err(AdaptiveHarqError::Retransmissions);
        }
        self.threshold.check()?;
        if self.step == Duration::ZERO || self.step > Duration::from_secs(1000) {
            return Err(AdaptiveHarqError::Step);
        }
        self.sizing.check(self.attempts())
    }
}

/// An adaptive-HARQ link that cannot be.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum AdaptiveHarqError {
    /// Coded bits per information bit that no code has.
    #[error("{name}: give coded bits per information bit above 0 and up to 1000")]
    Ratio {
        /// Which.
        name: &'static str,
    },
    /// Too many retransmissions.
    #[error(
        "max_retransmissions: give a number from 0 to {}",
        AdaptiveHarqConfig::MOST_RETRANSMISSIONS
    )]
    Retransmissions,
    /// A spread that is none.
    #[error("{name}: give a number from 0 to 10")]
    Sigma {
        /// Which.
        name: &'static str,
    },
    /// Retransmissions at the instant of what they repair.
    #[error("step_ms: give a time above 0 and up to 1000 s")]
    Step,
    /// Not a probability for each attempt.
    #[error("targets: {given} probabilities for {attempts} attempts; give one for each")]
    Targets {
        /// Those given.
        given: usize,
        /// Attempts, the first included.
        attempts: usize,
    },
    /// A probability that the channel never reaches.
    #[error(
        "targets: the channel lets next to nothing through that often; give lower probabilities"
    )]
    Hopeless,
}

/// How many coded bits each attempt at a packet sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizing {
    /// The same at every packet, in coded bits per information bit.
    Fixed {
        /// Of the first attempt.
        first: f64,
        /// Of each retransmission.
        increment: f64,
    },
    /// As many as bring what the packet misses if the channel has the attempt's level of mutual
    /// information per coded bit: one level for each attempt. The receiver tells what is missing in
    /// its NACK; before the first attempt all of a nominal packet is.
    Missing {
        /// Above 0 and up to 1.
        levels: Arc<[f64]>,
    },
}

impl Sizing {
    /// More coded bits per information bit than any code has.
    pub const MOST_RATIO: f64 = 1e3;

    /// [`Sizing::Missing`] with which each attempt decodes with a target probability: the level is
    /// the one that the channel reaches that often.
    ///
    /// ```
    /// use clift::scheme::Sizing;
    /// use clift::trace::MiTrace;
    /// use clift::units::{Duration, Probability};
    /// let channel = MiTrace::new(Duration::from_millis(1), vec![0.25, 0.5, 0.75, 1.0]).unwrap();
    /// let half = Probability::new(0.5).unwrap();
    /// let sizing = Sizing::for_targets(&channel, &[half, Probability::ONE]).unwrap();
    /// assert_eq!(sizing, Sizing::Missing { levels: [0.75, 0.25].into() });
    /// ```
    ///
    /// # Errors
    /// If the channel never is good enough.
    pub fn for_targets(
        information: &MiTrace,
        targets: &[Probability],
    ) -> Result<Self, AdaptiveHarqError> {
        let mut values = information.values().to_vec();
        values.sort_unstable_by(f32::total_cmp);
        let level = |target: &Probability| {
            let below = ((1.0 - target.get()) * values.len() as f64) as usize;
            let level = f64::from(values[below.min(values.len() - 1)]);
            if level * Self::MOST_RATIO < 1.0 {
                Err(AdaptiveHarqError::Hopeless)
            } else {
                Ok(level)
            }
        };
        Ok(Self::Missing { levels: targets.iter().map(level).collect::<Result<_, _>>()? })
    }

    pub(super) fn check(&self, attempts: usize) -> Result<(), AdaptiveHarqError> {
        match self {
            Self::Fixed { first, increment } => {
                let fits = |ratio: f64| ratio > 0.0 && ratio <= Self::MOST_RATIO;
                let wrong = |name| Err(AdaptiveHarqError::Ratio { name });
                match (fits(*first), fits(*increment)) {
                    (false, _) => wrong("first"),
                    (_, false) => wrong("increment"),
                    (true, true) => Ok(()),
                }
            }
            Self::Missing { levels } if levels.len() != attempts => {
                Err(AdaptiveHarqError::Targets { given: levels.len(), attempts })
            }
            Self::Missing { levels } => {
                let fits =
                    levels.iter().all(|&level| level * Self::MOST_RATIO >= 1.0 && level <= 1.0);
                if fits { Ok(()) } else { Err(AdaptiveHarqError::Hopeless) }
            }
        }
    }

    /// Coded bits of an attempt at a packet of `bits` that misses `missing` bits of mutual
    /// information; at least 1.
    #[inline]
    pub(super) fn coded_bits(&self, attempt: usize, bits: f64, missing: f64) -> u64 {
        let wanted = match self {
            Self::Fixed { first, .. } if attempt == 0 => bits * first,
            Self::Fixed { increment, .. } => bits * increment,
            Self::Missing { levels } => missing / levels[attempt],
        };
        (libm::round(wanted) as u64).max(1)
    }
}

/// How much mutual information decoding takes, per information bit: 1 on average, the physical
/// limit.
///
/// A spread stands for what the channel's resolution hides: code words that meet different samples
/// of the fading within it, all attempts alike or each for itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Standard deviation from packet to packet, the same for all attempts at one.
    pub packet_sigma: f64,
    /// Standard deviation from attempt to attempt.
    pub attempt_sigma: f64,
}

impl Threshold {
    /// Exactly 1: no spread.
    pub const PHYSICAL: Self = Self { packet_sigma: 0.0, attempt_sigma: 0.0 };

    pub(super) fn check(self) -> Result<(), AdaptiveHarqError> {
        let spreads = [("packet_sigma", self.packet_sigma), ("attempt_sigma", self.attempt_sigma)];
        match spreads.iter().find(|(_, sigma)| !(0.0..=10.0).contains(sigma)) {
            Some(&(name, _)) => Err(AdaptiveHarqError::Sigma { name }),
            None => Ok(()),
        }
    }
}

/// The thresholds of one packet after the other.
///
/// A packet draws a normal number, and one for each attempt that may be made if those differ, so
/// that what a packet draws does not depend on how those before it fared.
#[derive(Clone, Debug)]
pub(super) struct Thresholds {
    threshold: Threshold,
    attempts: usize,
    rng: ChaCha8Rng,
}

/// Those of one packet, attempt by attempt.
#[derive(Clone, Debug)]
pub(super) struct OfPacket {
    bits: f64,
    common: f64,
    sigma: f64,
    draws: [(f64, f64); AdaptiveHarqConfig::MOST_RETRANSMISSIONS as usize + 1],
}

impl Thresholds {
    pub(super) fn new(threshold: Threshold, attempts: usize, rng: ChaCha8Rng) -> Self {
        Self { threshold, attempts, rng }
    }

    /// Those of the next packet, which has so many bits.
    #[inline]
    pub(super) fn draw(&mut self, bits: f64) -> OfPacket {
        let Threshold { packet_sigma, attempt_sigma } = self.threshold;
        let common = 1.0 + packet_sigma * normal(self.uniforms());
        let mut draws = [(0.0, 0.0); AdaptiveHarqConfig::MOST_RETRANSMISSIONS as usize + 1];
        if attempt_sigma > 0.0 {
            draws[..self.attempts].fill_with(|| self.uniforms());
        }
        OfPacket { bits, common, sigma: attempt_sigma, draws }
    }

    #[inline]
    fn uniforms(&mut self) -> (f64, f64) {
        let mut uniform = || (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        (uniform(), uniform())
    }
}

impl OfPacket {
    /// Bits of mutual information with which this attempt decodes.
    #[inline]
    pub(super) fn at(&self, attempt: usize) -> f64 {
        if self.sigma == 0.0 {
            return self.bits * self.common;
        }
        self.bits * (self.common + self.sigma * normal(self.draws[attempt]))
    }
}

/// A standard normal number, by Box and Muller; logarithm and cosine are `libm`'s, so that its bits
/// are the same on every platform.
#[inline]
fn normal((u, v): (f64, f64)) -> f64 {
    libm::sqrt(-2.0 * libm::log(1.0 - u)) * libm::cos(std::f64::consts::TAU * v)
}
