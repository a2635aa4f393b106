//! The congestion window and what makes it grow, as Linux's congestion controls have it.

use std::fmt::Debug;

use rand_chacha::ChaCha8Rng;

use super::bbr::{Bbr, Sample, Totals};
use super::cubic::Cubic;
use super::pacing::Pace;
use super::reno::Reno;
use crate::transport::tcp::config::{CongestionAlgorithm, TcpConfig};
use crate::units::{Duration, Instant};

/// The congestion window in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Congestion window, at least 1.
    pub(super) cwnd: u32,
    /// Slow-start threshold; `u32::MAX`: none yet.
    pub(super) ssthresh: u32,
    /// Upper limit of the window.
    max: u32,
    /// Segments counted towards the next increase.
    credit: u32,
}

impl Window {
    pub(super) fn new(config: &TcpConfig) -> Self {
        let max = config.cwnd_max.unwrap_or(u32::MAX).max(1);
        Self { cwnd: config.initial_window.clamp(1, max), ssthresh: u32::MAX, max, credit: 0 }
    }

    /// Whether growth is exponential.
    pub(super) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// The threshold that a window in use leaves behind when it falls for want of use: three
    /// quarters of it at least (`tcp_current_ssthresh`).
    pub(super) fn threshold_in_use(&self) -> u32 {
        self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4)
    }

    /// Sets the window within its limits.
    pub(super) fn set(&mut self, cwnd: u32) {
        self.cwnd = cwnd.clamp(1, self.max);
    }

    /// A reduction begins: nothing saved up survives.
    pub(super) fn forget_credit(&mut self) {
        self.credit = 0;
    }

    /// Slow start: the window grows by what was acknowledged, up to the threshold. Returns the
    /// segments left over for congestion avoidance.
    pub(super) fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let left = acked - (cwnd - self.cwnd);
        self.set(cwnd);
        left
    }

    /// Congestion avoidance: one segment more for every `count` acknowledged.
    pub(super) fn increase(&mut self, count: u32, acked: u32) {
        let count = count.max(1);
        let mut cwnd = self.cwnd;
        // What was saved up at a larger count is spent gently.
        if self.credit >= count {
            self.credit = 0;
            cwnd = cwnd.saturating_add(1);
        }
        self.credit = self.credit.saturating_add(acked);
        cwnd = cwnd.saturating_add(self.credit / count);
        self.credit %= count;
        self.set(cwnd);
    }
}

/// An ACK as a congestion control sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RttSample {
    pub(super) now: Instant,
    /// Round-trip time of the segment acknowledged last.
    pub(super) rtt: Duration,
    /// The lowest segment in flight, and the next new one.
    pub(super) first: u64,
    pub(super) next: u64,
}

/// A congestion control algorithm.
pub(super) trait Control: Debug + Send {
    /// `acked` segments were delivered, and the window was the limit: it may grow.
    fn grow(&mut self, now: Instant, acked: u32, window: &mut Window);

    /// The slow-start threshold after a loss.
    fn reduce(&mut self, window: &Window) -> u32;

    /// A round-trip sample.
    fn on_rtt(&mut self, _sample: &RttSample, _window: &mut Window) {}

    /// The retransmission timer expired.
    fn on_timeout(&mut self, _now: Instant, _next: u64, _totals: Totals) {}

    /// Sending goes on after so long without anything in flight; `app_limited`: for want of data.
    fn on_idle(&mut self, _now: Instant, _idle: Duration, _app_limited: bool, _: &mut Window) {}

    /// Whether it decides on the window by itself, from [`Control::on_sample`], in recovery too.
    fn is_model(&self) -> bool {
        false
    }

    /// The connection is established, with a round-trip sample unless the SYN was lost.
    fn on_established(
        &mut self,
        _now: Instant,
        _smoothed: Option<Duration>,
        _delivered: u64,
        _window: &Window,
    ) {
    }

    /// An ACK was taken in; for those that have a model.
    fn on_sample(&mut self, _sample: &Sample, _window: &mut Window) {}

    /// A reduction proved spurious.
    fn on_undo(&mut self, _totals: Totals) {}

    /// At which rate segments leave, if it names one.
    fn pace(&self) -> Option<Pace> {
        None
    }

    /// Whether it sends less than it could on purpose.
    fn is_limiting_itself(&self) -> bool {
        false
    }
}

/// The algorithm that `config` names; it draws from `rng`.
pub(super) fn control(config: &TcpConfig, rng: ChaCha8Rng) -> Box<dyn Control> {
    match config.congestion {
        CongestionAlgorithm::Bbr => Box::new(Bbr::new(config.mss().0, config.packet.0, rng)),
        CongestionAlgorithm::NewReno => Box::new(Reno),
        CongestionAlgorithm::Cubic => Box::new(Cubic::new(config.linux.hystart)),
        other => panic!("TcpConfig::check refuses {other} in profile linux"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_stops_at_the_threshold() {
        let mut window = Window { cwnd: 10, ssthresh: 14, max: u32::MAX, credit: 0 };
        assert_eq!(window.slow_start(3), 0);
        assert_eq!(window.slow_start(3), 2);
        assert_eq!(window.cwnd, 14);
    }

    #[test]
    fn credit_carries_over() {
        let mut window = Window { cwnd: 10, ssthresh: 10, max: 12, credit: 0 };
        window.increase(10, 9);
        assert_eq!(window.cwnd, 10);
        window.increase(10, 2);
        assert_eq!((window.cwnd, window.credit), (11, 1));
        window.increase(11, 30);
        assert_eq!(window.cwnd, 12, "at its limit");
    }
}
