//! CUBIC (RFC 9438) as in current Linux: beta 0.7, HyStart, growth of at most half a window per
//! round. Time is in milliseconds, within the cubic function in 1/1024 s. Quotients are rounded
//! down.

use super::super::ticks::Ticks;
use super::hystart::HyStart;
use crate::transport::tcp::config::LinuxOptions;
use crate::transport::tcp::congestion::{Ack, CongestionControl, Loss, Reduction, Totals, Window};
use crate::units::{Duration, Instant};

/// Fixed-point one: 1024.
const SCALE: u64 = 1024;
/// Multiplicative decrease: 0.7.
const BETA: u64 = 717;
/// Scaling constant C of the cubic function: 0.4 segments/s³.
const C: u64 = 410;
/// Upper limit of segments per increase before the first loss: growth of at least 5 % per round.
const BEFORE_FIRST_LOSS: u64 = 20;
/// The kernel recomputes the curve when the window has changed or after this many milliseconds;
/// with ticks of 4 ms, after 7 ticks (`HZ / 32`).
const RECOMPUTE: u64 = 1000 / 32;
/// Round-trip samples count only this long after the start of an epoch, in milliseconds.
const SETTLE: u64 = 1000;
/// Segments per increase in the Reno-friendly region with this beta, in eighths of a window:
/// 8/alpha.
const FRIENDLY: u64 = 8 * (SCALE + BETA) / 3 / (SCALE - BETA);

/// CUBIC: cubic growth around the window of the last loss.
#[derive(Debug)]
pub(crate) struct Cubic {
    hystart: HyStart,
    least_rtt: Option<Duration>,
    curve: Curve,
    /// Granularity of the clock (`tcp_jiffies32`).
    ticks: Ticks,
}

/// State of the cubic function; a timeout resets it.
#[derive(Debug, Default)]
struct Curve {
    /// Segments acknowledged per window increase.
    count: u64,
    /// Window at the last loss, lowered by fast convergence; 0: no loss yet.
    last_max: u64,
    last_cwnd: u64,
    last_time: u64,
    /// Plateau of the cubic function, and the time to it in 1/1024 s.
    origin: u64,
    k: u64,
    /// Start of the epoch, in ms; `None` if the next ACK begins one.
    epoch: Option<u64>,
    acked: u64,
    /// Estimate of Reno's window.
    friendly: u64,
}

impl Cubic {
    pub(crate) fn new(options: &LinuxOptions) -> Self {
        let enabled = options.hystart && !options.hystart_plus;
        let hystart = HyStart::new(enabled, options.pacing);
        let ticks = Ticks::new(options.timer_ticks);
        Self { hystart, least_rtt: None, curve: Curve::default(), ticks }
    }

    /// Current time in milliseconds.
    fn clock(&self, now: Instant) -> u64 {
        self.ticks.floor(now).as_nanos() / 1_000_000
    }
}

impl Curve {
    fn recompute(&mut self, now: u64, cwnd: u64, acked: u64, least_rtt: u64) {
        self.acked += acked;
        if self.last_cwnd == cwnd && now.saturating_sub(self.last_time) <= RECOMPUTE {
            return;
        }
        if self.epoch.is_none() || now != self.last_time {
            self.follow(now, cwnd, acked, least_rtt);
        }
        self.befriend(cwnd);
        self.count = self.count.max(2);
    }

    fn follow(&mut self, now: u64, cwnd: u64, acked: u64, least_rtt: u64) {
        self.last_cwnd = cwnd;
        self.last_time = now;
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin_epoch(now, cwnd, acked),
        };
        let t = ((now.saturating_sub(epoch) + least_rtt) << 10) / 1000;
        let offset = u128::from(t.abs_diff(self.k));
        let delta = ((u128::from(C) * offset * offset * offset) >> 40) as u64;
        let target = if t < self.k {
            self.origin.saturating_sub(delta)
        } else {
            self.origin.saturating_add(delta)
        };
        self.count = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.last_max == 0 {
            self.count = self.count.min(BEFORE_FIRST_LOSS);
        }
    }

    fn begin_epoch(&mut self, now: u64, cwnd: u64, acked: u64) -> u64 {
        self.epoch = Some(now);
        self.acked = acked;
        self.friendly = cwnd;
        self.origin = self.last_max.max(cwnd);
        // K = cbrt((Wmax - W) / C), with C·2^-40 in segments per (1/1024 s)³.
        self.k = libm::cbrt(((1 << 40) / C * (self.origin - cwnd)) as f64) as u64;
        now
    }

    /// Reno-friendly region (RFC 9438 section 4.3).
    fn befriend(&mut self, cwnd: u64) {
        let per_segment = ((cwnd * FRIENDLY) >> 3).max(1);
        // One more than `acked` covers in full only when it is strictly above.
        let segments = self.acked.saturating_sub(1) / per_segment;
        self.acked -= segments * per_segment;
        self.friendly += segments;
        if self.friendly > cwnd {
            self.count = self.count.min(cwnd / (self.friendly - cwnd));
        }
    }
}

impl CongestionControl for Cubic {
    fn watches(&self) -> bool {
        true
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        let Some(rtt) = ack.rtt else { return };
        if self.curve.epoch.is_some_and(|epoch| self.clock(ack.now) < epoch + SETTLE) {
            return;
        }
        let rtt = rtt.max(Duration::from_micros(1));
        let least = self.least_rtt.map_or(rtt, |least| least.min(rtt));
        self.least_rtt = Some(least);
        if window.in_slow_start() && self.hystart.is_over(ack, least, window.cwnd()) {
            window.set_ssthresh(window.cwnd());
        }
    }

    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        if !ack.fills(window) {
            return;
        }
        let left =
            if window.in_slow_start() { window.slow_start(ack.segments) } else { ack.segments };
        if left == 0 {
            return;
        }
        let least_rtt = self.least_rtt.map_or(0, |rtt| self.ticks.ceil(rtt).as_nanos() / 1_000_000);
        let (now, cwnd) = (self.clock(ack.now), u64::from(window.cwnd()));
        self.curve.recompute(now, cwnd, u64::from(left), least_rtt);
        window.increase(u32::try_from(self.curve.count).unwrap_or(u32::MAX), left);
    }

    fn reduce(&mut self, _: Loss, window: &Window) -> Reduction {
        let cwnd = u64::from(window.cwnd());
        self.curve.epoch = None;
        // Fast convergence (RFC 9438 section 4.7): a window below its last maximum releases
        // bandwidth to new flows.
        let converge = cwnd < self.curve.last_max;
        self.curve.last_max = if converge { cwnd * (SCALE + BETA) / (2 * SCALE) } else { cwnd };
        Reduction::to(((cwnd * BETA / SCALE) as u32).max(2))
    }

    fn on_timeout(&mut self, now: Instant, next: u64, _: Totals) {
        self.curve = Curve::default();
        self.least_rtt = None;
        self.hystart.restart(now, next);
    }

    fn on_idle(&mut self, now: Instant, idle: Duration, _: bool, _: &mut Window) {
        let idle = self.ticks.whole(idle).as_nanos() / 1_000_000;
        let now = self.clock(now);
        self.curve.epoch = self.curve.epoch.map(|epoch| (epoch + idle).min(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cubic(hystart: bool) -> Cubic {
        Cubic::new(&LinuxOptions { hystart, ..LinuxOptions::default() })
    }

    fn lose(cubic: &mut Cubic, cwnd: u32) -> u32 {
        cubic.reduce(Loss::Detected, &Window::of(cwnd, 10)).ssthresh
    }

    /// Grows by an ACK of one segment at that time.
    fn grow(cubic: &mut Cubic, micros: u64, window: &mut Window) {
        let now = Instant::from_nanos(micros * 1000);
        cubic.grow(&Ack { now, segments: 1, limited: Some(true), ..Ack::default() }, window);
    }

    #[test]
    fn a_loss_removes_three_tenths_and_fast_convergence_lowers_the_plateau() {
        let mut cubic = cubic(true);
        assert_eq!(lose(&mut cubic, 1000), 700);
        assert_eq!(cubic.curve.last_max, 1000);
        assert_eq!(lose(&mut cubic, 800), 560);
        assert_eq!(cubic.curve.last_max, 680); // 800 · 1741/2048
    }

    /// RFC 9438 section 4.2: from 700 to 1000 segments K = cbrt(300/0.4) = 9.09 s. The plateau
    /// counts as reached less than a segment below it: cbrt(1/0.4) = 1.36 s earlier.
    #[test]
    fn window_is_back_at_the_plateau_after_k() {
        let mut cubic = cubic(false);
        let mut window = Window::of(1000, 10);
        window.set_ssthresh(lose(&mut cubic, window.cwnd()));
        window.set_cwnd(window.ssthresh());
        let mut at_plateau = None;
        for round in 0..150 {
            // A round trip of 100 ms: one ACK for every segment, evenly spaced.
            let acks = window.cwnd();
            for ack in 0..acks {
                let micros = round * 100_000 + u64::from(ack) * 100_000 / u64::from(acks);
                grow(&mut cubic, micros, &mut window);
                if window.cwnd() >= 1000 && at_plateau.is_none() {
                    at_plateau = Some(micros / 1000);
                }
            }
        }
        let at = at_plateau.unwrap();
        assert!((7_650..7_850).contains(&at), "{at} ms");
    }

    /// Before the first loss: at least one segment per 20 acknowledged.
    #[test]
    fn five_per_cent_a_round_before_the_first_loss() {
        let mut cubic = cubic(false);
        let mut window = Window::of(100, 50);
        for ack in 0..100 {
            grow(&mut cubic, ack * 1000, &mut window);
        }
        assert_eq!(window.cwnd(), 105);
    }

    /// Small windows: additive increase with this beta, one segment per 15/8 windows.
    #[test]
    fn small_windows_grow_as_in_the_reno_friendly_region() {
        let mut cubic = cubic(false);
        let mut window = Window::of(20, 10);
        window.set_ssthresh(lose(&mut cubic, window.cwnd()));
        window.set_cwnd(14);
        for ack in 0..200u64 {
            grow(&mut cubic, ack * 1000, &mut window);
        }
        assert!((19..=21).contains(&window.cwnd()), "{}", window.cwnd());
    }
}
