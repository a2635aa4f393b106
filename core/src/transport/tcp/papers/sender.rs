//! The sending end of a TCP connection in profile `papers`.

use std::cmp::Ordering;

use rand_chacha::ChaCha8Rng;

use super::rate_halving::RateHalving;
use super::rtt::{LinuxAgent, RttEstimator};
use super::scoreboard::{FackScoreboard, Findings};
use crate::transport::tcp::config::TcpConfig;
use crate::transport::tcp::congestion::{
    Ack, CongestionControl, CongestionState, Loss, Totals, Window,
};
use crate::transport::tcp::half::{Half, Sender};
use crate::transport::tcp::shared::counters::SenderCounters;
use crate::transport::tcp::shared::flight::{Flight, State};
use crate::transport::tcp::shared::sack_blocks::{Blocks, LastBlocks};
use crate::transport::tcp::shared::supply::Supply;
use crate::transport::train::{Arrival, Rank, Train};
use crate::transport::{EndpointChange, Limit, Outbox, Segment};
use crate::units::{Duration, Instant};

/// Segments that may leave in one burst when recovery ends.
const BURST: u64 = 3;

/// What `Agent/TCP/Linux` of ns-2.35 does.
#[derive(Debug)]
pub(crate) struct PapersSender {
    headers: u32,
    initial_window: u32,
    timestamps: bool,
    supply: Supply,
    flight: Flight,
    scoreboard: FackScoreboard,
    last_blocks: LastBlocks,
    rtt: RttEstimator<LinuxAgent>,
    timed: Option<Timed>,
    deadline: Option<Instant>,
    window: Window,
    control: Box<dyn CongestionControl>,
    /// It watches every ACK.
    watched: bool,
    /// Whether the next reduction leaves the window as it is.
    keeps_window: bool,
    pacing: RateHalving,
    state: CongestionState,
    /// The segment that was to be sent next when the losses being repaired were detected.
    recovery_point: u64,
    counters: SenderCounters,
}

/// What the cumulative acknowledgement of an ACK covered for the first time.
#[derive(Clone, Copy, Debug, Default)]
struct Advance {
    segments: u32,
    /// When the highest of them last left; `None` if there is none or one was sent again in this
    /// episode.
    last_sent: Option<Instant>,
}

/// The segment whose round trip is being timed, without timestamps.
#[derive(Clone, Copy, Debug)]
struct Timed {
    segment: u64,
    sent: Instant,
}

impl PapersSender {
    /// A sender without data, with its initial window to send at once.
    pub(crate) fn new(config: &TcpConfig, rng: ChaCha8Rng) -> Self {
        let control = config.congestion.build(config, rng);
        Self {
            headers: config.headers(),
            initial_window: config.initial_window(),
            timestamps: config.timestamps,
            supply: Supply::new(config),
            flight: Flight::new(config.mss().0),
            scoreboard: FackScoreboard::new(),
            last_blocks: LastBlocks::default(),
            rtt: RttEstimator::new(),
            timed: None,
            deadline: None,
            window: Window::new(config),
            watched: control.watches(),
            keeps_window: false,
            control,
            pacing: RateHalving::default(),
            state: CongestionState::Open,
            recovery_point: 0,
            counters: SenderCounters::default(),
        }
    }

    /// True once the application has closed and everything is acknowledged.
    fn is_complete(&self) -> bool {
        self.supply.is_complete(self.flight.una())
    }

    /// Takes acknowledged segments out of the flight.
    #[inline(always)]
    fn advance(&mut self, ack: u64) -> Advance {
        let una = self.flight.una();
        let (mut segments, mut last_sent, mut ambiguous) = (0, None, false);
        while let Some(segment) = self.flight.pop_acknowledged(ack) {
            self.scoreboard.on_acknowledged(&segment);
            self.counters.on_acknowledged(segment.sends);
            segments += 1;
            last_sent = Some(segment.last_sent);
            ambiguous |= segment.state == State::Retransmitted;
        }
        self.counters.bytes_acked += self.flight.una() - una;
        Advance { segments, last_sent: last_sent.filter(|_| !ambiguous) }
    }

    #[inline(always)]
    fn update_scoreboard(&mut self, segment: &Segment) -> Findings {
        if segment.sack.is_empty() && self.scoreboard.is_empty() {
            return Findings::default();
        }
        self.take_in_sacks(segment)
    }

    #[inline(never)] // what only losses need would take the registers of every ACK
    fn take_in_sacks(&mut self, segment: &Segment) -> Findings {
        let mut blocks = Blocks::default();
        for (index, block) in segment.sack.iter(segment.ack).enumerate() {
            // Blocks below the acknowledgement report duplicates; none may reach beyond what was
            // sent.
            if block.start < self.flight.una() || block.end > self.flight.nxt() {
                continue;
            }
            let (start, end) = self.last_blocks.segments(&self.flight, index, block);
            if start < end {
                blocks.insert(start, end);
            }
        }
        self.scoreboard.update(&mut self.flight, &blocks)
    }

    /// Every ACK in the window gives a sample and restarts the timer (ns-2 TCP/Linux).
    #[inline(always)]
    fn update_timer(&mut self, now: Instant, segment: &Segment) {
        if self.timestamps {
            self.rtt.sample(now.saturating_since(segment.ts_ecr));
            self.rtt.end_backoff();
        } else if let Some(timed) = self.timed.filter(|timed| timed.segment < self.flight.first()) {
            self.rtt.sample(now.saturating_since(timed.sent));
            self.rtt.end_backoff();
            self.timed = None;
        }
        self.deadline = (!self.is_complete()).then(|| now + self.rtt.timeout());
    }

    /// A segment sent before, to be sent again.
    #[cold]
    fn retransmit(&mut self, now: Instant, number: u64, segment: &mut Segment) {
        let (start, end) = self.flight.bounds(number);
        let sends = self.flight.sends(number);
        let first_sent = self.flight.first_sent(number);
        self.scoreboard.on_retransmitted(&mut self.flight, number);
        self.flight.set_last_sent(number, now);
        self.counters.retransmissions += 1;
        if self.state == CongestionState::Recovery {
            self.counters.fast_retransmits += 1;
        }
        // Karn: an ACK would not tell which transmission it answers.
        self.timed = self.timed.filter(|timed| timed.segment != number);
        self.write(now, first_sent, start, (end - start) as u32, sends, segment);
    }

    #[inline(always)]
    fn send_new(&mut self, now: Instant, segment: &mut Segment) -> bool {
        let start = self.flight.nxt();
        let Some(len) = self.supply.segment_at(start) else { return false };
        if self.flight.is_empty() {
            self.deadline = Some(now + self.rtt.timeout());
        }
        if !self.timestamps && self.timed.is_none() {
            self.timed = Some(Timed { segment: self.flight.next(), sent: now });
        }
        self.flight.push(now, len);
        self.write(now, now, start, len, 0, segment);
        true
    }

    #[inline(always)]
    fn write(
        &mut self,
        now: Instant,
        first_sent: Instant,
        seq: u64,
        len: u32,
        sends: u16,
        segment: &mut Segment,
    ) {
        let wire = len + self.headers;
        self.counters.on_sent(wire);
        if self.pacing.is_on() {
            self.pacing.on_sent(self.flight.outstanding());
        }
        *segment = Segment {
            seq,
            len,
            wire,
            ts_val: now,
            first_sent,
            retransmission: sends,
            ..Segment::default()
        };
    }

    /// Recovery begins, or is over.
    #[inline(never)] // as above
    fn update_state(&mut self, findings: Findings) {
        if self.state != CongestionState::Open && self.flight.first() > self.recovery_point {
            self.leave_recovery();
        } else if self.state != CongestionState::Recovery && findings.newly_lost {
            self.enter_recovery();
        }
    }

    fn enter_recovery(&mut self) {
        self.recovery_point = self.flight.next() - 1;
        self.pacing.start(self.window.cwnd());
        if std::mem::take(&mut self.keeps_window) {
            self.window.set_ssthresh(self.window.cwnd());
        } else {
            let reduction = self.control.reduce(Loss::Detected, &self.window);
            self.reduce_window(reduction.cwnd, reduction.ssthresh);
            self.counters.cwnd_reductions += 1;
        }
        self.state = CongestionState::Recovery;
        self.counters.recovery_entries_by_dupacks += 1;
    }

    /// The window falls; nothing saved up survives.
    fn reduce_window(&mut self, cwnd: u32, ssthresh: u32) {
        self.window.set_cwnd(cwnd);
        self.window.set_ssthresh(ssthresh);
        self.window.forget_savings();
    }

    fn leave_recovery(&mut self) {
        self.scoreboard.clear(&mut self.flight);
        if self.window.in_slow_start() {
            let burst = self.flight.outstanding() + BURST;
            let burst = u32::try_from(burst).unwrap_or(u32::MAX);
            // The threshold is at least two segments, with any limit.
            self.window.set_cwnd(self.window.ssthresh().min(burst));
        }
        let loss = match std::mem::take(&mut self.state) {
            CongestionState::Loss => Loss::Timeout,
            _ => Loss::Detected,
        };
        self.control.on_repaired(loss, self.flight.next(), &mut self.window);
        self.pacing.stop();
    }

    fn enter_loss(&mut self, now: Instant) {
        if std::mem::take(&mut self.keeps_window) {
            self.window.set_ssthresh(self.window.cwnd());
        } else {
            let ssthresh = self.control.reduce(Loss::Timeout, &self.window).ssthresh;
            self.reduce_window(1, ssthresh);
            self.control.on_timeout(now, self.flight.next(), Totals::default());
            self.counters.cwnd_reductions += 1;
        }
        self.recovery_point = self.flight.next() - 1;
        self.state = CongestionState::Loss;
        self.scoreboard.on_timeout(&mut self.flight);
        self.pacing.stop();
        self.timed = None;
        self.counters.timeouts += 1;
    }
}

impl Sender for PapersSender {
    fn supply(&mut self, bytes: u64) {
        if self.supply.add(bytes) {
            self.pacing.on_event(self.flight.outstanding());
        }
    }

    fn close(&mut self) {
        self.supply.close(self.flight.nxt());
        if self.is_complete() {
            self.deadline = None;
        }
    }

    fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    fn cwnd(&self) -> u32 {
        self.window.cwnd()
    }

    fn ssthresh(&self) -> Option<u32> {
        Some(self.window.ssthresh()).filter(|&ssthresh| ssthresh != u32::MAX)
    }

    fn in_flight(&self) -> u64 {
        self.flight.outstanding()
    }

    fn srtt(&self) -> Option<Duration> {
        self.rtt.smoothed()
    }

    fn acknowledged(&self) -> u64 {
        self.flight.una()
    }

    fn limit(&self) -> Limit {
        if self.state == CongestionState::Recovery || self.state == CongestionState::Loss {
            return Limit::Path;
        }
        let (cwnd, most) = (self.window.cwnd(), self.window.limit());
        let is_full = self.flight.outstanding() >= self.pacing.limit(cwnd);
        self.supply.limit(self.flight.nxt(), is_full, cwnd, most)
    }

    fn change(&mut self, _: Instant, change: &EndpointChange) -> bool {
        match change {
            EndpointChange::KeepWindow { .. } => self.keeps_window = true,
            EndpointChange::Foresee { timetable, .. } => self.control.foresee(timetable),
            EndpointChange::Control(new) => {
                let (config, rng) = &**new;
                self.control = config.congestion.build(config, rng.clone());
                self.watched = self.control.watches();
            }
        }
        true
    }
}

impl Half for PapersSender {
    #[inline(always)] // called for every packet: a call costs as much as what it does
    fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        let una = self.flight.una();
        if segment.ack > self.flight.nxt() || segment.ack < una {
            return;
        }
        let opens = self.supply.on_ack(segment);
        let outstanding = self.flight.outstanding();
        if opens && segment.ack == una && segment.sack.is_empty() {
            // It tells of a larger window and nothing else.
            return self.pacing.on_event(outstanding);
        }
        if segment.ack.cmp(&una) == Ordering::Equal && !self.flight.is_empty() {
            self.counters.duplicate_acks += 1;
        }

        let Advance { segments, last_sent } = self.advance(segment.ack);
        self.window.count_acked(segments);
        let findings = self.update_scoreboard(segment);
        self.update_timer(now, segment);
        let undisturbed = self.state == CongestionState::Open && !findings.newly_sacked;
        let grows = segments > 0 && self.state != CongestionState::Recovery;
        if self.watched || grows {
            let echo = self.timestamps.then_some(segment.ts_ecr);
            let mut ack = Ack {
                now,
                segments,
                prior_in_flight: outstanding,
                una: self.flight.una(),
                first: self.flight.first(),
                next: self.flight.next(),
                echo,
                state: self.state,
                undisturbed,
                ..Ack::default()
            };
            if self.watched {
                let answered = last_sent.filter(|_| !findings.retransmission_sacked).or(echo);
                ack.rtt = answered.map(|sent| now.saturating_since(sent));
                ack.srtt = self.rtt.smoothed();
                self.control.on_ack(&ack, &mut self.window);
            }
            if grows {
                self.control.grow(&ack, &mut self.window);
            }
        }
        if segments == 0 || !undisturbed {
            self.update_state(findings);
        }
        self.pacing.on_event(self.flight.outstanding());
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        if self.flight.is_empty() {
            // Idle for a timeout: the next data start with the initial window.
            self.window.set_cwnd(self.initial_window);
            self.window.use_acked(self.window.acked());
            self.deadline = None;
        } else {
            self.enter_loss(now);
            self.rtt.back_off();
            self.deadline = Some(now + self.rtt.timeout());
        }
        self.pacing.on_event(self.flight.outstanding());
    }

    #[inline(always)]
    fn transmit_into(&mut self, now: Instant, segment: &mut Segment) -> bool {
        if self.flight.outstanding() >= self.pacing.limit(self.window.cwnd()) {
            return false;
        }
        match self.scoreboard.next_retransmission(&self.flight) {
            Some(number) => {
                self.retransmit(now, number, segment);
                true
            }
            None => self.send_new(now, segment),
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.deadline
    }

    /// ACKs of new data while nothing is missing, each of which lets new segments leave.
    fn answer_expected(&mut self, first: usize, train: &mut Train, outbox: &mut Outbox) -> usize {
        let is_calm = self.state == CongestionState::Open
            && self.scoreboard.is_empty()
            && self.flight.is_undisturbed()
            && self.timestamps;
        if !is_calm || self.watched || self.pacing.is_on() || self.supply.is_closed() {
            return first;
        }
        let mut told = train.limits.last().map(|&(_, limit)| limit);
        let mut number = first;
        while let Some(&Arrival { key, packet, .. }) = train.arrivals.get(number)
            && !train.alarm.is_before(key)
        {
            let now = key.0;
            let segment = &outbox[packet].segment;
            let (ack, echo) = (segment.ack, segment.ts_ecr);
            let una = self.flight.una();
            if ack <= una || ack > self.flight.nxt() || !segment.sack.is_empty() {
                break;
            }
            self.supply.on_ack(segment);
            let prior_in_flight = self.flight.outstanding();
            let counters = &mut self.counters;
            let segments =
                self.flight.pop_undisturbed(ack, |sends| counters.on_acknowledged(sends));
            if segments == 0 {
                break;
            }
            self.counters.bytes_acked += self.flight.una() - una;
            self.window.count_acked(segments);
            self.rtt.sample(now.saturating_since(echo));
            self.rtt.end_backoff();
            self.deadline = Some(now + self.rtt.timeout());
            let ack = Ack {
                now,
                segments,
                prior_in_flight,
                una: self.flight.una(),
                first: self.flight.first(),
                next: self.flight.next(),
                echo: Some(echo),
                state: CongestionState::Open,
                undisturbed: true,
                ..Ack::default()
            };
            self.control.grow(&ack, &mut self.window);
            let (cwnd, most) = (self.window.cwnd(), self.window.limit());
            let mut outstanding = prior_in_flight - u64::from(segments);
            while outstanding < u64::from(cwnd) {
                let packet = outbox.draft();
                if !self.send_new(now, &mut packet.segment) {
                    break;
                }
                packet.show_segment(false);
                outbox.send();
                train.sent.push(now);
                outstanding += 1;
            }
            let is_full = outstanding >= u64::from(cwnd);
            let limit = self.supply.limit(self.flight.nxt(), is_full, cwnd, most);
            train.alarm.set(self.deadline, Rank::Alarm.at(now));
            if told != Some(limit) {
                told = Some(limit);
                train.limits.push((now, limit));
            }
            number += 1;
        }
        number
    }
}

#[cfg(test)]
mod tests;
