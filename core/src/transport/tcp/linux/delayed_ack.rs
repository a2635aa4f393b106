//! When an ACK may wait (RFC 1122 section 4.2.3.2, RFC 5681 section 4.2) in the way of Linux: the
//! timer follows the gaps between segments, and the first segments are acknowledged at once.

use super::ticks::Ticks;
use crate::units::{Duration, Instant};

/// ACKs sent at once when a connection starts or something odd happened.
const QUICK: u32 = 16;
/// ACKs sent at once after a mark.
const QUICK_AFTER_MARK: u32 = 2;
/// The longest that an ACK waits; a tick less on a clock with ticks (`tcp_delack_max` in
/// `tcp_output.c`). What the gaps foretell is no longer either (`tcp_event_data_recv` in
/// `tcp_input.c`).
const LONGEST: Duration = Duration::from_millis(200);

/// The delayed-ACK timer.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckTimer {
    /// The shortest wait; `None`: no ACK waits.
    shortest: Option<Duration>,
    quick_mode: bool,
    /// ACKs still to be sent at once.
    quick: u32,
    /// This end answers what it hears, so that ACKs may wait to ride on answers (pingpong mode).
    answers: bool,
    /// How long an ACK waits; `None` before the first segment in order, unless an ACK was sent at once
    /// before it: then nothing makes the first ACKs quick (`tcp_event_data_recv`).
    wait: Option<Duration>,
    last_arrival: Instant,
    /// Until when the ACK may wait, and when the timer expires that was set for it.
    until: Instant,
    deadline: Option<Instant>,
    ticks: Ticks,
}

impl AckTimer {
    pub(super) fn new(shortest: Option<Duration>, quick_mode: bool, ticks: Ticks) -> Self {
        Self {
            shortest,
            quick_mode,
            quick: 0,
            answers: false,
            wait: None,
            last_arrival: Instant::ZERO,
            until: Instant::ZERO,
            deadline: None,
            ticks,
        }
    }

    /// Data arrived that are new; `timeout` is the retransmission timeout of this end.
    pub(super) fn on_data(&mut self, now: Instant, timeout: Duration) {
        let Some(shortest) = self.shortest else { return };
        let now = self.ticks.floor(now);
        let gap = now.saturating_since(self.last_arrival);
        self.last_arrival = now;
        let Some(wait) = self.wait else {
            self.wait = Some(shortest);
            self.hurry();
            return;
        };
        if gap <= shortest.half() {
            self.wait = Some(self.ticks.whole(wait.half() + shortest.half()));
        } else if gap < wait {
            let wait = self.ticks.whole(wait.half()) + gap;
            self.wait = Some(wait.min(self.ticks.ceil(timeout)).min(LONGEST));
        } else if gap > timeout {
            self.hurry();
        }
    }

    /// The receive window grows: this segment is acknowledged at once.
    pub(super) fn on_window_growth(&mut self) {
        if self.quick_mode {
            self.quick |= 1;
        }
    }

    /// This end sends data: an answer, if that is within the wait of an ACK of what it heard last
    /// (`tcp_event_data_sent` in `tcp_output.c`).
    pub(super) fn on_reply(&mut self, now: Instant) {
        let gap = self.ticks.floor(now).saturating_since(self.last_arrival);
        self.answers |= self.wait.is_some_and(|wait| gap < wait);
    }

    /// Whether this end answers what it hears.
    pub(super) fn answers(&self) -> bool {
        self.answers
    }

    /// Something odd arrived, a duplicate: the next ACKs are sent at once.
    pub(super) fn on_duplicate(&mut self) {
        self.answers = false;
        self.wait = self.shortest;
        self.hurry();
    }

    /// The first mark arrived (ECN): the next two ACKs are sent at once.
    pub(super) fn on_mark(&mut self) {
        self.answers = false;
        self.wait = self.shortest;
        if self.quick_mode {
            self.quick = self.quick.max(QUICK_AFTER_MARK);
        }
    }

    /// Whether ACKs are sent at once now.
    pub(super) fn is_quick(&self) -> bool {
        self.shortest.is_none() || (self.quick > 0 && !self.answers)
    }

    /// The ACK may wait: sets the timer, unless one runs. Says whether it must be sent at once
    /// since that timer is about to expire.
    pub(super) fn start(&mut self, now: Instant, smoothed: Option<Duration>) -> bool {
        let wait = self.wait.unwrap_or(LONGEST);
        // No more than the round-trip time, but 40 ms in any case.
        let limit = match (smoothed, self.shortest) {
            (Some(rtt), Some(shortest)) => self.ticks.ceil(rtt).max(shortest).min(LONGEST),
            _ => LONGEST,
        };
        let wait = wait.min(limit).min(self.ticks.less_one(LONGEST));
        let since = self.ticks.floor(now);
        let mut until = since + wait;
        if self.deadline.is_some() {
            if self.until <= since + self.ticks.whole(wait.half().half()) {
                return true;
            }
            until = until.min(self.until);
        }
        self.until = until;
        self.deadline = Some(self.ticks.expiry(now, until));
        false
    }

    /// An ACK leaves.
    pub(super) fn on_ack_sent(&mut self) {
        self.deadline = None;
        if self.quick == 1 {
            self.wait = self.shortest;
        }
        self.quick = self.quick.saturating_sub(1);
    }

    /// When the ACK that waits must leave.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Whether the timer has expired: then the next ACK waits longer, or no answer came to ride on
    /// (`tcp_delack_timer_handler` in `tcp_timer.c`).
    pub(super) fn expire(&mut self, now: Instant, timeout: Duration) -> bool {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return false;
        }
        self.deadline = None;
        self.wait = match std::mem::take(&mut self.answers) {
            true => self.shortest,
            false => self.wait.map(|wait| (wait + wait).min(timeout).min(LONGEST)),
        };
        true
    }

    fn hurry(&mut self) {
        if self.quick_mode {
            self.quick = self.quick.max(QUICK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn timer_follows_the_gaps() {
        let mut delayed = AckTimer::new(Some(MS * 40), true, Ticks::new(false));
        let mut now = Instant::ZERO;
        delayed.on_data(now, MS * 300);
        assert!(delayed.is_quick());
        (0..16).for_each(|_| delayed.on_ack_sent());
        assert!(!delayed.is_quick());
        assert!(!delayed.start(now, Some(MS * 100)));
        assert_eq!(delayed.deadline(), Some(now + MS * 40));
        // Gaps of 30 ms: 40/2 + 30 = 50, then 55.
        for wait in [50, 55] {
            delayed.on_ack_sent();
            now = now + MS * 30;
            delayed.on_data(now, MS * 300);
            delayed.start(now, Some(MS * 100));
            assert_eq!(delayed.deadline(), Some(now + MS * wait));
        }
        assert!(!delayed.expire(now + MS * 54, MS * 300));
        assert!(delayed.expire(now + MS * 55, MS * 300));
        // It has doubled, within the round-trip time.
        delayed.start(now, Some(MS * 100));
        assert_eq!(delayed.deadline(), Some(now + MS * 100));
        // A gap longer than a timeout makes it quick again.
        delayed.on_data(now + MS * 301, MS * 300);
        assert!(delayed.is_quick());
    }

    /// On ticks of 4 ms 40 ms are up at the tick after the tenth, and gaps count in whole ticks.
    #[test]
    fn timer_on_ticks() {
        let at = |micros: u64| Instant::from_nanos(micros * 1000);
        let mut delayed = AckTimer::new(Some(MS * 40), false, Ticks::new(true));
        delayed.on_data(at(5_000), MS * 300);
        delayed.start(at(5_000), Some(MS * 100));
        assert_eq!(delayed.deadline(), Some(at(48_000)));
        delayed.on_ack_sent();
        // From 4 to 32 ms: 40/2 + 28 = 48.
        delayed.on_data(at(35_900), MS * 300);
        delayed.start(at(35_900), Some(MS * 100));
        assert_eq!(delayed.deadline(), Some(at(32_000 + 48_000 + 4_000)));
    }

    /// Timers that expire double the wait, up to 200 ms, and it comes down from there: 200, 120.
    #[test]
    fn the_wait_grows_to_200_ms_and_no_further() {
        let at = |ms: u64| Instant::ZERO + MS * ms;
        let mut delayed = AckTimer::new(Some(MS * 40), false, Ticks::new(true));
        delayed.on_data(at(0), MS * 1500);
        let mut waits = Vec::new();
        for round in 0..6 {
            let now = at(2000 * round);
            delayed.start(now, Some(MS * 500));
            let due = delayed.deadline().unwrap();
            waits.push((due - now).as_nanos() / 1_000_000);
            assert!(delayed.expire(due, MS * 1500));
        }
        assert_eq!(waits, [44, 84, 164, 200, 200, 200]);
        delayed.on_data(at(20_000), MS * 1500);
        delayed.on_data(at(20_012), MS * 1500);
        delayed.start(at(20_012), Some(MS * 500));
        assert_eq!(delayed.deadline(), Some(at(20_012 + 124)));
    }

    /// The first ACKs are quick no more once this end answers, until an ACK has waited in vain.
    #[test]
    fn acks_of_an_end_that_answers_wait() {
        let at = |ms: u64| Instant::ZERO + MS * ms;
        let mut delayed = AckTimer::new(Some(MS * 40), true, Ticks::new(false));
        delayed.on_reply(at(0));
        assert!(!delayed.answers(), "it has heard nothing");
        delayed.on_data(at(100), MS * 300);
        delayed.on_reply(at(140));
        assert!(!delayed.answers() && delayed.is_quick(), "too late for an answer");
        delayed.on_reply(at(139));
        assert!(delayed.answers() && !delayed.is_quick());
        delayed.start(at(139), Some(MS * 100));
        assert!(delayed.expire(at(179), MS * 300));
        assert!(!delayed.answers() && delayed.is_quick());
        delayed.on_reply(at(139));
        delayed.on_duplicate();
        assert!(!delayed.answers());
    }

    #[test]
    fn without_delay_every_segment_is_acknowledged_at_once() {
        let mut delayed = AckTimer::new(None, true, Ticks::new(false));
        delayed.on_data(Instant::ZERO, MS * 300);
        (0..100).for_each(|_| delayed.on_ack_sent());
        assert!(delayed.is_quick());
    }
}
