//! The scoreboard of the segments in flight: which are SACKed, lost or retransmitted, and when each
//! was last sent. It processes ACKs and detects losses, by transmission time (RACK, RFC 8985) or by
//! the number of segments SACKed above (RFC 6675).

use super::delivery::{DeliveryRate, SendTotals};
use super::rack::Rack;
use super::recovery::state::Recovery;
use super::reordering::Reordering;
use super::rtt::RttEstimator;
use super::sent_order::{SentOrder, Transmission};
use super::undo::{by_clock, is_before};
use crate::transport::tcp::config::TcpConfig;
use crate::transport::tcp::congestion::CongestionState;
use crate::transport::tcp::congestion::{LostSegment, Rate, Totals};
use crate::transport::tcp::shared::counters::SenderCounters;
use crate::transport::tcp::shared::flight::{Flight, State};
use crate::transport::tcp::shared::sack_blocks::{Blocks, LastBlocks};
use crate::transport::{SackBlock, Segment};
use crate::units::{Duration, Instant};

/// The segments in flight and their loss detection.
#[derive(Debug)]
pub(super) struct Scoreboard {
    mss: u32,
    timestamps: bool,
    /// True if ACKs carry SACK blocks; otherwise duplicate ACKs are counted.
    uses_sacks: bool,
    /// True if RACK detects losses.
    uses_rack: bool,
    /// True if D-SACKs are used.
    uses_dsacks: bool,
    flight: Flight,
    order: SentOrder,
    /// SACK blocks of the last ACK that had any.
    covered: Blocks,
    last_blocks: LastBlocks,
    highest_sacked: u64,
    /// Segments delivered, and segments declared lost, since the start.
    delivered: u64,
    declared_lost: u64,
    /// Duplicates reported by D-SACKs.
    duplicates: u64,
    rack: Rack,
    reordering: Reordering,
    /// Without RACK: segments below this one have been examined.
    examined: u64,
    /// Delivery rate estimator, for a model-based control.
    rate: Option<Box<DeliveryRate>>,
}

/// Result of processing one ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckOutcome {
    /// The ACK advanced the cumulative acknowledgement.
    pub(super) advanced: bool,
    /// The ACK is below an earlier acknowledgement.
    pub(super) old: bool,
    /// The ACK opens the receive window further.
    pub(super) opens: bool,
    /// A segment was SACKed for the first time.
    pub(super) sacked: bool,
    /// The ACK reports a duplicate (RFC 2883); the duplicate is a tail loss probe.
    pub(super) dsack: bool,
    pub(super) dsack_of_probe: bool,
    /// A segment sent once, before the current phase began, was delivered.
    pub(super) original_delivered: bool,
    /// The retransmission timer must restart.
    pub(super) restarts_timer: bool,
    /// Segments in flight before the ACK.
    pub(super) prior_in_flight: u64,
    /// The ACK covers only one short segment, so that the receiver may have delayed it.
    pub(super) maybe_delayed: bool,
    /// Lowest segment in flight before the ACK.
    pub(super) prior_first: u64,
    /// The ACK reports ECN marks.
    pub(super) marked: bool,
    /// Transmission time of the segment whose timestamp the ACK echoes; `None` without timestamps.
    pub(super) echo: Option<Instant>,
    /// Round-trip time of the newest segment delivered.
    pub(super) rtt: Option<Duration>,
    /// Segments delivered before the newest delivered segment was sent; 0 if the ACK delivers
    /// nothing.
    prior_delivered: u64,
    /// Transmission times of the first and last newly SACKed segment, and of the first and last
    /// newly acknowledged one, counting segments that were sent once.
    sacked_sent: Option<(Instant, Instant)>,
    acked_sent: Option<(Instant, Instant)>,
    /// The ACK acknowledges a retransmitted segment.
    ambiguous: bool,
}

impl AckOutcome {
    /// True if the ACK needs loss processing (`tcp_ack_is_dubious`).
    pub(super) fn is_dubious(&self) -> bool {
        !(self.advanced || self.opens) || self.sacked || self.dsack || self.marked
    }

    /// True if the ACK is a duplicate without news (`num_dupack` in `tcp_ack`).
    pub(super) fn is_plain_duplicate(&self) -> bool {
        !self.advanced && !self.old && !self.dsack && !self.opens
    }

    #[inline]
    fn widen(range: &mut Option<(Instant, Instant)>, sent: Instant) {
        *range = Some((range.map_or(sent, |(first, _)| first), sent));
    }
}

/// Parts of the sender, other than the scoreboard, that an ACK changes.
#[derive(Debug)]
pub(super) struct AckContext<'a> {
    pub(super) recovery: &'a mut Recovery,
    pub(super) rtt: &'a mut RttEstimator,
    pub(super) counters: &'a mut SenderCounters,
}

/// Result of loss detection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    /// A retransmission was declared lost.
    pub(super) again: bool,
    /// When the remaining overtaken segments count as lost.
    pub(super) next: Option<Instant>,
}

impl Scoreboard {
    /// An empty scoreboard. It measures delivery rates if `measures_rate`.
    pub(super) fn new(config: &TcpConfig, measures_rate: bool) -> Self {
        let (mss, options) = (config.mss().0, config.options());
        Self {
            mss,
            timestamps: config.timestamps,
            uses_sacks: config.sack,
            uses_rack: options.rack,
            uses_dsacks: options.dsack,
            flight: Flight::new(mss),
            order: SentOrder::new(),
            covered: Blocks::default(),
            last_blocks: LastBlocks::default(),
            highest_sacked: 0,
            delivered: 0,
            declared_lost: 0,
            duplicates: 0,
            rack: Rack::new(),
            reordering: Reordering::new(options.max_reordering),
            examined: 0,
            rate: measures_rate.then(|| Box::new(DeliveryRate::new())),
        }
    }

    /// The segments in flight.
    #[inline]
    pub(super) fn flight(&self) -> &Flight {
        &self.flight
    }

    /// Lowest lost segment.
    #[inline]
    pub(super) fn lowest_lost(&mut self) -> Option<u64> {
        self.flight.lowest_lost()
    }

    /// Time of the last transmission of the lowest segment in flight.
    #[inline]
    pub(super) fn head_sent(&self) -> Instant {
        self.order.transmission(self.flight.first()).sent
    }

    /// Segments delivered since the start.
    #[inline]
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Segments declared lost since the start.
    #[inline]
    pub(super) fn lost(&self) -> u64 {
        self.declared_lost
    }

    /// Totals of segments delivered and lost.
    #[inline]
    pub(super) fn totals(&self) -> Totals {
        let delivered_at = self.rate.as_ref().map_or(Instant::ZERO, |it| it.delivered_at());
        Totals { delivered: self.delivered, lost: self.declared_lost, delivered_at }
    }

    /// True if the reordering degree has risen.
    pub(super) fn is_reordered(&self) -> bool {
        self.reordering.is_high()
    }

    /// True if the application limits the delivery rate.
    pub(super) fn is_app_limited(&self) -> bool {
        self.rate.as_ref().is_some_and(|it| it.is_app_limited())
    }

    /// Marks the segments in flight as limited by the application, not the network.
    pub(super) fn limit_rate_sample(&mut self) {
        let in_flight = self.flight.outstanding();
        if let Some(rate) = &mut self.rate {
            rate.on_app_limited(self.delivered, in_flight);
        }
    }

    /// Delivery rate sample of an ACK of `acked` segments.
    pub(super) fn rate_sample(&mut self, now: Instant, acked: u64, rtt: &RttEstimator) -> Rate {
        let totals = self.totals();
        let rate = self.rate.as_mut();
        rate.map_or_else(Rate::default, |it| it.finish(now, totals, acked, rtt.least()))
    }

    /// Segments declared lost since the last call, for a model-based control.
    pub(super) fn take_lost(&mut self, now: Instant) -> Vec<LostSegment> {
        let totals = self.totals();
        self.rate.as_mut().map_or_else(Vec::new, |it| it.take_lost(now, totals))
    }

    /// The segment whose loss a probe repaired, for a model-based control.
    pub(super) fn probed(&self, now: Instant) -> Option<LostSegment> {
        self.rate.as_ref().map(|it| it.probed(now, self.totals()))
    }

    /// Counts the SYN as delivered.
    pub(super) fn on_established(&mut self) {
        self.delivered = 1;
    }

    /// Adds a new segment of `len` bytes.
    #[inline(always)] // called for every packet: a call costs as much as what it does
    pub(super) fn on_sent(&mut self, now: Instant, len: u32) {
        let (first, next) = (self.flight.first(), self.flight.next());
        self.order.push(first, next, Transmission { sent: now, delivered: self.delivered });
        self.note_sent(now, next, 1);
        self.flight.push(now, len);
    }

    /// Adds `count` new segments of `bytes` in all, while no delivery rate is measured.
    #[inline(always)] // as `on_sent`
    pub(super) fn on_group_sent(&mut self, now: Instant, count: u64, bytes: u64) {
        let (first, next) = (self.flight.first(), self.flight.next());
        let transmission = Transmission { sent: now, delivered: self.delivered };
        self.order.push_all(first, next..next + count, transmission);
        self.flight.push_all(now, count, bytes);
    }

    /// Records the retransmission of a lost segment.
    pub(super) fn on_retransmitted(&mut self, now: Instant, number: u64) {
        self.flight.mark_retransmitted(number, 0);
        self.send_again(now, number);
    }

    /// Records the retransmission of a segment that is not lost (a probe).
    pub(super) fn on_probed(&mut self, now: Instant, number: u64) {
        if let Some(rate) = &mut self.rate {
            rate.on_probing(number);
        }
        self.flight.mark_probed(number);
        self.send_again(now, number);
    }

    fn send_again(&mut self, now: Instant, number: u64) {
        self.order.send_again(number, Transmission { sent: now, delivered: self.delivered });
        self.note_sent(now, number, 0);
    }

    #[inline(always)]
    fn note_sent(&mut self, now: Instant, number: u64, new: u64) {
        if self.rate.is_some() {
            self.measure_sent(now, number, new);
        }
    }

    fn measure_sent(&mut self, now: Instant, number: u64, new: u64) {
        if let Some(rate) = &mut self.rate {
            let (first, idle) = (self.flight.first(), self.flight.is_empty());
            let in_flight = self.flight.outstanding() + new;
            let level =
                SendTotals { delivered: self.delivered, lost: self.declared_lost, in_flight };
            rate.on_sent(now, first, number, idle, level);
        }
    }

    /// Processes an ACK. `opens` tells whether it opens the receive window further.
    #[inline(always)] // called in one place: what it says is written where it is read
    pub(super) fn take_in(
        &mut self,
        now: Instant,
        segment: &Segment,
        opens: bool,
        mut context: AckContext<'_>,
    ) -> AckOutcome {
        let mut outcome = AckOutcome {
            old: segment.ack < self.flight.una(),
            opens,
            prior_in_flight: self.flight.outstanding(),
            prior_first: self.flight.first(),
            echo: self.timestamps.then_some(segment.ts_ecr),
            ..AckOutcome::default()
        };
        let sacked_before = self.sacked_end();
        if !segment.sack.is_empty() {
            self.take_in_sacks(now, segment, &mut context, &mut outcome);
        }
        let late = if outcome.old {
            None
        } else {
            self.advance(now, segment.ack, &mut context, &mut outcome)
        };
        if let Some(low) = late.filter(|&low| self.uses_sacks && low < sacked_before) {
            // A segment sent once filled a hole: it was reordered, not lost.
            let end = self.sacked_end();
            self.reordering.observe(low, end);
        }
        if !outcome.old {
            self.sample_rtt(now, context.rtt, &mut outcome);
        }
        outcome
    }

    /// True if ACKs of new data need no more than [`Scoreboard::take_in_expected`].
    pub(super) fn is_calm(&self) -> bool {
        let calm = self.flight.is_undisturbed() && self.flight.is_sent_once();
        calm && self.uses_sacks && self.rate.is_none()
    }

    /// Processes an ACK of new data up to byte `ack`, at most SND.NXT. Returns how many segments it covers and
    /// the round-trip time of the newest of them, or `None` if it covers no whole one.
    #[inline(always)] // called in one place
    pub(super) fn take_in_expected(
        &mut self,
        now: Instant,
        ack: u64,
        rtt: &mut RttEstimator,
        counters: &mut SenderCounters,
    ) -> Option<(u32, Duration)> {
        let (una, first) = (self.flight.una(), self.flight.first());
        let segments = self.flight.pop_sent_once(ack);
        if segments == 0 {
            return None;
        }
        let last = first + u64::from(segments) - 1;
        let (oldest, newest) = (self.order.transmission(first), self.order.transmission(last));
        self.order.remove_through(last);
        counters.on_acknowledged_once(segments);
        counters.bytes_acked += self.flight.una() - una;
        self.delivered += u64::from(segments);
        self.rack.on_delivered(now, newest.sent, last, false, None);
        self.rack.adapt(newest.delivered, self.delivered);
        let newest = now.saturating_since(newest.sent);
        rtt.sample_least(now, newest);
        rtt.sample(now.saturating_since(oldest.sent), self.flight.first(), self.flight.next());
        Some((segments, newest))
    }

    /// Adapts RACK's reordering window to an ACK; not called for the first ACK of a new flight.
    #[inline]
    pub(super) fn adapt_window(&mut self, outcome: &AckOutcome) {
        self.rack.adapt(outcome.prior_delivered, self.delivered);
    }

    /// The segment after the highest SACKed one, or the lowest in flight without SACKs
    /// (`tcp_highest_sack_seq`).
    #[inline]
    fn sacked_end(&self) -> u64 {
        match self.flight.sacked_count() {
            0 => self.flight.first(),
            _ => (self.highest_sacked + 1).max(self.flight.first()),
        }
    }

    fn take_in_sacks(
        &mut self,
        now: Instant,
        segment: &Segment,
        context: &mut AckContext<'_>,
        outcome: &mut AckOutcome,
    ) {
        let una = self.flight.una().max(segment.ack);
        let mut blocks = Blocks::default();
        let mut late = u64::MAX;
        let mut iter = segment.sack.iter(segment.ack);
        if segment.dsack
            && self.uses_dsacks
            && let Some(block) = iter.next()
        {
            late = self.take_in_duplicate(block, context, outcome);
        }
        for (index, mut block) in iter.enumerate() {
            if block.end <= una || block.end > self.flight.nxt() {
                continue;
            }
            block.start = block.start.max(una);
            let (start, end) = self.last_blocks.segments(&self.flight, index, block);
            if start < end {
                blocks.insert(start, end);
            }
        }
        for &(start, end) in blocks.as_slice() {
            let mut from = self.covered.beyond(start);
            while let Some(number) = self.flight.next_not_sacked(from, end) {
                late = late.min(self.on_sacked(now, number, context, outcome));
                from = number + 1;
            }
        }
        self.covered = blocks;
        if late != u64::MAX && context.recovery.tells_reordering() {
            self.reordering.observe(late, self.sacked_end());
        }
    }

    /// Records the first SACK of a segment. Returns the segment if it was reordered.
    fn on_sacked(
        &mut self,
        now: Instant,
        number: u64,
        context: &mut AckContext<'_>,
        outcome: &mut AckOutcome,
    ) -> u64 {
        let sends = self.flight.sends(number);
        let mut late = u64::MAX;
        let sent = self.on_delivered(now, number, sends, true, context.rtt, outcome);
        if sends == 1 {
            if self.flight.sacked_count() > 0 && number < self.highest_sacked {
                late = number;
            }
            outcome.original_delivered |= context.recovery.began_after(number);
            AckOutcome::widen(&mut outcome.sacked_sent, sent);
        }
        if self.flight.sacked_count() == 0 {
            self.highest_sacked = number;
        }
        self.flight.mark_sacked(number);
        self.order.remove(number);
        self.highest_sacked = self.highest_sacked.max(number);
        outcome.sacked = true;
        late
    }

    /// Passes a delivery to RACK and the rate estimator. Returns when the segment was last sent.
    ///
    /// A cumulative ACK that echoes a time before the retransmission acknowledges an earlier
    /// transmission, which RACK ignores (`tcp_skb_spurious_retrans` in `tcp_clean_rtx_queue`). The
    /// echo of a SACK is not used: above a hole it is older than any retransmission
    /// (`tcp_sacktag_one`).
    #[inline]
    fn on_delivered(
        &mut self,
        now: Instant,
        number: u64,
        sends: u16,
        is_sacked: bool,
        rtt: &RttEstimator,
        outcome: &mut AckOutcome,
    ) -> Instant {
        let Transmission { sent, delivered } = self.order.transmission(number);
        self.delivered += 1;
        if let Some(rate) = &mut self.rate {
            rate.on_delivered(number);
        }
        outcome.prior_delivered = outcome.prior_delivered.max(delivered);
        if !self.uses_sacks {
            return sent;
        }
        let again = sends > 1;
        if again && !is_sacked && outcome.echo.is_some_and(|echo| is_before(echo, sent)) {
            return sent;
        }
        let least = if again { rtt.least() } else { None };
        if self.rack.on_delivered(now, sent, number, again, least) {
            self.order.overtake(number);
        }
        sent
    }

    /// Processes a D-SACK block. Returns a segment in flight that was reordered, if the block
    /// reveals one.
    fn take_in_duplicate(
        &mut self,
        block: SackBlock,
        context: &mut AckContext<'_>,
        outcome: &mut AckOutcome,
    ) -> u64 {
        if block.start >= block.end || block.end > self.flight.nxt() {
            return u64::MAX;
        }
        let start = self.flight.at_or_after(block.start);
        let end = self.flight.at_or_after(block.end);
        let below = block.end <= self.flight.una();
        let count = if below { 1 } else { (end - start).max(1) };
        outcome.dsack_of_probe = context.recovery.probe().is_duplicate_of(end);
        self.duplicates += count;
        // More duplicates than retransmissions: the network duplicated packets (`tcp_check_dsack`).
        if self.duplicates > context.counters.retransmissions {
            return u64::MAX;
        }
        outcome.dsack = true;
        self.delivered += count;
        if self.reordering.seen() && !outcome.dsack_of_probe {
            self.rack.on_dsack();
        }
        if below {
            context.recovery.on_duplicates_below(block.end, count);
            return u64::MAX;
        }
        let mut late = u64::MAX;
        for number in start..end {
            if self.flight.sends(number) > 1 {
                context.recovery.on_duplicate(number);
                if self.flight.state(number) == State::Sacked {
                    late = late.min(number);
                }
            }
        }
        late
    }

    /// Removes acknowledged segments. Returns the lowest of them that was sent once and had not
    /// been SACKed.
    #[inline(always)] // called in one place
    fn advance(
        &mut self,
        now: Instant,
        ack: u64,
        context: &mut AckContext<'_>,
        outcome: &mut AckOutcome,
    ) -> Option<u64> {
        let una = self.flight.una();
        let (mut late, delivered, first) = (None, self.delivered, self.flight.first());
        loop {
            let number = self.flight.first();
            let Some(segment) = self.flight.pop_acknowledged(ack) else { break };
            outcome.advanced = true;
            if segment.state != State::Sacked {
                let sent =
                    self.on_delivered(now, number, segment.sends, false, context.rtt, outcome);
                if segment.sends == 1 {
                    AckOutcome::widen(&mut outcome.acked_sent, sent);
                    late = late.or(Some(number));
                    outcome.original_delivered |= context.recovery.began_after(number);
                }
            }
            outcome.ambiguous |= segment.sends > 1;
            self.order.remove(number);
            context.counters.on_acknowledged(segment.sends);
        }
        if !self.uses_sacks && outcome.advanced {
            self.delivered = delivered;
            self.on_advance_without_sacks(self.flight.first() - first);
            // The original of a segment sent again may be what was acknowledged.
            outcome.original_delivered &= !outcome.ambiguous;
        }
        let acked = self.flight.una() - una;
        context.counters.bytes_acked += acked;
        outcome.maybe_delayed = outcome.acked_sent.is_some()
            && self.delivered == delivered + 1
            && acked < u64::from(self.mss)
            && !outcome.sacked;
        outcome.restarts_timer |= outcome.advanced;
        late
    }

    /// Without SACK: an ACK acknowledges `count` segments. One of them filled a hole; the others
    /// were counted as duplicate ACKs came (`tcp_remove_reno_sacks`).
    fn on_advance_without_sacks(&mut self, count: u64) {
        let assumed = self.flight.sacked_count();
        self.delivered += count.saturating_sub(assumed).max(1);
        self.assume_sacked(assumed.saturating_sub(count - 1), count);
    }

    /// Without SACK: a duplicate ACK stands for a segment above a hole that arrived
    /// (`tcp_add_reno_sack`).
    pub(super) fn on_duplicate_ack(&mut self) {
        let assumed = self.flight.sacked_count();
        self.assume_sacked(assumed + 1, 0);
        self.delivered += self.flight.sacked_count().saturating_sub(assumed);
    }

    /// Without SACK: forgets the duplicate ACKs (`tcp_reset_reno_sack`).
    pub(super) fn forget_duplicate_acks(&mut self) {
        self.flight.assume_sacked(0);
    }

    /// At least one segment of those in flight, and each lost one, has not arrived. More duplicate
    /// ACKs than that allows prove reordering (`tcp_check_reno_reordering`); `acked` segments have
    /// just been acknowledged.
    fn assume_sacked(&mut self, count: u64, acked: u64) {
        let in_flight = self.flight.next() - self.flight.first();
        let lost = self.flight.lost_count() + self.flight.retransmitted_count();
        let most = in_flight - lost.max(1).min(in_flight);
        self.flight.assume_sacked(count.min(most));
        if count > most {
            self.reordering.on_many_duplicates(in_flight + acked);
        }
    }

    /// Without SACK: the lowest segment is lost after as many duplicate ACKs as the reordering
    /// degree, and in recovery on each ACK that advances (RFC 6582, `tcp_newreno_mark_lost`).
    pub(super) fn find_loss_without_sacks(&mut self, state: CongestionState, advanced: bool) {
        let proven = match state {
            CongestionState::Recovery => advanced,
            CongestionState::Loss => false,
            _ => self.flight.sacked_count() >= u64::from(self.reordering.degree()),
        };
        let first = self.flight.first();
        if proven && !self.flight.is_empty() && self.flight.state(first) == State::InFlight {
            self.order.remove(first);
            self.declare_lost(first);
        }
    }

    /// Takes round-trip samples from segments sent once; otherwise from timestamps, if data were
    /// acknowledged. The timestamp clock counts milliseconds (`tcp_rtt_tsopt_us`).
    #[inline(always)] // called in one place
    fn sample_rtt(&mut self, now: Instant, rtt: &mut RttEstimator, outcome: &mut AckOutcome) {
        let since = |sent| now.saturating_since(sent);
        let acked = outcome.acked_sent.filter(|_| !outcome.ambiguous);
        let mut sample = acked.map(|(first, _)| since(first));
        let mut newest = acked.map(|(_, last)| since(last));
        let sacked = outcome.sacked_sent.map(|(first, _)| since(first));
        if let Some((_, last)) = outcome.sacked_sent {
            newest = Some(since(last));
        }
        sample = sample.or(sacked);
        if sample.is_none() && outcome.advanced {
            sample = outcome.echo.map(|echo| by_clock(echo, now));
            newest = sample;
        }
        outcome.rtt = newest;
        let Some(sample) = sample else { return };
        if let Some(newest) = newest {
            rtt.sample_least(now, newest);
        }
        rtt.sample(sample, self.flight.first(), self.flight.next());
        // A SACK of a segment sent after the lowest one in flight does not time the lowest one.
        if !outcome.advanced && !self.flight.is_empty() {
            let head = self.head_sent();
            outcome.restarts_timer = sacked.is_some_and(|rtt| rtt > since(head));
        }
    }

    /// Declares segments lost after an ACK. `repairing` is true during loss repair.
    pub(super) fn find_losses(
        &mut self,
        now: Instant,
        rtt: &RttEstimator,
        repairing: bool,
    ) -> Losses {
        if self.flight.is_empty() {
            return Losses::default();
        }
        if !self.uses_rack {
            self.declare_overtaken_lost();
            return Losses::default();
        }
        if !self.rack.take_advance() {
            return Losses::default();
        }
        let retransmitted = self.flight.retransmitted_count();
        let next = self.declare_expired_lost(now, rtt, repairing);
        Losses { again: self.flight.retransmitted_count() < retransmitted, next }
    }

    /// RACK (RFC 8985 section 6.2 step 5; `tcp_rack_detect_loss`). Returns when all remaining
    /// overtaken segments count as lost, if there are any. Visits segments in order of their last
    /// transmission until one is not due, so that the cost is proportional to the segments found.
    pub(super) fn declare_expired_lost(
        &mut self,
        now: Instant,
        rtt: &RttEstimator,
        repairing: bool,
    ) -> Option<Instant> {
        let sacked = self.flight.sacked_count();
        let (least, smoothed) = (rtt.least(), rtt.smoothed());
        let window = self.rack.window(&self.reordering, repairing, sacked, least, smoothed);
        while let Some(number) = self.order.oldest() {
            let sent = self.order.transmission(number).sent;
            if !self.rack.is_overtaken(sent, number) {
                return None;
            }
            if self.rack.expiry(sent, window) > now {
                let last = self.order.last_overtaken().unwrap_or(number);
                return Some(self.rack.expiry(self.order.transmission(last).sent, window));
            }
            self.order.remove(number);
            self.declare_lost(number);
        }
        None
    }

    /// RFC 6675: a segment is lost once as many segments above it are SACKed as the reordering
    /// degree.
    fn declare_overtaken_lost(&mut self) {
        let degree = u64::from(self.reordering.degree());
        let Some(limit) = self.flight.sacked_from_top(degree) else { return };
        let mut from = self.flight.first().max(self.examined);
        while let Some(number) = self.flight.next_not_sacked(from, limit) {
            if self.flight.state(number) == State::InFlight {
                self.order.remove(number);
                self.declare_lost(number);
            }
            from = number + 1;
        }
        self.examined = self.examined.max(limit);
    }

    /// After a timeout, declares the lowest segment lost, and every segment not sent within the
    /// last round trip, listed for RACK or not (`tcp_timeout_mark_lost`).
    pub(super) fn declare_silent_lost(&mut self, now: Instant) {
        if !self.uses_sacks {
            self.forget_duplicate_acks();
        }
        let (first, next) = (self.flight.first(), self.flight.next());
        let mut from = first;
        while let Some(number) = self.flight.next_not_sacked(from, next) {
            from = number + 1;
            let sent = self.order.transmission(number).sent;
            let is_recent = self.uses_rack && self.rack.expiry(sent, Duration::ZERO) > now;
            if number == first || !is_recent {
                self.order.set_aside(number);
                self.declare_lost(number);
            }
        }
        self.examined = first;
    }

    fn declare_lost(&mut self, number: u64) {
        if self.flight.state(number) != State::Lost {
            self.flight.mark_lost(number);
            self.declared_lost += 1;
            if let Some(rate) = &mut self.rate {
                rate.on_lost(number, self.declared_lost);
            }
        }
    }

    /// Reverts all segments declared lost to in flight. RACK examines those again that a timeout
    /// declared lost, and never those that it declared lost itself, until they are sent again
    /// (`tcp_undo_cwnd_reduction` clears the mark and leaves the list as it is).
    pub(super) fn find_lost(&mut self) {
        let mut found = Vec::new();
        while let Some(number) = self.flight.lowest_lost() {
            self.flight.mark_found(number);
            found.push(number);
        }
        let rack = self.rack;
        self.order.restore(found, |sent, number| rack.is_overtaken(sent, number));
        if self.flight.retransmitted_count() > 0 {
            for number in self.flight.first()..self.flight.next() {
                if self.flight.state(number) == State::Retransmitted {
                    self.flight.mark_found(number);
                }
            }
        }
    }

    /// True if a retransmitted segment is in flight.
    pub(super) fn is_anything_sent_again(&self) -> bool {
        self.flight.retransmitted_count() > 0
            || (!self.flight.is_empty() && self.flight.sends(self.flight.first()) > 1)
    }

    /// Records that a reordered segment filled the hole whose lowest segment was `low`.
    pub(super) fn on_filled_late(&mut self, low: u64) {
        let end = if self.uses_sacks { self.sacked_end() } else { self.flight.first() };
        self.reordering.observe(low, end);
    }

    /// A reduction was undone: loss detection runs again.
    pub(super) fn on_undone(&mut self) {
        self.rack.force_detection();
    }

    /// A reduction was undone because of D-SACKs.
    pub(super) fn on_undone_by_dsack(&mut self) {
        self.rack.on_undone_by_dsack();
    }

    /// A recovery ended without undo.
    pub(super) fn on_recovery_over(&mut self) {
        self.rack.on_recovery_over();
    }

    /// The first timeout of an episode. If duplicates did not prove the loss, the reordering degree
    /// falls.
    pub(super) fn on_timeout(&mut self) {
        self.reordering.on_timeout(self.flight.sacked_count());
    }
}
