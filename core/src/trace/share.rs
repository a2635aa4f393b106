//! Parts of a trace: every n-th slot, or the slots from an instant on.

use std::num::NonZeroU32;

use crate::trace::{Column, Fault, Header, PhyTrace};
use crate::units::Duration;

impl PhyTrace {
    /// The trace of one user who gets every `n`-th slot: slots 0, n, 2n, ... (DESIGN section 4).
    ///
    /// ```
    /// use std::num::NonZeroU32;
    /// use clift::trace::PhyTrace;
    /// use clift::units::Bytes;
    /// let all = PhyTrace::new(vec![0, 10, 20, 30].into(), vec![5, 0, 6, 5].into(), Bytes(33)).unwrap();
    /// let shared = all.share(NonZeroU32::new(2).unwrap());
    /// assert_eq!((&shared.t()[..], &shared.d()[..]), (&[0, 20][..], &[5, 6][..]));
    /// ```
    pub fn share(&self, n: NonZeroU32) -> Self {
        if n.get() == 1 {
            return self.clone();
        }
        let thin = |column: &[i64]| -> Column {
            column.iter().copied().step_by(n.get() as usize).collect::<Vec<_>>().into()
        };
        let (t, d) = (thin(self.t()), thin(self.d()));
        let part = Self::with_header(t, d, self.sizes().thinned(thin), self.header().clone());
        part.expect("slot 0 is always kept, and a period holds a shorter span too")
    }

    /// The trace with slots in order of arrival: `d` is raised where `t + d` would decrease.
    ///
    /// ```
    /// use clift::trace::PhyTrace;
    /// use clift::units::Bytes;
    /// let t = vec![0, 10, 20, 30];
    /// let phy = PhyTrace::new(t.into(), vec![25, 0, 1, 9].into(), Bytes(1500)).unwrap();
    /// assert_eq!(phy.in_order().d()[..], [25, 0, 5, 9]);
    /// ```
    pub fn in_order(&self) -> Self {
        let mut latest = 0;
        let slots = self.t().iter().zip(self.d().iter());
        let raised = slots.map(|(&t, &d)| {
            if d == 0 {
                return 0;
            }
            latest = latest.max(t + d);
            latest - t
        });
        let d = raised.collect::<Vec<_>>();
        Self::with_header(self.t().clone(), d.into(), self.sizes().clone(), self.header().clone())
            .expect("no arrival is later than the latest before")
    }

    /// The trace from `start` on: slots before it are dropped, and `start` becomes time 0.
    ///
    /// # Errors
    /// If no slot is left.
    pub fn offset(&self, start: Duration) -> Result<Self, Fault> {
        let last = self.t()[self.len() - 1];
        if start.as_nanos() > last as u64 {
            let last = Duration::from_nanos(last as u64).as_secs_f64();
            let start = start.as_secs_f64();
            let cure = format!("the last is at {last:.9} s; start earlier");
            return Err(Fault::Text(format!("an offset of {start:.9} s leaves no slot: {cure}")));
        }
        if start == Duration::ZERO {
            return Ok(self.clone());
        }
        let start = start.as_nanos() as i64;
        let first = self.t().partition_point(|&t| t < start);
        let t = self.t()[first..].iter().map(|t| t - start).collect::<Vec<_>>();
        let dropped = Duration::from_nanos((self.t()[first] - self.t()[0]) as u64);
        // The gap between the last slot and the next repetition keeps its length.
        let period = self.header().period.map(|period| period - dropped);
        let loading = self.header().loading.starting_at(Duration::from_nanos(start.unsigned_abs()));
        let header = Header { period, loading, ..self.header().clone() };
        let sizes = self.sizes().thinned(|sizes| sizes[first..].to_vec().into());
        Self::with_header(t.into(), self.d()[first..].to_vec().into(), sizes, header)
    }

    /// Duration of one pass over the trace when it repeats: the period of the header, else the last
    /// `t` less the first plus the median gap. 0 for a single slot without a period, which cannot
    /// repeat.
    pub fn period(&self) -> Duration {
        let span = self.t()[self.len() - 1] - self.t()[0];
        let told = self.header().period;
        told.unwrap_or_else(|| Duration::from_nanos(span as u64) + self.median_gap())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    fn trace() -> PhyTrace {
        PhyTrace::new(vec![5, 10, 20, 30, 45].into(), vec![1, 0, 3, 4, 5].into(), Bytes(33))
            .unwrap()
    }

    #[test]
    fn a_share_of_one_is_the_trace_and_a_large_share_its_first_slot() {
        assert_eq!(trace().share(NonZeroU32::MIN).t(), trace().t());
        assert_eq!(trace().share(NonZeroU32::new(5).unwrap()).t()[..], [5]);
        let third = trace().share(NonZeroU32::new(3).unwrap());
        assert_eq!((&third.t()[..], &third.d()[..]), (&[5, 30][..], &[1, 4][..]));
    }

    #[test]
    fn an_offset_keeps_a_slot_at_its_instant() {
        let cut = trace().offset(Duration::from_nanos(20)).unwrap();
        assert_eq!((&cut.t()[..], &cut.d()[..]), (&[0, 10, 25][..], &[3, 4, 5][..]));
        let cut = trace().offset(Duration::from_nanos(21)).unwrap();
        assert_eq!(cut.t()[..], [9, 24]);
        assert_eq!(trace().offset(Duration::ZERO).unwrap().t(), trace().t());
    }

    #[test]
    fn an_offset_past_the_end_says_where_the_end_is() {
        let error = trace().offset(Duration::from_nanos(46)).unwrap_err();
        assert!(error.to_string().contains("0.000000045 s"), "{error}");
        assert!(trace().offset(Duration::MAX).is_err());
    }

    #[test]
    fn the_period_of_the_header_is_kept() {
        let period = |nanos| Some(Duration::from_nanos(nanos));
        let header = Header { period: period(47), ..Header::default() };
        let phy = trace();
        let phy = PhyTrace::with_header(phy.t().clone(), phy.d().clone(), phy.lldu(), header);
        let phy = phy.unwrap();
        assert_eq!(phy.period(), Duration::from_nanos(47));
        assert_eq!(phy.share(NonZeroU32::new(3).unwrap()).header().period, period(47));
        // Slots at 20, 30, 45, and 7 ns to the first slot of the repetition: 25 + 7.
        assert_eq!(phy.offset(Duration::from_nanos(12)).unwrap().header().period, period(32));
    }

    #[test]
    fn a_period_ends_a_median_gap_after_the_last_slot() {
        assert_eq!(trace().period(), Duration::from_nanos(40 + 10));
        let single = PhyTrace::new(vec![9].into(), vec![1].into(), Bytes(1)).unwrap();
        assert_eq!(single.period(), Duration::ZERO);
    }
}
