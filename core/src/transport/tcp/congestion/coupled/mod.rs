//! Coupled congestion controls: the increase of a subflow's window depends on the windows and
//! round-trip times of all subflows of its connection. Each law is one file; outside a multipath
//! connection a law has one subflow, where it is Reno.

mod balia;
mod lia;
mod olia;

pub(super) use balia::Balia;
pub(super) use lia::Lia;
pub(super) use olia::Olia;

use std::fmt::Debug;

use super::subflow::{Share, Subflow};
use super::{Ack, CongestionControl, Loss, Reduction, Window};

/// A law of coupled control in congestion avoidance. Slow start, timeouts and recovery are Reno's.
pub(super) trait Law: Debug + Default + Send {
    /// Segments by which the window of subflow `own` grows for each segment acknowledged. All
    /// subflows in `shares` have a round-trip time.
    fn increase(&self, shares: &[Share], own: usize) -> f64;

    /// Segments by which its window falls at a loss.
    fn decrease(&self, shares: &[Share], own: usize) -> f64 {
        shares[own].cwnd / 2.0
    }
}

/// The control of one subflow.
#[derive(Debug)]
pub(super) struct Coupled<L> {
    law: L,
    subflow: Subflow,
    /// Part of a segment by which the window is still to grow or fall.
    credit: f64,
    /// Segments acknowledged since the last loss, and between the last two.
    since_loss: f64,
    between: f64,
}

impl<L: Law> Coupled<L> {
    /// The control of a connection with one path.
    pub(super) fn alone() -> Self {
        let subflow = Subflow::alone();
        Self { law: L::default(), subflow, credit: 0.0, since_loss: 0.0, between: 0.0 }
    }

    /// The law's answer for the subflows whose round-trip time is known; `None` if this one's is
    /// not, or if it is the only subflow, where the window is Reno's (as in the coupled controls of
    /// multipath-tcp.org's kernel).
    fn ask(&self, law: impl FnOnce(&L, &[Share], usize) -> f64) -> Option<f64> {
        self.subflow.with(|shares, own| {
            if shares[own].rtt == 0.0 || shares.len() == 1 {
                return None;
            }
            let known = |share: &&Share| share.rtt > 0.0;
            let place = shares[..own].iter().filter(known).count();
            let timed: Vec<Share> = shares.iter().filter(known).copied().collect();
            Some(law(&self.law, &timed, place))
        })
    }
}

impl<L: Law> CongestionControl for Coupled<L> {
    fn couple(&mut self, subflow: Subflow) {
        self.subflow = subflow;
    }

    fn watches(&self) -> bool {
        true
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        self.since_loss += f64::from(ack.segments);
        let run = self.since_loss.max(self.between);
        self.subflow.with(|shares, own| {
            let rtt = ack.srtt.map_or(shares[own].rtt, |srtt| srtt.as_secs_f64());
            shares[own] = Share { cwnd: window.cwnd().into(), rtt, run };
        });
    }

    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        if !ack.fills(window) {
            return;
        }
        let left =
            if window.in_slow_start() { window.slow_start(ack.segments) } else { ack.segments };
        if let Some(each) = self.ask(L::increase) {
            self.credit += f64::from(left) * each;
            let whole = self.credit.trunc();
            self.credit -= whole;
            let cwnd = i64::from(window.cwnd()).saturating_add(whole as i64);
            window.set_cwnd(u32::try_from(cwnd.max(1)).unwrap_or(u32::MAX));
        } else if left > 0 {
            window.increase(window.cwnd(), left);
        }
        self.subflow.with(|shares, own| shares[own].cwnd = window.cwnd().into());
    }

    fn reduce(&mut self, loss: Loss, window: &Window) -> Reduction {
        self.between = std::mem::take(&mut self.since_loss);
        let cwnd = f64::from(window.cwnd());
        self.subflow.with(|shares, own| shares[own].cwnd = cwnd);
        let fall = match loss {
            Loss::Detected => self.ask(L::decrease).unwrap_or(cwnd / 2.0),
            Loss::Timeout => cwnd / 2.0,
        };
        Reduction::to(((cwnd - fall).floor() as u32).max(2))
    }
}

/// Sum of the subflows' rates, segments per second.
fn total_rate(shares: &[Share]) -> f64 {
    shares.iter().map(Share::rate).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(of: &[(f64, f64)]) -> Vec<Share> {
        of.iter().map(|&(cwnd, rtt)| Share { cwnd, rtt, run: 100.0 }).collect()
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }

    #[test]
    fn with_one_path_every_law_is_reno() {
        let one = shares(&[(20.0, 0.1)]);
        close(Lia.increase(&one, 0), 0.05);
        close(Olia.increase(&one, 0), 0.05);
        close(Balia.increase(&one, 0), 0.05);
        close(Balia.decrease(&one, 0), 10.0);
    }

    /// RFC 6356 section 3: with equal round-trip times, alpha is the largest window divided by the
    /// sum of the windows.
    #[test]
    fn windows_of_equal_paths_grow_like_one_window_together() {
        let two = shares(&[(20.0, 0.1), (20.0, 0.1)]);
        // Half of the growth of one window as large as both (1 / 40) on each.
        close(Lia.increase(&two, 0), 0.5 / 40.0);
        close(Olia.increase(&two, 0), 0.05 / 4.0);
        close(Balia.increase(&two, 1), 0.05 / 4.0);
    }

    #[test]
    fn unequal_paths_follow_the_formulas() {
        let two = shares(&[(30.0, 0.5), (10.0, 0.05)]);
        let sum: f64 = 30.0 / 0.5 + 10.0 / 0.05; // 60 + 200
        let alpha: f64 = 40.0 * (10.0 / (0.05 * 0.05)) / (sum * sum);
        close(Lia.increase(&two, 0), (alpha / 40.0).min(1.0 / 30.0));
        close(Lia.increase(&two, 1), (alpha / 40.0).min(1.0 / 10.0));
        let of = |rate: f64, rtt: f64, ratio: f64| {
            rate / rtt / (sum * sum) * (1.0 + ratio) / 2.0 * (4.0 + ratio) / 5.0
        };
        close(Balia.increase(&two, 0), of(60.0, 0.5, 200.0 / 60.0));
        close(Balia.increase(&two, 1), of(200.0, 0.05, 1.0));
        close(Balia.decrease(&two, 0), 15.0 * 1.5);
        close(Balia.decrease(&two, 1), 5.0);
    }

    /// The best path (it carries most between losses for its round-trip time) has not the largest
    /// window: it gets what the path with the largest window gives up.
    #[test]
    fn olia_moves_windows_to_the_best_path() {
        let two = shares(&[(30.0, 0.5), (10.0, 0.05)]);
        let sum: f64 = 260.0;
        close(Olia.increase(&two, 0), 60.0 / 0.5 / (sum * sum) - 1.0 / (30.0 * 2.0));
        close(Olia.increase(&two, 1), 200.0 / 0.05 / (sum * sum) + 1.0 / (10.0 * 2.0));
    }

    /// A TCP carries sqrt(2 l) / RTT: sqrt(120) / 0.1 s over the first path, sqrt(400) / 0.25 s over the
    /// second, although the second carries more between losses.
    #[test]
    fn olias_best_path_is_the_one_where_a_tcp_is_fastest() {
        let mut two = shares(&[(10.0, 0.1), (30.0, 0.25)]);
        (two[0].run, two[1].run) = (60.0, 200.0);
        let sum: f64 = 220.0;
        close(Olia.increase(&two, 0), 100.0 / 0.1 / (sum * sum) + 1.0 / (10.0 * 2.0));
    }

    #[test]
    fn a_subflow_without_a_round_trip_time_does_not_count() {
        let [mut first, mut second] = [Coupled::<Lia>::alone(), Coupled::<Lia>::alone()];
        let both = Subflow::all(2);
        first.couple(both[0].clone());
        second.couple(both[1].clone());
        assert_eq!(first.ask(Lia::increase), None);
        second.subflow.with(|shares, own| shares[own] = Share { cwnd: 20.0, rtt: 0.1, run: 0.0 });
        assert_eq!(second.ask(Lia::increase), Some(0.05));
        assert_eq!(first.ask(Lia::increase), None);
    }
}
