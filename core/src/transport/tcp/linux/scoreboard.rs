//! What is known of the segments in flight: which are SACKed, lost or sent again, and when each
//! left. ACKs are taken in here and losses found, by time of sending (RACK, RFC 8985) or by the
//! number of segments SACKed above (RFC 6675).

use super::delivery::{DeliveryRate, Level};
use super::rack::Rack;
use super::recovery::Recovery;
use super::reordering::Reordering;
use super::rtt::RttEstimator;
use super::sent_order::{SentOrder, Transmission};
use super::undo::{by_clock, is_before};
use crate::transport::tcp::config::TcpConfig;
use crate::transport::tcp::congestion::{LostSegment, Rate, Totals};
use crate::transport::tcp::shared::counters::SenderCounters;
use crate::transport::tcp::shared::flight::{Flight, State};
use crate::transport::tcp::shared::sack_blocks::{Blocks, LastBlocks};
use crate::transport::{SackBlock, Segment};
use crate::units::{Duration, Instant};

/// The segments in flight, and how losses among them show.
#[derive(Debug)]
pub(super) struct Scoreboard {
    mss: u32,
    timestamps: bool,
    /// RACK finds losses.
    uses_rack: bool,
    /// D-SACKs are made use of.
    uses_dsacks: bool,
    flight: Flight,
    order: SentOrder,
    /// The blocks of the last ACK that had any.
    covered: Blocks,
    last_blocks: LastBlocks,
    highest_sacked: u64,
    /// Segments delivered, and declared lost, since the start.
    delivered: u64,
    declared_lost: u64,
    /// Duplicates reported by D-SACKs.
    duplicates: u64,
    rack: Rack,
    reordering: Reordering,
    /// Without RACK: segments below were looked at.
    examined: u64,
    /// Measured for a congestion control that has a model.
    rate: Option<Box<DeliveryRate>>,
}

/// What an ACK said.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Said {
    /// It advanced the cumulative acknowledgement.
    pub(super) advanced: bool,
    /// Its acknowledgement is below what was acknowledged before.
    pub(super) old: bool,
    /// A segment was SACKed that had not been before.
    pub(super) sacked: bool,
    /// It reports a duplicate (RFC 2883); of a probe's segment.
    pub(super) dsack: bool,
    pub(super) dsack_of_probe: bool,
    /// A segment from before the phase, sent once, was delivered.
    pub(super) original_delivered: bool,
    /// The timer starts anew.
    pub(super) restarts_timer: bool,
    /// Segments in flight before it.
    pub(super) prior_in_flight: u64,
    /// It acknowledges nothing but one short segment: the receiver may have held it back.
    pub(super) maybe_delayed: bool,
    /// The lowest segment in flight before it.
    pub(super) prior_first: u64,
    /// It tells of marks (ECN).
    pub(super) marked: bool,
    /// When the segment left that it echoes; `None` without timestamps.
    pub(super) echo: Option<Instant>,
    /// Round-trip time of the newest segment that it delivers.
    pub(super) rtt: Option<Duration>,
    /// Segments delivered when the newest of what it delivers was sent; 0: it delivers nothing.
    prior_delivered: u64,
    /// First and last segment newly SACKed, and acknowledged, that were sent once: when.
    sacked_sent: Option<(Instant, Instant)>,
    acked_sent: Option<(Instant, Instant)>,
    /// It acknowledges a segment that was sent again.
    ambiguous: bool,
}

impl Said {
    /// Whether it asks for more than sending on.
    pub(super) fn is_dubious(&self) -> bool {
        !self.advanced || self.sacked || self.dsack || self.marked
    }

    /// Whether it says nothing new: a duplicate.
    pub(super) fn is_plain_duplicate(&self) -> bool {
        !self.advanced && !self.old && !self.dsack
    }

    fn widen(range: &mut Option<(Instant, Instant)>, sent: Instant) {
        *range = Some((range.map_or(sent, |(first, _)| first), sent));
    }
}

/// What an ACK is entered into beside the scoreboard.
#[derive(Debug)]
pub(super) struct Books<'a> {
    pub(super) recovery: &'a mut Recovery,
    pub(super) rtt: &'a mut RttEstimator,
    pub(super) counters: &'a mut SenderCounters,
}

/// What a search for losses found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    /// A retransmission was declared lost.
    pub(super) again: bool,
    /// When those that are not lost yet will be.
    pub(super) next: Option<Instant>,
}

impl Scoreboard {
    /// Nothing in flight; delivery rates are measured if `measures_rate`.
    pub(super) fn new(config: &TcpConfig, measures_rate: bool) -> Self {
        let (mss, options) = (config.mss().0, config.options());
        Self {
            mss,
            timestamps: config.timestamps,
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

    /// The lowest lost segment.
    #[inline]
    pub(super) fn lowest_lost(&mut self) -> Option<u64> {
        self.flight.lowest_lost()
    }

    /// When the lowest segment in flight left last.
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

    /// What was delivered and lost since the start.
    #[inline]
    pub(super) fn totals(&self) -> Totals {
        let delivered_at = self.rate.as_ref().map_or(Instant::ZERO, |it| it.delivered_at());
        Totals { delivered: self.delivered, lost: self.declared_lost, delivered_at }
    }

    /// Whether the reordering degree has risen.
    pub(super) fn is_reordered(&self) -> bool {
        self.reordering.is_high()
    }

    /// Whether the application limits the delivery rate.
    pub(super) fn is_app_limited(&self) -> bool {
        self.rate.as_ref().is_some_and(|it| it.is_app_limited())
    }

    /// What is in flight now is limited by something else than the network.
    pub(super) fn limit_rate_sample(&mut self) {
        let in_flight = self.flight.outstanding();
        if let Some(rate) = &mut self.rate {
            rate.on_app_limited(self.delivered, in_flight);
        }
    }

    /// The delivery rate that an ACK of `acked` segments shows.
    pub(super) fn rate_sample(&mut self, now: Instant, acked: u64, rtt: &RttEstimator) -> Rate {
        let totals = self.totals();
        let rate = self.rate.as_mut();
        rate.map_or_else(Rate::default, |it| it.finish(now, totals, acked, rtt.least()))
    }

    /// What was declared lost since this was asked last, for a control that has a model.
    pub(super) fn take_lost(&mut self, now: Instant) -> Vec<LostSegment> {
        let totals = self.totals();
        self.rate.as_mut().map_or_else(Vec::new, |it| it.take_lost(now, totals))
    }

    /// The segment whose loss a probe has repaired, for a control that has a model.
    pub(super) fn probed(&self, now: Instant) -> Option<LostSegment> {
        self.rate.as_ref().map(|it| it.probed(now, self.totals()))
    }

    /// The SYN was delivered.
    pub(super) fn on_established(&mut self) {
        self.delivered = 1;
    }

    /// A new segment of `len` bytes leaves.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Instant, len: u32) {
        let (first, next) = (self.flight.first(), self.flight.next());
        self.order.push(first, next, Transmission { sent: now, delivered: self.delivered });
        self.note_sent(now, next, 1);
        self.flight.push(now, len);
    }

    /// A lost segment leaves again.
    pub(super) fn on_retransmitted(&mut self, now: Instant, number: u64) {
        self.flight.mark_retransmitted(number, 0);
        self.send_again(now, number);
    }

    /// A segment leaves again that is not lost.
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

    #[inline]
    fn note_sent(&mut self, now: Instant, number: u64, new: u64) {
        if let Some(rate) = &mut self.rate {
            let (first, idle) = (self.flight.first(), self.flight.is_empty());
            let in_flight = self.flight.outstanding() + new;
            let level = Level { delivered: self.delivered, lost: self.declared_lost, in_flight };
            rate.on_sent(now, first, number, idle, level);
        }
    }

    /// Takes in an ACK.
    #[inline(always)] // called in one place: what it says is written where it is read
    pub(super) fn take_in(
        &mut self,
        now: Instant,
        segment: &Segment,
        mut books: Books<'_>,
    ) -> Said {
        let mut said = Said {
            old: segment.ack < self.flight.una(),
            prior_in_flight: self.flight.outstanding(),
            prior_first: self.flight.first(),
            echo: self.timestamps.then_some(segment.ts_ecr),
            ..Said::default()
        };
        let highest_before = self.highest_or_first();
        if !segment.sack.is_empty() {
            self.take_in_sacks(now, segment, &mut books, &mut said);
        }
        let late =
            if said.old { None } else { self.advance(now, segment.ack, &mut books, &mut said) };
        if let Some(low) = late.filter(|&low| low < highest_before) {
            // A hole was filled by a segment sent once: it was late.
            let highest = self.highest_or_first();
            self.reordering.observe(low, highest);
        }
        self.sample_rtt(now, books.rtt, &mut said);
        said
    }

    /// The ACK that was taken in is not the first one of a new flight: RACK's window follows.
    #[inline]
    pub(super) fn adapt_window(&mut self, said: &Said) {
        self.rack.adapt(said.prior_delivered, self.delivered);
    }

    /// The highest SACKed segment, or the lowest in flight if there is none.
    #[inline]
    fn highest_or_first(&self) -> u64 {
        match self.flight.sacked_count() {
            0 => self.flight.first(),
            _ => self.highest_sacked,
        }
    }

    fn take_in_sacks(
        &mut self,
        now: Instant,
        segment: &Segment,
        books: &mut Books<'_>,
        said: &mut Said,
    ) {
        let una = self.flight.una().max(segment.ack);
        let mut blocks = Blocks::default();
        let mut late = u64::MAX;
        let mut iter = segment.sack.iter(segment.ack);
        if segment.dsack
            && self.uses_dsacks
            && let Some(block) = iter.next()
        {
            late = self.take_in_duplicate(block, books, said);
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
                late = late.min(self.on_sacked(now, number, books, said));
                from = number + 1;
            }
        }
        self.covered = blocks;
        if late != u64::MAX && books.recovery.tells_reordering() {
            self.reordering.observe(late, self.highest_or_first());
        }
    }

    /// A segment is SACKed for the first time; returns it if that shows it was late.
    fn on_sacked(
        &mut self,
        now: Instant,
        number: u64,
        books: &mut Books<'_>,
        said: &mut Said,
    ) -> u64 {
        let sends = self.flight.sends(number);
        let mut late = u64::MAX;
        let sent = self.on_delivered(now, number, sends, true, books.rtt, said);
        if sends == 1 {
            if self.flight.sacked_count() > 0 && number < self.highest_sacked {
                late = number;
            }
            said.original_delivered |= books.recovery.began_after(number);
            Said::widen(&mut said.sacked_sent, sent);
        }
        if self.flight.sacked_count() == 0 {
            self.highest_sacked = number;
        }
        self.flight.mark_sacked(number);
        self.order.remove(number);
        self.highest_sacked = self.highest_sacked.max(number);
        said.sacked = true;
        late
    }

    /// RACK and the rate hear of a delivery; returns when the segment was sent last.
    ///
    /// A cumulative ACK that echoes a time before the retransmission acknowledges an earlier one, of
    /// which RACK hears nothing (`tcp_skb_spurious_retrans` in `tcp_clean_rtx_queue`). What a SACK
    /// echoes says nothing: above a hole it is older than any retransmission
    /// (`tcp_sacktag_one`).
    #[inline]
    fn on_delivered(
        &mut self,
        now: Instant,
        number: u64,
        sends: u16,
        is_sacked: bool,
        rtt: &RttEstimator,
        said: &mut Said,
    ) -> Instant {
        let Transmission { sent, delivered } = self.order.transmission(number);
        self.delivered += 1;
        if let Some(rate) = &mut self.rate {
            rate.on_delivered(number);
        }
        said.prior_delivered = said.prior_delivered.max(delivered);
        let again = sends > 1;
        if again && !is_sacked && said.echo.is_some_and(|echo| is_before(echo, sent)) {
            return sent;
        }
        let least = if again { rtt.least() } else { None };
        if self.rack.on_delivered(now, sent, number, again, least) {
            self.order.overtake(number);
        }
        sent
    }

    /// A D-SACK block. Returns a segment still in flight that it shows to have been late.
    fn take_in_duplicate(
        &mut self,
        block: SackBlock,
        books: &mut Books<'_>,
        said: &mut Said,
    ) -> u64 {
        if block.start >= block.end || block.end > self.flight.nxt() {
            return u64::MAX;
        }
        let start = self.flight.at_or_after(block.start);
        let end = self.flight.at_or_after(block.end);
        let below = block.end <= self.flight.una();
        let count = if below { 1 } else { (end - start).max(1) };
        said.dsack_of_probe = books.recovery.probe().is_duplicate_of(end);
        self.duplicates += count;
        // More duplicates than retransmissions: the network made them.
        if self.duplicates > books.counters.retransmissions {
            return u64::MAX;
        }
        said.dsack = true;
        self.delivered += count;
        if self.reordering.seen() && !said.dsack_of_probe {
            self.rack.on_dsack();
        }
        if below {
            books.recovery.on_duplicates_below(block.end, count);
            return u64::MAX;
        }
        let mut late = u64::MAX;
        for number in start..end {
            if self.flight.sends(number) > 1 {
                books.recovery.on_duplicate(number);
                if self.flight.state(number) == State::Sacked {
                    late = late.min(number);
                }
            }
        }
        late
    }

    /// Takes out what is acknowledged; returns the lowest segment of it that was sent once and
    /// had not been SACKed.
    #[inline(always)] // called in one place
    fn advance(
        &mut self,
        now: Instant,
        ack: u64,
        books: &mut Books<'_>,
        said: &mut Said,
    ) -> Option<u64> {
        let una = self.flight.una();
        let (mut late, delivered) = (None, self.delivered);
        loop {
            let number = self.flight.first();
            let Some(segment) = self.flight.pop_acknowledged(ack) else { break };
            said.advanced = true;
            if segment.state != State::Sacked {
                let sent = self.on_delivered(now, number, segment.sends, false, books.rtt, said);
                if segment.sends == 1 {
                    Said::widen(&mut said.acked_sent, sent);
                    late = late.or(Some(number));
                    said.original_delivered |= books.recovery.began_after(number);
                }
            }
            said.ambiguous |= segment.sends > 1;
            self.order.remove(number);
            books.counters.on_acknowledged(segment.sends);
        }
        let acked = self.flight.una() - una;
        books.counters.bytes_acked += acked;
        said.maybe_delayed = said.acked_sent.is_some()
            && self.delivered == delivered + 1
            && acked < u64::from(self.mss)
            && !said.sacked;
        said.restarts_timer |= said.advanced;
        late
    }

    /// Samples come from segments sent once; else from timestamps, if data were acknowledged, whose
    /// clock counts milliseconds (`tcp_rtt_tsopt_us`).
    #[inline(always)] // called in one place
    fn sample_rtt(&mut self, now: Instant, rtt: &mut RttEstimator, said: &mut Said) {
        let since = |sent| now.saturating_since(sent);
        let acked = said.acked_sent.filter(|_| !said.ambiguous);
        let mut sample = acked.map(|(first, _)| since(first));
        let mut newest = acked.map(|(_, last)| since(last));
        let sacked = said.sacked_sent.map(|(first, _)| since(first));
        if let Some((_, last)) = said.sacked_sent {
            newest = Some(since(last));
        }
        sample = sample.or(sacked);
        if sample.is_none() && said.advanced {
            sample = said.echo.map(|echo| by_clock(echo, now));
            newest = sample;
        }
        said.rtt = newest;
        let Some(sample) = sample else { return };
        if let Some(newest) = newest {
            rtt.sample_least(now, newest);
        }
        rtt.sample(sample, self.flight.first(), self.flight.next());
        // A SACK of something sent after the lowest segment in flight tells nothing of that one.
        if !said.advanced && !self.flight.is_empty() {
            let head = self.head_sent();
            said.restarts_timer = sacked.is_some_and(|rtt| rtt > since(head));
        }
    }

    /// Declares lost what must be after an ACK; `repairing`: losses are being repaired.
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

    /// RACK (RFC 8985 section 6.2 step 5); returns when all that were overtaken will be lost, if
    /// some are not yet. Segments are visited in the order of their last transmission until one is
    /// not due: the work is what is found.
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
            self.declare_lost(number);
        }
        None
    }

    /// RFC 6675: lost is what has as many SACKed segments above as the reordering degree says.
    fn declare_overtaken_lost(&mut self) {
        let degree = u64::from(self.reordering.degree());
        let Some(limit) = self.flight.sacked_from_top(degree) else { return };
        let mut from = self.flight.first().max(self.examined);
        while let Some(number) = self.flight.next_not_sacked(from, limit) {
            if self.flight.state(number) == State::InFlight {
                self.declare_lost(number);
            }
            from = number + 1;
        }
        self.examined = self.examined.max(limit);
    }

    /// A timeout: the lowest segment is lost, and so is everything that was not sent within the
    /// last round trip.
    pub(super) fn declare_silent_lost(&mut self, now: Instant) {
        let first = self.flight.first();
        self.declare_lost(first);
        while let Some(number) = self.order.oldest() {
            let sent = self.order.transmission(number).sent;
            if self.uses_rack && self.rack.expiry(sent, Duration::ZERO) > now {
                break;
            }
            self.declare_lost(number);
        }
        self.examined = first;
    }

    fn declare_lost(&mut self, number: u64) {
        self.order.remove(number);
        if self.flight.state(number) != State::Lost {
            self.flight.mark_lost(number);
            self.declared_lost += 1;
            if let Some(rate) = &mut self.rate {
                rate.on_lost(number, self.declared_lost);
            }
        }
    }

    /// What was declared lost is believed to be in flight.
    pub(super) fn find_lost(&mut self) {
        let mut found = Vec::new();
        while let Some(number) = self.flight.lowest_lost() {
            self.flight.mark_found(number);
            found.push(number);
        }
        self.order.restore(found);
        if self.flight.retransmitted_count() > 0 {
            for number in self.flight.first()..self.flight.next() {
                if self.flight.state(number) == State::Retransmitted {
                    self.flight.mark_found(number);
                }
            }
        }
    }

    /// Whether a segment is out that was sent again.
    pub(super) fn is_anything_sent_again(&self) -> bool {
        self.flight.retransmitted_count() > 0
            || (!self.flight.is_empty() && self.flight.sends(self.flight.first()) > 1)
    }

    /// A hole whose lowest segment was `low` was filled by a late segment.
    pub(super) fn on_filled_late(&mut self, low: u64) {
        let highest = self.highest_sacked.max(self.flight.first());
        self.reordering.observe(low, highest);
    }

    /// A reduction was taken back: losses are looked for anew.
    pub(super) fn on_undone(&mut self) {
        self.rack.look_again();
    }

    /// D-SACKs are why a reduction is taken back.
    pub(super) fn on_undone_by_dsack(&mut self) {
        self.rack.on_undone_by_dsack();
    }

    /// A recovery ended without being taken back.
    pub(super) fn on_recovery_over(&mut self) {
        self.rack.on_recovery_over();
    }

    /// The first timeout of an episode: duplicates that did not prove the loss lower the degree.
    pub(super) fn on_timeout(&mut self) {
        self.reordering.on_timeout(self.flight.sacked_count());
    }
}
