//! What an adaptive-HARQ link is.

use std::sync::Arc;

use thiserror::Error;

use super::beside::BesideLink;
use super::compete::CompetingLink;
use super::sizing::Sizing;
use super::threshold::Threshold;
use crate::link::config::behind;
use crate::link::{Link, LinkConfig, LinkError, Propagation, Resequencing};
use crate::seed::Seed;
use crate::trace::MiTrace;
use crate::units::{BitRate, Duration, Instant};

/// Adaptive HARQ over a channel (seed 004 section 2.2; DESIGN section 5): a link whose packets are
/// code words, sent again in part until they are decoded.
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
/// use clift::link::{AdaptiveHarqConfig, LinkConfig, Medium, Propagation, Repairs, deliver};
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
    /// A buffer at the far end; one of [`LinkConfig`](crate::link::LinkConfig) takes its place.
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

    /// Retransmissions of seed 004, and what its worst case of 70 ms to the far end of a last hop
    /// of 7 ms leaves for each.
    pub const PAPER: (u32, Duration) = (3, Duration::from_millis(21));

    /// Sizes and spread with which the tables of seed 004 come out, at a channel's mean mutual
    /// information per coded bit: the three numbers of the model that are fitted.
    pub fn fitted(mean_information: f64) -> (Sizing, Threshold) {
        let sizing =
            Sizing::Fixed { first: 1.0 / mean_information, increment: 0.47 / mean_information };
        (sizing, Threshold { packet_sigma: 0.25, attempt_sigma: 0.0 })
    }

    /// The link, empty at time zero; see [`LinkConfig::build`].
    pub(in crate::link) fn build(
        &self,
        usage: &LinkConfig,
        seed: Seed,
        number: u32,
        end: Option<Instant>,
    ) -> Result<Box<dyn Link + Send>, LinkError> {
        self.check()?;
        let rule = usage.reorder.or(self.reorder);
        Ok(match self.repairs {
            Repairs::Beside => behind(BesideLink::new(self, usage, seed, number, end), rule),
            Repairs::Compete => behind(CompetingLink::new(self, usage, seed, number, end), rule),
        })
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
