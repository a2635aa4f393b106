//! TCP Hybla (Caini and Firrincieli 2004) as Linux has it today (`tcp_hybla.c`): a window that
//! grows as fast as at a round-trip time of 25 ms.
//!
//! Against the version of profile `papers` (Linux 2.6.22): rho is measured when the connection is
//! established, from microseconds; slow start grows by 2^16 segments per ACK at most; in Disorder
//! too, growth is Reno's. The work of one ACK does not depend on how much it acknowledges, so
//! delayed ACKs halve the growth; a window beyond 128 rho² grows by a segment once it was acknowledged
//! as often. Compared with Linux 6.12 (`validation/kernel`).

use super::reno::Reno;
use crate::transport::tcp::congestion::{Ack, CongestionControl, Loss, Reduction, Window};
use crate::transport::tcp::endpoint::CongestionState;
use crate::units::{Duration, Instant};

/// Reference round-trip time.
const RTT0: Duration = Duration::from_millis(25);
/// Increments are in 1/128 of a segment.
const UNIT: u64 = 128;
/// 128·2^(i/8), rounded down.
const POWERS: [u64; 8] = [128, 139, 152, 165, 181, 197, 215, 234];
/// Slow start grows by no more than 2 to this power per ACK.
const MOST_DOUBLINGS: u64 = 16;
/// Most that eight times rho may be: the kernel keeps eight smoothed round-trip times in 32 bits
/// of microseconds.
const MOST_RHO8: u64 = (u32::MAX / 25_000) as u64;
/// The window grows to so many segments at most, as the kernel's does.
const LIMIT: u32 = 65_535;

/// Growth as fast as at the reference round-trip time.
#[derive(Debug)]
pub(crate) struct Hybla {
    /// Eight times rho, the round-trip time over that of reference, at least 8.
    rho8: u64,
    /// The smoothed round-trip time it comes from, the least so far.
    least_srtt: Option<Duration>,
    /// Increments below one segment, in 1/128.
    fraction: u64,
}

impl Hybla {
    pub(crate) fn new() -> Self {
        Self { rho8: 8, least_srtt: None, fraction: 0 }
    }

    fn measure(&mut self, srtt: Option<Duration>) {
        let Some(srtt) = srtt else { return };
        if self.least_srtt.is_none_or(|least| srtt < least) {
            self.rho8 = (srtt.as_nanos() / (RTT0.as_nanos() / 8)).clamp(8, MOST_RHO8);
            self.least_srtt = Some(srtt);
        }
    }

    /// 2^rho - 1 in slow start, rho²/W beyond, in 1/128.
    fn increment(&self, window: &Window) -> u64 {
        if window.in_slow_start() {
            let power = 1 << (self.rho8 / 8).min(MOST_DOUBLINGS);
            power * POWERS[(self.rho8 % 8) as usize] - UNIT
        } else {
            2 * self.rho8 * self.rho8 / u64::from(window.cwnd())
        }
    }
}

impl CongestionControl for Hybla {
    fn on_established(&mut self, _: Instant, srtt: Option<Duration>, _: u64, window: &mut Window) {
        self.measure(srtt);
        window.set_limit(window.limit().min(LIMIT));
        window.set_cwnd((self.rho8 / 8) as u32);
    }

    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        self.measure(ack.srtt);
        if !ack.fills(window) {
            return;
        }
        if ack.state != CongestionState::Open {
            return Reno.grow(ack, window);
        }
        let slow_start = window.in_slow_start();
        let increment = self.increment(window);
        if !slow_start && increment < UNIT {
            window.set_credit(window.credit().saturating_add(1));
        }
        self.fraction += increment % UNIT;
        let carry = self.fraction / UNIT;
        self.fraction %= UNIT;
        let whole = u32::try_from(increment / UNIT + carry).unwrap_or(u32::MAX);
        let grown = window.cwnd().saturating_add(whole);
        window.set_cwnd(if slow_start { grown.min(window.ssthresh()) } else { grown });
        if carry > 0 {
            window.set_credit(0);
        }
        if increment == 0 && window.credit() >= window.cwnd() {
            window.set_cwnd(window.cwnd().saturating_add(1));
            window.set_credit(0);
        }
    }

    fn reduce(&mut self, loss: Loss, window: &Window) -> Reduction {
        Reno.reduce(loss, window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn established(srtt_ms: u64) -> (Hybla, Window) {
        let (mut hybla, mut window) = (Hybla::new(), Window::of(10, 1_000));
        hybla.on_established(Instant::ZERO, ms(srtt_ms), 1, &mut window);
        (hybla, window)
    }

    fn ms(millis: u64) -> Option<Duration> {
        Some(Duration::from_millis(millis))
    }

    fn grow(hybla: &mut Hybla, srtt_ms: u64, window: &mut Window) -> u32 {
        let ack = Ack { segments: 1, srtt: ms(srtt_ms), limited: Some(true), ..Ack::default() };
        hybla.grow(&ack, window);
        window.cwnd()
    }

    /// 510 ms: rho = 20.4, in eighths 163; 2^20 is beyond the most, 2^16.
    #[test]
    fn the_connection_begins_with_rho_segments() {
        let (hybla, mut window) = established(510);
        assert_eq!((window.cwnd(), window.limit()), (20, 65_535));
        assert_eq!(hybla.increment(&window), (1 << 16) * 165 - 128);
        window.set_ssthresh(10);
        window.set_cwnd(200);
        assert_eq!(hybla.increment(&window), 2 * 163 * 163 / 200);
    }

    /// 40 ms: rho = 1.6, here 12/8; 2^1.5 - 1 = 1.828 segments per ACK; beyond the threshold of
    /// 1000 segments 2.25/1000.
    #[test]
    fn growth_is_that_of_25_ms() {
        let (mut hybla, mut window) = established(40);
        assert_eq!(window.cwnd(), 1);
        (0..64).for_each(|_| _ = grow(&mut hybla, 40, &mut window));
        assert_eq!(window.cwnd(), 1 + 64 * 234 / 128);
        (0..600).for_each(|_| _ = grow(&mut hybla, 40, &mut window));
        assert_eq!(window.cwnd(), 1_000, "the threshold, and nothing in 1/128");
        window.set_cwnd(100);
        window.set_ssthresh(2);
        (0..64).for_each(|_| _ = grow(&mut hybla, 40, &mut window));
        assert_eq!(window.cwnd(), 101, "288/100 of 1/128 each, rounded down to 2");
    }

    /// A limit of the window that is lower stays.
    #[test]
    fn the_limit_of_the_window_stays() {
        let mut window = Window::of(10, u32::MAX);
        window.set_limit(61);
        let mut hybla = Hybla::new();
        hybla.on_established(Instant::ZERO, ms(500), 1, &mut window);
        assert_eq!(window.limit(), 61);
        (0..10).for_each(|_| _ = grow(&mut hybla, 500, &mut window));
        assert_eq!(window.cwnd(), 61);
    }

    #[test]
    fn rho_follows_the_least_smoothed_round_trip() {
        let (mut hybla, mut window) = established(500);
        grow(&mut hybla, 600, &mut window);
        assert_eq!(hybla.rho8, 160);
        grow(&mut hybla, 400, &mut window);
        assert_eq!(hybla.rho8, 128);
    }

    /// rho of 1: beyond 128 segments an ACK is worth less than 1/128.
    #[test]
    fn what_a_large_window_cannot_count_in_fractions_it_counts_in_acks() {
        let (mut hybla, mut window) = established(20);
        window.set_cwnd(130);
        window.set_ssthresh(2);
        (0..129).for_each(|_| _ = grow(&mut hybla, 20, &mut window));
        assert_eq!(window.cwnd(), 130);
        assert_eq!(grow(&mut hybla, 20, &mut window), 131);
    }

    #[test]
    fn growth_is_renos_while_something_is_amiss() {
        let (mut hybla, mut window) = established(500);
        let state = CongestionState::Disorder;
        hybla.grow(&Ack { segments: 1, state, limited: Some(true), ..Ack::default() }, &mut window);
        assert_eq!(window.cwnd(), 21);
    }
}
