//! DualPI2: a queue for flows that react to each mark, and a queue for all others.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::text::{any_time, changed, time};
use super::{Aqm, Discipline, Fifo, QueueKind, WaitingPacket, missed};
use crate::link::QueueLimit;
use crate::seed::uniform;
use crate::units::{Bytes, Duration, Ecn, Instant};

/// The row of DualPI2.
pub(super) const KIND: QueueKind = QueueKind {
    name: "dualpi2",
    summary: "Two queues, one of them for flows that react to each mark (RFC 9332).",
    text: "dualpi2(target 15 ms, update 16 ms, step 1 ms, marks even)",
    read: &|mut arguments| {
        let standard = DualPi2::default();
        let dualpi2 = DualPi2 {
            target: arguments.option("target", time)?.unwrap_or(standard.target),
            update: arguments.option("update", time)?.unwrap_or(standard.update),
            step: arguments.option("step", any_time)?.unwrap_or(standard.step),
            marks: arguments.option("marks", marks)?.unwrap_or(standard.marks),
        };
        arguments.end().map(|()| Aqm::DualPi2(dualpi2))
    },
};

fn marks(text: &str) -> Result<Marks, String> {
    match &*text.to_lowercase() {
        "even" => Ok(Marks::Even),
        "drawn" => Ok(Marks::Drawn),
        _ => Err(format!("marks must be \"even\" or \"drawn\", not `{text}`")),
    }
}

/// Dual-Queue Coupled AQM, the variant DualPI2 (RFC 9332, appendix A).
///
/// Packets with ECT(1) or CE wait in the low-latency queue, all others in the classic queue. Every
/// `update`, a proportional integral controller adjusts a probability p by the distance of the
/// longer delay of both queues from `target`, and by its change. Classic packets are dropped, or
/// marked, with p^2. Low-latency packets are marked with 2 p, or always if they waited longer than
/// `step`. As in Linux, nothing is dropped or marked by probability if fewer than two packets are
/// left.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DualPi2 {
    /// Target delay of the classic queue.
    pub target: Duration,
    /// Time between two updates (Tupdate).
    pub update: Duration,
    /// Low-latency packets that waited longer are marked, also if no other is behind them
    /// (`min_qlen_step` of Linux is 0).
    pub step: Duration,
    /// How marks and drops are derived from their probability.
    pub marks: Marks,
}

/// How marks and drops are derived from a probability.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Marks {
    /// As evenly as possible (RFC 9332, appendix A: recur).
    #[default]
    Even,
    /// Independently (`dualpi2_roll` of Linux).
    Drawn,
}

impl Default for DualPi2 {
    /// 15 ms, 16 ms and 1 ms as in Linux; RFC 9332 has a ramp from 800 us to 1.2 ms instead of the
    /// step.
    fn default() -> Self {
        Self {
            target: Duration::from_millis(15),
            update: Duration::from_millis(16),
            step: Duration::from_millis(1),
            marks: Marks::Even,
        }
    }
}

impl DualPi2 {
    /// The options that are not standard, as text.
    pub(super) fn changed(&self) -> Vec<String> {
        let standard = Self::default();
        let mut options = changed([
            ("target", self.target, standard.target),
            ("update", self.update, standard.update),
            ("step", self.step, standard.step),
        ]);
        options.extend((self.marks == Marks::Drawn).then(|| "marks drawn".to_owned()));
        options
    }
}

/// Gains in Hz for the distance from the target and for the change.
const ALPHA: f64 = 0.16;
const BETA: f64 = 3.2;
/// Ratio of the marking probability of low-latency packets to the root of the drop probability of
/// classic ones (RFC 9332, section 2.1: k).
const COUPLING: f64 = 2.0;
/// Classic drop probability from which on packets that allow marks are dropped as well (p_Cmax).
const MOST_CLASSIC: f64 = 1.0 / (COUPLING * COUPLING);
/// Shares of the two queues while both have packets (`c_protection` of Linux), in per cent.
const CLASSIC_WEIGHT: i64 = 10;
const LOW_LATENCY_WEIGHT: i64 = 90;
/// The classic queue starts with the credit of a packet of this size, in bytes.
const LARGEST_PACKET: i64 = 1500;

/// Decides events by their probability.
#[derive(Clone, Debug)]
enum Signals {
    /// Adds up the probabilities; the event happens whenever the sum reaches 1.
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
    low: Fifo,
    classic: Fifo,
    /// p'.
    probability: f64,
    last_delay: Duration,
    next_update: Instant,
    /// For classic packets, for low-latency packets, and for drops in overload.
    classic_signals: Signals,
    low_marks: Signals,
    low_drops: Signals,
    /// Weighted bytes by which the classic queue was served in excess.
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
            low: Fifo::default(),
            classic: Fifo::default(),
            probability: 0.0,
            last_delay: Duration::ZERO,
            next_update: Instant::ZERO + parameters.update,
            classic_signals: signals(),
            low_marks: signals(),
            low_drops: signals(),
            credit: CREDIT,
        }
    }

    /// Performs the updates up to `now`: between two calls, only the delays change.
    fn advance(&mut self, now: Instant) {
        while self.next_update <= now {
            let update = self.parameters.update;
            if self.len() == 0 && self.probability == 0.0 && self.last_delay == Duration::ZERO {
                self.next_update = missed(self.next_update, update, now);
                return;
            }
            let at = self.next_update;
            // The longer delay of the two, so that low-latency traffic alone also raises the
            // probability.
            let delay = self.low.delay(at).max(self.classic.delay(at));
            let (new, last) = (delay.as_secs_f64(), self.last_delay.as_secs_f64());
            let target = self.parameters.target.as_secs_f64();
            let change = ALPHA * (new - target) + BETA * (new - last);
            self.probability = (self.probability + change).clamp(0.0, 1.0);
            self.last_delay = delay;
            self.next_update = at + update;
        }
    }

    /// The next packet: of the low-latency queue, unless the classic one has been served too
    /// little. Also returns whether it is from the low-latency queue.
    fn next(&mut self) -> Option<(WaitingPacket, bool)> {
        let both = !self.low.is_empty() && !self.classic.is_empty();
        let takes_low = !self.low.is_empty() && (!both || self.credit <= 0);
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

    /// p', or 0 if fewer than two packets wait (`must_drop` of Linux): when the rate drops, p'
    /// would otherwise decrease too slowly.
    fn probability_now(&self) -> f64 {
        let few = self.low.bytes + self.classic.bytes < 2 * LARGEST_PACKET as u64;
        if few { 0.0 } else { self.probability }
    }

    /// Whether a classic packet stays; it may be marked.
    fn keeps_classic(&mut self, held: &mut WaitingPacket) -> bool {
        let root = self.probability_now();
        // The rate of classic controls follows 1 / sqrt(p), that of scalable ones 1 / p: the square
        // makes their rates equal (RFC 9332).
        let probability = root * root;
        if !self.classic_signals.happens(probability) {
            return true;
        }
        probability < MOST_CLASSIC && held.mark()
    }

    /// Whether a low-latency packet stays; it may be marked. If all are marked already, they are
    /// dropped as classic packets are (RFC 9332, appendix A.2).
    fn keeps_low(&mut self, held: &mut WaitingPacket, now: Instant) -> bool {
        let probability = self.probability_now();
        let coupled = COUPLING * probability;
        if coupled >= 1.0 {
            held.mark();
            return !self.low_drops.happens(probability * probability);
        }
        let step = now.saturating_since(held.entered) > self.parameters.step;
        if self.low_marks.happens(if step { 1.0 } else { coupled }) {
            held.mark();
        }
        true
    }
}

impl Discipline for Queues {
    #[inline]
    fn enqueue(&mut self, now: Instant, held: WaitingPacket, dropped: &mut Vec<WaitingPacket>) {
        self.advance(now);
        if !self.has_room(held.size) {
            dropped.push(held);
        // ECT(1) is the identifier of L4S; a packet marked earlier may have been one (RFC 9331).
        } else if matches!(held.ecn, Ecn::Ect1 | Ecn::Ce) {
            self.low.push(held);
        } else {
            self.classic.push(held);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<WaitingPacket>) -> Option<WaitingPacket> {
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

    /// A packet that finds none waiting is neither dropped nor marked.
    #[inline]
    fn passes(&mut self, now: Instant, held: &WaitingPacket) -> bool {
        self.advance(now);
        // A drawn signal takes its draw in any case.
        self.parameters.marks == Marks::Even && self.has_room(held.size)
    }

    #[inline]
    fn is_at_rest(&self, now: Instant) -> bool {
        self.len() == 0 && self.credit == CREDIT && now < self.next_update
    }

    #[inline]
    fn has_room(&self, size: Bytes) -> bool {
        self.limit.has_room(self.len(), self.low.bytes + self.classic.bytes, size)
    }

    #[inline]
    fn len(&self) -> usize {
        self.low.len() + self.classic.len()
    }
}
