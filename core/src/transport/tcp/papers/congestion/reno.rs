//! Reno's window (RFC 5681) with appropriate byte counting (RFC 3465), as `reno` of ns-2's
//! `Agent/TCP/Linux`: a loss halves the threshold, and the window to half of that, from where
//! slow start leads back.

use crate::transport::tcp::congestion::{Ack, CongestionControl, Loss, Reduction, Window};

/// Additive increase, multiplicative decrease.
#[derive(Debug)]
pub(crate) struct Reno;

impl CongestionControl for Reno {
    #[inline]
    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        if !ack.fills(window) {
            return;
        }
        if in_slow_start(window) {
            slow_start(window);
        } else if window.acked() >= window.cwnd() {
            window.use_acked(window.cwnd());
            window.grow();
        }
    }

    fn reduce(&mut self, _: Loss, window: &Window) -> Reduction {
        let ssthresh = half(window.cwnd());
        Reduction { ssthresh, cwnd: ssthresh / 2 }
    }
}

/// Whether growth is exponential: at the threshold too.
#[inline]
pub(super) fn in_slow_start(window: &Window) -> bool {
    window.cwnd() <= window.ssthresh()
}

/// Slow start with appropriate byte counting, L = 1 (RFC 3465): one segment more for an ACK of at
/// least one, however many it acknowledges.
pub(super) fn slow_start(window: &mut Window) {
    if window.acked() == 0 {
        return;
    }
    window.use_acked(window.acked());
    // Credit left over from congestion avoidance counts.
    let mut credit = window.credit().saturating_add(window.cwnd());
    while credit >= window.cwnd() {
        credit -= window.cwnd();
        window.grow();
    }
    window.set_credit(credit);
}

/// RFC 5681 (4), of the window instead of the flight size; at least two segments.
fn half(cwnd: u32) -> u32 {
    (cwnd / 2).max(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filling(window: &Window) -> Ack {
        Ack { segments: 1, prior_in_flight: u64::from(window.cwnd()), ..Ack::default() }
    }

    fn acknowledge(count: u32, window: &mut Window) {
        for _ in 0..count {
            window.count_acked(1);
            Reno.grow(&filling(window), window);
        }
    }

    #[test]
    fn slow_start_counts_acks_not_segments() {
        let mut window = Window::of(10, u32::MAX);
        window.count_acked(7);
        slow_start(&mut window);
        assert_eq!((window.cwnd(), window.acked()), (11, 0));
        slow_start(&mut window);
        assert_eq!(window.cwnd(), 11, "nothing was acknowledged since");
        window.set_limit(12);
        acknowledge(5, &mut window);
        assert_eq!(window.cwnd(), 12, "at its limit");
    }

    #[test]
    fn slow_start_doubles_in_a_round() {
        let mut window = Window::of(2, u32::MAX);
        let mut rounds = Vec::new();
        for _ in 0..4 {
            acknowledge(window.cwnd(), &mut window);
            rounds.push(window.cwnd());
        }
        assert_eq!(rounds, [4, 8, 16, 32]);
    }

    /// The window is still in slow start at the threshold: 8 -> 9, then one more per window of
    /// ACKs: 9 ACKs for 10, 10 for 11.
    #[test]
    fn one_segment_a_round_beyond_the_threshold() {
        let mut window = Window::of(8, 8);
        for (acks, expected) in [(1, 9), (8, 9), (1, 10), (10, 11)] {
            acknowledge(acks, &mut window);
            assert_eq!(window.cwnd(), expected);
        }
    }

    #[test]
    fn no_growth_when_the_application_limits() {
        let mut window = Window::of(8, u32::MAX);
        window.count_acked(1);
        Reno.grow(&Ack { prior_in_flight: 7, ..filling(&window) }, &mut window);
        assert_eq!(window.cwnd(), 8);
        Reno.grow(&filling(&window), &mut window);
        assert_eq!(window.cwnd(), 9);
    }

    #[test]
    fn loss_halves_the_threshold_and_quarters_the_window() {
        let reduce = |cwnd| Reno.reduce(Loss::Detected, &Window::of(cwnd, 50));
        assert_eq!(reduce(101), Reduction { ssthresh: 50, cwnd: 25 });
        assert_eq!(reduce(3), Reduction { ssthresh: 2, cwnd: 1 });
        assert_eq!(reduce(1).ssthresh, 2);
    }
}
