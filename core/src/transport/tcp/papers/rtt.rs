//! Round-trip estimate and retransmission timeout (RFC 6298), as ns-2's agents keep them: in
//! ticks, with integer arithmetic.
//!
//! Against RFC 6298: the minimum is 200 ms instead of 1 s, the initial timeout 3 s (RFC 2988), and
//! with [`LinuxAgent`] a fall of the round-trip time below the estimate by more than the
//! variance enters the variance with gain 1/32 (as in Linux).

use std::marker::PhantomData;

use crate::units::{Duration, Instant};

/// How an agent of ns-2 measures time. A type each, so that divisions by the tick are by a constant.
pub(super) trait Clock {
    /// Nanoseconds of a tick (`tcpTick_`).
    const TICK: u64;
    /// Timeout before the first sample, in ticks (`rtxcur_init_`).
    const INITIAL: i64;
    /// Least timeout, in ticks (`minrto_`).
    const MINIMUM: i64;
    /// Longest timeout, in ticks (`maxrto_`).
    const MAXIMUM: i64;
    /// Sharp falls of the round-trip time hardly raise the variance.
    const DAMPS_FALLS: bool;
}

/// `Agent/TCP/Linux`: ticks of a millisecond, 0.2 to 120 s.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinuxAgent;

impl Clock for LinuxAgent {
    const TICK: u64 = 1_000_000;
    const INITIAL: i64 = 3_000;
    const MINIMUM: i64 = 200;
    const MAXIMUM: i64 = 120_000;
    const DAMPS_FALLS: bool = true;
}

/// ns-2's own agents: ticks of 10 ms, 0.2 to 60 s.
#[derive(Clone, Copy, Debug)]
pub(super) struct NativeAgent;

impl Clock for NativeAgent {
    const TICK: u64 = 10_000_000;
    const INITIAL: i64 = 300;
    const MINIMUM: i64 = 20;
    const MAXIMUM: i64 = 6_000;
    const DAMPS_FALLS: bool = false;
}

/// Back-off beyond which the estimate is thrown away.
const CLOBBER: i64 = 8;
/// The least back-off from which on it is doubled only below the maximum.
const FREE_BACKOFF: i64 = 64;

/// Smoothed round-trip time and timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct RttEstimator<C> {
    clock: PhantomData<C>,
    /// Eight times the smoothed round-trip time, in ticks; 0: no sample yet.
    srtt8: i64,
    /// Four times the mean deviation, in ticks.
    var4: i64,
    /// Timeout before back-off and limits, in ticks.
    rto: i64,
    backoff: i64,
}

impl<C: Clock> RttEstimator<C> {
    /// No sample yet.
    pub(super) fn new() -> Self {
        Self { clock: PhantomData, srtt8: 0, var4: 0, rto: C::INITIAL, backoff: 1 }
    }

    /// A round-trip sample, rounded to the nearest tick and at least one.
    #[inline(always)] // called for every ACK: a call costs as much as what it does
    pub(super) fn sample(&mut self, rtt: Duration) {
        self.take_in(((rtt.as_nanos() + C::TICK / 2) / C::TICK) as i64);
    }

    /// A round trip by a clock that shows whole ticks: those passed between its two readings, at
    /// least one.
    pub(super) fn sample_between(&mut self, sent: Instant, answered: Instant) {
        let reading = |at: Instant| at.as_nanos() / C::TICK;
        self.take_in((reading(answered) - reading(sent)) as i64);
    }

    #[inline(always)]
    fn take_in(&mut self, ticks: i64) {
        let rtt = ticks.max(1);
        if self.srtt8 == 0 {
            self.srtt8 = rtt << 3;
            self.var4 = rtt << 1;
        } else {
            let delta = rtt - (self.srtt8 >> 3);
            self.srtt8 = (self.srtt8 + delta).max(1);
            let excess = delta.abs() - (self.var4 >> 2);
            let damped = C::DAMPS_FALLS && delta < 0 && excess > 0;
            self.var4 += if damped { excess >> 3 } else { excess };
        }
        self.rto = self.var4 + (self.srtt8 >> 3);
    }

    /// The peer answered: back-off ends.
    #[inline]
    pub(super) fn end_backoff(&mut self) {
        self.backoff = 1;
    }

    /// A timeout: the next one waits twice as long; from the fourth on the estimate starts again.
    pub(super) fn back_off(&mut self) {
        if self.backoff < FREE_BACKOFF || self.ticks() < C::MAXIMUM {
            self.backoff <<= 1;
        }
        if self.backoff > CLOBBER {
            self.var4 += self.srtt8 >> 3;
            self.srtt8 = 0;
        }
    }

    /// The timeout in force.
    #[inline]
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_nanos(self.ticks() as u64 * C::TICK)
    }

    /// The smoothed round-trip time, once there is a sample.
    pub(super) fn smoothed(&self) -> Option<Duration> {
        (self.srtt8 > 0).then(|| Duration::from_nanos(self.srtt8 as u64 * (C::TICK / 8)))
    }

    #[inline]
    fn ticks(&self) -> i64 {
        (self.rto.max(C::MINIMUM) * self.backoff).min(C::MAXIMUM)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeout_ms(rtt: &RttEstimator<LinuxAgent>) -> u64 {
        rtt.timeout().as_nanos() / 1_000_000
    }

    #[test]
    fn three_seconds_until_the_first_sample() {
        let mut rtt = RttEstimator::<LinuxAgent>::new();
        assert_eq!(timeout_ms(&rtt), 3_000);
        rtt.back_off();
        assert_eq!(timeout_ms(&rtt), 6_000);
    }

    /// RFC 6298 (2.2): srtt = R, var = R/2, timeout = R + 4·R/2 = 3 R.
    #[test]
    fn first_sample() {
        let mut rtt = RttEstimator::<LinuxAgent>::new();
        rtt.sample(Duration::from_millis(500));
        assert_eq!(timeout_ms(&rtt), 1_500);
        assert_eq!(rtt.smoothed(), Some(Duration::from_millis(500)));
    }

    /// (2.3): 500 then 580: delta 80, srtt = 510, var = 250 + (80 - 250)/4 = 207.5, so that
    /// timeout = 510 + 830.
    #[test]
    fn later_samples() {
        let mut rtt = RttEstimator::<LinuxAgent>::new();
        rtt.sample(Duration::from_millis(500));
        rtt.sample(Duration::from_micros(579_600)); // rounds to 580
        assert_eq!(timeout_ms(&rtt), 510 + 830);
        assert_eq!(rtt.smoothed(), Some(Duration::from_millis(510)));
    }

    /// A fall by more than the variance raises it by 1/8 of the excess only: from 500 (var4
    /// settled at 3) to 100: excess 400 - 0, var4 = 3 + 400/8.
    #[test]
    fn a_sharp_fall_hardly_raises_the_timeout() {
        let mut rtt = RttEstimator::<LinuxAgent>::new();
        (0..100).for_each(|_| rtt.sample(Duration::from_millis(500)));
        assert_eq!(timeout_ms(&rtt), 500 + 3);
        rtt.sample(Duration::from_millis(100));
        assert_eq!(timeout_ms(&rtt), 450 + 53);
    }

    #[test]
    fn never_below_200_ms_nor_above_120_s() {
        let mut rtt = RttEstimator::<LinuxAgent>::new();
        (0..100).for_each(|_| rtt.sample(Duration::from_millis(10)));
        assert_eq!(timeout_ms(&rtt), 200);
        rtt.back_off();
        assert_eq!(timeout_ms(&rtt), 400);
        (0..20).for_each(|_| rtt.back_off());
        assert_eq!(timeout_ms(&rtt), 120_000);
        rtt.end_backoff();
        assert!(timeout_ms(&rtt) < 1_000);
    }

    /// The fourth timeout in a row throws the estimate away: the next sample counts as a first.
    #[test]
    fn estimate_starts_anew_after_four_timeouts() {
        let mut rtt = RttEstimator::<LinuxAgent>::new();
        rtt.sample(Duration::from_millis(500));
        (0..4).for_each(|_| rtt.back_off());
        assert_eq!(rtt.smoothed(), None);
        rtt.sample(Duration::from_millis(100));
        rtt.end_backoff();
        assert_eq!(timeout_ms(&rtt), 300);
    }
}
