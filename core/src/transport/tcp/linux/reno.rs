//! Reno (RFC 5681) as Linux's `reno`: slow start by what was acknowledged, then a segment a round.

use super::window::{Control, Window};
use crate::units::Instant;

/// Additive increase, multiplicative decrease.
#[derive(Debug)]
pub(super) struct Reno;

impl Control for Reno {
    fn grow(&mut self, _: Instant, acked: u32, window: &mut Window) {
        let left = if window.in_slow_start() { window.slow_start(acked) } else { acked };
        if left > 0 {
            window.increase(window.cwnd, left);
        }
    }

    fn reduce(&mut self, window: &Window) -> u32 {
        (window.cwnd / 2).max(2)
    }
}
