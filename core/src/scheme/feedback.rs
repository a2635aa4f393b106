//! What the far end reports, and when the sender hears of it.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::config::Fault;
use crate::link::HORIZON;
use crate::link::clock::SlotClock;
use crate::scheme::Timing;
use crate::trace::PhyTrace;
use crate::units::{Duration, Probability};

/// The way back of reports, constant in time and possibly lossy.
///
/// A report on the slot at `t` reaches the sender at `t + delay`. A copy that is lost is noticed by
/// nobody: the far end repeats what it still misses, so the next copy comes `repeat` later.
#[derive(Clone, Debug)]
pub struct Feedback {
    pub(super) delay: i64,
    pub(super) repeat: i64,
    pub(super) losses: Losses,
    /// Copies lost that would have come by `end`.
    pub(super) lost: u64,
    /// End of the run.
    pub(super) end: i64,
}

/// Cause of lost reports.
#[derive(Clone, Debug)]
pub(super) enum Losses {
    /// Nothing.
    None,
    /// Each copy is lost with this probability.
    Random(Probability, Box<ChaCha8Rng>),
    /// A copy is lost if the slot of the way back that would carry it is erased.
    Trace {
        back: Box<TraceBack>,
        /// From a slot until a report on it is sent, ns.
        after: i64,
    },
}

/// The PHY trace of the way back, aligned with that of the link.
///
/// Its state is a function of the link's trace time: both start at the same
/// offset, and this trace restarts where the link's trace restarts, even if it is a little longer
/// or shorter. In between it repeats as often as needed.
#[derive(Clone, Debug)]
pub(super) struct TraceBack {
    trace: PhyTrace,
    /// The clock of this trace, which runs in trace time.
    own: SlotClock,
    /// The clock of the link's trace.
    link: SlotClock,
    /// The first slot of the link's trace and the time at which it restarts, if it does.
    cycle: Option<(i64, i64)>,
}

/// The far end gives up repeating a report: so it ends where nothing ever comes back.
const MOST_COPIES: i64 = 1000;

impl Feedback {
    /// Reports over `phy` of which none is lost.
    pub fn over(phy: &PhyTrace, timing: Timing) -> Self {
        let delay = timing.feedback_ns(phy);
        Self { delay, repeat: 1, losses: Losses::None, lost: 0, end: HORIZON }
    }

    /// When the sender hears of the slot at `t` (run times, ns); `i64::MAX`: never.
    #[inline]
    pub fn report(&mut self, t: i64) -> i64 {
        match self.losses {
            Losses::None => t.saturating_add(self.delay),
            _ => self.report_lossy(t),
        }
    }

    /// Copies of reports that were lost so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// When the first copy comes in that is not lost.
    fn report_lossy(&mut self, t: i64) -> i64 {
        for copy in 0..MOST_COPIES {
            let later = copy.saturating_mul(self.repeat);
            let lost = match &mut self.losses {
                Losses::None => false,
                Losses::Random(p, rng) => rng.random_bool(p.get()),
                Losses::Trace { back, after } => {
                    back.loses(t.saturating_add(*after).saturating_add(later))
                }
            };
            let comes = t.saturating_add(self.delay).saturating_add(later);
            if !lost {
                return comes;
            }
            self.lost += u64::from(comes <= self.end);
        }
        i64::MAX
    }
}

impl TraceBack {
    /// The trace `back` beside `phy`, which starts at `offset` and may repeat.
    ///
    /// # Errors
    /// If a trace that repeats has no period.
    pub(super) fn new(
        back: PhyTrace,
        phy: &PhyTrace,
        offset: Duration,
        wrap: bool,
    ) -> Result<Self, Fault> {
        let first = phy.t()[0];
        let link = SlotClock::new(first, offset, wrap.then(|| phy.period()))?;
        let cycle = link.period().map(|period| (first, first + period));
        let own = SlotClock::new(back.t()[0], Duration::ZERO, Some(back.period()))?.over(back.t());
        Ok(Self { trace: back, own, link, cycle })
    }

    /// Whether what is sent at the run time `sent` is lost: in the first slot from then on.
    fn loses(&self, sent: i64) -> bool {
        let at = self.link.trace_time(sent.min(2 * HORIZON));
        let slot = match self.cycle {
            None => self.first_from(at),
            Some((first, seam)) => {
                let slot = self.first_from(at).filter(|&(t, _)| t < seam);
                slot.or_else(|| self.first_from(first))
            }
        };
        slot.is_none_or(|(_, d)| d == 0)
    }

    /// When the first slot from `at` on starts, and its decoding time; `None`: after the horizon.
    fn first_from(&self, at: i64) -> Option<(i64, i64)> {
        if at > HORIZON {
            return None;
        }
        let place = self.own.first_from(self.trace.t(), self.own.start(), at)?;
        let start = self.trace.t()[place.slot] + place.base;
        (start <= HORIZON).then(|| (start, self.trace.d()[place.slot]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Header;
    use crate::units::Bytes;

    /// Slots at 0, 10, ... with these decoding times.
    fn back(d: &[i64], offset: u64, cycle: Option<u64>) -> TraceBack {
        let t: Vec<i64> = (0..).step_by(10).take(d.len()).collect();
        let phy = PhyTrace::new(t.into(), d.to_vec().into(), Bytes(33)).unwrap();
        let header = Header { period: cycle.map(Duration::from_nanos), ..Header::default() };
        let link = PhyTrace::with_header(vec![0].into(), vec![1].into(), Bytes(33), header);
        let offset = Duration::from_nanos(offset);
        TraceBack::new(phy, &link.unwrap(), offset, cycle.is_some()).unwrap()
    }

    #[test]
    fn the_way_back_begins_anew_where_the_link_does() {
        let lost = |back: &TraceBack, sent: &[i64]| -> Vec<bool> {
            sent.iter().map(|&sent| back.loses(sent)).collect()
        };
        let sent = [0, 1, 10, 11, 20, 21, 30, 31];
        // Alone, it repeats after its own 30.
        let alone = back(&[1, 0, 1], 0, None);
        assert_eq!(lost(&alone, &sent), [false, true, true, false, false, false, false, true]);
        // A link of 20 never reaches the third slot: reports sent after the second meet the first.
        let shorter = back(&[1, 0, 1], 0, Some(20));
        assert_eq!(lost(&shorter, &sent), [false, true, true, false, false, true, true, false]);
        // One of 35 sees the first again at 30, and at its seam, 35, once more.
        let longer = back(&[1, 0, 1], 0, Some(35));
        assert_eq!(
            lost(&longer, &[30, 31, 35, 36, 45, 46]),
            [false, false, false, true, true, false]
        );
        // An offset of whole cycles changes nothing.
        for offset in [20, 60, 20_000] {
            let later = back(&[1, 0, 1], offset, Some(20));
            assert_eq!(lost(&later, &sent), lost(&shorter, &sent), "{offset}");
        }
    }
}
