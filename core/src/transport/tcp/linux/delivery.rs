//! Delivery rate estimation (draft-cheng-iccrg-delivery-rate-estimation-00) as in Linux
//! (`tcp_rate.c`): the rate at which the network delivered data during the flight of the newest
//! acknowledged segment.

use crate::transport::tcp::congestion::{LostSegment, Rate, Totals};
use crate::units::{Duration, Instant};

/// State of the connection when a segment was last sent (section 3.1.2; `P.*` there).
#[derive(Clone, Copy, Debug, Default)]
struct SendRecord {
    at: Instant,
    /// Start of the flight that the segment belongs to (`P.first_sent_time`).
    flight_began: Instant,
    /// Segments delivered before its transmission, and the time of the last delivery.
    delivered: u64,
    delivered_at: Instant,
    /// Segments declared lost before its transmission, and segments in flight including it
    /// (`tx.lost` and `tx.in_flight` of BBR's tree).
    lost: u64,
    in_flight: u32,
    app_limited: bool,
}

/// Totals of the connection when a segment is sent; `in_flight` includes the segment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SendTotals {
    pub(super) delivered: u64,
    pub(super) lost: u64,
    pub(super) in_flight: u64,
}

/// A segment declared lost: its state when sent, and the loss count of the connection.
#[derive(Clone, Copy, Debug)]
struct LossRecord {
    sent: SendRecord,
    count: u64,
}

/// The newest segment that an ACK delivers.
#[derive(Clone, Copy, Debug)]
struct NewestDelivered {
    number: u64,
    sent: SendRecord,
}

/// The estimator. It identifies segments by number.
#[derive(Clone, Debug, Default)]
pub(super) struct DeliveryRate {
    sent: Box<[SendRecord]>,
    /// `C.first_sent_time`: transmission time of the newest delivered segment.
    flight_began: Instant,
    delivered_at: Instant,
    /// The application is the limit until more segments than this are delivered.
    app_limited: Option<u64>,
    newest: Option<NewestDelivered>,
    /// Segments declared lost and not reported yet.
    lost: Vec<LossRecord>,
    /// Whether the application was the limit when the probed segment was first sent.
    probed_app_limited: bool,
}

impl DeliveryRate {
    pub(super) fn new() -> Self {
        Self { sent: vec![SendRecord::default(); 64].into_boxed_slice(), ..Self::default() }
    }

    /// Time of the last delivery.
    pub(super) fn delivered_at(&self) -> Instant {
        self.delivered_at
    }

    /// True if the application is the limit.
    pub(super) fn is_app_limited(&self) -> bool {
        self.app_limited.is_some()
    }

    /// Section 3.3: marks the data in flight as limited by the application.
    pub(super) fn on_app_limited(&mut self, delivered: u64, in_flight: u64) {
        self.app_limited = Some(delivered + in_flight);
    }

    /// Section 3.2: segment `number` is sent; `first` is the lowest in flight, `idle` is true if
    /// nothing was in flight.
    pub(super) fn on_sent(
        &mut self,
        now: Instant,
        first: u64,
        number: u64,
        idle: bool,
        level: SendTotals,
    ) {
        if idle {
            self.flight_began = now;
            self.delivered_at = now;
        }
        while number - first >= self.sent.len() as u64 {
            self.grow(first, number);
        }
        let sent = SendRecord {
            at: now,
            flight_began: self.flight_began,
            delivered: level.delivered,
            delivered_at: self.delivered_at,
            lost: level.lost,
            in_flight: u32::try_from(level.in_flight).unwrap_or(u32::MAX),
            app_limited: self.is_app_limited(),
        };
        *self.sent_mut(number) = sent;
    }

    /// An ACK delivers segment `number` (`UpdateRateSample`): the most recently sent one counts.
    pub(super) fn on_delivered(&mut self, number: u64) {
        let sent = *self.sent_mut(number);
        let newer = |newest: NewestDelivered| (sent.at, number) > (newest.sent.at, newest.number);
        if self.newest.is_none_or(newer) {
            self.newest = Some(NewestDelivered { number, sent });
            self.flight_began = sent.at;
        }
    }

    /// Segment `number` was declared lost, as the `count`-th of the connection.
    pub(super) fn on_lost(&mut self, number: u64, count: u64) {
        let sent = *self.sent_mut(number);
        self.lost.push(LossRecord { sent, count });
    }

    /// A probe is about to retransmit segment `number`.
    pub(super) fn on_probing(&mut self, number: u64) {
        self.probed_app_limited = self.sent_mut(number).app_limited;
    }

    /// Segments declared lost since the last call.
    pub(super) fn take_lost(&mut self, now: Instant, totals: Totals) -> Vec<LostSegment> {
        let lost = std::mem::take(&mut self.lost);
        let segment = |LossRecord { sent, count }| LostSegment {
            now,
            in_flight: Some(u64::from(sent.in_flight)),
            lost: count - sent.lost,
            app_limited: sent.app_limited,
            totals,
        };
        lost.into_iter().map(segment).collect()
    }

    /// The segment whose loss a probe repaired.
    pub(super) fn probed(&self, now: Instant, totals: Totals) -> LostSegment {
        let app_limited = self.probed_app_limited;
        LostSegment { now, in_flight: None, lost: 1, app_limited, totals }
    }

    /// Ends an ACK (`GenerateRateSample`) that delivered `acked` of `delivered` segments.
    ///
    /// An interval below the minimum round-trip time is invalid: a stretched ACK or a wrong guess
    /// of which transmission was delivered caused it.
    pub(super) fn finish(
        &mut self,
        now: Instant,
        totals: Totals,
        acked: u64,
        least_rtt: Option<Duration>,
    ) -> Rate {
        let delivered = totals.delivered;
        self.app_limited = self.app_limited.filter(|&until| delivered <= until);
        if acked > 0 {
            self.delivered_at = now;
        }
        let Some(NewestDelivered { sent, .. }) = self.newest.take() else { return Rate::default() };
        let sending = sent.at.saturating_since(sent.flight_began);
        let interval = sending.max(now.saturating_since(sent.delivered_at));
        let valid = least_rtt.is_some_and(|least| interval >= least);
        Rate {
            delivered: Some(delivered - sent.delivered),
            interval: valid.then_some(interval),
            prior_delivered: sent.delivered,
            app_limited: sent.app_limited,
            in_flight: u64::from(sent.in_flight),
            lost: totals.lost - sent.lost,
        }
    }

    fn sent_mut(&mut self, number: u64) -> &mut SendRecord {
        let mask = self.sent.len() - 1;
        &mut self.sent[number as usize & mask]
    }

    #[cold]
    fn grow(&mut self, first: u64, next: u64) {
        let capacity = self.sent.len() * 2;
        let mut sent = vec![SendRecord::default(); capacity].into_boxed_slice();
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

    fn level(delivered: u64) -> SendTotals {
        SendTotals { delivered, ..SendTotals::default() }
    }

    fn totals(delivered: u64) -> Totals {
        Totals { delivered, ..Totals::default() }
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + MS * ms
    }

    /// Four segments a millisecond apart, ACKs 5 ms apart: the network, not the sender, made 3
    /// segments take 15 ms.
    #[test]
    fn the_slower_of_sending_and_acknowledging_counts() {
        let mut rate = DeliveryRate::new();
        for number in 0..4 {
            rate.on_sent(at(number), 0, number, number == 0, level(0));
        }
        rate.on_delivered(0);
        let first = rate.finish(at(100), totals(1), 1, Some(MS * 100));
        assert_eq!((first.delivered, first.interval), (Some(1), Some(MS * 100)));
        rate.on_sent(at(100), 1, 4, false, level(1));
        for number in 1..4 {
            rate.on_delivered(number);
            rate.finish(at(100 + 5 * number), totals(1 + number), 1, Some(MS * 100));
        }
        rate.on_delivered(4);
        let last = rate.finish(at(203), totals(5), 1, Some(MS * 100));
        // Sent at 100 ms, with one segment delivered: 4 in the 103 ms since.
        assert_eq!((last.delivered, last.interval), (Some(4), Some(MS * 103)));
        assert_eq!(last.prior_delivered, 1);
    }

    #[test]
    fn intervals_below_the_minimum_rtt_give_no_sample() {
        let mut rate = DeliveryRate::new();
        rate.on_sent(at(0), 0, 0, true, level(0));
        rate.on_delivered(0);
        let sample = rate.finish(at(50), totals(1), 1, Some(MS * 100));
        assert_eq!((sample.delivered, sample.interval), (Some(1), None));
        assert_eq!(rate.finish(at(60), totals(1), 0, Some(MS)), Rate::default());
    }

    /// Section 3.3: the application-limited phase ends once all data in flight at its start are
    /// delivered.
    #[test]
    fn application_limited_until_the_bubble_has_passed() {
        let mut rate = DeliveryRate::new();
        rate.on_app_limited(0, 0);
        rate.on_sent(at(0), 0, 0, true, level(0));
        rate.on_delivered(0);
        assert!(rate.finish(at(100), totals(1), 1, None).app_limited);
        assert!(!rate.is_app_limited());
        rate.on_sent(at(100), 1, 1, true, level(1));
        rate.on_delivered(1);
        assert!(!rate.finish(at(200), totals(2), 1, None).app_limited);
    }

    #[test]
    fn send_records_survive_growth_of_the_ring() {
        let mut rate = DeliveryRate::new();
        for number in 0..1000 {
            rate.on_sent(at(number), 0, number, number == 0, level(number / 2));
        }
        rate.on_delivered(3);
        assert_eq!(rate.finish(at(2000), totals(500), 1, None).delivered, Some(499));
        rate.on_delivered(999);
        assert_eq!(rate.finish(at(2000), totals(500), 1, None).delivered, Some(1));
    }

    /// Three segments are sent. The second is lost after five other losses, one of them since its
    /// transmission. An ACK of the third then reports two losses since the transmission of the
    /// third.
    #[test]
    fn losses_are_counted_from_the_transmission() {
        let mut rate = DeliveryRate::new();
        for (number, lost) in [(0, 4), (1, 5), (2, 5)] {
            let level = SendTotals { delivered: 0, lost, in_flight: number + 1 };
            rate.on_sent(at(number), 0, number, number == 0, level);
        }
        let counts = Totals { delivered: 7, lost: 7, ..Totals::default() };
        rate.on_lost(1, 7);
        let lost = rate.take_lost(at(100), counts);
        let seen: Vec<_> = lost.iter().map(|it| (it.in_flight, it.lost, it.app_limited)).collect();
        assert_eq!(seen, [(Some(2), 2, false)]);
        assert!(rate.take_lost(at(100), counts).is_empty(), "reported once");
        rate.on_delivered(2);
        let sample = rate.finish(at(102), counts, 1, Some(MS));
        assert_eq!((sample.in_flight, sample.lost), (3, 2));
    }
}
