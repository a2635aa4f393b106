//! Balanced linked adaptation (Peng et al. 2013; draft-walid-mptcp-congestion-control-04).

use super::{Law, Share, total_rate};

/// Section 3.1 of the draft: increase and decrease depend on alpha, the rate of the fastest subflow
/// divided by that of this one.
#[derive(Debug, Default)]
pub(in crate::transport::tcp::congestion) struct Balia;

/// A loss takes at most this multiple of half a window.
const MOST: f64 = 1.5;

impl Law for Balia {
    fn increase(&self, shares: &[Share], own: usize) -> f64 {
        let (share, alpha) = (shares[own], alpha(shares, own));
        let linked = share.rate() / share.rtt / total_rate(shares).powi(2);
        linked * (1.0 + alpha) / 2.0 * (4.0 + alpha) / 5.0
    }

    fn decrease(&self, shares: &[Share], own: usize) -> f64 {
        shares[own].cwnd / 2.0 * alpha(shares, own).min(MOST)
    }
}

fn alpha(shares: &[Share], own: usize) -> f64 {
    let fastest = shares.iter().map(Share::rate).fold(0.0, f64::max);
    fastest / shares[own].rate()
}
