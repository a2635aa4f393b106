//! CoDel: drops from the head of the queue while packets have waited too long.

use super::text::{changed, time};
use super::{Aqm, Discipline, Fifo, QueueKind, WaitingPacket};
use crate::config::Arguments;
use crate::link::QueueLimit;
use crate::units::{Bytes, Duration, Instant};

/// The row of CoDel.
pub(super) const KIND: QueueKind = QueueKind {
    name: "codel",
    summary: "Controlled Delay (RFC 8289).",
    text: "codel(target 5 ms, interval 100 ms)",
    read: &|mut arguments| {
        let codel = CoDel::read(&mut arguments)?;
        arguments.end().map(|()| Aqm::CoDel(codel))
    },
};

/// Controlled Delay (RFC 8289).
///
/// When every packet has waited for `target` or longer during `interval`, CoDel drops the packet at
/// the head. Further drops follow at intervals that shrink with the square root of their number,
/// until a packet has waited for less. Packets that allow it ([`Ecn`](crate::units::Ecn)) are
/// marked instead (RFC 8290, section 5.2.6). As in Linux and ns-3, each drop improves the root by
/// one Newton step: the second interval is half of the first, not .71 of it. A queue of one packet
/// of 1500 bytes never has a drop.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CoDel {
    /// Acceptable standing delay.
    pub target: Duration,
    /// Time for which the delay must exceed the target before the first drop: about the maximum
    /// round-trip time.
    pub interval: Duration,
    /// Packets that waited longer than this are always marked, if they allow it: the step of DCTCP
    /// (RFC 8257, section 3.1; CE_THRESHOLD of RFC 8290, section 5.2.7).
    pub ce_threshold: Option<Duration>,
}

impl Default for CoDel {
    /// 5 ms and 100 ms (RFC 8289, sections 4.2 and 4.3), without a threshold.
    fn default() -> Self {
        let (target, interval) = (Duration::from_millis(5), Duration::from_millis(100));
        Self { target, interval, ce_threshold: None }
    }
}

impl CoDel {
    pub(super) fn read(options: &mut Arguments<'_>) -> Result<Self, String> {
        let standard = Self::default();
        Ok(Self {
            target: options.option("target", time)?.unwrap_or(standard.target),
            interval: options.option("interval", time)?.unwrap_or(standard.interval),
            ce_threshold: options.option("ce_threshold", time)?,
        })
    }

    /// The options that are not standard, as text.
    pub(super) fn changed(&self) -> Vec<String> {
        let standard = Self::default();
        let mut options = changed([
            ("target", self.target, standard.target),
            ("interval", self.interval, standard.interval),
        ]);
        options.extend(self.ce_threshold.map(|threshold| format!("ce_threshold {threshold}")));
        options
    }
}

/// Bytes that may always wait (RFC 8289, section 5.5: MAXPACKET).
const LARGEST_PACKET: u64 = 1500;

/// The state of a queue under CoDel.
#[derive(Clone, Debug, Default)]
pub(super) struct CoDelQueue {
    parameters: CoDel,
    pub(super) waiting: Fifo,
    /// Time at which the delay will have been above the target for an interval.
    first_above: Option<Instant>,
    dropping: bool,
    next_drop: Instant,
    /// Drops in the current dropping state, and in the previous one.
    count: u32,
    last_count: u32,
    /// About 1 / sqrt(count), in units of 2^-16.
    inverse_root: u64,
}

/// 1, or the value closest to it.
const ONE: u64 = (1 << 16) - 1;

impl CoDelQueue {
    pub(super) fn new(parameters: CoDel) -> Self {
        Self { parameters, inverse_root: ONE, ..Self::default() }
    }

    /// The head, and whether the delay has been above the target for an interval (RFC 8289, section
    /// 5.6: dodequeue).
    #[inline(always)] // called for every packet: a call costs as much as what it does
    fn take(&mut self, now: Instant) -> Option<(WaitingPacket, bool)> {
        let Some(head) = self.waiting.pop() else {
            self.first_above = None;
            return None;
        };
        let waited = now.saturating_since(head.entered);
        // With at most one full packet waiting, a drop would leave the link idle; a delay below the
        // target starts the interval again.
        if waited < self.parameters.target || self.waiting.bytes <= LARGEST_PACKET {
            self.first_above = None;
            return Some((head, false));
        }
        match self.first_above {
            None => {
                // Short bursts pass: only a delay that stays above for a whole interval is a
                // standing queue.
                self.first_above = Some(now + self.parameters.interval);
                Some((head, false))
            }
            Some(above) => Some((head, now >= above)),
        }
    }

    /// Time of the next drop after one at `at` (RFC 8289, section 5.6: control_law).
    fn after(&self, at: Instant) -> Instant {
        let interval = u128::from(self.parameters.interval.as_nanos());
        at + Duration::from_nanos(((interval * u128::from(self.inverse_root)) >> 16) as u64)
    }

    /// One Newton step towards 1 / sqrt(count): x (3 - count x^2) / 2. If the count has grown so
    /// much that the step would diverge, the root itself.
    fn approach_root(&mut self) {
        let (x, count) = (self.inverse_root, u64::from(self.count));
        let square = (x * x).saturating_mul(count);
        self.inverse_root = match square <= 2 << 32 {
            true => ((u128::from((3 << 32) - square) * u128::from(x)) >> 33) as u64,
            false => ((1 << 32) / count).isqrt(),
        };
    }

    /// A packet comes to the empty queue and leaves it at once, as `dequeue` would have it.
    #[inline(always)] // as `take`
    pub(super) fn pass(&mut self) {
        self.first_above = None;
        self.dropping = false;
    }

    /// Adds packets dropped from the head for lack of room to the drop count, which increases the
    /// drop rate (`fq_codel_drop` of Linux).
    pub(super) fn press(&mut self, dropped: u32) {
        self.count = self.count.saturating_add(dropped);
    }

    /// The next packet to send, marked if it waited beyond the threshold.
    #[inline(always)] // as `take`
    pub(super) fn dequeue(
        &mut self,
        now: Instant,
        dropped: &mut Vec<WaitingPacket>,
    ) -> Option<WaitingPacket> {
        let mut head = self.control(now, dropped)?;
        if let Some(threshold) = self.parameters.ce_threshold
            && now.saturating_since(head.entered) > threshold
        {
            head.mark();
        }
        Some(head)
    }

    /// The next packet to send (RFC 8289, section 5.6: deque). A packet that allows it is marked
    /// instead of dropped, and counts as a drop.
    #[inline(always)] // as `take`
    fn control(&mut self, now: Instant, dropped: &mut Vec<WaitingPacket>) -> Option<WaitingPacket> {
        let taken = self.take(now);
        let Some((mut head, mut above)) = taken else {
            self.dropping = false;
            return None;
        };
        if self.dropping {
            if !above {
                self.dropping = false;
                return Some(head);
            }
            while self.dropping && now >= self.next_drop {
                self.count = self.count.saturating_add(1);
                self.approach_root();
                if head.mark() {
                    self.next_drop = self.after(self.next_drop);
                    break;
                }
                // A late call may owe several drops: each had its own time.
                dropped.push(head);
                let Some(next) = self.take(now) else {
                    self.dropping = false;
                    return None;
                };
                (head, above) = next;
                // Counted from the last drop time and not from `now`, so that the rate of drops
                // holds.
                if above {
                    self.next_drop = self.after(self.next_drop);
                } else {
                    self.dropping = false;
                }
            }
            return Some(head);
        }
        if !above {
            return Some(head);
        }
        let next = match head.mark() {
            true => Some((head, above)),
            false => {
                dropped.push(head);
                self.take(now)
            }
        };
        self.dropping = true;
        // After a recent dropping state, start at the drop rate reached then.
        let drops = self.count - self.last_count;
        let lately = now.saturating_since(self.next_drop).as_nanos()
            < 16 * self.parameters.interval.as_nanos();
        if drops > 1 && lately {
            self.count = drops;
            self.approach_root();
        } else {
            self.count = 1;
            self.inverse_root = ONE;
        }
        self.next_drop = self.after(now);
        self.last_count = self.count;
        next.map(|(head, _)| head)
    }
}

/// A single queue under CoDel, with a limit.
#[derive(Clone, Debug)]
pub(crate) struct Single {
    queue: CoDelQueue,
    limit: QueueLimit,
}

impl Single {
    pub(super) fn new(parameters: CoDel, limit: QueueLimit) -> Self {
        Self { queue: CoDelQueue::new(parameters), limit }
    }
}

impl Discipline for Single {
    #[inline]
    fn enqueue(&mut self, _: Instant, held: WaitingPacket, dropped: &mut Vec<WaitingPacket>) {
        match self.has_room(held.size) {
            true => self.queue.waiting.push(held),
            false => dropped.push(held),
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<WaitingPacket>) -> Option<WaitingPacket> {
        self.queue.dequeue(now, dropped)
    }

    #[inline(always)] // as `CoDelQueue::take`
    fn passes(&mut self, _: Instant, held: &WaitingPacket) -> bool {
        let passes = self.has_room(held.size);
        if passes {
            self.queue.pass();
        }
        passes
    }

    #[inline(always)] // as `CoDelQueue::take`
    fn is_at_rest(&self, _: Instant) -> bool {
        let CoDelQueue { waiting, first_above, dropping, .. } = &self.queue;
        waiting.is_empty() && first_above.is_none() && !dropping
    }

    #[inline]
    fn has_room(&self, size: Bytes) -> bool {
        self.limit.has_room(self.len(), self.queue.waiting.bytes, size)
    }

    #[inline]
    fn len(&self) -> usize {
        self.queue.waiting.len()
    }
}
