//! Time, sizes, rates and probabilities: integers with a unit in the type.
//!
//! Times are never floating point: an [`Instant`] is nanoseconds since the start of a run (or of
//! a trace), a [`Duration`] the difference of two.

mod counted;
mod ecn;
mod limit;
mod packets;
mod radio;
mod serde;
mod text;

pub use counted::counted;
pub use ecn::Ecn;
pub use limit::{Limit, Timer};
pub use packets::Packets;
pub(crate) use packets::packets;
pub(crate) use radio::MEASURES;
pub use radio::{Decibels, Degrees, Gigahertz, KilometresPerHour, Metres};
pub(crate) use serde::{Text, number, number_with, quantity, schema};
pub use text::{QuantityError, Size};
pub(crate) use text::{WHOLE_UNITS, split_number};

use std::num::NonZeroU64;
use std::ops::{Add, AddAssign, Mul, Sub};

use thiserror::Error;

/// A point in time: nanoseconds since time zero of the run or of the trace.
///
/// ```
/// use clift::units::{Duration, Instant};
/// let sent = Instant::from_nanos(1_000);
/// assert_eq!(sent + Duration::from_micros(2), Instant::from_nanos(3_000));
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Instant(u64);

impl Instant {
    /// Time zero.
    pub const ZERO: Self = Self(0);
    /// The latest representable instant; no event occurs then.
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `nanos` nanoseconds after time zero.
    #[inline]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since time zero.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since time zero, for display and formulas.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The time from `earlier` to `self`, zero if `earlier` is later.
    #[inline]
    pub fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    #[inline]
    fn add(self, rhs: Duration) -> Self {
        Self(self.0 + rhs.0)
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;
    #[inline]
    fn sub(self, rhs: Duration) -> Self {
        Self(self.0 - rhs.0)
    }
}

impl Sub for Instant {
    type Output = Duration;
    #[inline]
    fn sub(self, rhs: Self) -> Duration {
        Duration(self.0 - rhs.0)
    }
}

/// A span of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Duration(u64);

impl Duration {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// The longest span.
    pub const MAX: Self = Self(u64::MAX);

    /// A span of `nanos` nanoseconds.
    #[inline]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A span of `micros` microseconds.
    #[inline]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// A span of `millis` milliseconds.
    #[inline]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// A span of `secs` seconds.
    #[inline]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// The span in nanoseconds.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The span in seconds, for display and formulas.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Half the span, rounded down: the one-way part of a round-trip time.
    #[inline]
    pub const fn half(self) -> Self {
        Self(self.0 / 2)
    }
}

impl Add for Duration {
    type Output = Self;
    #[inline]
    fn add(self, rhs: Self) -> Self {
        Self(self.0 + rhs.0)
    }
}

impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, rhs: Self) {
        self.0 += rhs.0;
    }
}

impl Sub for Duration {
    type Output = Self;
    #[inline]
    fn sub(self, rhs: Self) -> Self {
        Self(self.0 - rhs.0)
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    #[inline]
    fn mul(self, rhs: u64) -> Self {
        Self(self.0 * rhs)
    }
}

/// A number of bytes: a packet, an LLDU, a window.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Bytes(pub u32);

/// A bit rate in whole bits per second, never zero.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct BitRate(NonZeroU64);

impl BitRate {
    /// A rate of `bits` per second; `None` if `bits` is 0.
    pub const fn from_bits_per_second(bits: u64) -> Option<Self> {
        match NonZeroU64::new(bits) {
            Some(bits) => Some(Self(bits)),
            None => None,
        }
    }

    /// The rate in bit/s.
    pub const fn bits_per_second(self) -> u64 {
        self.0.get()
    }

    /// Time to send `size` at this rate, rounded to the nearest nanosecond; at most
    /// [`Duration::MAX`].
    ///
    /// ```
    /// use clift::units::{BitRate, Bytes, Duration};
    /// let rate = BitRate::from_bits_per_second(263_000).unwrap();
    /// assert_eq!(rate.time_to_send(Bytes(33)), Duration::from_nanos(1_003_802));
    /// let rate = BitRate::from_bits_per_second(1_000_000).unwrap();
    /// assert_eq!(rate.time_to_send(Bytes(4_000_000_000)), Duration::from_secs(32_000));
    /// ```
    #[inline]
    pub fn time_to_send(self, size: Bytes) -> Duration {
        // Below 2.3 GB, a division of 64 bits.
        let bits = u64::from(size.0).checked_mul(8 * 1_000_000_000);
        if let Some(bits) = bits.and_then(|bits| bits.checked_add(self.0.get() / 2)) {
            return Duration(bits / self.0.get());
        }
        let (rate, bits) = (u128::from(self.0.get()), u128::from(size.0) * 8 * 1_000_000_000);
        Duration(u64::try_from((bits + rate / 2) / rate).unwrap_or(u64::MAX))
    }
}

/// A probability: finite and within [0, 1].
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability(f64);

impl Probability {
    /// Probability 0.
    pub const ZERO: Self = Self(0.0);
    /// Probability 1.
    pub const ONE: Self = Self(1.0);

    /// Checks that `p` is a probability.
    ///
    /// ```
    /// use clift::units::Probability;
    /// assert!(Probability::new(0.02).is_ok());
    /// assert!(Probability::new(f64::NAN).is_err());
    /// ```
    ///
    /// # Errors
    /// If `p` is outside [0, 1] or not a number.
    pub fn new(p: f64) -> Result<Self, NotAProbability> {
        if (0.0..=1.0).contains(&p) { Ok(Self(p)) } else { Err(NotAProbability(p)) }
    }

    /// The value, within [0, 1].
    #[inline]
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// One probability, or a list of probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct Probabilities(pub Vec<Probability>);

/// The error for a number outside [0, 1].
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("{0} is not a probability; give a number from 0 to 1")]
pub struct NotAProbability(pub f64);
