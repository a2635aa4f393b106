//! Reno (RFC 5681) as Linux's `reno`: slow start by segments acknowledged, then one segment per
//! round.

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
        let left =
            if window.in_slow_start() { window.slow_start(ack.segments) } else { ack.segments };
        if left > 0 {
            window.increase(window.cwnd(), left);
        }
    }

    fn reduce(&mut self, _: Loss, window: &Window) -> Reduction {
        Reduction::to((window.cwnd() / 2).max(2))
    }
}
