//! Packets that reach an end of a connection one after the other, and what it does meanwhile.

use crate::transport::{Answer, End, Limit, Outbox, Received};
use crate::units::Instant;

/// When an event happens, and its rank among those of the same instant.
pub(crate) type Key = (Instant, u64);

/// The timer of an endpoint as its host sets it: seldom, because an endpoint moves its timer with nearly
/// every packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alarm {
    end: End,
    /// When the host looks at it: not later than it goes off.
    look: Instant,
    /// When that of a receiver goes off. A sender's does when the host looks: too early, but for the last
    /// time, which has no effect.
    deadline: Instant,
    /// Rank of that event.
    rank: u64,
}

/// The time of an alarm that is not set: it lies beyond every run.
const NEVER: Instant = Instant::from_nanos(u64::MAX);

impl Default for Alarm {
    fn default() -> Self {
        Self::new(End::default())
    }
}

impl Alarm {
    /// That of an end, not set.
    pub(crate) fn new(end: End) -> Self {
        Self { end, look: NEVER, deadline: NEVER, rank: 0 }
    }

    /// The endpoint wants to be called at `timeout`, which has this rank. Says whether the host must look
    /// at another time than it had.
    #[inline(always)] // called for every packet: a call costs as much as what it does
    pub(crate) fn set(&mut self, timeout: Option<Instant>, rank: u64) -> bool {
        let at = timeout.unwrap_or(NEVER);
        match self.end {
            // Every acknowledgement moves the retransmission timer back.
            End::Sender if at >= self.look => return false,
            End::Sender => {}
            // Every second segment ends the delay of an acknowledgement.
            End::Receiver if at == self.deadline => return false,
            End::Receiver => {
                self.deadline = at;
                if at == NEVER {
                    return false;
                }
            }
        }
        self.rank = rank;
        let is_sooner = at <= self.look;
        if is_sooner {
            self.look = at;
        }
        is_sooner
    }

    /// Whether it goes off before this event.
    #[inline(always)] // as `set`
    pub(crate) fn is_before(&self, event: Key) -> bool {
        let key = self.key();
        // Mostly it does so much later.
        key.0 <= event.0 && key <= event
    }

    /// When it goes off.
    #[inline(always)] // as `set`
    pub(crate) fn key(&self) -> Key {
        (if self.end == End::Sender { self.look } else { self.deadline }, self.rank)
    }

    /// When the host looks at it, if it must.
    pub(crate) fn look(&self) -> Option<Instant> {
        (self.look != NEVER).then_some(self.look)
    }

    /// The host looks at `now`. True if it goes off, and false if it does so later.
    pub(crate) fn goes_off(&mut self, now: Instant) -> bool {
        if self.end == End::Receiver && self.deadline > now {
            self.look = self.deadline;
            return false;
        }
        (self.look, self.deadline) = (NEVER, NEVER);
        true
    }
}

/// Packets that reach an endpoint one after the other, and what it does meanwhile
/// ([`Endpoint::answer_all`](crate::transport::Endpoint::answer_all)).
#[derive(Debug, Default)]
pub struct Train {
    pub(crate) arrivals: Vec<Arrival>,
    /// Results of these arrivals at a receiver.
    pub(crate) received: Vec<Received>,
    /// When it sent each of its packets.
    pub(crate) sent: Vec<Instant>,
    /// What kept it from sending more, each with its beginning.
    pub(crate) limits: Vec<(Instant, Limit)>,
    pub(crate) alarm: Alarm,
    /// How often the alarm went off.
    pub(crate) alarms: u64,
}

/// A packet that arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) key: Key,
    pub(crate) packet: u32,
    /// Number of the stop on its way that it comes from, where the host wants to know.
    pub(crate) place: u32,
}

impl Arrival {
    /// That of a packet whose host knows where it comes from.
    pub(crate) fn at_end(key: Key, packet: u32) -> Self {
        Self { key, packet, place: 0 }
    }
}

/// What an event is set for: of those that are set at one instant, packets that arrive come first.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rank {
    Packet = 1,
    Alarm,
    Link,
    Other,
}

/// Bits of a rank for what the event is set for.
pub(crate) const RANK_BITS: u32 = 3;

impl Rank {
    /// That of an event that is set at `at`.
    #[inline]
    pub(crate) fn at(self, at: Instant) -> u64 {
        at.as_nanos() << RANK_BITS | self as u64
    }
}

impl Train {
    /// Nothing happened so far.
    pub(crate) fn clear(&mut self) {
        self.arrivals.clear();
        self.received.clear();
        self.sent.clear();
        self.limits.clear();
        self.alarms = 0;
    }

    /// The packets that arrive leave at once.
    pub(crate) fn pass(&mut self, outbox: &mut Outbox) {
        for arrival in &self.arrivals {
            outbox.pass(arrival.packet);
            self.sent.push(arrival.key.0);
        }
    }

    /// The alarm goes off, if it does before an arrival: when.
    #[inline(always)] // as `Alarm::set`
    pub(super) fn alarm_before(&mut self, arrival: Key) -> Option<Instant> {
        if !self.alarm.is_before(arrival) {
            return None;
        }
        let now = self.alarm.key().0;
        self.alarms += 1;
        self.alarm.goes_off(now);
        Some(now)
    }

    /// A packet that arrived was answered.
    #[inline(always)] // as `Alarm::set`
    pub(super) fn note_answer(&mut self, now: Instant, answer: Answer, outbox: &Outbox) {
        if self.alarm.end == End::Receiver {
            self.received.push(answer.received);
        }
        self.note(now, answer.timeout, answer.limit, outbox);
    }

    /// The endpoint sent what it could at `now`.
    #[inline(always)] // as `Alarm::set`
    pub(super) fn note(
        &mut self,
        now: Instant,
        timeout: Option<Instant>,
        limit: Limit,
        outbox: &Outbox,
    ) {
        self.sent.resize(outbox.sent().len(), now);
        self.alarm.set(timeout, Rank::Alarm.at(now));
        if self.limits.last().is_none_or(|&(_, last)| last != limit) {
            self.limits.push((now, limit));
        }
    }
}
