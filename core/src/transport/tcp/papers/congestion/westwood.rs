//! TCP Westwood+ (Grieco and Mascolo 2004), as in ns-2's `Agent/TCP/Linux` (Linux 2.6.22).
//!
//! A loss puts the window to bandwidth (`congestion/ack_rate`) times least round-trip time.
//!
//! What ns-2 makes of it: the threshold after a loss is Reno's, half the window, and a timeout is
//! Reno's altogether, since ns-2 never tells the algorithm that recovery ended.

use super::reno::Reno;
use super::{srtt8, ticks};
use crate::transport::tcp::congestion::ack_rate::AckRate;
use crate::transport::tcp::congestion::{Ack, CongestionControl, Loss, Reduction, Window};

/// Round-trip time before any sample, in ticks.
const INITIAL_RTT: u64 = 20_000;

/// Bandwidth estimation by the rate of ACKs.
#[derive(Debug)]
pub(crate) struct Westwood {
    bandwidth: AckRate,
    /// Smoothed round-trip time in ticks.
    rtt: u64,
    /// Its least value; `None` before the first ACK was counted.
    least_rtt: Option<u64>,
}

impl Westwood {
    pub(crate) fn new(mss: u32) -> Self {
        Self { bandwidth: AckRate::new(mss), rtt: INITIAL_RTT, least_rtt: None }
    }
}

impl CongestionControl for Westwood {
    fn watches(&self) -> bool {
        true
    }

    fn on_ack(&mut self, ack: &Ack, _: &mut Window) {
        if ack.segments > 0 {
            self.rtt = srtt8(ack) >> 3;
        }
        let plain = ack.undisturbed && ack.segments > 0;
        self.bandwidth.on_ack(ticks(ack.now), self.rtt, ack.una, plain);
        self.least_rtt = Some(self.least_rtt.map_or(self.rtt, |least| least.min(self.rtt)));
    }

    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        Reno.grow(ack, window);
    }

    fn reduce(&mut self, loss: Loss, window: &Window) -> Reduction {
        let cwnd = self.bandwidth.segments_in(self.least_rtt.unwrap_or(INITIAL_RTT));
        Reduction { cwnd, ..Reno.reduce(loss, window) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Duration, Instant};

    /// A segment of 1448 bytes every 8 ms is 181 bytes/ms (up to 5 less by rounding), 62 segments
    /// in 500 ms.
    #[test]
    fn a_loss_puts_the_window_to_bandwidth_times_round_trip() {
        let mut westwood = Westwood::new(1448);
        let mut window = Window::of(200, 50);
        assert_eq!(westwood.reduce(Loss::Detected, &window).cwnd, 2, "nothing is known");
        for n in 0..1000 {
            let ack = Ack {
                now: Instant::ZERO + Duration::from_millis(500 + n * 8),
                segments: 1,
                una: (n + 1) * 1448,
                srtt: Some(Duration::from_millis(500)),
                undisturbed: true,
                ..Ack::default()
            };
            westwood.on_ack(&ack, &mut window);
        }
        let reduction = westwood.reduce(Loss::Detected, &window);
        assert_eq!(reduction.ssthresh, 100);
        assert!((60..=62).contains(&reduction.cwnd), "{}", reduction.cwnd);
        assert_eq!(westwood.reduce(Loss::Timeout, &window).ssthresh, 100);
    }
}
