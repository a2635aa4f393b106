//! CUBIC version 2.1 (Linux 2.6.22), as in ns-2's `Agent/TCP/Linux`, after Ha, Rhee and Xu,
//! "CUBIC: a new TCP-friendly high-speed TCP variant", 2008.
//!
//! Time is in ticks of a millisecond and, inside the cubic function, in 1/1024 s; windows are
//! whole segments; every quotient is rounded down. Against RFC 9438: beta 0.8 instead of 0.7, no
//! HyStart, the window may grow by 16 segments per 100 ms at most beyond the plateau, and the
//! number of ACKs per increase is divided by an estimate of segments per ACK that never reaches
//! 1 (it starts at 2 and stays at 31/16), so the window follows the curve 1.9 times too fast.
//!
//! Against ns-2: the cube root is exact, unless [`CubeRoot::Table`] asks for the kernel's, by a table
//! and one Newton step, which is .03 % off on average for large roots. Nothing else differs (`bench/ns2/README.md`).

use super::reno::{in_slow_start, slow_start};
use super::ticks;
use crate::transport::tcp::config::CubeRoot;
use crate::transport::tcp::congestion::CongestionState;
use crate::transport::tcp::congestion::{Ack, CongestionControl, Loss, Reduction, Window};

/// Fractions are in 1/1024.
const SCALE: u64 = 1024;
/// Multiplicative decrease: 0.8.
const BETA: u64 = 819;
/// Scaling constant C of the cubic function: 0.4 segments/s³, from 41/1024 per 100 ms.
const C: u64 = 410;
/// Increase per 100 ms beyond the plateau, in segments.
const MAX_INCREMENT: u64 = 16;
/// ACKs per increase before the first loss.
const BEFORE_FIRST_LOSS: u64 = 50;
/// The window is recomputed when it has changed or this many ticks have passed.
const RECOMPUTE: u64 = 1000 / 32;
/// Round-trip samples count only this many ticks after an epoch began.
const SETTLE: u64 = 1000;
/// The estimate of segments per ACK has four fractional bits.
const RATIO_BITS: u32 = 4;

/// Cubic growth around the window of the last loss.
#[derive(Debug, Default)]
pub(crate) struct Cubic {
    root: CubeRoot,
    /// ACKs per increase.
    count: u64,
    /// Window at the last loss, lowered by fast convergence.
    last_max: u64,
    /// Whether there was a loss since the start or the last timeout.
    had_loss: bool,
    last_cwnd: u64,
    last_time: u64,
    /// Plateau of the cubic function.
    origin: u64,
    /// Time from the epoch's start to the plateau, in 1/1024 s.
    k: u64,
    /// Least round-trip time, in ticks.
    delay_min: u64,
    /// Tick at which the epoch began; 0: the next ACK begins one.
    epoch: u64,
    acks: u64,
    /// What Reno's window would be (the TCP-friendly region).
    friendly: u64,
    /// Segments per ACK, in 1/16.
    ratio: u64,
}

impl Cubic {
    pub(crate) fn new(root: CubeRoot) -> Self {
        Self { root, ratio: 2 << RATIO_BITS, ..Self::default() }
    }

    /// ratio = 15/16 ratio + 1/16 sample, rounded so that 31/16 is a fixed point for 1.
    fn track_ratio(&mut self, segments: u32) {
        self.ratio = self.ratio + u64::from(segments) - (self.ratio >> RATIO_BITS);
    }

    fn track_delay(&mut self, ack: &Ack) {
        let Some(echo) = ack.echo else { return };
        // ns-2 rounds the echo to the nearest tick and takes zero for "none".
        let sent = (echo.as_nanos() + 500_000) / 1_000_000;
        let now = ticks(ack.now);
        if sent == 0 || now < self.epoch + SETTLE {
            return;
        }
        let delay8 = now.saturating_sub(sent) * 8;
        let delay8 = delay8.max(1);
        if self.delay_min == 0 || delay8 < self.delay_min {
            self.delay_min = delay8;
        }
    }

    fn recompute(&mut self, now: u64, cwnd: u64) {
        self.acks += 1;
        if self.last_cwnd != cwnd || now - self.last_time > RECOMPUTE {
            self.update_count(now, cwnd);
        }
    }

    #[inline(never)] // what few ACKs need would take the registers of all
    fn update_count(&mut self, now: u64, cwnd: u64) {
        self.last_cwnd = cwnd;
        self.last_time = now;
        if self.epoch == 0 {
            self.begin_epoch(now, cwnd);
        }

        let target = self.target(now);
        self.count = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        let beyond_plateau = self.elapsed(now) >= self.k;
        if beyond_plateau && let Some(least) = self.least_count(cwnd) {
            self.count = self.count.max(least);
        }
        if !self.had_loss {
            self.count = BEFORE_FIRST_LOSS;
        }
        self.befriend(cwnd);
        self.count = ((self.count << RATIO_BITS) / self.ratio).max(1);
    }

    fn begin_epoch(&mut self, now: u64, cwnd: u64) {
        self.epoch = now;
        self.acks = 1;
        self.friendly = cwnd;
        if self.last_max <= cwnd {
            self.k = 0;
            self.origin = cwnd;
        } else {
            // K = cbrt((Wmax - W) / C), with C·2^-40 in segments per (1/1024 s)³.
            let cube = (1 << 40) / C * (self.last_max - cwnd);
            self.k = match self.root {
                CubeRoot::Exact => cube_root(cube),
                CubeRoot::Table => tabled_cube_root(cube),
            };
            self.origin = self.last_max;
        }
    }

    /// Time since the epoch began, a round trip ahead, in 1/1024 s.
    fn elapsed(&self, now: u64) -> u64 {
        ((now + (self.delay_min >> 3) - self.epoch) << 10) / 1000
    }

    /// W(t + RTT) = C·(t + RTT - K)³ + Wmax.
    fn target(&self, now: u64) -> u64 {
        let t = self.elapsed(now);
        let offset = u128::from(t.abs_diff(self.k));
        let delta = ((u128::from(C) * offset * offset * offset) >> 40) as u64;
        if t < self.k { self.origin.saturating_sub(delta) } else { self.origin + delta }
    }

    fn least_count(&self, cwnd: u64) -> Option<u64> {
        (self.delay_min > 0).then(|| cwnd * 1000 * 8 / (10 * MAX_INCREMENT * self.delay_min))
    }

    /// TCP-friendly region: not slower than additive increase with this beta would be, which
    /// gains a segment per W·23/8 ACKs (RFC 9438 section 4.3: 1/alpha = (1+beta) / 3(1-beta)).
    fn befriend(&mut self, cwnd: u64) {
        const PER_SEGMENT: u64 = 8 * (SCALE + BETA) / 3 / (SCALE - BETA);
        let acks = (cwnd * PER_SEGMENT) >> 3;
        while self.acks > acks {
            self.acks -= acks;
            self.friendly += 1;
        }
        if self.friendly > cwnd {
            self.count = self.count.min(cwnd / (self.friendly - cwnd));
        }
    }
}

impl CongestionControl for Cubic {
    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        if ack.state == CongestionState::Open {
            self.track_ratio(ack.segments);
        }
        if ack.undisturbed {
            self.track_delay(ack);
        }
        if !ack.fills(window) {
            return;
        }
        if in_slow_start(window) {
            slow_start(window);
            return;
        }
        self.recompute(ticks(ack.now), u64::from(window.cwnd()));
        if u64::from(window.credit()) >= self.count {
            window.grow();
            window.set_credit(0);
        } else {
            window.set_credit(window.credit() + 1);
        }
    }

    fn reduce(&mut self, loss: Loss, window: &Window) -> Reduction {
        let cwnd = u64::from(window.cwnd());
        self.epoch = 0;
        // Fast convergence: a window that no longer reaches its last maximum gives way.
        let converge = cwnd < self.last_max;
        self.last_max = if converge { cwnd * (SCALE + BETA) / (2 * SCALE) } else { cwnd };
        self.had_loss = true;
        if loss == Loss::Timeout {
            *self = Self::new(self.root);
        }
        Reduction::to(((cwnd * BETA / SCALE) as u32).max(2))
    }
}

/// The integer cube root, rounded down.
fn cube_root(a: u64) -> u64 {
    let mut root = libm::cbrt(a as f64) as u64;
    while u128::from(root).pow(3) > u128::from(a) {
        root -= 1;
    }
    while u128::from(root + 1).pow(3) <= u128::from(a) {
        root += 1;
    }
    root
}

/// 64 times the cube root of 0 to 63, as the kernel has it: nearly, since its values were chosen for
/// what the Newton step makes of them.
const ROOTS: [u8; 64] = [
    0, 54, 54, 54, 118, 118, 118, 118, 123, 129, 134, 138, 143, 147, 151, 156, 157, 161, 164, 168,
    170, 173, 176, 179, 181, 185, 187, 190, 192, 194, 197, 199, 200, 202, 204, 206, 209, 211, 213,
    215, 217, 219, 221, 222, 224, 225, 227, 229, 231, 232, 234, 236, 237, 239, 240, 242, 244, 245,
    246, 248, 250, 251, 252, 254,
];

/// The cube root as the kernel code in ns-2 takes it: the root of the leading bits from the table,
/// moved to their place, then one step of Newton's, (2 x + a / x²) / 3, with x (x - 1) for x² and
/// 341/1024 for a third.
fn tabled_cube_root(a: u64) -> u64 {
    let bits = u64::from(u64::BITS - a.leading_zeros());
    if bits < 7 {
        return (u64::from(ROOTS[a as usize]) + 35) >> 6;
    }
    // Groups of three bits below the leading four to six.
    let groups = ((bits * 84) >> 8) - 1;
    let leading = u64::from(ROOTS[(a >> (3 * groups)) as usize]);
    let x = ((leading + 10) << groups) >> 6;
    ((2 * x + a / (x * (x - 1))) * 341) >> 10
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Instant;

    fn ack(now_ms: u64, prior_in_flight: u32) -> Ack {
        Ack {
            now: Instant::from_nanos(now_ms * 1_000_000),
            segments: 1,
            prior_in_flight: u64::from(prior_in_flight),
            echo: Some(Instant::from_nanos((now_ms - 500) * 1_000_000)),
            undisturbed: true,
            ..Ack::default()
        }
    }

    fn lose(cubic: &mut Cubic, loss: Loss, cwnd: u32) -> u32 {
        cubic.reduce(loss, &Window::of(cwnd, 10)).ssthresh
    }

    #[test]
    fn cube_roots_are_exact() {
        for root in [0, 1, 2, 9, 10, 1000, 5346, 1 << 20] {
            let cube = root * root * root;
            assert_eq!(cube_root(cube), root);
            assert_eq!(cube_root(cube + 1), if root == 0 { 1 } else { root });
            assert_eq!(cube_root(cube.saturating_sub(1)), root.saturating_sub(1));
        }
        assert_eq!(cube_root(u64::MAX), 2_642_245);
    }

    #[test]
    fn roots_by_the_table_are_a_little_off() {
        // From small windows to the largest cube that a difference of 2^20 segments makes.
        let mut cube = 64.0f64;
        let (mut sum, mut worst, mut count) = (0.0, 0.0f64, 0.0);
        while cube < ((1u64 << 60) as f64) {
            let a = cube as u64;
            let off = (tabled_cube_root(a) as f64 / (a as f64).cbrt() - 1.0).abs();
            // Rounding down counts for much below roots of 500.
            if a > 1 << 27 {
                (sum, count) = (sum + off, count + 1.0);
                worst = worst.max(off);
            }
            cube *= 1.000_37;
        }
        assert!((2e-4..5e-4).contains(&(sum / count)), "{} {worst}", sum / count);
        assert!((1e-3..5e-3).contains(&worst), "{worst}");
        let small = [0, 1, 2, 8, 27, 63].map(tabled_cube_root);
        assert_eq!(small, [0, 1, 1, 2, 3, 4]);
    }

    #[test]
    fn loss_takes_a_fifth_and_fast_convergence_lowers_the_plateau() {
        let mut cubic = Cubic::new(CubeRoot::Exact);
        assert_eq!(lose(&mut cubic, Loss::Detected, 1000), 799);
        assert_eq!(cubic.last_max, 1000);
        assert_eq!(lose(&mut cubic, Loss::Detected, 800), 639);
        assert_eq!(cubic.last_max, 719); // 800 · 1843/2048
    }

    /// C = 0.4: from 800 to 1000 segments K = cbrt(200/0.4) = 7.94 s (here 8.06 s since C is
    /// 410/1024), and the curve starts at the window it began from.
    #[test]
    fn plateau_after_k() {
        let mut cubic = Cubic { last_max: 1000, had_loss: true, ..Cubic::new(CubeRoot::Exact) };
        cubic.begin_epoch(10_000, 800);
        assert_eq!(cubic.origin, 1000);
        assert!((cubic.k as f64 / 1024.0 - 7.936).abs() < 0.01, "{}", cubic.k);
        assert_eq!(cubic.target(10_000), 801); // 200 segments below, rounded down
        assert_eq!(cubic.target(10_000 + 7_940), 1000);
        // Twice as far, the curve is as far above.
        assert_eq!(cubic.target(10_000 + 2 * 7_937), 1200);
    }

    #[test]
    fn fifty_acks_per_segment_before_the_first_loss() {
        let mut cubic = Cubic::new(CubeRoot::Exact);
        let mut window = Window::of(100, 50);
        let mut grown = Vec::new();
        for n in 1..=120u32 {
            cubic.grow(&ack(2_000 + u64::from(n), window.cwnd()), &mut window);
            grown.push(window.cwnd());
        }
        // 50·16/31 = 25 credits, and one ACK to spend them.
        assert_eq!(grown[24], 100);
        assert_eq!(grown[25], 101);
        assert_eq!(grown[51], 102);
    }

    #[test]
    fn ratio_sticks_short_of_one_segment_per_ack() {
        let mut cubic = Cubic::new(CubeRoot::Exact);
        (0..1000).for_each(|_| cubic.track_ratio(1));
        assert_eq!(cubic.ratio, 31);
        (0..1000).for_each(|_| cubic.track_ratio(2));
        assert_eq!(cubic.ratio, 32);
    }

    #[test]
    fn timeout_forgets_everything() {
        let mut cubic = Cubic::new(CubeRoot::Exact);
        lose(&mut cubic, Loss::Detected, 1000);
        assert_eq!(lose(&mut cubic, Loss::Timeout, 100), 79);
        assert!(!cubic.had_loss);
        assert_eq!(cubic.last_max, 0);
    }
}
