//! PIE: drops arriving packets at random, with a probability that depends on the delay.

use rand_chacha::ChaCha8Rng;

use super::text::{any_time, changed, time};
use super::{Aqm, Discipline, Fifo, QueueKind, WaitingPacket, missed};
use crate::link::QueueLimit;
use crate::seed::uniform;
use crate::units::{Bytes, Duration, Instant};

/// The row of PIE.
pub(super) const KIND: QueueKind = QueueKind {
    name: "pie",
    summary: "Proportional Integral controller Enhanced (RFC 8033).",
    text: "pie(target 15 ms, update 15 ms, burst 150 ms)",
    read: &|mut arguments| {
        let standard = Pie::default();
        let pie = Pie {
            target: arguments.option("target", time)?.unwrap_or(standard.target),
            update: arguments.option("update", time)?.unwrap_or(standard.update),
            burst: arguments.option("burst", any_time)?.unwrap_or(standard.burst),
        };
        arguments.end().map(|()| Aqm::Pie(pie))
    },
};

/// Proportional Integral controller Enhanced (RFC 8033).
///
/// Every `update`, the drop probability is adjusted by the distance of the delay from `target` and
/// by the change of the delay. An arriving packet is dropped with that probability. The delay is
/// that of the packet that left last, measured from its arrival (section 5.2 leaves the choice).
/// The cap of section 5.5 and the derandomisation of section 5.4 apply. Up to a probability of 10
/// %, packets that allow it ([`Ecn`](crate::units::Ecn)) are marked instead (section 5.1).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Pie {
    /// Target delay (QDELAY_REF).
    pub target: Duration,
    /// Time between two updates (T_UPDATE).
    pub update: Duration,
    /// Maximum length of a burst after an idle time (MAX_BURST).
    pub burst: Duration,
}

impl Default for Pie {
    /// 15 ms, 15 ms and 150 ms (RFC 8033, sections 4.2 and 4.4).
    fn default() -> Self {
        let (target, update) = (Duration::from_millis(15), Duration::from_millis(15));
        Self { target, update, burst: Duration::from_millis(150) }
    }
}

impl Pie {
    /// The options that are not standard, as text.
    pub(super) fn changed(&self) -> Vec<String> {
        let standard = Self::default();
        changed([
            ("target", self.target, standard.target),
            ("update", self.update, standard.update),
            ("burst", self.burst, standard.burst),
        ])
    }
}

/// Gains in Hz for the distance from the target and for the change (RFC 8033, section 4.2).
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// Packet size for which the constants are defined (MEAN_PKTSIZE).
const MEAN_PACKET: u64 = 1500;
/// Sums of probabilities between which a packet is dropped at random (RFC 8033, section 5.4).
const SURELY_NOT: f64 = 0.85;
const SURELY: f64 = 8.5;
/// Below this probability, packets that allow it are marked instead of dropped (RFC 8033, section
/// 5.1: mark_ecnth).
const MARKS_BELOW: f64 = 0.1;

/// The state of a queue under PIE.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    parameters: Pie,
    limit: QueueLimit,
    rng: ChaCha8Rng,
    waiting: Fifo,
    probability: f64,
    /// Sum of the probabilities since the last drop.
    accumulated: f64,
    burst: Duration,
    /// Waiting time of the packet that left last, and its value at the last update.
    delay: Duration,
    last_delay: Duration,
    next_update: Instant,
}

impl Queue {
    pub(super) fn new(parameters: Pie, limit: QueueLimit, rng: ChaCha8Rng) -> Self {
        Self {
            parameters,
            limit,
            rng,
            waiting: Fifo::default(),
            probability: 0.0,
            accumulated: 0.0,
            burst: parameters.burst,
            delay: Duration::ZERO,
            last_delay: Duration::ZERO,
            next_update: Instant::ZERO + parameters.update,
        }
    }

    /// Performs the updates up to `now`: their inputs do not change between two calls.
    fn advance(&mut self, now: Instant) {
        while self.next_update <= now {
            if self.is_idle() {
                // Further updates have no effect.
                self.next_update = missed(self.next_update, self.parameters.update, now);
                return;
            }
            self.adapt();
            self.next_update = self.next_update + self.parameters.update;
        }
    }

    fn is_idle(&self) -> bool {
        let still = self.delay == Duration::ZERO && self.last_delay == Duration::ZERO;
        still && self.probability == 0.0 && self.burst == self.parameters.burst
    }

    /// The update of RFC 8033, section 4.2, with 5.5, then that of the burst allowance (4.4).
    fn adapt(&mut self) {
        let Pie { target, update, burst } = self.parameters;
        let (delay, last) = (self.delay.as_secs_f64(), self.last_delay.as_secs_f64());
        let mut change = ALPHA * (delay - target.as_secs_f64()) + BETA * (delay - last);
        // Small steps while the probability is small, so that light congestion is not answered with
        // heavy drops.
        change *= match self.probability {
            p if p < 0.000001 => 1.0 / 2048.0,
            p if p < 0.00001 => 1.0 / 512.0,
            p if p < 0.0001 => 1.0 / 128.0,
            p if p < 0.001 => 1.0 / 32.0,
            p if p < 0.01 => 1.0 / 8.0,
            p if p < 0.1 => 1.0 / 2.0,
            _ => 1.0,
        };
        if self.probability >= 0.1 {
            // RFC 8033, section 5.5: at most 2 % a step, so that a burst does not cause a wave of
            // drops.
            change = change.min(0.02);
        }
        self.probability += change;
        if self.delay == Duration::ZERO && self.last_delay == Duration::ZERO {
            // An idle queue forgets its congestion within seconds.
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        let calm = |delay: Duration| delay < target.half();
        self.burst = if self.probability == 0.0 && calm(self.delay) && calm(self.last_delay) {
            burst
        } else {
            Duration::from_nanos(self.burst.as_nanos().saturating_sub(update.as_nanos()))
        };
        self.last_delay = self.delay;
    }

    /// Whether an arriving packet is dropped (RFC 8033, sections 4.1 and 5.4).
    fn drops(&mut self) -> bool {
        if self.burst > Duration::ZERO {
            return false;
        }
        let is_light = self.last_delay < self.parameters.target.half() && self.probability < 0.2;
        // RFC 8033, section 4.1: short queues are left alone, so that the link never runs dry.
        if is_light || self.waiting.bytes <= 2 * MEAN_PACKET {
            return false;
        }
        if self.probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        // RFC 8033, section 5.4: without this, random drops come in clusters, which cause timeouts.
        if self.accumulated < SURELY_NOT {
            return false;
        }
        let drops = self.accumulated >= SURELY || uniform(&mut self.rng) < self.probability;
        if drops {
            self.accumulated = 0.0;
        }
        drops
    }
}

impl Discipline for Queue {
    #[inline]
    fn enqueue(&mut self, now: Instant, held: WaitingPacket, dropped: &mut Vec<WaitingPacket>) {
        self.advance(now);
        let mut held = held;
        if !self.has_room(held.size)
            || (self.drops() && !(self.probability <= MARKS_BELOW && held.mark()))
        {
            dropped.push(held);
            return;
        }
        self.waiting.push(held);
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, _: &mut Vec<WaitingPacket>) -> Option<WaitingPacket> {
        self.advance(now);
        let Some(held) = self.waiting.pop() else {
            self.delay = Duration::ZERO;
            return None;
        };
        self.delay = now.saturating_since(held.entered);
        Some(held)
    }

    /// A packet that finds none waiting is not dropped.
    #[inline]
    fn passes(&mut self, now: Instant, held: &WaitingPacket) -> bool {
        self.advance(now);
        let passes = self.has_room(held.size);
        if passes {
            self.delay = Duration::ZERO;
        }
        passes
    }

    #[inline]
    fn is_at_rest(&self, now: Instant) -> bool {
        self.waiting.is_empty() && self.delay == Duration::ZERO && now < self.next_update
    }

    #[inline]
    fn has_room(&self, size: Bytes) -> bool {
        self.limit.has_room(self.len(), self.waiting.bytes, size)
    }

    #[inline]
    fn len(&self) -> usize {
        self.waiting.len()
    }
}
