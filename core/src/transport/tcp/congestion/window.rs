//! The congestion window.

/// The congestion window and the credit towards its next increase, in segments.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    cwnd: u32,
    ssthresh: u32,
    limit: u32,
    /// Credit towards the next increase: ACKs in profile `papers`, segments in `linux`.
    credit: u32,
    /// Acknowledged segments not yet converted into growth (appropriate byte counting, RFC 3465);
    /// profile `papers`.
    acked: u32,
}

impl Window {
    /// A window of at most `limit`.
    pub(in crate::transport::tcp) fn within(limit: u32, cwnd: u32, ssthresh: u32) -> Self {
        Self { cwnd: cwnd.min(limit), ssthresh, limit, credit: 0, acked: 0 }
    }

    /// Congestion window, at least 1.
    #[inline]
    pub fn cwnd(&self) -> u32 {
        self.cwnd
    }

    /// Slow-start threshold; `u32::MAX` before the first reduction.
    #[inline]
    pub fn ssthresh(&self) -> u32 {
        self.ssthresh
    }

    /// Upper limit of the window ([`TcpConfig::cwnd_max`](crate::transport::tcp::TcpConfig::cwnd_max)); `u32::MAX` if unlimited.
    #[inline]
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// True if the window is below the threshold.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Sets the window, clamped to its limits.
    #[inline]
    pub fn set_cwnd(&mut self, cwnd: u32) {
        self.cwnd = cwnd.clamp(1, self.limit);
    }

    /// Sets the threshold.
    pub fn set_ssthresh(&mut self, ssthresh: u32) {
        self.ssthresh = ssthresh;
    }

    /// Slow start: grows the window by the segments acknowledged, up to the threshold. Returns the
    /// segments left for congestion avoidance (`tcp_slow_start` of Linux).
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = self.cwnd.saturating_add(acked).min(self.ssthresh.max(self.cwnd));
        let left = acked - (cwnd - self.cwnd);
        self.set_cwnd(cwnd);
        left
    }

    /// Congestion avoidance: adds one segment per `count` segments acknowledged
    /// (`tcp_cong_avoid_ai` of Linux).
    pub fn increase(&mut self, count: u32, acked: u32) {
        let count = count.max(1);
        let mut cwnd = self.cwnd;
        // Credit collected at a larger `count` adds one segment only, as in the kernel.
        if self.credit >= count {
            self.credit = 0;
            cwnd = cwnd.saturating_add(1);
        }
        self.credit = self.credit.saturating_add(acked);
        cwnd = cwnd.saturating_add(self.credit / count);
        self.credit %= count;
        self.set_cwnd(cwnd);
    }

    /// Changes the upper limit. Hybla and Compound do so.
    pub(crate) fn set_limit(&mut self, limit: u32) {
        self.limit = limit;
    }

    /// Adds one segment, up to the limit.
    #[inline]
    pub(crate) fn grow(&mut self) {
        if self.cwnd < self.limit {
            self.cwnd += 1;
        }
    }

    #[inline]
    pub(crate) fn credit(&self) -> u32 {
        self.credit
    }

    #[inline]
    pub(crate) fn set_credit(&mut self, credit: u32) {
        self.credit = credit;
    }

    /// Counts acknowledged segments, whether or not the window may grow.
    #[inline]
    pub(crate) fn count_acked(&mut self, segments: u32) {
        self.acked = self.acked.saturating_add(segments);
    }

    #[inline]
    pub(crate) fn acked(&self) -> u32 {
        self.acked
    }

    /// Removes segments that have been converted into growth.
    #[inline]
    pub(crate) fn use_acked(&mut self, segments: u32) {
        self.acked -= segments;
    }

    /// Clears all credit at the start of a reduction.
    pub(crate) fn forget_savings(&mut self) {
        self.credit = 0;
        self.acked = 0;
    }

    /// Slow-start threshold to keep when an unused window decays: at least three quarters of the
    /// window (`tcp_current_ssthresh` of Linux).
    pub(crate) fn threshold_in_use(&self) -> u32 {
        self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4)
    }

    /// An unlimited window, for tests.
    #[cfg(test)]
    pub(crate) fn of(cwnd: u32, ssthresh: u32) -> Self {
        Self { cwnd, ssthresh, limit: u32::MAX, credit: 0, acked: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tcp::config::{CongestionAlgorithm, TcpConfig};
    use crate::units::Packets;

    #[test]
    fn slow_start_stops_at_the_threshold() {
        let mut window = Window::of(10, 14);
        assert_eq!(window.slow_start(3), 0);
        assert_eq!(window.slow_start(3), 2);
        assert_eq!(window.cwnd, 14);
        window.set_ssthresh(7);
        assert_eq!((window.slow_start(3), window.cwnd), (3, 14), "it is over");
    }

    #[test]
    fn credit_carries_over() {
        let mut window = Window { limit: 12, ..Window::of(10, 10) };
        window.increase(10, 9);
        assert_eq!(window.cwnd, 10);
        window.increase(10, 2);
        assert_eq!((window.cwnd, window.credit), (11, 1));
        window.increase(11, 30);
        assert_eq!(window.cwnd, 12, "at its limit");
    }

    #[test]
    fn the_first_threshold_is_the_limit_in_profile_papers() {
        let mut config = TcpConfig::papers(CongestionAlgorithm::NEWRENO);
        assert_eq!(Window::new(&config).ssthresh, u32::MAX);
        config.cwnd_max = Packets::new(61);
        assert_eq!(Window::new(&config).ssthresh, 61);
        config.cwnd_max = Packets::new(1);
        assert_eq!(Window::new(&config).cwnd, 1);
        config = TcpConfig {
            cwnd_max: Packets::new(61),
            ..TcpConfig::linux(CongestionAlgorithm::NEWRENO)
        };
        assert_eq!(Window::new(&config).ssthresh, u32::MAX);
    }
}
