//! Delayed ACKs (RFC 1122 section 4.2.3.2, RFC 5681 section 4.2) as in Linux: the timer adapts to
//! the gaps between segments, and the first segments are acknowledged at once.

use super::ticks::Ticks;
use crate::units::{Duration, Instant};

/// ACKs sent at once at the start of a connection and after unusual segments.
const QUICK: u32 = 16;
/// ACKs sent at once after an ECN mark.
const QUICK_AFTER_MARK: u32 = 2;
/// Maximum delay of an ACK; one tick less on a tick clock (`tcp_delack_max` in `tcp_output.c`). The
/// delay derived from gaps has the same limit (`tcp_event_data_recv` in `tcp_input.c`).
const LONGEST: Duration = Duration::from_millis(200);

/// The delayed-ACK timer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckTimer {
    /// Minimum delay; `None` if ACKs are not delayed.
    shortest: Option<Duration>,
    quick_mode: bool,
    /// Number of ACKs still to be sent at once.
    quick: u32,
    /// Interactive (pingpong) mode: this end answers what it receives, so that ACKs may wait for
    /// its data.
    answers: bool,
    /// Current delay (ATO). `None` before the first segment in order, unless an ACK was sent at
    /// once before it: then the first ACKs are not quick (`tcp_event_data_recv`).
    wait: Option<Duration>,
    last_arrival: Instant,
    /// Deadline of the waiting ACK, and expiry of the timer set for it.
    until: Instant,
    deadline: Option<Instant>,
    /// Expiry of the timer, which an ACK does not stop.
    expiry: Instant,
    ticks: Ticks,
}

impl AckTimer {
    pub(super) fn new(shortest: Option<Duration>, quick_mode: bool, ticks: Ticks) -> Self {
        Self { shortest, quick_mode, ticks, ..Self::default() }
    }

    /// Handles new data; `timeout` is the retransmission timeout of this end.
    #[inline(always)] // called in one place
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

    /// The buffer has little room: the next ACKs are not sent at once (`__tcp_select_window` in
    /// `tcp_output.c`).
    pub(super) fn on_scarce_room(&mut self) {
        self.quick = 0;
    }

    /// This end sends data. They count as an answer if they leave within the ACK delay of the last
    /// data received (`tcp_event_data_sent` in `tcp_output.c`).
    pub(super) fn on_reply(&mut self, now: Instant) {
        let gap = self.ticks.floor(now).saturating_since(self.last_arrival);
        self.answers |= self.wait.is_some_and(|wait| gap < wait);
    }

    /// True in interactive mode.
    pub(super) fn answers(&self) -> bool {
        self.answers
    }

    /// Handles a duplicate or another unusual segment: the next ACKs are sent at once.
    pub(super) fn on_duplicate(&mut self) {
        self.answers = false;
        self.wait = self.shortest;
        self.hurry();
    }

    /// The first ECN mark arrived: the next two ACKs are sent at once.
    pub(super) fn on_mark(&mut self) {
        self.answers = false;
        self.wait = self.shortest;
        if self.quick_mode {
            self.quick = self.quick.max(QUICK_AFTER_MARK);
        }
    }

    /// True if ACKs are sent at once now.
    #[inline]
    pub(super) fn is_quick(&self) -> bool {
        self.shortest.is_none() || (self.quick > 0 && !self.answers)
    }

    /// Delays the ACK: sets the timer, unless one is running. Returns true if the ACK must be sent
    /// at once because that timer is about to expire.
    #[inline(always)] // called in one place
    pub(super) fn start(&mut self, now: Instant, smoothed: Option<Duration>) -> bool {
        let wait = self.wait.unwrap_or(LONGEST);
        // At most the round-trip time, but always at least 40 ms.
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
        self.expiry = self.ticks.expiry(now, until);
        self.deadline = Some(self.expiry);
        false
    }

    /// An ACK leaves.
    #[inline]
    pub(super) fn on_ack_sent(&mut self) {
        self.deadline = None;
        if self.quick == 1 {
            self.wait = self.shortest;
        }
        self.quick = self.quick.saturating_sub(1);
    }

    /// When the timer expires, if it runs: an ACK that left earlier has not stopped it.
    pub(super) fn timer(&self, now: Instant) -> Option<Instant> {
        (self.expiry > now).then_some(self.expiry)
    }

    /// When the waiting ACK must leave.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// True if the timer has expired. Then the next ACK waits longer, or interactive mode ends
    /// because no data were sent (`tcp_delack_timer_handler` in `tcp_timer.c`).
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
    fn the_delay_follows_the_gaps() {
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
        // The delay has doubled, within the round-trip time.
        delayed.start(now, Some(MS * 100));
        assert_eq!(delayed.deadline(), Some(now + MS * 100));
        // A gap longer than a timeout makes ACKs quick again.
        delayed.on_data(now + MS * 301, MS * 300);
        assert!(delayed.is_quick());
    }

    /// On ticks of 4 ms, a 40 ms timer expires at the tick after the tenth, and gaps count in whole
    /// ticks.
    #[test]
    fn the_delay_is_counted_in_ticks() {
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

    /// Expired timers double the delay, up to 200 ms; then it falls: 200, 120.
    #[test]
    fn the_delay_grows_to_at_most_200_ms() {
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

    /// In interactive mode the first ACKs are not quick, until an ACK has waited in vain.
    #[test]
    fn acks_are_delayed_in_interactive_mode() {
        let at = |ms: u64| Instant::ZERO + MS * ms;
        let mut delayed = AckTimer::new(Some(MS * 40), true, Ticks::new(false));
        delayed.on_reply(at(0));
        assert!(!delayed.answers(), "it has received nothing");
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
