//! RACK (RFC 8985 section 6) with the constants of Linux (`tcp_recovery.c`). A segment is lost once
//! a later-sent segment was delivered and a round-trip time plus the reordering window have passed
//! since its transmission.

use super::reordering::Reordering;
use crate::units::{Duration, Instant};

/// Number of recoveries for which a widened reordering window is kept.
const PERSIST: u32 = 16;
/// Maximum reordering window, in quarters of the minimum round-trip time.
const MAX_STEPS: u64 = 255;

/// State of RACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rack {
    /// Transmission time and number of the most recently sent segment among the delivered ones.
    latest: (Instant, u64),
    /// Round-trip time of that delivery.
    rtt: Duration,
    /// True if a segment was delivered since the last loss detection.
    advanced: bool,
    steps: u64,
    persist: u32,
    dsack_seen: bool,
    /// Delivered count when the window was last widened.
    widened_at: u64,
}

impl Rack {
    pub(super) fn new() -> Self {
        Self { steps: 1, ..Self::default() }
    }

    /// Records the delivery of a segment sent at `sent`. Ignores a retransmission delivered within
    /// less than the minimum round-trip time, because its first transmission may have arrived
    /// (`tcp_rack_advance`). Returns true if the segment was sent after all earlier delivered ones.
    #[inline]
    pub(super) fn on_delivered(
        &mut self,
        now: Instant,
        sent: Instant,
        number: u64,
        sent_again: bool,
        least_rtt: Option<Duration>,
    ) -> bool {
        let rtt = now.saturating_since(sent);
        if sent_again && least_rtt.is_none_or(|least| rtt < least) {
            return false;
        }
        self.advanced = true;
        self.rtt = rtt;
        let is_newest = is_later((sent, number), self.latest);
        if is_newest {
            self.latest = (sent, number);
        }
        is_newest
    }

    /// Returns and clears whether a segment was delivered since the last loss detection.
    #[inline]
    pub(super) fn take_advance(&mut self) -> bool {
        std::mem::take(&mut self.advanced)
    }

    /// Forces a loss detection without a new delivery.
    pub(super) fn force_detection(&mut self) {
        self.advanced = true;
    }

    /// True if the segment was sent before a delivered one.
    #[inline]
    pub(super) fn is_overtaken(&self, sent: Instant, number: u64) -> bool {
        is_later(self.latest, (sent, number))
    }

    /// When a segment sent at `sent` counts as lost, if it is overtaken.
    #[inline]
    pub(super) fn expiry(&self, sent: Instant, window: Duration) -> Instant {
        sent + self.rtt + window
    }

    /// The reordering window (`tcp_rack_reo_wnd`). It is zero if no reordering was seen yet and
    /// either losses are being repaired or as many segments are SACKed as the classic threshold.
    /// Otherwise it is a fraction of the minimum round-trip time, at most the smoothed one.
    pub(super) fn window(
        &self,
        reordering: &Reordering,
        repairing: bool,
        sacked: u64,
        least_rtt: Option<Duration>,
        smoothed: Option<Duration>,
    ) -> Duration {
        if !reordering.seen() && (repairing || sacked >= u64::from(reordering.degree())) {
            return Duration::ZERO;
        }
        let quarter = least_rtt.map_or(0, |least| least.as_nanos() / 4);
        let window = Duration::from_nanos(quarter.saturating_mul(self.steps));
        window.min(smoothed.unwrap_or(Duration::ZERO))
    }

    /// Records a D-SACK: a retransmission was unnecessary.
    pub(super) fn on_dsack(&mut self) {
        self.dsack_seen = true;
    }

    /// Widens the window by a quarter after each round trip with a D-SACK. `prior` is the delivered
    /// count when the acknowledged segment was sent (0 without one), `delivered` is the current
    /// count.
    #[inline]
    pub(super) fn adapt(&mut self, prior: u64, delivered: u64) {
        if prior == 0 {
            return;
        }
        if prior < self.widened_at {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.steps = (self.steps + 1).min(MAX_STEPS);
            self.dsack_seen = false;
            self.widened_at = delivered;
            self.persist = PERSIST;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// A recovery ended without undo.
    pub(super) fn on_recovery_over(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// A recovery was undone because of D-SACKs.
    pub(super) fn on_undone_by_dsack(&mut self) {
        self.persist = (self.persist + 1).min(PERSIST);
    }
}

/// True if the one transmission was made after the other; of the same time the higher segment is
/// the later one.
#[inline]
fn is_later(one: (Instant, u64), other: (Instant, u64)) -> bool {
    one.0 > other.0 || (one.0 == other.0 && one.1 > other.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + MS * ms
    }

    fn window(rack: &Rack, reordering: &Reordering, repairing: bool, sacked: u64) -> u64 {
        let window = rack.window(reordering, repairing, sacked, Some(MS * 100), Some(MS * 120));
        window.as_nanos() / MS.as_nanos()
    }

    /// RFC 8985 section 6.2 step 4.
    #[test]
    fn window_is_a_quarter_until_three_are_sacked() {
        let (rack, mut reordering) = (Rack::new(), Reordering::new(300));
        assert_eq!(window(&rack, &reordering, false, 2), 25);
        assert_eq!(window(&rack, &reordering, false, 3), 0);
        assert_eq!(window(&rack, &reordering, true, 0), 0);
        reordering.observe(10, 12);
        assert_eq!(window(&rack, &reordering, true, 3), 25);
    }

    #[test]
    fn each_round_trip_with_a_dsack_widens_the_window_up_to_the_smoothed_rtt() {
        let (mut rack, mut reordering) = (Rack::new(), Reordering::new(300));
        reordering.observe(10, 12);
        rack.on_dsack();
        rack.adapt(90, 100);
        assert_eq!(window(&rack, &reordering, false, 3), 50);
        rack.on_dsack();
        rack.adapt(99, 110); // of the same round trip
        assert_eq!(window(&rack, &reordering, false, 3), 50);
        for round in 2..10 {
            rack.on_dsack();
            rack.adapt(round * 100, round * 100 + 50);
        }
        assert_eq!(window(&rack, &reordering, false, 3), 120);
        // After sixteen recoveries the window is narrow again.
        for _ in 0..16 {
            rack.adapt(2000, 2010);
            assert_eq!(window(&rack, &reordering, false, 3), 120);
            rack.on_recovery_over();
        }
        rack.adapt(2000, 2010);
        assert_eq!(window(&rack, &reordering, false, 3), 25);
    }

    /// Section 6.2 step 2: an ACK within less than the minimum round-trip time does not count for a
    /// segment that was sent twice.
    #[test]
    fn early_acks_of_retransmissions_are_ignored() {
        let mut rack = Rack::new();
        rack.on_delivered(at(150), at(100), 7, true, Some(MS * 100));
        assert!(!rack.advanced);
        rack.on_delivered(at(150), at(40), 3, false, Some(MS * 100));
        assert!(rack.is_overtaken(at(40), 2));
        assert!(!rack.is_overtaken(at(40), 4));
        assert_eq!(rack.expiry(at(40), MS * 25), at(40 + 110 + 25));
    }
}
