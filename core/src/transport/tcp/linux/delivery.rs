//! Delivery rate estimation (draft-cheng-iccrg-delivery-rate-estimation-00) as in Linux: at which
//! rate did the network deliver what was in flight while the newest acknowledged segment was?

use crate::transport::tcp::congestion::Rate;
use crate::units::{Duration, Instant};

/// State of the connection when a segment was sent last (section 3.1.2; `P.*` there).
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    at: Instant,
    /// When the flight began that it belongs to (`P.first_sent_time`).
    flight_began: Instant,
    /// Segments delivered by then, and when the last of them was.
    delivered: u64,
    delivered_at: Instant,
    app_limited: bool,
}

/// The newest segment that an ACK delivers.
#[derive(Clone, Copy, Debug)]
struct Newest {
    number: u64,
    sent: Sent,
}

/// The estimator; segments are known by their number.
#[derive(Clone, Debug)]
pub(super) struct DeliveryRate {
    sent: Box<[Sent]>,
    /// `C.first_sent_time`: when the newest segment delivered was sent.
    flight_began: Instant,
    delivered_at: Instant,
    /// The application is the limit until more than so many are delivered.
    app_limited: Option<u64>,
    newest: Option<Newest>,
}

impl DeliveryRate {
    pub(super) fn new() -> Self {
        Self {
            sent: vec![Sent::default(); 64].into_boxed_slice(),
            flight_began: Instant::ZERO,
            delivered_at: Instant::ZERO,
            app_limited: None,
            newest: None,
        }
    }

    /// When something was delivered last.
    pub(super) fn delivered_at(&self) -> Instant {
        self.delivered_at
    }

    /// Whether the application is the limit.
    pub(super) fn is_app_limited(&self) -> bool {
        self.app_limited.is_some()
    }

    /// Section 3.3: what is in flight now was limited by something else than the network.
    pub(super) fn on_app_limited(&mut self, delivered: u64, in_flight: u64) {
        self.app_limited = Some(delivered + in_flight);
    }

    /// Section 3.2: segment `number` leaves, `first` being the lowest in flight; `idle`: nothing
    /// was in flight.
    pub(super) fn on_sent(
        &mut self,
        now: Instant,
        first: u64,
        number: u64,
        idle: bool,
        delivered: u64,
    ) {
        if idle {
            self.flight_began = now;
            self.delivered_at = now;
        }
        while number - first >= self.sent.len() as u64 {
            self.grow(first, number);
        }
        let sent = Sent {
            at: now,
            flight_began: self.flight_began,
            delivered,
            delivered_at: self.delivered_at,
            app_limited: self.is_app_limited(),
        };
        *self.sent_mut(number) = sent;
    }

    /// An ACK delivers segment `number` (`UpdateRateSample`): the one sent last counts.
    pub(super) fn on_delivered(&mut self, number: u64) {
        let sent = *self.sent_mut(number);
        let newer = |newest: Newest| (sent.at, number) > (newest.sent.at, newest.number);
        if self.newest.is_none_or(newer) {
            self.newest = Some(Newest { number, sent });
            self.flight_began = sent.at;
        }
    }

    /// The ACK is over (`GenerateRateSample`): `acked` of `delivered` segments by it.
    ///
    /// An interval below the least round-trip time would be the doing of a stretched ACK or of a
    /// retransmission that was not the one delivered.
    pub(super) fn finish(
        &mut self,
        now: Instant,
        delivered: u64,
        acked: u64,
        least_rtt: Option<Duration>,
    ) -> Rate {
        self.app_limited = self.app_limited.filter(|&until| delivered <= until);
        if acked > 0 {
            self.delivered_at = now;
        }
        let Some(Newest { sent, .. }) = self.newest.take() else { return Rate::default() };
        let sending = sent.at.saturating_since(sent.flight_began);
        let interval = sending.max(now.saturating_since(sent.delivered_at));
        let valid = least_rtt.is_some_and(|least| interval >= least);
        Rate {
            delivered: Some(delivered - sent.delivered),
            interval: valid.then_some(interval),
            prior_delivered: sent.delivered,
            app_limited: sent.app_limited,
        }
    }

    fn sent_mut(&mut self, number: u64) -> &mut Sent {
        let mask = self.sent.len() - 1;
        &mut self.sent[number as usize & mask]
    }

    #[cold]
    fn grow(&mut self, first: u64, next: u64) {
        let capacity = self.sent.len() * 2;
        let mut sent = vec![Sent::default(); capacity].into_boxed_slice();
        for number in next.saturating_sub(self.sent.len() as u64).max(first)..next {
            sent[number as usize & (capacity - 1)] = *self.sent_mut(number);
        }
        self.sent = sent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + MS * ms
    }

    /// Four segments a millisecond apart, ACKs 5 ms apart: the network, not the sender, is what
    /// made 3 segments take 15 ms.
    #[test]
    fn the_slower_of_sending_and_acknowledging_counts() {
        let mut rate = DeliveryRate::new();
        for number in 0..4 {
            rate.on_sent(at(number), 0, number, number == 0, 0);
        }
        rate.on_delivered(0);
        let first = rate.finish(at(100), 1, 1, Some(MS * 100));
        assert_eq!((first.delivered, first.interval), (Some(1), Some(MS * 100)));
        rate.on_sent(at(100), 1, 4, false, 1);
        for number in 1..4 {
            rate.on_delivered(number);
            rate.finish(at(100 + 5 * number), 1 + number, 1, Some(MS * 100));
        }
        rate.on_delivered(4);
        let last = rate.finish(at(203), 5, 1, Some(MS * 100));
        // Sent at 100 when one was delivered: 4 in the 103 ms since.
        assert_eq!((last.delivered, last.interval), (Some(4), Some(MS * 103)));
        assert_eq!(last.prior_delivered, 1);
    }

    #[test]
    fn intervals_below_the_least_round_trip_are_no_samples() {
        let mut rate = DeliveryRate::new();
        rate.on_sent(at(0), 0, 0, true, 0);
        rate.on_delivered(0);
        let sample = rate.finish(at(50), 1, 1, Some(MS * 100));
        assert_eq!((sample.delivered, sample.interval), (Some(1), None));
        assert_eq!(rate.finish(at(60), 1, 0, Some(MS)), Rate::default());
    }

    /// Section 3.3: the bubble is over once what was in flight when it began is delivered.
    #[test]
    fn application_limited_until_the_bubble_has_passed() {
        let mut rate = DeliveryRate::new();
        rate.on_app_limited(0, 0);
        rate.on_sent(at(0), 0, 0, true, 0);
        rate.on_delivered(0);
        assert!(rate.finish(at(100), 1, 1, None).app_limited);
        assert!(!rate.is_app_limited());
        rate.on_sent(at(100), 1, 1, true, 1);
        rate.on_delivered(1);
        assert!(!rate.finish(at(200), 2, 1, None).app_limited);
    }

    #[test]
    fn what_was_sent_is_remembered_when_the_ring_grows() {
        let mut rate = DeliveryRate::new();
        for number in 0..1000 {
            rate.on_sent(at(number), 0, number, number == 0, number / 2);
        }
        rate.on_delivered(3);
        assert_eq!(rate.finish(at(2000), 500, 1, None).delivered, Some(499));
        rate.on_delivered(999);
        assert_eq!(rate.finish(at(2000), 500, 1, None).delivered, Some(1));
    }
}
