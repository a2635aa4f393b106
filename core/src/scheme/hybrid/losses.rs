//! Whether a frame is decoded: K of its N units arrive.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use crate::config::Fault;
use crate::link::clock::{SlotClock, SlotPosition};
use crate::link::{HORIZON, span};
use crate::scheme::hybrid::config::{HybridConfig, HybridOptions};
use crate::seed::KeyedRandom;
use crate::trace::PhyTrace;
use crate::units::{Bytes, Duration, Probability};

/// Decides frame by frame, in order of their starts.
#[derive(Clone, Debug)]
pub(super) enum FrameLosses {
    Drawn(Drawn),
    Traced(Box<Traced>),
}

impl FrameLosses {
    pub(super) fn new(
        config: &HybridConfig,
        rng: ChaCha8Rng,
        start_offset: Duration,
        wrap: bool,
    ) -> Result<Self, Fault> {
        let options = &config.options;
        match &config.losses {
            None => {
                let fails = |units| fewer_than(options.k, units, options.unit_loss());
                Ok(Self::Drawn(Drawn::new([fails(options.first_units()), fails(options.n)], rng)))
            }
            Some(trace) => {
                Traced::new(options, trace, start_offset, wrap).map(Box::new).map(Self::Traced)
            }
        }
    }

    /// Whether the frame that starts at `start`, for the first time or `again`, is decoded; starts
    /// rise from call to call.
    #[inline]
    pub(super) fn decodes(&mut self, start: i64, again: bool) -> bool {
        match self {
            Self::Drawn(drawn) => drawn.decodes(start, again),
            Self::Traced(traced) => traced.decodes(start, again),
        }
    }

    /// The first and the last instant at which a frame may start.
    pub(super) fn window(&self) -> (i64, i64) {
        match self {
            Self::Drawn(_) => (0, HORIZON),
            Self::Traced(traced) => traced.window,
        }
    }
}

/// Frames fail independently, each by the number that belongs to the instant of its start: what
/// else is sent, and when, never shifts what a frame meets.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    numbers: KeyedRandom,
    /// Probability that a frame fails when it is sent for the first time, and again.
    fails: [f64; 2],
}

impl Drawn {
    fn new(fails: [f64; 2], rng: ChaCha8Rng) -> Self {
        Self { numbers: KeyedRandom::of(rng), fails }
    }

    #[inline]
    fn decodes(&self, start: i64, again: bool) -> bool {
        self.numbers.uniform(start.unsigned_abs()) >= self.fails[usize::from(again)]
    }
}

/// The probability that fewer than `data` of `total` units arrive, each lost with `p`: a sum of
/// binomial terms, each by its logarithm, so that nothing underflows.
pub(super) fn fewer_than(data: u32, total: u32, p: Probability) -> f64 {
    let p = p.get();
    if p == 0.0 || p == 1.0 {
        return p;
    }
    let (log_lost, log_arrives) = (libm::log(p), libm::log1p(-p));
    let factorial = |n: u32| libm::lgamma(f64::from(n) + 1.0);
    let term = |lost: u32| {
        let ways = factorial(total) - factorial(lost) - factorial(total - lost);
        let log = ways + f64::from(lost) * log_lost + f64::from(total - lost) * log_arrives;
        libm::exp(log)
    };
    // Smallest terms first.
    (total - data + 1..=total).rev().map(term).sum::<f64>().min(1.0)
}

/// Units meet the fates of a trace's slots.
#[derive(Clone, Debug)]
pub(super) struct Traced {
    trace: Arc<PhyTrace>,
    data: usize,
    /// Where in a frame each unit begins, and how many of them its first transmission has.
    begins: Vec<i64>,
    first: usize,
    clock: SlotClock,
    /// The slot that the last unit met.
    place: SlotPosition,
    window: (i64, i64),
}

impl Traced {
    fn new(
        options: &HybridOptions,
        trace: &Arc<PhyTrace>,
        start_offset: Duration,
        wrap: bool,
    ) -> Result<Self, Fault> {
        let (first, last) = (trace.t()[0], trace.t()[trace.len() - 1]);
        let clock = SlotClock::new(first, start_offset, wrap.then(|| trace.period()))?;
        let unit = |number: u32| options.rate.time_to_send(Bytes(options.unit.0 * number));
        let begins: Vec<i64> = (0..options.n).map(|number| span(unit(number))).collect();
        // The end of the trace is one gap after its last slot; every unit of a frame begins before.
        let gap = (trace.median_gap().as_nanos() as i64).max(1);
        let end = if wrap { HORIZON } else { last + gap - clock.offset() };
        let begun = first + clock.start().base;
        let window = (begun.max(0), end - 1 - begins[begins.len() - 1]);
        let (trace, data, place) = (Arc::clone(trace), options.k as usize, clock.start());
        let first = options.first_units() as usize;
        Ok(Self { trace, data, begins, first, clock, place, window })
    }

    fn decodes(&mut self, start: i64, again: bool) -> bool {
        let (t, d) = (self.trace.t(), self.trace.d());
        let mut arrived = 0;
        let units = if again { self.begins.len() } else { self.first };
        for begin in &self.begins[..units] {
            self.place = self.clock.last_until(t, self.place, start + begin);
            arrived += usize::from(d[self.place.slot] != 0);
        }
        arrived >= self.data
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};

    #[test]
    fn frames_by_hand() {
        let p = |p| Probability::new(p).unwrap();
        // Two of three at p = 0.1: 0.1^3 + 3 x 0.1^2 x 0.9.
        assert!((fewer_than(2, 3, p(0.1)) - 0.028).abs() < 1e-15);
        assert!((fewer_than(10, 10, p(0.01)) - (1.0 - 0.99f64.powi(10))).abs() < 1e-14);
        assert_eq!(fewer_than(10, 12, p(0.0)), 0.0);
        assert_eq!(fewer_than(10, 12, p(1.0)), 1.0);
        let rare = fewer_than(10, 20, p(1e-3));
        assert!(rare > 0.0 && rare < 1e-27, "{rare}");
    }

    #[test]
    fn what_a_frame_meets_depends_on_its_instant_alone() {
        let drawn = || Drawn::new([0.3; 2], Seed(7).rng(Stream::Link(0)));
        let (one, other) = (drawn(), drawn());
        let mut failed = 0;
        for start in (0..40_000).map(|frame| frame * 7_200_000) {
            let alone = one.decodes(start, false);
            failed += u32::from(!alone);
            // A frame of another flow in between.
            let _ = other.decodes(start - start % 3, true);
            assert_eq!(other.decodes(start, false), alone);
        }
        // Four standard errors.
        assert!((f64::from(failed) / 40_000.0 - 0.3).abs() < 4.0 * (0.21f64 / 40_000.0).sqrt());
    }

    #[test]
    fn long_frames_neither_underflow_nor_exceed_one() {
        let p = |p| Probability::new(p).unwrap();
        // The mean is 500 of 60000 lost; a spare of 500 leaves about half the frames, of 700 none.
        let half = fewer_than(59_500, 60_000, p(500.0 / 60_000.0));
        assert!((0.45..0.55).contains(&half), "{half}");
        assert!(fewer_than(59_300, 60_000, p(500.0 / 60_000.0)) < 1e-12);
        assert!((fewer_than(60_000, 60_000, p(0.5)) - 1.0).abs() < 1e-9);
    }
}
