//! Linked increases (RFC 6356).

use super::{Law, Share, total_rate};

/// Section 3, equations (1) and (2): together the windows grow no faster than the window of a TCP on
/// the best path, and none grows faster than a TCP on its own path.
#[derive(Debug, Default)]
pub(in crate::transport::tcp::congestion) struct Lia;

impl Law for Lia {
    fn increase(&self, shares: &[Share], own: usize) -> f64 {
        let best = shares.iter().map(|share| share.rate() / share.rtt).fold(0.0, f64::max);
        // Alpha divided by the sum of the windows.
        let linked = best / total_rate(shares).powi(2);
        linked.min(1.0 / shares[own].cwnd)
    }
}
