//! SACK compression: from the fourth ACK that repeats an acknowledgement on, the receiver sends one
//! SACK per millisecond (`__tcp_ack_snd_check` in `tcp_input.c` of Linux, `tcp_comp_sack_delay_ns`
//! and related settings).

use crate::units::{Duration, Instant};

/// Number of ACKs with the same acknowledgement that are sent at once.
const AT_ONCE: u32 = 3;
/// Maximum number of compressed SACKs (`tcp_comp_sack_nr`).
const MOST: u32 = 44;
/// Compression delay: at most this, and at most this percentage of the round-trip time.
const DELAY: Duration = Duration::from_millis(1);
const PERCENT: u64 = 33;
/// Slack of the timer, which lets it expire together with other timers. On a quiet host it expires
/// this late.
const SLACK: Duration = Duration::from_micros(10);
/// With more SACK blocks than this, waiting SACKs leave before a block is lost from the ACK
/// (`TCP_SACK_BLOCKS_EXPECTED`).
const BLOCKS: usize = 2;

/// The compressed SACKs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compression {
    enabled: bool,
    /// The repeated acknowledgement, and the number of repetitions.
    repeated: u64,
    repeats: u32,
    waiting: u32,
    deadline: Option<Instant>,
}

impl Compression {
    pub(super) fn new(enabled: bool) -> Self {
        Self { enabled, repeated: 0, repeats: 0, waiting: 0, deadline: None }
    }

    /// Handles a segment that leaves a gap; `next` is the next byte expected. Returns true if its ACK
    /// waits, at most until `timer`, when a delayed ACK's timer expires that still runs
    /// (`tcp_delack_timer_handler`).
    pub(super) fn holds(
        &mut self,
        now: Instant,
        next: u64,
        smoothed: Option<Duration>,
        timer: Option<Instant>,
    ) -> bool {
        if !self.enabled || self.waiting >= MOST {
            return false;
        }
        if self.repeated != next {
            (self.repeated, self.repeats) = (next, 0);
        }
        if self.repeats < AT_ONCE {
            self.repeats += 1;
            return false;
        }
        self.waiting += 1;
        let share =
            smoothed.map_or(DELAY, |rtt| Duration::from_nanos(rtt.as_nanos() * PERCENT / 100));
        let due = now + share.min(DELAY) + SLACK;
        self.deadline.get_or_insert(timer.map_or(due, |timer| due.min(timer)));
        true
    }

    /// True if no SACK waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0 && self.deadline.is_none()
    }

    /// True if the waiting SACKs must leave before a segment is taken in that changes the SACK block
    /// at `position`, or begins one after that many (`tcp_sack_new_ofo_skb`).
    pub(super) fn must_leave(&self, position: usize) -> bool {
        self.waiting > 0 && position >= BLOCKS
    }

    /// An ACK was sent, which covers all waiting SACKs.
    pub(super) fn on_ack_sent(&mut self) {
        self.waiting = 0;
        self.deadline = None;
    }

    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// True if the waiting SACKs are due.
    pub(super) fn expire(&mut self, now: Instant) -> bool {
        self.deadline.take_if(|at| *at <= now).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    /// Three ACKs leave at once; the fourth leaves a millisecond later with all later SACKs. A new
    /// acknowledgement restarts the count.
    #[test]
    fn the_fourth_sack_waits_for_a_millisecond() {
        let mut compression = Compression::new(true);
        let held: Vec<_> =
            (0..6).map(|n| compression.holds(at(n * 100), 1000, Some(MS * 100), None)).collect();
        assert_eq!(held, [false, false, false, true, true, true]);
        assert_eq!(compression.deadline(), Some(at(300 + 1010)));
        assert!(!compression.expire(at(1309)));
        assert!(compression.expire(at(1310)));
        compression.on_ack_sent();
        assert!(compression.holds(at(1500), 1000, Some(MS * 100), None));
        compression.on_ack_sent();
        assert!(!compression.holds(at(1600), 2000, Some(MS * 100), None));
    }

    #[test]
    fn on_short_round_trips_sacks_wait_for_a_third() {
        let mut compression = Compression::new(true);
        (0..4).for_each(|_| _ = compression.holds(at(0), 1000, Some(MS * 2), None));
        assert_eq!(compression.deadline(), Some(at(670)));
        let mut off = Compression::new(false);
        assert!(!(0..100).any(|_| off.holds(at(0), 1000, Some(MS * 2), None)));
    }

    /// The timer of a delayed ACK that left earlier still runs, and sends the SACKs that wait.
    #[test]
    fn a_delayed_acks_timer_ends_the_wait() {
        let mut compression = Compression::new(true);
        let timer = Some(at(700));
        (0..4).for_each(|_| _ = compression.holds(at(0), 1000, Some(MS * 100), timer));
        assert_eq!(compression.deadline(), timer);
    }

    #[test]
    fn at_most_44_sacks_wait() {
        let mut compression = Compression::new(true);
        let held = (0..100).filter(|&n| compression.holds(at(n), 1000, None, None)).count();
        assert_eq!(held, 44);
    }
}
