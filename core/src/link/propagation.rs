//! Propagation delay: fixed, or varying with the satellites.

use std::sync::Arc;

use crate::trace::Fault;
use crate::units::{Duration, Instant};

/// The one-way delay of a leg or link.
///
/// ```
/// use std::sync::Arc;
/// use clift::link::{DelaySeries, Propagation};
/// use clift::units::{Duration, Instant};
/// let ms = Duration::from_millis;
/// let steps = vec![(Instant::ZERO, ms(80)), (Instant::ZERO + ms(1000), ms(70))];
/// let series = Arc::new(DelaySeries::new(steps)?);
/// let moving = Propagation::Varying { series, keep_order: false };
/// assert_eq!(moving.at(Instant::ZERO + ms(999)), ms(80));
/// assert_eq!(moving.at(Instant::ZERO + ms(1000)), ms(70));
/// # Ok::<(), clift::trace::Fault>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Propagation {
    /// A constant delay.
    Fixed(Duration),
    /// A delay that varies with time.
    Varying {
        /// The delay over time.
        series: Arc<DelaySeries>,
        /// True if packets stay in order; otherwise packets overtake one another where the path
        /// gets shorter.
        keep_order: bool,
    },
}

/// The clock of a trace: its time at time 0, and the start and the period of its repetition.
pub type TraceClock = (Duration, Option<(Instant, Duration)>);

/// One-way delays over time, in steps. Each holds from its instant until the next; the first also
/// holds before, the last also after.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DelaySeries {
    steps: Arc<[(Instant, Duration)]>,
    /// The instant of the series that corresponds to time 0.
    start: Duration,
    /// Repetition: from the first of these instants on, with the second as the period.
    cycle: Option<(Instant, Duration)>,
}

impl Propagation {
    /// The delay of a packet sent at `instant`.
    #[inline]
    pub fn at(&self, instant: Instant) -> Duration {
        match self {
            Self::Fixed(delay) => *delay,
            Self::Varying { series, .. } => series.at(instant),
        }
    }

    /// The same delay on the clock of a trace, as [`DelaySeries::on_clock`].
    pub(crate) fn on_clock(&self, clock: TraceClock) -> Self {
        match self {
            Self::Fixed(delay) => Self::Fixed(*delay),
            Self::Varying { series, keep_order } => {
                let series = Arc::new(series.on_clock(clock));
                Self::Varying { series, keep_order: *keep_order }
            }
        }
    }

    /// The maximum delay.
    pub fn longest(&self) -> Duration {
        match self {
            Self::Fixed(delay) => *delay,
            Self::Varying { series, .. } => series.longest(),
        }
    }

    /// True if packets stay in order.
    #[inline]
    pub fn keeps_order(&self) -> bool {
        match self {
            Self::Fixed(_) => true,
            Self::Varying { keep_order, .. } => *keep_order,
        }
    }
}

impl From<Duration> for Propagation {
    fn from(delay: Duration) -> Self {
        Self::Fixed(delay)
    }
}

impl DelaySeries {
    /// A series of (instant, delay from then on).
    ///
    /// # Errors
    /// If `steps` is empty, the times do not increase, or a delay is beyond 2^61 ns.
    pub fn new(steps: Vec<(Instant, Duration)>) -> Result<Self, Fault> {
        if steps.is_empty() {
            return Err(Fault::new("the delay series is empty; give at least one time and delay"));
        }
        let row = |index, why| Err(Fault::Text(format!("row {index} of the delay series {why}")));
        for (index, step) in steps.iter().enumerate() {
            if index > 0 && step.0 <= steps[index - 1].0 {
                return row(index, "does not come after the row before it; sort by time");
            }
            if step.1.as_nanos() > crate::link::HORIZON as u64 {
                return row(index, "has a delay over 2^61 ns (73 years); check the unit");
            }
        }
        Ok(Self { steps: steps.into(), start: Duration::ZERO, cycle: None })
    }

    /// The same series on the clock of a trace: time 0 is its instant `start`, and from the instant
    /// `cycle.0` on it repeats with the period `cycle.1`.
    ///
    /// ```
    /// use clift::link::DelaySeries;
    /// use clift::units::{Duration, Instant};
    /// let (ns, at) = (Duration::from_nanos, Instant::from_nanos);
    /// let series = DelaySeries::new(vec![(at(0), ns(5)), (at(10), ns(7))])?;
    /// let moved = series.on_clock((ns(8), Some((at(0), ns(20)))));
    /// assert_eq!([0, 2, 12].map(|time| moved.at(at(time)).as_nanos()), [5, 7, 5]);
    /// # Ok::<(), clift::trace::Fault>(())
    /// ```
    pub fn on_clock(&self, (start, cycle): TraceClock) -> Self {
        let cycle = cycle.filter(|(_, period)| *period > Duration::ZERO);
        Self { steps: Arc::clone(&self.steps), start, cycle }
    }

    /// The delay of a series with a single step, which is constant.
    pub fn only(&self) -> Option<Duration> {
        match self.steps[..] {
            [(_, delay)] => Some(delay),
            _ => None,
        }
    }

    /// The maximum delay of all steps.
    pub fn longest(&self) -> Duration {
        self.steps.iter().map(|step| step.1).max().unwrap_or_default()
    }

    /// The delay at `instant`, found by bisection.
    pub fn at(&self, instant: Instant) -> Duration {
        let mut instant =
            Instant::from_nanos(instant.as_nanos().saturating_add(self.start.as_nanos()));
        if let Some((first, period)) = self.cycle
            && instant > first
        {
            let since = instant.as_nanos() - first.as_nanos();
            instant = first + Duration::from_nanos(since % period.as_nanos());
        }
        let after = self.steps.partition_point(|&(from, _)| from <= instant);
        self.steps[after.saturating_sub(1)].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(steps: &[(u64, u64)]) -> Result<DelaySeries, Fault> {
        let step = |&(at, delay)| (Instant::from_nanos(at), Duration::from_nanos(delay));
        DelaySeries::new(steps.iter().map(step).collect())
    }

    #[test]
    fn each_delay_holds_until_the_next() {
        let series = series(&[(10, 5), (20, 7), (30, 1)]).unwrap();
        let at = |ns| series.at(Instant::from_nanos(ns)).as_nanos();
        assert_eq!(series.longest().as_nanos(), 7);
        assert_eq!([0, 10, 19, 20, 29, 30, 1 << 62].map(at), [5, 5, 5, 7, 7, 1, 1]);
    }

    #[test]
    fn steps_must_increase_and_be_in_range() {
        let fault = |steps| series(steps).unwrap_err().to_string();
        assert!(fault(&[]).starts_with("the delay series is empty"));
        assert!(fault(&[(1, 5), (1, 5)]).starts_with("row 1 of the delay series does not come"));
        assert!(fault(&[(1, u64::MAX)]).starts_with("row 0 of the delay series has a delay over"));
    }
}
