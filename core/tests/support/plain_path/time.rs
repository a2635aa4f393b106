//! The simulator's time: in whole nanoseconds as the library has it, or in seconds as ns-2 has it.

use std::ops::Add;

use clift::units::{Duration, Instant};

/// A time, or a span of time.
pub trait Time: Add<Output = Self> + Copy {
    /// How far an instant may be off.
    const ROUNDING: Duration;
    /// Whether a transmitter comes free before what arrives or runs out at the same time. If not,
    /// the order is that in which they were scheduled.
    const FREE_FIRST: bool;

    fn span(span: Duration) -> Self;

    /// Transmission time of `bits`.
    fn sending(bits: u64, bits_per_second: u64) -> Self;

    /// The time on the agents' clocks. Those of ns-2's own agents begin to tick at a random time
    /// (`bench/ns2/tcp.tcl`): this number of nanoseconds ahead.
    fn instant(self, ahead: f64) -> Instant;

    /// A number in the order of time.
    fn to_bits(self) -> u64;

    fn from_bits(bits: u64) -> Self;
}

/// Nanoseconds.
impl Time for u64 {
    const ROUNDING: Duration = Duration::ZERO;
    const FREE_FIRST: bool = true;

    fn span(span: Duration) -> Self {
        span.as_nanos()
    }

    fn sending(bits: u64, bits_per_second: u64) -> Self {
        (bits * 1_000_000_000 + bits_per_second / 2) / bits_per_second
    }

    fn instant(self, _ahead: f64) -> Instant {
        Instant::from_nanos(self)
    }

    fn to_bits(self) -> u64 {
        self
    }

    fn from_bits(bits: u64) -> Self {
        bits
    }
}

/// Seconds.
impl Time for f64 {
    const ROUNDING: Duration = Duration::from_nanos(1);
    const FREE_FIRST: bool = false;

    fn span(span: Duration) -> Self {
        span.as_secs_f64()
    }

    fn sending(bits: u64, bits_per_second: u64) -> Self {
        bits as f64 / bits_per_second as f64
    }

    fn instant(self, ahead: f64) -> Instant {
        Instant::from_nanos((self * 1e9 + ahead) as u64)
    }

    /// The bits of positive numbers are in the order of the numbers.
    fn to_bits(self) -> u64 {
        self.to_bits()
    }

    fn from_bits(bits: u64) -> Self {
        Self::from_bits(bits)
    }
}
