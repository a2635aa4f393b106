//! What an adaptive-HARQ link is.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::Fault;
use crate::link::reordering::behind;
use crate::link::{BuiltLink, Delays, Propagation, TraceClock, check_delays};
use crate::scheme::adaptive_harq::beside::BesideLink;
use crate::scheme::adaptive_harq::compete::CompetingLink;
use crate::scheme::{Building, Medium};
use crate::seed::uniform;
use crate::trace::MiTrace;
use crate::units::{BitRate, Duration, Probability};

/// Parameters of an adaptive-HARQ link, without its channel.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct AdaptiveHarqOptions {
    /// Rate of coded bits; it serialises the first attempt at each packet.
    pub rate: BitRate,
    /// Propagation delay, one way, in both directions; 80 ms unless set.
    pub delay: Option<Duration>,
    /// In its place delays that vary: a CSV file with columns `time_s` and `delay_ms`, as
    /// `clift constellation` writes them, relative to the folder of the scenario file. Each holds
    /// until the next.
    pub delays: Option<Delays>,
    /// With `delays`: packets arrive in the order in which they were decoded. Otherwise they
    /// overtake one another where the path gets shorter.
    pub keep_order: bool,
    /// Coded bits per information bit of the first attempt, in units of the inverse of the
    /// channel's mean mutual information at this Es/N0; 1 unless set.
    pub first: Option<f64>,
    /// The same of each retransmission; 0.47 unless set.
    pub increment: Option<f64>,
    /// Instead of `first` and `increment`: the probabilities with which the first attempt and each
    /// retransmission should supply the missing mutual information.
    pub targets: Option<Vec<Probability>>,
    /// Spread of the decoding threshold from packet to packet, relative to the packet; 0 is the
    /// physical limit.
    // Decoding takes 1 bit of mutual information per information bit on average. A spread stands
    // for differences below the channel's resolution: code words that meet different samples of the
    // fading within it, all attempts alike or each for itself.
    pub packet_sigma: f64,
    /// The same from attempt to attempt.
    pub attempt_sigma: f64,
    /// Whether retransmissions take time from other packets: "beside" (they don't, as in the
    /// paper's module) or "compete" (they do, and go before new packets).
    pub repairs: Repairs,
    /// Retransmissions of a packet before it is given up, at most 7.
    pub max_retx: u32,
    /// From an attempt to the next.
    pub step: Duration,
}

impl Default for AdaptiveHarqOptions {
    /// The link of Tauran 2017: its retransmissions, and what its worst case of 70 ms to the far
    /// end of a last hop of 7 ms leaves for each. Sizes and spread, the three numbers that are
    /// fitted, are those with which its tables come out.
    fn default() -> Self {
        Self {
            rate: BitRate::from_bits_per_second(50_000_000).expect("above zero"),
            delay: None,
            delays: None,
            keep_order: false,
            first: None,
            increment: None,
            targets: None,
            packet_sigma: 0.25,
            attempt_sigma: 0.0,
            repairs: Repairs::Beside,
            max_retx: 3,
            step: Duration::from_millis(21),
        }
    }
}

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
/// use clift::link::deliver;
/// use clift::scheme::{AdaptiveHarqOptions, LinkConfig};
/// use clift::seed::Seed;
/// use clift::trace::MiTrace;
/// use clift::units::{Bytes, Duration};
///
/// // A channel that lets 0.8 bits through per coded bit, in every millisecond of 10 s.
/// let information = Arc::new(MiTrace::new(Duration::from_millis(1), vec![0.8; 10_000]).unwrap());
/// let mean = information.mean();
/// let config = AdaptiveHarqOptions::default().over(information, mean, None)?;
/// let mut link = LinkConfig::new(Arc::new(config)).build(Seed(1), 0, None).unwrap();
/// let arrivals: Vec<i64> = (0..1000).map(|n| n * 1_000_000).collect();
/// let packets = deliver(&mut *link, &arrivals, Bytes(1040)).unwrap();
/// // 8320 bits, 1.25 coded bits each, at 50 Mbit/s, then the path; or as many steps later.
/// let at_once = 208_000 + 80_000_000;
/// assert!(packets.delivered.iter().zip(&arrivals).all(|(at, from)| {
///     *at == -1 || (at - from - at_once) % 21_000_000 == 0
/// }));
/// // The first attempt carries the mutual information that an average packet needs.
/// let first = packets.delivered.iter().zip(&arrivals).filter(|(at, from)| *at - *from == at_once);
/// assert!((450..550).contains(&first.count()));
/// # Ok::<(), clift::config::Fault>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptiveHarqConfig {
    /// The link.
    pub options: AdaptiveHarqOptions,
    /// Mutual information per coded bit over time.
    pub information: Arc<MiTrace>,
    /// From the sender to the receiver, one way; taken when the last bit of the last attempt was
    /// sent.
    pub delay: Propagation,
    /// Coded bits of each attempt.
    pub sizing: Sizing,
}

/// Whether retransmissions take time from other packets.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
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

impl AdaptiveHarqOptions {
    /// The most that [`Self::max_retx`] may be.
    pub const MOST_RETRANSMISSIONS: u32 = 7;

    /// Attempts at a packet, the first included.
    pub(super) fn attempts(&self) -> usize {
        self.max_retx as usize + 1
    }

    /// The link over a channel, whose mutual information per coded bit has this mean; without a
    /// `delay` it takes the fixed one of the options.
    ///
    /// # Errors
    /// The key that is wrong, and what to do.
    pub fn over(
        &self,
        information: Arc<MiTrace>,
        mean: f64,
        delay: Option<Propagation>,
    ) -> Result<AdaptiveHarqConfig, Fault> {
        check_delays(self.delay, self.delays.as_ref(), self.keep_order)?;
        let sizes = [("first", self.first.is_some()), ("increment", self.increment.is_some())];
        let sizing = match &self.targets {
            None => Sizing::Fixed {
                first: self.first.unwrap_or(1.0) / mean,
                increment: self.increment.unwrap_or(0.47) / mean,
            },
            Some(targets) => {
                Fault::refuse(sizes, "`targets` say how much is sent; leave one of them out")?;
                Sizing::for_targets(&information, targets)?
            }
        };
        let usual = self.delay.unwrap_or(Duration::from_millis(80));
        let delay = delay.unwrap_or(usual.into());
        let options = self.clone();
        let config = AdaptiveHarqConfig { options, information, delay, sizing };
        config.check(mean)?;
        Ok(config)
    }

    /// Validates the options.
    fn check(&self) -> Result<(), Fault> {
        let most = Self::MOST_RETRANSMISSIONS;
        if self.max_retx > most {
            let cure = format!("{} are too many; give 0 to {most}", self.max_retx);
            return Err(Fault::new("max_retx", cure));
        }
        for (name, sigma) in
            [("packet_sigma", self.packet_sigma), ("attempt_sigma", self.attempt_sigma)]
        {
            if !(0.0..=10.0).contains(&sigma) {
                let cure = format!("{sigma} is out of range; give a number from 0 to 10");
                return Err(Fault::new(name, cure));
            }
        }
        if self.step == Duration::ZERO || self.step > Duration::from_secs(1000) {
            let cure = format!("{} is out of range; give a time above 0 s to 1000 s", self.step);
            return Err(Fault::new("step", cure));
        }
        Ok(())
    }
}

impl AdaptiveHarqConfig {
    /// Validates the link; sizes are in units of the inverse of `mean`.
    fn check(&self, mean: f64) -> Result<(), Fault> {
        self.options.check()?;
        self.sizing.check(self.options.attempts(), mean)
    }
}

impl Medium for AdaptiveHarqConfig {
    fn build(self: Arc<Self>, with: Building<'_>) -> Result<BuiltLink, Fault> {
        let link = with.link;
        link.check_own(false)?;
        self.check(1.0)?;
        let rule = link.reorder;
        Ok(match self.options.repairs {
            Repairs::Beside => behind(BesideLink::new(&self, &with)?, rule),
            Repairs::Compete => behind(CompetingLink::new(&self, &with)?, rule),
        })
    }

    fn on_clock(&self, clock: TraceClock) -> Option<Arc<dyn Medium>> {
        Some(Arc::new(Self { delay: self.delay.on_clock(clock), ..self.clone() }))
    }

    fn way_back(&self) -> Propagation {
        self.delay.clone()
    }

    fn span(&self) -> Option<(u64, u64)> {
        let every = self.information.every().as_nanos();
        Some((0, self.information.values().len() as u64 * every))
    }
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
    /// information per coded bit: one level for each attempt. The receiver
    /// reports the missing part in its NACK; before the first attempt a nominal packet is missing.
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
    pub fn for_targets(information: &MiTrace, targets: &[Probability]) -> Result<Self, Fault> {
        let mut values = information.values().to_vec();
        values.sort_unstable_by(f32::total_cmp);
        let level = |target: &Probability| {
            let below = ((1.0 - target.get()) * values.len() as f64) as usize;
            let level = f64::from(values[below.min(values.len() - 1)]);
            if level * Self::MOST_RATIO < 1.0 { Err(hopeless()) } else { Ok(level) }
        };
        Ok(Self::Missing { levels: targets.iter().map(level).collect::<Result<_, _>>()? })
    }

    fn check(&self, attempts: usize, mean: f64) -> Result<(), Fault> {
        match self {
            Self::Fixed { first, increment } => {
                let wrong = |ratio: &f64| !(*ratio > 0.0 && *ratio <= Self::MOST_RATIO);
                let most = mean * Self::MOST_RATIO;
                let cure = format!(
                    "give a number above 0 and at most {most}, which are 1000 coded bits per information bit"
                );
                Fault::refuse([("first", wrong(first)), ("increment", wrong(increment))], cure)
            }
            Self::Missing { levels } if levels.len() != attempts => {
                let given = levels.len();
                let cure = format!(
                    "{given} for {attempts} attempts; give one for each, or change max_retx"
                );
                Err(Fault::new("targets", cure))
            }
            Self::Missing { levels } => {
                let fits =
                    levels.iter().all(|&level| level * Self::MOST_RATIO >= 1.0 && level <= 1.0);
                if fits { Ok(()) } else { Err(hopeless()) }
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

fn hopeless() -> Fault {
    let cure = "the channel lets next to nothing through that often; give lower probabilities";
    Fault::new("targets", cure)
}

/// The thresholds of one packet after the other.
///
/// A packet draws a normal number, and one for each attempt that may be made if those differ, so
/// that what a packet draws does not depend on how those before it fared.
#[derive(Clone, Debug)]
pub(super) struct Thresholds {
    packet_sigma: f64,
    attempt_sigma: f64,
    attempts: usize,
    rng: ChaCha8Rng,
}

/// Those of one packet, attempt by attempt.
#[derive(Clone, Debug)]
pub(super) struct OfPacket {
    bits: f64,
    common: f64,
    sigma: f64,
    draws: [(f64, f64); AdaptiveHarqOptions::MOST_RETRANSMISSIONS as usize + 1],
}

impl Thresholds {
    pub(super) fn new(options: &AdaptiveHarqOptions, rng: ChaCha8Rng) -> Self {
        let AdaptiveHarqOptions { packet_sigma, attempt_sigma, .. } = *options;
        Self { packet_sigma, attempt_sigma, attempts: options.attempts(), rng }
    }

    /// Draws the thresholds of the next packet, of `bits` bits.
    #[inline]
    pub(super) fn draw(&mut self, bits: f64) -> OfPacket {
        let common = 1.0 + self.packet_sigma * normal(self.uniforms());
        let mut draws = [(0.0, 0.0); AdaptiveHarqOptions::MOST_RETRANSMISSIONS as usize + 1];
        if self.attempt_sigma > 0.0 {
            draws[..self.attempts].fill_with(|| self.uniforms());
        }
        OfPacket { bits, common, sigma: self.attempt_sigma, draws }
    }

    #[inline]
    fn uniforms(&mut self) -> (f64, f64) {
        (uniform(&mut self.rng), uniform(&mut self.rng))
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
