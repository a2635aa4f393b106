//! Opportunistic linked increases (Khalili et al. 2012; draft-khalili-mptcp-congestion-control-05).

use super::{Law, Share, total_rate};

/// A part that balances congestion optimally, and a part `alpha` that moves windows from the paths
/// with the largest ones to the best paths. These have the largest l / RTT^2, where l is what a path
/// carries between losses: the rates of TCPs rank them so. The authors' module for Linux does too.
#[derive(Debug, Default)]
pub(in crate::transport::tcp::congestion) struct Olia;

impl Law for Olia {
    fn increase(&self, shares: &[Share], own: usize) -> f64 {
        let share = shares[own];
        let balance = share.rate() / share.rtt / total_rate(shares).powi(2);
        balance + alpha(shares, own) / share.cwnd
    }
}

fn alpha(shares: &[Share], own: usize) -> f64 {
    let quality = |share: &Share| share.run / (share.rtt * share.rtt);
    let most = |of: &dyn Fn(&Share) -> f64| shares.iter().map(of).fold(0.0, f64::max);
    let (best, largest) = (most(&quality), most(&|share| share.cwnd));
    let has_largest = |share: &Share| share.cwnd == largest;
    let is_collected = |share: &Share| quality(share) == best && !has_largest(share);
    let count = |those: &dyn Fn(&Share) -> bool| shares.iter().filter(|it| those(it)).count();
    let collected = count(&is_collected);
    if collected == 0 {
        return 0.0;
    }
    let part = 1.0 / shares.len() as f64;
    if is_collected(&shares[own]) {
        part / collected as f64
    } else if has_largest(&shares[own]) {
        -part / count(&has_largest) as f64
    } else {
        0.0
    }
}
