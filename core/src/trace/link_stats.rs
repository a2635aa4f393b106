//! Statistics of a link trace, i.e. of a scheme (DESIGN section 4, "Slots used").

use serde::Serialize;

use crate::trace::LinkTrace;

/// Statistics of a link trace. Delays are those of delivery in ms, including RTT/2.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkStats {
    /// Data LLDUs: `delivered + lost + censored`.
    pub data_units: u64,
    /// Data LLDUs delivered.
    pub delivered: u64,
    /// Data LLDUs given up.
    pub lost: u64,
    /// Data LLDUs still pending when the trace ended.
    pub censored: u64,
    /// Slots of the PHY trace.
    pub slots: u64,
    /// Slots that carried anything.
    pub slots_used: u64,
    /// Throughput efficiency: data LLDUs delivered per slot used; 0 if none was used. If slots
    /// differ in size, bytes delivered per byte of the slots used.
    pub efficiency: f64,
    /// Share of the data LLDUs that were not delivered; 0 without data LLDUs.
    pub residual_loss: f64,
    /// Data LLDUs whose first transmission was erased and that were recovered.
    pub recovered: u64,
    /// Mean of d' + RTT/2 over the recovered LLDUs; `None` without any.
    pub recovery_delay_ms: Option<f64>,
    /// Mean of d' + RTT/2 over all delivered LLDUs; `None` without any.
    pub mean_delay_ms: Option<f64>,
    /// Minimum of d' + RTT/2 over all delivered LLDUs.
    pub min_delay_ms: Option<f64>,
    /// Maximum of d' + RTT/2 over all delivered LLDUs.
    pub max_delay_ms: Option<f64>,
    /// Histogram of retransmissions (transmissions - 1): (retransmissions, data LLDUs), in
    /// ascending order; absent numbers are omitted.
    pub retransmissions: Vec<(u32, u64)>,
}

impl LinkTrace {
    /// Statistics of the link trace, in one pass over the recovery times.
    ///
    /// ```
    /// use clift::scheme::{Scheme, Timing};
    /// use clift::trace::PhyTrace;
    /// use clift::units::{Bytes, Duration};
    /// let ms = |values: &[i64]| values.iter().map(|v| v * 1_000_000).collect::<Vec<_>>();
    /// let t = ms(&[0, 10, 20, 30, 40]);
    /// let phy = PhyTrace::new(t.into(), ms(&[5, 0, 5, 5, 5]).into(), Bytes(33)).unwrap();
    /// let timing = Timing { rtt: Duration::from_millis(20), feedback: None };
    /// let stats = "ARQ".parse::<Scheme>().unwrap().apply(&phy, timing).stats();
    /// assert_eq!((stats.data_units, stats.delivered, stats.slots_used), (4, 4, 5));
    /// assert_eq!(stats.recovery_delay_ms, Some(35.0 + 10.0));
    /// assert_eq!(stats.mean_delay_ms, Some(50.0 / 4.0 + 10.0));
    /// assert_eq!(stats.retransmissions, [(0, 3), (1, 1)]);
    /// ```
    pub fn stats(&self) -> LinkStats {
        let parts = self.parts();
        let delays = Delays::of(&parts.d);
        let data_units = self.len() as u64;
        let lost = parts.lost.len() as u64;
        let share = |part: u64, of: u64| if of == 0 { 0.0 } else { part as f64 / of as f64 };
        let half_rtt_ns = parts.rtt.as_nanos() as f64 / 2.0;
        let ms = |ns: f64| (ns + half_rtt_ns) / 1e6;
        let mean = |sum: u128, count: u64| (count > 0).then(|| ms(sum as f64 / count as f64));
        let (recovered, recovered_sum) = parts.recovered;
        LinkStats {
            data_units,
            delivered: delays.count,
            lost,
            censored: data_units - delays.count - lost,
            slots: parts.slots,
            slots_used: parts.slots_used,
            efficiency: match &parts.sizes {
                None => share(delays.count, parts.slots_used),
                Some(sizes) => {
                    let arrived = (0..self.len()).filter(|&index| parts.d[index] > 0);
                    share(arrived.map(|index| u64::from(sizes.lldus.at(index))).sum(), sizes.used)
                }
            },
            residual_loss: share(data_units - delays.count, data_units),
            recovered,
            recovery_delay_ms: mean(recovered_sum, recovered),
            mean_delay_ms: mean(delays.sum(), delays.count),
            min_delay_ms: (delays.count > 0).then(|| ms(delays.min as f64)),
            max_delay_ms: (delays.count > 0).then(|| ms(delays.max as f64)),
            retransmissions: self.retransmissions().to_vec(),
        }
    }
}

impl LinkStats {
    /// The retransmission distribution: (retransmissions, share of the data LLDUs).
    pub fn retransmission_shares(&self) -> impl Iterator<Item = (u32, f64)> {
        shares(&self.retransmissions, self.data_units)
    }
}

impl LinkTrace {
    /// As [`LinkStats::retransmission_shares`], without computing the other statistics.
    pub fn retransmission_shares(&self) -> impl Iterator<Item = (u32, f64)> {
        shares(self.retransmissions(), self.len() as u64)
    }
}

fn shares(units: &[(u32, u64)], all: u64) -> impl Iterator<Item = (u32, f64)> {
    units.iter().map(move |&(times, units)| (times, units as f64 / all as f64))
}

/// Exact totals of the non-zero d'. The sum is kept in two halves of 32 bits, which 2^32 values
/// cannot overflow, so that the pass vectorises.
struct Delays {
    count: u64,
    high: u64,
    low: u64,
    min: i64,
    max: i64,
}

impl Delays {
    fn of(d: &[i64]) -> Self {
        let mut delays = Self { count: 0, high: 0, low: 0, min: i64::MAX, max: 0 };
        for &d in d {
            delays.count += u64::from(d > 0);
            delays.high += (d as u64) >> 32;
            delays.low += (d as u64) & u64::from(u32::MAX);
            delays.min = delays.min.min(if d > 0 { d } else { i64::MAX });
            delays.max = delays.max.max(d);
        }
        delays
    }

    fn sum(&self) -> u128 {
        (u128::from(self.high) << 32) + u128::from(self.low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Parts, PhyTrace};
    use crate::units::{Bytes, Duration};

    /// A link of 1 ms slots that all carry data, without a scheme; RTT 4 ms.
    fn link(d: Vec<i64>) -> LinkTrace {
        let t: Vec<i64> = (0..d.len() as i64).map(|slot| slot * 1_000_000).collect();
        let lost = (0..).zip(&d).filter(|(_, d)| **d == 0).map(|(index, _)| (index, 1)).collect();
        let phy = PhyTrace::new(t.into(), d.into(), Bytes(33)).unwrap();
        let parts = Parts::of(&phy, Duration::from_millis(4));
        let (t, d, slots_used) = (phy.t().clone(), phy.d().clone(), parts.slots);
        LinkTrace::from_parts(Parts { t, d, lost, slots_used, ..parts })
    }

    #[test]
    fn without_deliveries_delays_are_none() {
        let stats = link(vec![0; 3]).stats();
        assert_eq!((stats.delivered, stats.lost, stats.efficiency), (0, 3, 0.0));
        assert_eq!(
            (stats.residual_loss, stats.mean_delay_ms, stats.min_delay_ms),
            (1.0, None, None)
        );
        assert_eq!(stats.recovery_delay_ms, None);
    }

    #[test]
    fn an_empty_link_trace_has_statistics() {
        let parts = Parts { slots_used: 0, ..link(vec![1; 3]).parts().clone() };
        let empty = Parts { t: vec![].into(), d: vec![].into(), ..parts };
        let stats = LinkTrace::from_parts(empty).stats();
        assert_eq!((stats.data_units, stats.slots, stats.slots_used), (0, 3, 0));
        assert_eq!((stats.efficiency, stats.residual_loss), (0.0, 0.0));
        assert_eq!(stats.retransmissions, []);
        assert_eq!(stats.retransmission_shares().count(), 0);
    }

    #[test]
    fn delays_include_half_the_round_trip() {
        let stats = link(vec![3_000_000, 0, 1_000_000]).stats();
        assert_eq!((stats.min_delay_ms, stats.max_delay_ms), (Some(3.0), Some(5.0)));
        assert_eq!(stats.mean_delay_ms, Some(4.0));
        assert_eq!((stats.efficiency, stats.residual_loss), (2.0 / 3.0, 1.0 / 3.0));
    }

    #[test]
    fn sums_of_the_longest_delays_are_exact() {
        let parts = link(vec![1]).parts().clone();
        let longest = (1i64 << 61) - 1;
        let d = vec![longest; 40];
        let t = (0..40).collect::<Vec<_>>();
        let link = LinkTrace::from_parts(Parts { t: t.into(), d: d.into(), ..parts });
        assert_eq!(Delays::of(&link.parts().d).sum(), 40 * longest as u128);
    }
}
