//! TCP Hybla (Caini and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks",
//! Int. J. Satellite Communications and Networking 22(5), 2004), as in ns-2's `Agent/TCP/Linux`
//! (Linux 2.6.22).
//!
//! With rho = RTT / 25 ms the window gains per ACK what a connection of 25 ms gains in the same
//! time: 2^rho - 1 segments in slow start, rho²/W in congestion avoidance. Recovery is NewReno's.
//!
//! What the kernel code adds to the paper: rho is kept in eighths, rounded down and at least 1,
//! and is measured at the first ACK and whenever the smoothed round-trip time is at its lowest;
//! increments are in 1/128 of a segment, 2^(rho's fraction) from a table; the first ACK sets the
//! window to rho; the limit of the window becomes 65,535 segments, so `window_` only bounds slow
//! start, as the first threshold; while losses are repaired after a timeout, growth is Reno's.
//! 2^rho is a shift of a 32-bit integer, whose distance counts modulo 32: from a round trip of
//! 800 ms on, slow start is as slow as that of a connection 32 times 25 ms shorter.

use super::reno::Reno;
use super::srtt8;
use crate::transport::tcp::congestion::{Ack, CongestionControl, Loss, Reduction, Window};

/// Reference round-trip time, in ticks: 25 ms.
const RTT0: u64 = 25;
/// Increments are in 1/128 of a segment.
const UNIT: u64 = 128;
/// 128·2^(i/8), rounded down.
const POWERS: [u64; 8] = [128, 139, 152, 165, 181, 197, 215, 234];
/// Limit of the window, in segments.
const LIMIT: u32 = 65_535;

/// Growth as fast as at the reference round-trip time.
#[derive(Debug)]
pub(crate) struct Hybla {
    /// An ACK has arrived.
    started: bool,
    /// Growth is Hybla's, not Reno's.
    enabled: bool,
    /// Eight times rho.
    rho8: u64,
    /// Least smoothed round-trip time, in eighths of a tick.
    least_srtt8: u64,
    /// Increments below one segment, in 1/128.
    fraction: u64,
}

impl Hybla {
    pub(crate) fn new() -> Self {
        Self { started: false, enabled: true, rho8: 8, least_srtt8: u64::MAX, fraction: 0 }
    }

    /// rho = RTT / RTT0, at least 1.
    fn measure(&mut self, srtt8: u64) {
        self.rho8 = (srtt8 / RTT0).max(8);
        self.least_srtt8 = srtt8;
    }

    /// 2^rho - 1, in 1/128. A signed shift, as in C: 2^31 is negative, and as an unsigned number
    /// beyond every limit.
    fn slow_start_increment(&self) -> u64 {
        let power = 1i32.wrapping_shl((self.rho8 >> 3) as u32);
        let fraction = POWERS[(self.rho8 & 7) as usize];
        (i64::from(power) as u64).wrapping_mul(fraction).wrapping_sub(UNIT)
    }

    /// rho²/W, in 1/128.
    fn avoidance_increment(&self, cwnd: u32) -> u64 {
        2 * self.rho8 * self.rho8 / u64::from(cwnd.max(1))
    }
}

impl CongestionControl for Hybla {
    fn watches(&self) -> bool {
        true
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if self.started {
            return;
        }
        self.started = true;
        self.enabled = true;
        if srtt8(ack) > 0 {
            self.measure(srtt8(ack));
        }
        window.set_limit(LIMIT);
        window.set_cwnd((self.rho8 >> 3) as u32);
    }

    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        let srtt8 = srtt8(ack);
        if srtt8 > 0 && srtt8 < self.least_srtt8 {
            self.measure(srtt8);
        }
        if !ack.fills(window) {
            return;
        }
        if !self.enabled {
            return Reno.grow(ack, window);
        }

        let slow_start = window.in_slow_start();
        let increment = if slow_start {
            self.slow_start_increment()
        } else {
            self.avoidance_increment(window.cwnd())
        };
        if !slow_start && increment < UNIT {
            window.set_credit(window.credit().saturating_add(1));
        }
        self.fraction += increment % UNIT;
        if self.fraction >= UNIT {
            window.set_credit(0);
        }
        let mut cwnd =
            u64::from(window.cwnd()).saturating_add(increment / UNIT + self.fraction / UNIT);
        self.fraction %= UNIT;
        if slow_start {
            cwnd = cwnd.min(u64::from(window.ssthresh()));
        }
        window.set_cwnd(cwnd.min(u64::from(LIMIT)) as u32);
    }

    fn reduce(&mut self, loss: Loss, window: &Window) -> Reduction {
        self.enabled = false;
        Reno.reduce(loss, window)
    }

    fn on_repaired(&mut self, _: Loss, _: u64, _: &mut Window) {
        self.enabled = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    fn ack(srtt_ms: u64, prior_in_flight: u32) -> Ack {
        Ack {
            segments: 1,
            srtt: Some(Duration::from_millis(srtt_ms)),
            prior_in_flight: u64::from(prior_in_flight),
            ..Ack::default()
        }
    }

    /// A connection whose first ACK, with this round-trip time, has arrived.
    fn started(srtt_ms: u64, window: &mut Window) -> Hybla {
        let mut hybla = Hybla::new();
        hybla.on_ack(&ack(srtt_ms, 2), window);
        hybla
    }

    #[test]
    fn the_first_ack_sets_the_window_to_rho_and_lifts_its_limit() {
        let mut window = Window::of(2, 288);
        window.set_limit(288);
        started(510, &mut window);
        assert_eq!((window.cwnd(), window.limit()), (20, 65_535));
    }

    /// 40 ms: rho = 1.6, here 12/8; 2^1.5 - 1 = 1.828 segments per ACK (362/128 - 1).
    #[test]
    fn slow_start_gains_two_to_the_rho_less_one() {
        let mut window = Window::of(2, 1_000);
        let mut hybla = started(40, &mut window);
        assert_eq!(hybla.rho8, 12);
        assert_eq!(hybla.slow_start_increment(), 2 * 181 - 128);
        window.set_cwnd(10);
        for _ in 0..64 {
            hybla.grow(&ack(40, window.cwnd()), &mut window);
        }
        assert_eq!(window.cwnd(), 10 + 64 * 234 / 128);
    }

    /// At rho = 20 and W = 200, 400/200 = 2 segments per ACK; at rho = 1 Reno's 1/W.
    #[test]
    fn congestion_avoidance_gains_rho_squared_over_w() {
        let mut long = Window::of(2, 100);
        let mut hybla = started(500, &mut long);
        long.set_cwnd(200);
        hybla.grow(&ack(500, 200), &mut long);
        assert_eq!(long.cwnd(), 202);
        let mut short = Window::of(2, 10);
        let mut hybla = started(25, &mut short);
        short.set_cwnd(16);
        for _ in 0..16 {
            hybla.grow(&ack(25, short.cwnd()), &mut short);
        }
        assert_eq!(short.cwnd(), 17);
    }

    #[test]
    fn slow_start_ends_at_the_threshold_and_growth_at_the_limit() {
        let mut window = Window::of(2, 288);
        let mut hybla = started(500, &mut window);
        hybla.grow(&ack(500, 20), &mut window);
        assert_eq!(window.cwnd(), 288);
        window.set_ssthresh(u32::MAX);
        hybla.grow(&ack(500, 288), &mut window);
        assert_eq!(window.cwnd(), 65_535);
    }

    /// 775 ms: 2^31 is beyond any limit; 800 ms: 2^32 is 2^0, no growth at all; 825 ms: 2^33 is
    /// 2^1, one segment.
    #[test]
    fn the_shift_counts_modulo_32() {
        for (srtt_ms, expected) in [(775, 288), (800, 32), (825, 33)] {
            let mut window = Window::of(2, 288);
            let mut hybla = started(srtt_ms, &mut window);
            window.set_cwnd(32);
            hybla.grow(&ack(srtt_ms, 32), &mut window);
            assert_eq!(window.cwnd(), expected, "{srtt_ms}");
        }
    }

    #[test]
    fn growth_is_renos_after_a_timeout_until_all_is_repaired() {
        let mut window = Window::of(2, 288);
        let mut hybla = started(500, &mut window);
        let ssthresh = hybla.reduce(Loss::Timeout, &window).ssthresh;
        assert_eq!(ssthresh, 10);
        window.set_cwnd(1);
        window.set_ssthresh(ssthresh);
        window.forget_savings();
        window.count_acked(1);
        hybla.grow(&ack(500, 1), &mut window);
        assert_eq!(window.cwnd(), 2);
        hybla.on_repaired(Loss::Timeout, 100, &mut window);
        hybla.grow(&ack(500, 2), &mut window);
        assert_eq!(window.cwnd(), 10);
    }

    #[test]
    fn rho_follows_the_least_smoothed_round_trip() {
        let mut window = Window::of(2, 288);
        let mut hybla = started(500, &mut window);
        hybla.grow(&ack(600, 1), &mut window);
        assert_eq!(hybla.rho8, 160);
        hybla.grow(&ack(400, 1), &mut window);
        assert_eq!(hybla.rho8, 128);
    }
}
