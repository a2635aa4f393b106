//! NewReno's window (RFC 5681) with appropriate byte counting (RFC 3465), as `reno` of ns-2's
//! `Agent/TCP/Linux`: a loss halves the threshold, and the window to half of that, from where
//! slow start leads back.

use super::{Acked, CongestionControl, Reduction, Window};

/// Additive increase, multiplicative decrease.
#[derive(Debug)]
pub(super) struct NewReno;

impl CongestionControl for NewReno {
    #[inline]
    fn on_ack(&mut self, ack: &Acked, window: &mut Window) {
        if !ack.window_limited(window) {
            return;
        }
        if window.in_slow_start() {
            window.slow_start();
        } else if window.acked >= window.cwnd {
            window.acked -= window.cwnd;
            window.grow();
        }
    }

    fn on_loss(&mut self, window: &Window) -> Reduction {
        let ssthresh = half(window.cwnd);
        Reduction { ssthresh, cwnd: ssthresh / 2 }
    }

    fn on_timeout(&mut self, window: &Window) -> u32 {
        half(window.cwnd)
    }
}

/// RFC 5681 (4), of the window instead of the flight size; at least two segments.
pub(super) fn half(cwnd: u32) -> u32 {
    (cwnd / 2).max(2)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack, window};
    use super::*;

    fn acked(outstanding: u64) -> Acked {
        Acked { outstanding, ..ack() }
    }

    fn acknowledge(count: u32, window: &mut Window) {
        for _ in 0..count {
            window.acked += 1;
            NewReno.on_ack(&acked(u64::from(window.cwnd)), window);
        }
    }

    #[test]
    fn slow_start_doubles_in_a_round() {
        let mut window = window(2, u32::MAX);
        let mut rounds = Vec::new();
        for _ in 0..4 {
            acknowledge(window.cwnd, &mut window);
            rounds.push(window.cwnd);
        }
        assert_eq!(rounds, [4, 8, 16, 32]);
    }

    /// The window is still in slow start at the threshold: 8 -> 9, then one more per window of
    /// ACKs: 9 ACKs for 10, 10 for 11.
    #[test]
    fn one_segment_a_round_beyond_the_threshold() {
        let mut window = window(8, 8);
        acknowledge(1, &mut window);
        assert_eq!(window.cwnd, 9);
        acknowledge(8, &mut window);
        assert_eq!(window.cwnd, 9);
        acknowledge(1, &mut window);
        assert_eq!(window.cwnd, 10);
        acknowledge(10, &mut window);
        assert_eq!(window.cwnd, 11);
    }

    #[test]
    fn no_growth_when_the_application_limits() {
        let mut window = window(8, u32::MAX);
        window.acked = 1;
        NewReno.on_ack(&acked(7), &mut window);
        assert_eq!(window.cwnd, 8);
        NewReno.on_ack(&acked(8), &mut window);
        assert_eq!(window.cwnd, 9);
    }

    #[test]
    fn loss_halves_the_threshold_and_quarters_the_window() {
        assert_eq!(NewReno.on_loss(&window(101, 50)), Reduction { ssthresh: 50, cwnd: 25 });
        assert_eq!(NewReno.on_loss(&window(3, 50)), Reduction { ssthresh: 2, cwnd: 1 });
        assert_eq!(NewReno.on_timeout(&window(1, 50)), 2);
    }
}
