//! What comes out of the link, and what of it is counted.

use crate::link::counters::Tally;
use crate::link::due::{Due, DueQueue, Notices};
use crate::link::{
    HORIZON, LinkCounters, LinkEvent, PacketId, Propagation, Transit, earliest, instant, nanos,
};
use crate::scheme::adaptive_harq::config::{AdaptiveHarqConfig, AdaptiveHarqOptions};
use crate::units::Instant;

/// Packets on their way to the far end, counted as they arrive.
#[derive(Clone, Debug)]
pub(super) struct FarEnd {
    pub(super) arrivals: Arrivals,
    pub(super) notices: Notices,
    end_of_run: i64,
    tally: Tally,
    /// Packets decoded by each attempt.
    decoded: Vec<u64>,
}

impl FarEnd {
    pub(super) fn new(config: &AdaptiveHarqConfig, end: Option<Instant>) -> Self {
        Self {
            arrivals: Arrivals::new(config.delay.clone()),
            notices: Notices::default(),
            end_of_run: end.map_or(HORIZON, nanos),
            tally: Tally::default(),
            decoded: vec![0; config.options.attempts()],
        }
    }

    /// A packet needs the channel past its end. The run fails only if its clock reaches that time,
    /// `at`, before it is over.
    pub(super) fn ran_out(&mut self, at: i64, packet: PacketId) {
        if at < self.end_of_run {
            self.notices.trace_ends(packet, instant(at));
        }
    }

    /// When something comes out next.
    #[inline]
    pub(super) fn next_at(&self) -> Option<Instant> {
        earliest(self.arrivals.next_at(), self.notices.next_at())
    }

    /// The next event of the far end, if it is due by `now`.
    #[inline]
    pub(super) fn pop(&mut self, now: Instant) -> Option<LinkEvent> {
        if self.notices.next_at().is_some()
            && let Some(notice) = self.notices.tell(now, self.arrivals.next_at())
        {
            return Some(notice);
        }
        let due = self.arrivals.pop(now)?;
        if due.lost {
            self.tally.lost();
        } else {
            self.tally.delivered(&due.transit);
            self.decoded[due.transit.lldus as usize - 1] += 1;
        }
        Some(due.event())
    }

    /// `counters` with what came out.
    pub(super) fn counters(&self, counters: LinkCounters) -> LinkCounters {
        self.tally.replace_in(counters)
    }

    /// Counts of a run's summary, with what is known of the air.
    pub(super) fn details(&self, bits: u64, retransmissions: u64) -> Vec<(&'static str, u64)> {
        let mut details = vec![
            ("harq_coded_bits", bits),
            ("harq_retransmissions", retransmissions),
            ("harq_failures", self.counters(LinkCounters::default()).lost),
        ];
        details.extend(DECODED_AFTER.into_iter().zip(self.decoded.iter().copied()));
        details
    }
}

/// Packets decoded, by the number of retransmissions.
const DECODED_AFTER: [&str; AdaptiveHarqOptions::MOST_RETRANSMISSIONS as usize + 1] = [
    "harq_decoded_after_0",
    "harq_decoded_after_1",
    "harq_decoded_after_2",
    "harq_decoded_after_3",
    "harq_decoded_after_4",
    "harq_decoded_after_5",
    "harq_decoded_after_6",
    "harq_decoded_after_7",
];

/// Packets that are decoded or given up, on their way to the far end.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    delay: Propagation,
    /// By arrival; where a varying delay keeps order, by when they were sent.
    due: DueQueue,
    last: Instant,
}

impl Arrivals {
    pub(super) fn new(delay: Propagation) -> Self {
        Self { delay, due: DueQueue::default(), last: Instant::ZERO }
    }

    /// Puts in a packet whose last bit is sent at `transit.at`.
    #[inline]
    pub(super) fn push(&mut self, transit: Transit, lost: bool) {
        let at = if self.waits() { transit.at } else { self.end_of(transit.at) };
        self.due.push(Due { transit: Transit { at, ..transit }, lost });
    }

    /// When the next one arrives.
    #[inline]
    pub(super) fn next_at(&self) -> Option<Instant> {
        let next = self.due.next_at()?;
        Some(if self.waits() { self.last.max(self.end_of(next)) } else { next })
    }

    /// Takes out the next one if it arrives at `now` or before.
    #[inline]
    pub(super) fn pop(&mut self, now: Instant) -> Option<Due> {
        if !self.waits() {
            return self.due.pop(now);
        }
        let at = self.next_at().filter(|&at| at <= now)?;
        let mut due = self.due.pop(Instant::MAX)?;
        (due.transit.at, self.last) = (at, at);
        Some(due)
    }

    /// When what is sent at an instant is at the far end, if it need not wait for others.
    #[inline]
    pub(super) fn end_of(&self, sent: Instant) -> Instant {
        sent + self.delay.at(sent)
    }

    /// Whether a packet waits for those sent before it.
    fn waits(&self) -> bool {
        matches!(self.delay, Propagation::Varying { keep_order: true, .. })
    }
}
