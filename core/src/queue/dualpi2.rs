//! DualPI2: a queue for flows that react to each mark beside one for all others.

use std::collections::VecDeque;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Discipline, Held, uniform};
use crate::link::QueueLimit;
use crate::units::{Bytes, Duration, Ecn, Instant};

/// Dual-Queue Coupled AQM, the variant DualPI2 (RFC 9332, appendix A).
///
/// Packets with ECT(1) or CE wait in the low-latency queue, all others in the classic one. Every
/// `update` a proportional integral controller moves a probability p by how far the longer delay of
/// both is from `target` and by how much it changed. Classic packets are dropped, or marked, with p^2;
/// low-latency ones are marked with 2 p, or all of them that waited for longer than `step`. Where fewer
/// than two packets are left nothing is dropped or marked by probability, as in Linux.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DualPi2 {
    /// The delay that it steers to, of the classic queue.
    pub target: Duration,
    /// Between two updates (Tupdate).
    pub update: Duration,
    /// Low-latency packets that waited for longer are marked, unless none is behind them.
    pub step: Duration,
    /// How marks and drops follow their probability.
    pub marks: Marks,
}

/// How marks and drops follow their probability.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Marks {
    /// As evenly as can be (RFC 9332, appendix A: recur).
    #[default]
    Even,
    /// Each by itself (`dualpi2_roll` of Linux).
    Drawn,
}

impl Default for DualPi2 {
    /// 15 ms, 16 ms and 1 ms, as Linux has them; RFC 9332 has a ramp from 800 us to 1.2 ms in the place
    /// of the step.
    fn default() -> Self {
        Self {
            target: Duration::from_millis(15),
            update: Duration::from_millis(16),
            step: Duration::from_millis(1),
            marks: Marks::Even,
        }
    }
}

/// Weights in Hz of the distance to the target and of the change.
const ALPHA: f64 = 0.16;
const BETA: f64 = 3.2;
/// Low-latency packets are marked with so many times the root of what classic ones are dropped with
/// (RFC 9332, section 2.1: k).
const COUPLING: f64 = 2.0;
/// From this probability of classic packets on those that allow marks are dropped too (p_Cmax).
const MOST_CLASSIC: f64 = 1.0 / (COUPLING * COUPLING);
/// Shares of the two queues while both have packets (`c_protection` of Linux), in per cent.
const CLASSIC_WEIGHT: i64 = 10;
const LOW_LATENCY_WEIGHT: i64 = 90;
/// The credit with which the classic queue begins is that of a packet of so many bytes.
const LARGEST_PACKET: i64 = 1500;

/// One of the queues.
#[derive(Clone, Debug, Default)]
struct Line {
    waiting: VecDeque<Held>,
    bytes: u64,
}

impl Line {
    fn push(&mut self, held: Held) {
        self.bytes += u64::from(held.size.0);
        self.waiting.push_back(held);
    }

    fn pop(&mut self) -> Option<Held> {
        let held = self.waiting.pop_front()?;
        self.bytes -= u64::from(held.size.0);
        Some(held)
    }

    /// How long the first has waited.
    fn delay(&self, now: Instant) -> Duration {
        self.waiting.front().map_or(Duration::ZERO, |head| now.saturating_since(head.entered))
    }
}

/// Says "yes" with a probability.
#[derive(Clone, Debug)]
enum Signals {
    /// A sum of the probabilities that says it whenever it passes one.
    Even(f64),
    Drawn(Box<ChaCha8Rng>),
}

impl Signals {
    fn happens(&mut self, probability: f64) -> bool {
        match self {
            Self::Even(sum) => {
                *sum += probability;
                let happens = *sum > 1.0;
                *sum -= f64::from(u8::from(happens));
                happens
            }
            Self::Drawn(rng) => uniform(rng) < probability,
        }
    }
}

/// The state of the two queues.
#[derive(Clone, Debug)]
pub(crate) struct Queues {
    parameters: DualPi2,
    limit: QueueLimit,
    low: Line,
    classic: Line,
    /// p'.
    probability: f64,
    last_delay: Duration,
    next_update: Instant,
    /// Of classic packets, of low-latency ones, and of those that are dropped in overload.
    classic_signals: Signals,
    low_marks: Signals,
    low_drops: Signals,
    /// Bytes by their weights that the classic queue was served too much.
    credit: i64,
}

const CREDIT: i64 = LARGEST_PACKET * (CLASSIC_WEIGHT - LOW_LATENCY_WEIGHT);

impl Queues {
    pub(super) fn new(parameters: DualPi2, limit: QueueLimit, mut rng: ChaCha8Rng) -> Self {
        let mut signals = || match parameters.marks {
            Marks::Even => Signals::Even(0.0),
            Marks::Drawn => Signals::Drawn(Box::new(ChaCha8Rng::seed_from_u64(rng.next_u64()))),
        };
        Self {
            parameters,
            limit,
            low: Line::default(),
            classic: Line::default(),
            probability: 0.0,
            last_delay: Duration::ZERO,
            next_update: Instant::ZERO + parameters.update,
            classic_signals: signals(),
            low_marks: signals(),
            low_drops: signals(),
            credit: CREDIT,
        }
    }

    /// Works off the updates up to `now`: between two calls only the delays grow.
    fn advance(&mut self, now: Instant) {
        while self.next_update <= now {
            let update = self.parameters.update;
            if self.len() == 0 && self.probability == 0.0 && self.last_delay == Duration::ZERO {
                let missed = now.saturating_since(self.next_update).as_nanos() / update.as_nanos();
                let whole = Duration::from_nanos((missed + 1) * update.as_nanos());
                self.next_update = self.next_update + whole;
                return;
            }
            let at = self.next_update;
            let delay = self.low.delay(at).max(self.classic.delay(at));
            let (new, last) = (delay.as_secs_f64(), self.last_delay.as_secs_f64());
            let target = self.parameters.target.as_secs_f64();
            let change = ALPHA * (new - target) + BETA * (new - last);
            self.probability = (self.probability + change).clamp(0.0, 1.0);
            self.last_delay = delay;
            self.next_update = at + update;
        }
    }

    /// The next packet, of the low-latency queue unless the classic one has had too little; and whether
    /// it is of the low-latency one.
    fn next(&mut self) -> Option<(Held, bool)> {
        let both = !self.low.waiting.is_empty() && !self.classic.waiting.is_empty();
        let takes_low = !self.low.waiting.is_empty() && (!both || self.credit <= 0);
        let taken = if takes_low { self.low.pop() } else { self.classic.pop() };
        let Some(held) = taken else {
            self.credit = CREDIT;
            return None;
        };
        if both {
            let weight = if takes_low { CLASSIC_WEIGHT } else { -LOW_LATENCY_WEIGHT };
            self.credit += weight * i64::from(held.size.0);
        }
        Some((held, takes_low))
    }

    /// p', or nothing where fewer than two packets wait (`must_drop` of Linux): while the rate falls, p'
    /// falls too slowly to be heard then.
    fn probability_now(&self) -> f64 {
        let few = self.low.bytes + self.classic.bytes < 2 * LARGEST_PACKET as u64;
        if few { 0.0 } else { self.probability }
    }

    /// Whether a classic packet stays; it may be marked.
    fn keeps_classic(&mut self, held: &mut Held) -> bool {
        let root = self.probability_now();
        let probability = root * root;
        if !self.classic_signals.happens(probability) {
            return true;
        }
        probability < MOST_CLASSIC && held.mark()
    }

    /// Whether a low-latency packet stays; it may be marked. Where all are marked already, they are
    /// dropped as classic ones are (RFC 9332, appendix A.2).
    fn keeps_low(&mut self, held: &mut Held, now: Instant) -> bool {
        let probability = self.probability_now();
        let coupled = COUPLING * probability;
        if coupled >= 1.0 {
            held.mark();
            return !self.low_drops.happens(probability * probability);
        }
        let waited = now.saturating_since(held.entered);
        let step = waited > self.parameters.step && !self.low.waiting.is_empty();
        if self.low_marks.happens(if step { 1.0 } else { coupled }) {
            held.mark();
        }
        true
    }
}

impl Discipline for Queues {
    #[inline]
    fn enqueue(&mut self, now: Instant, held: Held, dropped: &mut Vec<Held>) {
        self.advance(now);
        if !self.has_room(held.size) {
            dropped.push(held);
        } else if matches!(held.ecn, Ecn::Ect1 | Ecn::Ce) {
            self.low.push(held);
        } else {
            self.classic.push(held);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<Held>) -> Option<Held> {
        self.advance(now);
        while let Some((mut held, low)) = self.next() {
            let keeps = match low {
                true => self.keeps_low(&mut held, now),
                false => self.keeps_classic(&mut held),
            };
            if keeps {
                return Some(held);
            }
            dropped.push(held);
        }
        None
    }

    #[inline]
    fn has_room(&self, size: Bytes) -> bool {
        self.limit.has_room(self.len(), self.low.bytes + self.classic.bytes, size)
    }

    #[inline]
    fn len(&self) -> usize {
        self.low.waiting.len() + self.classic.waiting.len()
    }
}
