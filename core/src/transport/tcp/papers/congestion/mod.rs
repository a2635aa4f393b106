//! Congestion control: how far the window grows, and where a loss puts it.
//!
//! Loss detection and the pace of a reduction are not in here: an algorithm is told of ACKs and
//! losses and says what becomes of the [`Window`].

mod compound;
mod cubic;
mod hybla;
mod newreno;
mod westwood;

#[cfg(test)]
mod properties;

use std::fmt::Debug;

use crate::units::{Duration, Instant};

use crate::transport::tcp::config::{CongestionAlgorithm, TcpConfig};

/// The congestion window and what its growth has saved up, in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Congestion window, at least 1.
    pub(super) cwnd: u32,
    /// Slow-start threshold; `u32::MAX`: none yet.
    pub(super) ssthresh: u32,
    /// Where growth ends. Hybla and Compound lift it, as in ns-2.
    pub(super) max: u32,
    /// ACKs counted towards the next increase.
    pub(super) credit: u32,
    /// Segments acknowledged and not used up yet (appropriate byte counting, RFC 3465).
    pub(super) acked: u32,
}

impl Window {
    pub(super) fn new(config: &TcpConfig) -> Self {
        let max = config.cwnd_max.unwrap_or(u32::MAX).max(1);
        Self { cwnd: config.initial_window.clamp(1, max), ssthresh: max, max, credit: 0, acked: 0 }
    }

    /// Whether growth is exponential.
    pub(super) fn in_slow_start(&self) -> bool {
        self.cwnd <= self.ssthresh
    }

    /// One segment more, up to the limit.
    pub(super) fn grow(&mut self) {
        if self.cwnd < self.max {
            self.cwnd += 1;
        }
    }

    /// Slow start with appropriate byte counting, L = 1 (RFC 3465): one segment more for an ACK
    /// of at least one, however many it acknowledges.
    pub(super) fn slow_start(&mut self) {
        if self.acked == 0 {
            return;
        }
        self.acked = 0;
        // Credit left over from congestion avoidance counts.
        self.credit = self.credit.saturating_add(self.cwnd);
        while self.credit >= self.cwnd {
            self.credit -= self.cwnd;
            self.grow();
        }
    }

    /// The window falls; nothing saved up survives.
    pub(super) fn reduce(&mut self, cwnd: u32, ssthresh: u32) {
        self.cwnd = cwnd.clamp(1, self.max);
        self.ssthresh = ssthresh;
        self.credit = 0;
        self.acked = 0;
    }
}

/// An ACK: that of new data may raise the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acked {
    pub(super) now: Instant,
    /// Segments it acknowledged for the first time.
    pub(super) segments: u32,
    /// Segments outstanding before it.
    pub(super) outstanding: u64,
    /// First byte not acknowledged, by this ACK.
    pub(super) una: u64,
    /// First segment not acknowledged, by this ACK.
    pub(super) first: u64,
    /// The segment to be sent next for the first time.
    pub(super) next: u64,
    /// When the segment left that the ACK echoes; `None` without timestamps.
    pub(super) echo: Option<Instant>,
    /// Time since the highest segment it acknowledged left, or the one it echoes where the first
    /// is not known; `None` if neither is, and for those that do not watch.
    pub(super) rtt: Option<Duration>,
    /// Smoothed round-trip time with this ACK's sample; `None` before there is one, and for
    /// those that do not watch.
    pub(super) srtt: Option<Duration>,
    /// Neither losses nor SACKs are about (not after a timeout either).
    pub(super) undisturbed: bool,
    /// No loss is being repaired.
    pub(super) open: bool,
}

impl Acked {
    /// Eight times the smoothed round-trip time in ticks, as ns-2 and Linux keep it; 0: unknown.
    pub(super) fn srtt8(&self) -> u64 {
        self.srtt.map_or(0, |srtt| srtt.as_nanos() * 8 / TICK.as_nanos())
    }

    /// Whether the window, not the application, limited what was outstanding.
    pub(super) fn window_limited(&self, window: &Window) -> bool {
        self.outstanding >= u64::from(window.cwnd)
    }
}

/// Where a loss puts the window, in segments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Reduction {
    /// New slow-start threshold.
    pub(super) ssthresh: u32,
    /// New window: what rate halving leads down to.
    pub(super) cwnd: u32,
}

/// A congestion control algorithm.
pub(super) trait CongestionControl: Debug + Send {
    /// Whether it is to be told of every ACK, and of round-trip times.
    fn watches(&self) -> bool {
        false
    }

    /// Any ACK within the window, duplicates included, before [`CongestionControl::on_ack`]; for
    /// those that watch.
    fn on_arrival(&mut self, _ack: &Acked, _window: &mut Window) {}

    /// An ACK of new data outside recovery: the window may grow.
    fn on_ack(&mut self, ack: &Acked, window: &mut Window);

    /// A loss was detected from SACKs.
    fn on_loss(&mut self, window: &Window) -> Reduction;

    /// The retransmission timer expired: the new slow-start threshold.
    fn on_timeout(&mut self, window: &Window) -> u32;

    /// All losses are repaired; `next` is the segment to be sent next for the first time.
    fn on_open(&mut self, _next: u64) {}
}

/// The algorithm that `config` names, in its profile's version.
pub(super) fn controller(config: &TcpConfig) -> Box<dyn CongestionControl> {
    match config.congestion {
        CongestionAlgorithm::NewReno => Box::new(newreno::NewReno),
        CongestionAlgorithm::Cubic => Box::new(cubic::Cubic::new()),
        CongestionAlgorithm::Hybla => Box::new(hybla::Hybla::new()),
        CongestionAlgorithm::Westwood => Box::new(westwood::Westwood::new(config.mss().0)),
        CongestionAlgorithm::Compound => Box::new(compound::Compound::new()),
        other => panic!("TcpConfig::check refuses {other} in profile papers"),
    }
}

/// The clock's resolution: a tick of ns-2's kernel code.
const TICK: Duration = Duration::from_millis(1);

/// Ticks since time zero, rounded down.
fn ticks(now: Instant) -> u64 {
    now.as_nanos() / TICK.as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn window(cwnd: u32, ssthresh: u32) -> Window {
        Window { cwnd, ssthresh, max: u32::MAX, credit: 0, acked: 0 }
    }

    /// An ACK of one segment when all is well; nothing else is known.
    pub(super) fn ack() -> Acked {
        Acked {
            now: Instant::ZERO,
            segments: 1,
            outstanding: 0,
            una: 0,
            first: 0,
            next: 0,
            echo: None,
            rtt: None,
            srtt: None,
            undisturbed: true,
            open: true,
        }
    }

    #[test]
    fn slow_start_counts_acks_not_segments() {
        let mut window = window(10, u32::MAX);
        window.acked = 7;
        window.slow_start();
        assert_eq!((window.cwnd, window.acked), (11, 0));
        window.slow_start();
        assert_eq!(window.cwnd, 11, "nothing was acknowledged since");
    }

    #[test]
    fn window_stops_at_its_limit() {
        let mut window = window(10, u32::MAX);
        window.max = 11;
        for _ in 0..5 {
            window.acked = 1;
            window.slow_start();
        }
        assert_eq!(window.cwnd, 11);
    }

    #[test]
    fn first_threshold_is_the_limit() {
        let mut config = TcpConfig::papers(CongestionAlgorithm::NewReno);
        assert_eq!(Window::new(&config).ssthresh, u32::MAX);
        config.cwnd_max = Some(61);
        assert_eq!(Window::new(&config).ssthresh, 61);
        config.cwnd_max = Some(0);
        assert_eq!(Window::new(&config).cwnd, 1);
    }
}
