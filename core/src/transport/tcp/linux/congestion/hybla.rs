//! TCP Hybla (Caini and Firrincieli 2004) as in current Linux (`tcp_hybla.c`): the window grows as
//! fast as at a round-trip time of 25 ms.
//!
//! Differences from profile `papers` (Linux 2.6.22): rho is measured at the end of the handshake,
//! in microseconds; slow start grows by at most 2^16 segments per ACK; growth is Reno's in state
//! Disorder too. The growth per ACK does not depend on the number of segments acknowledged, so
//! delayed ACKs halve the growth. A window above 128 rho² grows by one segment per window of ACKs.
//! Compared with Linux 6.12 (`validation/kernel`).

use super::reno::Reno;
use crate::transport::tcp::congestion::CongestionState;
use crate::transport::tcp::congestion::{Ack, CongestionControl, Loss, Reduction, Window};
use crate::units::{Duration, Instant};

/// Reference round-trip time.
const RTT0: Duration = Duration::from_millis(25);
/// Increments are in 1/128 of a segment.
const UNIT: u64 = 128;
/// 128·2^(i/8), rounded down.
const POWERS: [u64; 8] = [128, 139, 152, 165, 181, 197, 215, 234];
/// Slow start grows by at most 2 to this power per ACK.
const MOST_DOUBLINGS: u64 = 16;
/// Maximum of eight times rho: the kernel keeps eight smoothed round-trip times in 32 bits of
/// microseconds.
const MOST_RHO8: u64 = (u32::MAX / 25_000) as u64;
/// Maximum window in segments, as in the kernel.
const LIMIT: u32 = 65_535;

/// Growth normalised to the reference round-trip time.
#[derive(Debug)]
pub(crate) struct Hybla {
    /// Eight times rho, at least 8. Rho is the round-trip time divided by the reference.
    rho8: u64,
    /// The minimum smoothed round-trip time, from which rho is computed.
    least_srtt: Option<Duration>,
    /// Increments below one segment, in 1/128 segment.
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

    /// Increment per ACK in 1/128 segment: 2^rho - 1 in slow start, rho²/W afterwards.
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

    /// 510 ms: rho = 20.4, in eighths 163; 2^20 exceeds the maximum 2^16.
    #[test]
    fn the_connection_begins_with_rho_segments() {
        let (hybla, mut window) = established(510);
        assert_eq!((window.cwnd(), window.limit()), (20, 65_535));
        assert_eq!(hybla.increment(&window), (1 << 16) * 165 - 128);
        window.set_ssthresh(10);
        window.set_cwnd(200);
        assert_eq!(hybla.increment(&window), 2 * 163 * 163 / 200);
    }

    /// 40 ms: rho = 1.6, here 12/8. Slow start: 2^1.5 - 1 = 1.828 segments per ACK. Above the
    /// threshold of 1000 segments: 2.25/1000.
    #[test]
    fn growth_matches_that_at_25_ms() {
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

    /// A lower limit of the window is kept.
    #[test]
    fn a_lower_window_limit_is_kept() {
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

    /// rho = 1: above 128 segments an ACK adds less than 1/128.
    #[test]
    fn a_large_window_counts_acks_instead_of_fractions() {
        let (mut hybla, mut window) = established(20);
        window.set_cwnd(130);
        window.set_ssthresh(2);
        (0..129).for_each(|_| _ = grow(&mut hybla, 20, &mut window));
        assert_eq!(window.cwnd(), 130);
        assert_eq!(grow(&mut hybla, 20, &mut window), 131);
    }

    #[test]
    fn growth_is_renos_in_disorder() {
        let (mut hybla, mut window) = established(500);
        let state = CongestionState::Disorder;
        hybla.grow(&Ack { segments: 1, state, limited: Some(true), ..Ack::default() }, &mut window);
        assert_eq!(window.cwnd(), 21);
    }
}
