//! TCP Westwood+ (Grieco and Mascolo 2004) as in current Linux (`tcp_westwood.c`). Growth is
//! Reno's. After a repaired loss, window and threshold are the bandwidth (`congestion/ack_rate`)
//! times the minimum round-trip time; after a timeout only the threshold is.
//!
//! During a recovery the window falls to half, as Reno's does. After a timeout the minimum
//! round-trip time is measured again. Bandwidth is in whole bytes per tick of the kernel's clock;
//! round-trip times are in ticks, rounded up. Compared with Linux 6.12 (`validation/kernel`).

use super::reno::Reno;
use crate::transport::tcp::congestion::ack_rate::AckRate;
use crate::transport::tcp::congestion::{Ack, CongestionControl, Loss, Reduction, Window};
use crate::transport::tcp::linux::ticks::Ticks;
use crate::units::{Duration, Instant};

/// Assumed round-trip time before the first sample, in milliseconds.
const INITIAL_RTT: u64 = 20_000;

/// Westwood+ and its bandwidth estimate.
#[derive(Debug)]
pub(crate) struct Westwood {
    /// A tick in nanoseconds.
    tick: u64,
    bandwidth: AckRate,
    /// The last round-trip time, in ticks.
    rtt: u64,
    /// Minimum since the start or the last timeout; `None` before the next ACK.
    least_rtt: Option<u64>,
}

impl Westwood {
    /// A control for segments of `mss` bytes. Ticks are 4 ms with `timer_ticks`, else 1 ms.
    pub(crate) fn new(mss: u32, timer_ticks: bool) -> Self {
        let millis = Ticks::new(timer_ticks).millis();
        Self {
            tick: millis * 1_000_000,
            bandwidth: AckRate::with_ticks(mss, millis),
            rtt: INITIAL_RTT / millis,
            least_rtt: None,
        }
    }

    fn product(&self) -> u32 {
        self.bandwidth.segments_in(self.least_rtt.unwrap_or(self.rtt))
    }
}

impl CongestionControl for Westwood {
    fn watches(&self) -> bool {
        true
    }

    fn on_established(&mut self, now: Instant, _: Option<Duration>, _: u64, _: &mut Window) {
        self.bandwidth.begin(now.as_nanos() / self.tick);
    }

    fn on_ack(&mut self, ack: &Ack, _: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt.as_nanos().div_ceil(self.tick);
        }
        let now = ack.now.as_nanos() / self.tick;
        self.bandwidth.on_ack(now, self.rtt, ack.una, ack.undisturbed);
        self.least_rtt = Some(self.least_rtt.map_or(self.rtt, |least| least.min(self.rtt)));
    }

    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        Reno.grow(ack, window);
    }

    fn reduce(&mut self, loss: Loss, window: &Window) -> Reduction {
        if loss == Loss::Detected {
            return Reno.reduce(loss, window);
        }
        let reduction = Reduction::to(self.product());
        self.least_rtt = None;
        reduction
    }

    fn on_repaired(&mut self, loss: Loss, _: u64, window: &mut Window) {
        if loss == Loss::Detected {
            window.set_ssthresh(self.product());
            window.set_cwnd(window.ssthresh());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment every 8 ms is 181 bytes/ms (up to 5 less by rounding), 62 segments in 500 ms.
    #[test]
    fn a_repaired_loss_sets_the_window_to_bandwidth_times_minimum_rtt() {
        let mut westwood = Westwood::new(1448, false);
        let mut window = Window::of(200, 50);
        for n in 0..1000 {
            let ack = Ack {
                now: Instant::ZERO + Duration::from_millis(500 + n * 8),
                segments: 1,
                una: (n + 1) * 1448,
                rtt: Some(Duration::from_millis(if n == 500 { 500 } else { 700 })),
                undisturbed: true,
                ..Ack::default()
            };
            westwood.on_ack(&ack, &mut window);
        }
        assert_eq!(westwood.reduce(Loss::Detected, &window), Reduction::to(100));
        westwood.on_repaired(Loss::Detected, 0, &mut window);
        assert!((60..=62).contains(&window.cwnd()), "{}", window.cwnd());
        assert_eq!(window.ssthresh(), window.cwnd());
        // A timeout acts at once; the next round-trip sample becomes the minimum.
        assert_eq!(westwood.reduce(Loss::Timeout, &window).ssthresh, window.cwnd());
        let rtt = Some(Duration::from_millis(700));
        westwood.on_ack(&Ack { rtt, una: 1_448_000, ..Ack::default() }, &mut window);
        assert_eq!(westwood.least_rtt, Some(700));
        westwood.on_repaired(Loss::Timeout, 0, &mut window);
        assert_eq!(window.ssthresh(), window.cwnd(), "as it was");
    }
}
