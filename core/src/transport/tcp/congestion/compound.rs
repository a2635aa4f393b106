//! Compound TCP (Tan, Song, Zhang and Sridharan, "A Compound TCP approach for high-speed and
//! long distance networks", INFOCOM 2006), as in ns-2's `Agent/TCP/Linux` (a module of Linux
//! 2.6.14).
//!
//! The window is the sum of Reno's window and a delay window. Once per round trip the delay window
//! gains alpha·W^k - 1 segments if fewer than gamma segments are queued, and otherwise loses zeta
//! times the queued segments: alpha 1/8, k 3/4, gamma 30, zeta 1. As in Vegas, the number of queued
//! segments is W·(1 - base RTT / minimum RTT of the round), where W is the number of segments sent
//! in the previous round.
//!
//! Current Linux has no such module. Profile `linux` runs this one on the recovery of a current
//! kernel, where the window falls to half and not to a quarter. This combination is not validated:
//! no kernel has both.
//!
//! The module differs from the paper: a loss halves the sum as Reno does (to a quarter, in ns-2's
//! recovery) and leaves the delay window unchanged. The next ACK reduces Reno's part until the sum
//! fits, or clears the delay window if either part alone exceeds the sum. After recovery the
//! previous round is unknown, and W is everything sent since the recovery began. Reno's part counts
//! ACKs, not bytes. The window limit stops Reno's growth only while the sum is below the limit; the
//! delay window has no limit.

use super::{Ack, CongestionControl, Loss, Reduction, Window};

/// Number of queued segments from which the delay window shrinks.
const GAMMA: u64 = 30;
/// W^k is divided by 2^3: alpha = 1/8.
const ALPHA_SHIFT: u32 = 3;
/// A round with this many round-trip samples or fewer is ignored: two may both come from delayed
/// ACKs.
const FEW_SAMPLES: u32 = 2;
/// Larger than any round trip, in microseconds.
const NO_SAMPLE: u64 = 0x7FFF_FFFF;

/// Reno's window and a delay window.
#[derive(Debug, Default)]
pub(crate) struct Compound {
    /// True after the first ACK.
    started: bool,
    /// Window limit for the growth of Reno's part.
    limit: u32,
    /// Reno's part, in segments.
    reno: u64,
    /// The delay window, in segments.
    delay: u64,
    /// First segment sent in the previous round.
    round_before: u64,
    /// First segment sent in this round; its ACK ends the round.
    round: u64,
    /// Round-trip samples in this round.
    samples: u32,
    /// Minimum round-trip time of this round plus 1, in microseconds.
    round_rtt: u64,
    /// Minimum round-trip time of the connection plus 1, in microseconds.
    base_rtt: u64,
}

impl Compound {
    pub(crate) fn new() -> Self {
        Self { limit: u32::MAX, round_rtt: NO_SAMPLE, base_rtt: NO_SAMPLE, ..Self::default() }
    }

    fn start(&mut self, ack: &Ack, window: &mut Window) {
        self.started = true;
        self.reno = u64::from(window.cwnd());
        self.round = ack.next;
        self.limit = window.limit();
        window.set_limit(u32::MAX);
    }

    /// Reduces the two parts to `cwnd`, after a reduction outside this module.
    fn fit(&mut self, cwnd: u64) {
        if self.reno + self.delay <= cwnd {
            return;
        }
        if self.reno > cwnd || self.delay > cwnd {
            self.reno = cwnd;
            self.delay = 0;
        } else {
            self.reno = cwnd - self.delay;
        }
    }

    /// Reno's growth: slow start up to the threshold, then one segment per window of ACKs.
    fn grow_reno(&mut self, window: &mut Window) {
        let mut grow = self.reno <= u64::from(window.ssthresh());
        if !grow && window.credit() < window.cwnd() {
            window.set_credit(window.credit() + 1);
        }
        if window.credit() >= window.cwnd() {
            grow = true;
            window.set_credit(0);
        }
        if grow && window.cwnd() < self.limit {
            self.reno += 1;
        }
    }

    fn end_round(&mut self, next: u64) {
        let sent = self.round.saturating_sub(self.round_before);
        self.round_before = self.round;
        self.round = next;
        if self.samples > FEW_SAMPLES {
            self.adjust_delay(sent);
        }
        self.forget_samples();
    }

    /// Updates the delay window by the paper's rule, computed in half segments.
    fn adjust_delay(&mut self, sent: u64) {
        let (round, base) = (u128::from(self.round_rtt), u128::from(self.base_rtt));
        let expected = (2 * u128::from(sent) * base / round) as u64;
        let queued2 = 2 * sent - expected;
        if queued2 < 2 * GAMMA {
            let gain = fourth_root(cube(sent)) >> ALPHA_SHIFT;
            self.delay += gain.saturating_sub(1);
        } else {
            self.delay = (2 * self.delay).saturating_sub(queued2) / 2;
        }
    }

    fn forget_samples(&mut self) {
        self.samples = 0;
        self.round_rtt = NO_SAMPLE;
    }
}

impl CongestionControl for Compound {
    fn watches(&self) -> bool {
        true
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if !self.started {
            return self.start(ack, window);
        }
        let Some(rtt) = ack.rtt else { return };
        let micros = (rtt.as_nanos() + 500) / 1000 + 1;
        self.base_rtt = self.base_rtt.min(micros);
        self.round_rtt = self.round_rtt.min(micros);
        self.samples += 1;
    }

    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        self.fit(u64::from(window.cwnd()));
        if !ack.fills(window) {
            return;
        }
        self.grow_reno(window);
        if ack.first > self.round {
            self.end_round(ack.next);
        }
        // Both parts may be zero.
        window.set_cwnd(u32::try_from(self.reno + self.delay).unwrap_or(u32::MAX));
    }

    fn reduce(&mut self, _: Loss, window: &Window) -> Reduction {
        let ssthresh = (window.cwnd() / 2).max(2);
        Reduction { ssthresh, cwnd: ssthresh / 2 }
    }

    fn on_repaired(&mut self, _: Loss, next: u64, _: &mut Window) {
        self.round = next;
        self.forget_samples();
    }
}

fn cube(n: u64) -> u64 {
    n.saturating_mul(n).saturating_mul(n)
}

/// Fourth root by Newton's iteration x - (x⁴ - a) / 4x³ in integers. It starts at a power of two
/// and stops when a step changes the value by at most one. The result is within one of the root and
/// equals ns-2's.
fn fourth_root(a: u64) -> u64 {
    let bits = u64::BITS - a.leading_zeros();
    let mut root = 1u64 << (bits / 4);
    loop {
        let next = (3 * root + quotient(a, cube(root))) / 4;
        if next.abs_diff(root) <= 1 {
            return next;
        }
        root = next;
    }
}

/// a / b as old kernels divide: only the leading 32 bits of a larger divisor count.
fn quotient(a: u64, b: u64) -> u64 {
    let shift = (u64::BITS - b.leading_zeros()).saturating_sub(u32::BITS);
    (a >> shift) / (b >> shift)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::units::Duration;

    proptest! {
        #[test]
        fn fourth_roots_are_within_one(a in prop_oneof![1u64..1_000_000, any::<u64>()]) {
            let exact = (a as f64).sqrt().sqrt();
            prop_assert!((fourth_root(a) as f64 - exact).abs() <= 2.0, "{}", fourth_root(a));
        }
    }

    #[test]
    fn powers_of_the_window() {
        assert_eq!(fourth_root(0), 0);
        // 256^(3/4) = 64, 10,000^(3/4) = 1000.
        assert_eq!(fourth_root(cube(256)), 64);
        assert_eq!(fourth_root(cube(10_000)), 1000);
    }

    /// Delay window after a round in which 256 segments were sent, with these round-trip times in
    /// ms.
    fn after_round(delay: u64, base: u64, rtt: u64) -> u64 {
        let mut compound = Compound { delay, samples: 3, ..Compound::new() };
        (compound.base_rtt, compound.round_rtt) = (base * 1000, rtt * 1000);
        compound.round = 256;
        compound.end_round(512);
        assert_eq!((compound.round_before, compound.round, compound.samples), (256, 512, 0));
        compound.delay
    }

    /// alpha·W^k - 1 = 64/8 - 1 = 7 more while 256·(1 - 500/560) = 27 are queued. With 256·(1 -
    /// 500/625) = 51.2 queued the window loses that many, 51.5 when rounded up in half segments.
    #[test]
    fn the_delay_window_grows_until_thirty_segments_are_queued() {
        assert_eq!(after_round(10, 500, 500), 17);
        assert_eq!(after_round(10, 500, 560), 17);
        assert_eq!(after_round(100, 500, 625), 48);
        assert_eq!(after_round(10, 500, 625), 0);
    }

    #[test]
    fn small_windows_have_no_delay_part() {
        let mut compound = Compound { samples: 3, base_rtt: 9, round_rtt: 9, ..Compound::new() };
        compound.round = 32;
        compound.end_round(64);
        assert_eq!(compound.delay, 0);
    }

    #[test]
    fn a_round_with_few_samples_is_ignored() {
        let mut compound = Compound { samples: 2, base_rtt: 9, round_rtt: 9, ..Compound::new() };
        compound.round = 256;
        compound.end_round(512);
        assert_eq!(compound.delay, 0);
    }

    /// 60 + 40 reduced to 70: Reno's part shrinks. Reduced to 35: the delay window is cleared.
    #[test]
    fn a_loss_reduces_renos_part_or_clears_the_delay_window() {
        let mut compound = Compound { reno: 60, delay: 40, ..Compound::new() };
        compound.fit(70);
        assert_eq!((compound.reno, compound.delay), (30, 40));
        compound.fit(35);
        assert_eq!((compound.reno, compound.delay), (35, 0));
        let halved = Compound::new().reduce(Loss::Detected, &Window::of(140, 50));
        assert_eq!(halved, Reduction { ssthresh: 70, cwnd: 35 });
    }

    /// From the second ACK on, one round at a time over a path of 256 segments without a queue.
    #[test]
    fn the_window_is_the_sum_of_both_parts() {
        let mut window = Window::of(256, 10);
        let mut compound = Compound::new();
        let round = |number: u64, compound: &mut Compound, window: &mut Window| {
            for n in 0..256 {
                let first = number * 256 + n + 1;
                let ack = Ack {
                    segments: 1,
                    prior_in_flight: u64::from(window.cwnd()),
                    first,
                    next: first + 255,
                    rtt: Some(Duration::from_millis(500)),
                    ..Ack::default()
                };
                compound.on_ack(&ack, window);
                compound.grow(&ack, window);
            }
            window.cwnd()
        };
        // The first round ends with the second ACK of the second one; 256 segments gain 7.
        assert_eq!(round(0, &mut compound, &mut window), 257);
        assert_eq!(round(1, &mut compound, &mut window), 257 + 7);
        assert_eq!(round(2, &mut compound, &mut window), 257 + 14 + 1);
    }
}
