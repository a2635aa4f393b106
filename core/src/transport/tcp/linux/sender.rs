//! The sending end of a TCP connection as in Linux: the connection, and what leaves next.

use rand_chacha::ChaCha8Rng;

use super::buffers::Buffers;
use super::congestion::Congestion;
use super::ecn::SenderEcn;
use super::pacing::{Departure, Pacer, QUANTUM, pace_of};
use super::recovery::{Parts, Probe, Recovery};
use super::rtt::RttEstimator;
use super::scoreboard::{Books, Said, Scoreboard};
use super::ticks::Ticks;
use super::timers::{Purpose, Timer};
use crate::transport::tcp::config::TcpConfig;
use crate::transport::tcp::congestion::{Ack, Pace, Sample};
use crate::transport::tcp::endpoint::CongestionState;
use crate::transport::tcp::shared::counters::SenderCounters;
use crate::transport::tcp::shared::supply::Supply;
use crate::transport::{Endpoint, Segment};
use crate::units::{Duration, Instant};

/// How far the connection has come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Connection {
    /// No data yet.
    Closed,
    /// A SYN must leave.
    SynDue,
    /// It left then, for the `attempts`-th time.
    SynSent { at: Instant, attempts: u32 },
    /// The SYN was answered.
    Established,
}

/// A burst that the window cuts short waits for an ACK that is due so soon, if the last one left no
/// longer ago (`tcp_tso_should_defer` in `tcp_output.c`), unless it is a third of the window.
const DEFERRAL: Duration = Duration::from_millis(1);
const DEFERRAL_SHARE: u64 = 3;

/// Segments that Linux builds as one packet and cuts on the way out (`tcp_write_xmit`): as many as
/// a millisecond's worth, within half the window and what is left of it. The last of several
/// carries PSH (`__tcp_transmit_skb`), whoever wrote them.
#[derive(Clone, Copy, Debug, Default)]
struct Burst {
    at: Instant,
    left: u64,
}

/// A TCP sender. Segments are counted by number.
#[derive(Debug)]
pub(crate) struct LinuxSender {
    handshake: bool,
    tail_loss_probe: bool,
    headers: u32,
    syn_size: u32,
    connection: Connection,
    /// The answer to the SYN is to be acknowledged by a packet of its own.
    answer_due: bool,
    /// Segments leave paced by the window.
    paced: bool,
    /// A burst that the window cuts short may wait, unless a buffer ends there.
    defers: Option<Buffers>,
    /// The control paces at times: while it resumes an earlier connection's window.
    resumes: bool,
    mss: u32,
    burst: Burst,
    /// Time stamp of the other end, to be echoed.
    heard: Instant,
    ecn: SenderEcn,
    supply: Supply,
    /// The receive window that was heard of last.
    window: u32,
    board: Scoreboard,
    rtt: RttEstimator,
    congestion: Congestion,
    recovery: Recovery,
    timer: Timer,
    pacer: Pacer,
    /// Something was sent since the window's use was looked at.
    sent_some: bool,
    last_sent: Instant,
    counters: SenderCounters,
}

impl LinuxSender {
    pub(crate) fn new(config: &TcpConfig, rng: ChaCha8Rng) -> Self {
        let (congestion, options) = (Congestion::new(config, rng), config.options());
        Self {
            handshake: options.handshake,
            tail_loss_probe: options.tail_loss_probe,
            headers: config.headers(),
            syn_size: config.syn_size(),
            connection: Connection::Closed,
            answer_due: false,
            paced: options.pacing,
            defers: options.burst_deferral.then(|| Buffers::new(config)),
            resumes: config.careful_resume.is_some(),
            mss: config.mss().0,
            burst: Burst::default(),
            heard: Instant::ZERO,
            ecn: SenderEcn::new(config.ecn_mode()),
            supply: Supply::new(config),
            window: 0,
            board: Scoreboard::new(config, congestion.has_model()),
            rtt: RttEstimator::new(),
            congestion,
            recovery: Recovery::new(&options),
            timer: Timer::new(Ticks::new(options.timer_ticks)),
            pacer: Pacer::new(),
            sent_some: false,
            last_sent: Instant::ZERO,
            counters: SenderCounters::default(),
        }
    }

    pub(crate) fn supply(&mut self, bytes: u64) {
        let short = self.connection == Connection::Established && self.next_new().is_none();
        if bytes == 0 || !self.supply.add(bytes) {
            return;
        }
        if short {
            self.note_shortage();
        }
        self.open();
    }

    /// Opens the connection, unless it is open: data do it by themselves.
    pub(crate) fn open(&mut self) {
        if self.connection == Connection::Closed {
            if self.handshake {
                self.connection = Connection::SynDue;
            } else {
                self.begin(Instant::ZERO);
            }
        }
    }

    /// The other end has opened the connection, and its answer to the SYN-ACK is in: `rtt` after
    /// that left, if it left once (`tcp_synack_rtt_meas` in `tcp_input.c`).
    pub(crate) fn accept(&mut self, now: Instant, rtt: Option<Duration>) {
        if self.connection != Connection::Closed {
            return;
        }
        self.board.on_established();
        match rtt {
            Some(rtt) => {
                self.rtt.sample(rtt, 0, 0);
                self.rtt.sample_least(now, rtt);
            }
            None => self.congestion.on_lost_syn(),
        }
        self.begin(now);
    }

    /// Whether data may leave.
    pub(crate) fn is_established(&self) -> bool {
        self.connection == Connection::Established
    }

    /// Bytes handed over that have never left.
    pub(crate) fn unsent(&self) -> u64 {
        self.supply.beyond(self.board.flight().nxt())
    }

    pub(crate) fn close(&mut self) {
        self.supply.close(self.board.flight().nxt());
        if self.is_complete() {
            self.timer.stop();
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.supply.is_complete(self.acknowledged())
    }

    pub(crate) fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    pub(crate) fn cwnd(&self) -> u32 {
        self.congestion.window().cwnd()
    }

    pub(crate) fn ssthresh(&self) -> Option<u32> {
        let ssthresh = self.congestion.window().ssthresh();
        (ssthresh != u32::MAX).then_some(ssthresh)
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.board.flight().outstanding()
    }

    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.rtt.smoothed()
    }

    pub(crate) fn rto(&self) -> Duration {
        self.rtt.timeout()
    }

    pub(crate) fn state(&self) -> CongestionState {
        self.recovery.state()
    }

    pub(crate) fn acknowledged(&self) -> u64 {
        self.board.flight().una()
    }

    /// Bytes of the next new segment, if it may leave.
    #[inline]
    fn next_new(&self) -> Option<u32> {
        self.supply.segment_at(self.board.flight().nxt())
    }

    /// The recovery and what it acts on.
    #[inline]
    fn recovery(&mut self, now: Instant) -> (&mut Recovery, Parts<'_>) {
        let parts = Parts {
            now,
            board: &mut self.board,
            congestion: &mut self.congestion,
            rtt: &self.rtt,
            supply: &self.supply,
            counters: &mut self.counters,
        };
        (&mut self.recovery, parts)
    }

    /// The SYN was answered: that is the first round-trip sample. The answer is acknowledged before
    /// any data leave (`tcp_rcv_synsent_state_process` in `tcp_input.c`).
    fn establish(&mut self, now: Instant) {
        let Connection::SynSent { at, attempts } = self.connection else { return };
        self.timer.stop();
        self.answer_due = true;
        self.rtt = RttEstimator::new();
        self.board.on_established();
        if attempts == 1 {
            let rtt = now.saturating_since(at);
            self.rtt.sample(rtt, 0, 0);
            self.rtt.sample_least(now, rtt);
        } else {
            self.congestion.on_lost_syn();
        }
        self.begin(now);
    }

    /// Data may leave from now on.
    fn begin(&mut self, now: Instant) {
        self.connection = Connection::Established;
        self.note_shortage();
        let (smoothed, delivered) = (self.rtt.smoothed(), self.board.delivered());
        self.congestion.on_established(now, smoothed, delivered);
        self.update_pace();
    }

    /// The application had nothing left to send although more could have been in flight.
    fn note_shortage(&mut self) {
        let flight = self.board.flight();
        if flight.outstanding() < u64::from(self.cwnd()) && flight.lost_count() == 0 {
            self.board.limit_rate_sample();
        }
    }

    fn update_pace(&mut self) {
        if let Some(pace) = self.congestion.pace() {
            self.pacer.set_pace(pace);
        } else if self.paced
            && let Some(rtt) = self.rtt.smoothed()
        {
            self.pacer.set_pace(self.window_pace(rtt));
        } else if self.resumes {
            self.pacer.stop();
        }
    }

    /// What an ACK delivered makes the window grow or fall.
    #[inline]
    fn update_window(&mut self, ack: &mut Ack, said: &Said, lost: u64, of_probe: bool) {
        if self.congestion.has_model() {
            return self.update_model(ack, said, lost, of_probe);
        }
        ack.state = self.recovery.state();
        if self.recovery.is_reducing() {
            let (delivered, in_flight) = (u64::from(ack.segments), self.in_flight());
            self.congestion.fall(delivered, in_flight, said.advanced && lost == 0);
        } else if said.advanced || (said.sacked && self.board.is_reordered()) {
            self.congestion.grow(ack);
        }
    }

    /// What an ACK says becomes part of the control's model, which sets window and pace.
    fn update_model(&mut self, ack: &Ack, said: &Said, lost: u64, of_probe: bool) {
        let (now, acked) = (ack.now, u64::from(ack.segments));
        let sample = Sample {
            now,
            rate: self.board.rate_sample(now, acked, &self.rtt),
            rtt: said.rtt,
            delayed: said.maybe_delayed,
            acked,
            lost,
            prior_in_flight: said.prior_in_flight,
            in_flight: self.in_flight(),
            totals: self.board.totals(),
            state: self.recovery.state(),
            departure: self.pacer.departure(now),
            srtt: self.rtt.smoothed(),
            cwnd_limited: self.congestion.is_cwnd_limited(),
            of_probe,
        };
        let limits_itself = self.congestion.on_sample(&sample);
        self.update_pace();
        if limits_itself {
            self.board.limit_rate_sample();
        }
    }

    #[inline]
    fn conclude_probe(&mut self, now: Instant, ack: u64, said: &Said) -> bool {
        if !self.recovery.probe().is_out() {
            return false;
        }
        let (recovery, parts) = self.recovery(now);
        recovery.conclude_probe(ack, said, parts)
    }

    /// An ACK with nothing in flight: a D-SACK may still say that what was sent again was not lost.
    fn conclude_late(&mut self, now: Instant, ack: u64, said: &Said) {
        if said.dsack {
            let (recovery, parts) = self.recovery(now);
            recovery.on_ack(said, parts);
        }
        self.conclude_probe(now, ack, said);
    }

    /// What the congestion control is told of an ACK.
    #[inline]
    fn ack(&self, now: Instant, segment: &Segment, said: &Said, delivered: u64) -> Ack {
        let flight = self.board.flight();
        Ack {
            now,
            segments: u32::try_from(delivered).unwrap_or(u32::MAX),
            prior_in_flight: said.prior_in_flight,
            una: flight.una(),
            first: flight.first(),
            next: flight.next(),
            echo: said.echo,
            rtt: said.rtt,
            srtt: self.rtt.smoothed(),
            state: self.recovery.state(),
            undisturbed: said.advanced && segment.sack.is_empty(),
            marked: 0,
            limited: None,
        }
    }

    /// Whether a tail loss probe may follow what is in flight: not while losses are repaired.
    #[inline]
    fn may_probe(&self) -> bool {
        let state = self.recovery.state();
        self.tail_loss_probe && matches!(state, CongestionState::Open | CongestionState::Cwr)
    }

    /// Sends what is next, if anything may leave: a probe, a repair, new data.
    fn send_next(&mut self, now: Instant, segment: &mut Segment) -> bool {
        if self.recovery.probe().is_due() {
            if !self.board.flight().is_empty() {
                self.send_probe(now, segment);
                return true;
            }
            self.recovery.forget_probe(); // an ACK of everything came in between
        }
        if self.in_flight() >= u64::from(self.cwnd()) {
            let limited = self.has_something();
            self.stop(now, limited);
            return false;
        }
        if self.recovery.is_repairing()
            && let Some(number) = self.board.lowest_lost()
        {
            if self.pacer.refuses(now) {
                return false;
            }
            self.retransmit(now, number, segment);
            return true;
        }
        let Some(len) = self.next_new() else {
            self.stop(now, false);
            return false;
        };
        if self.pacer.refuses(now) {
            self.stop(now, false);
            return false;
        }
        if self.is_deferred(now) {
            self.stop(now, self.room() < self.supply.permitted_beyond(self.board.flight().nxt()));
            return false;
        }
        self.send_new(now, len, segment);
        true
    }

    fn write_syn(&mut self, now: Instant, segment: &mut Segment) {
        let attempts = match self.connection {
            Connection::SynSent { attempts, .. } => attempts + 1,
            _ => 1,
        };
        self.connection = Connection::SynSent { at: now, attempts };
        self.timer.start(now, &self.rtt);
        self.counters.bytes_sent += u64::from(self.syn_size);
        *segment = Segment { syn: true, wire: self.syn_size, ts_val: now, ..Segment::default() };
        self.ecn.stamp_syn(segment);
    }

    #[inline]
    fn send_new(&mut self, now: Instant, len: u32, segment: &mut Segment) {
        let was_empty = self.board.flight().is_empty();
        if was_empty {
            self.end_idle(now);
        }
        let start = self.board.flight().nxt();
        let ends_burst = self.continue_burst(now);
        self.board.on_sent(now, len);
        self.sent_some = true;
        self.write(now, now, start, len, 0, segment);
        let alone = !ends_burst && self.burst.left == 0;
        let pushed = self.defers.as_mut().is_some_and(|it| alone && it.ends_with_push(start));
        segment.push = ends_burst || pushed || self.next_new().is_none();
        let probes = self.may_probe() && !self.recovery.probe().is_due();
        self.timer.on_new_data(now, was_empty, probes, &self.board, &self.rtt);
    }

    /// Bytes that the congestion window leaves.
    fn room(&self) -> u64 {
        u64::from(self.cwnd()).saturating_sub(self.in_flight()) * u64::from(self.mss)
    }

    /// Whether the next burst waits for an ACK, since it would be short and the ACK is near.
    fn is_deferred(&mut self, now: Instant) -> bool {
        let Some(buffers) = &mut self.defers else { return false };
        let left = buffers.left(self.board.flight().nxt());
        let within_burst = self.burst.at == now && self.burst.left > 0;
        let (flight, mss) = (self.board.flight(), u64::from(self.mss));
        let recent = now <= self.pacer.departure(self.last_sent) + DEFERRAL;
        if within_burst
            || flight.is_empty()
            || !recent
            || self.recovery.state() >= CongestionState::Recovery
            || self.supply.beyond(flight.nxt()) <= mss
        {
            return false;
        }
        let room = self.room().min(self.supply.permitted_beyond(flight.nxt()));
        let window = (u64::from(self.cwnd()) * mss).min(self.window.into());
        // All that its buffer still has may leave, and the next buffer cannot join it.
        let whole = room >= left && self.supply.beyond(flight.nxt()) > left;
        if whole || room >= self.quantum() * mss || room >= window / DEFERRAL_SHARE {
            return false;
        }
        let Some(rtt) = self.rtt.smoothed() else { return false };
        let near = Duration::from_nanos(rtt.as_nanos() / 2).min(DEFERRAL);
        flight.last_sent(flight.first()) + rtt <= now + near
    }

    /// A new segment is about to leave; says whether it is the last one of several.
    #[inline]
    fn continue_burst(&mut self, now: Instant) -> bool {
        if self.burst.at == now && self.burst.left > 0 {
            self.burst.left -= 1;
            return self.burst.left == 0;
        }
        let cwnd = u64::from(self.cwnd());
        let room = cwnd.saturating_sub(self.in_flight());
        let size = self.quantum().min(room).min(cwnd / 2).max(1);
        self.burst = Burst { at: now, left: size - 1 };
        false
    }

    /// Segments that are built as one.
    fn quantum(&self) -> u64 {
        if let Some(pace) = self.congestion.pace() {
            return pace.quantum;
        }
        self.rtt.smoothed().map_or(QUANTUM.0, |rtt| self.window_pace(rtt).quantum)
    }

    fn window_pace(&self, rtt: Duration) -> Pace {
        let flight = self.board.flight();
        let outstanding = flight.next() - flight.first();
        pace_of(self.congestion.window(), self.mss, outstanding, rtt)
    }

    /// A lost segment, again.
    fn retransmit(&mut self, now: Instant, number: u64, segment: &mut Segment) {
        let sends = self.board.flight().sends(number);
        self.board.on_retransmitted(now, number);
        self.recovery.on_retransmitted(now);
        if self.recovery.state() == CongestionState::Recovery {
            self.counters.fast_retransmits += 1;
        }
        self.write_again(now, number, sends, segment);
        if number == self.board.flight().first() {
            self.timer.on_head_retransmitted(now, &self.rtt);
        }
    }

    /// A probe: a new segment, or the segment sent last again.
    fn send_probe(&mut self, now: Instant, segment: &mut Segment) {
        match (self.recovery.probe(), self.next_new()) {
            (Probe::NewDue, Some(len)) => self.send_new(now, len, segment),
            _ => {
                let number = self.board.flight().next() - 1;
                let sends = self.board.flight().sends(number);
                self.board.on_probed(now, number);
                self.write_again(now, number, sends, segment);
            }
        }
        self.recovery.on_probe_sent(self.board.flight().next());
        self.timer.start(now, &self.rtt);
    }

    fn write_again(&mut self, now: Instant, number: u64, sends: u16, segment: &mut Segment) {
        self.counters.retransmissions += 1;
        let flight = self.board.flight();
        let ((start, end), first_sent) = (flight.bounds(number), flight.first_sent(number));
        self.write(now, first_sent, start, (end - start) as u32, sends, segment);
    }

    /// After a pause longer than a timeout the window starts small again.
    fn end_idle(&mut self, now: Instant) {
        let idle = now.saturating_since(self.last_sent);
        if self.last_sent == Instant::ZERO || idle == Duration::ZERO {
            return;
        }
        let app_limited = self.board.is_app_limited();
        self.congestion.end_idle(now, idle, self.rtt.timeout(), app_limited);
        self.update_pace();
    }

    #[inline]
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
        if self.recovery.is_reducing() {
            self.congestion.on_sent_in_recovery();
        }
        let along = (sends == 0).then_some(self.burst.left);
        let count = self.counters.segments_sent + along.unwrap_or(0);
        self.pacer.on_sent(Departure { now, len, count, along });
        self.last_sent = now;
        *segment = Segment {
            seq,
            len,
            wire,
            ts_val: now,
            ts_ecr: self.heard,
            first_sent,
            retransmission: sends,
            ..Segment::default()
        };
        self.ecn.stamp(sends == 0, self.recovery.reduced(), segment);
    }

    /// Nothing leaves now: was the window the reason?
    #[inline]
    fn stop(&mut self, now: Instant, limited: bool) {
        if std::mem::take(&mut self.sent_some) || limited {
            let (timeout, state) = (self.rtt.timeout(), self.recovery.state());
            self.congestion.on_stop(now, limited, self.board.flight(), timeout, state);
        }
    }

    /// Whether anything waits to leave once the window allows.
    fn has_something(&self) -> bool {
        (self.recovery.is_repairing() && self.board.flight().lost_count() > 0)
            || self.next_new().is_some()
    }
}

impl Endpoint for LinuxSender {
    fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        self.heard = self.heard.max(segment.ts_val);
        if segment.syn {
            self.ecn.on_established(segment);
            return self.establish(now);
        }
        let flight = self.board.flight();
        if self.connection != Connection::Established || segment.ack > flight.nxt() {
            return;
        }
        let opens = self.supply.on_ack(segment);
        let (was_empty, had_gaps) = (flight.is_empty(), flight.sacked_count() > 0);
        // What only tells of a larger window is no duplicate (RFC 5681 section 2).
        if segment.ack == flight.una() && !was_empty && !opens {
            self.counters.duplicate_acks += 1;
        }
        let (delivered, lost) = (self.board.delivered(), self.board.lost());
        let books = Books {
            recovery: &mut self.recovery,
            rtt: &mut self.rtt,
            counters: &mut self.counters,
        };
        let mut said = self.board.take_in(now, segment, books);
        let delivered = self.board.delivered() - delivered;
        let marked = self.ecn.heard(segment, delivered, said.advanced || said.sacked);
        said.marked = marked.is_some();
        if was_empty {
            return self.conclude_late(now, segment.ack, &said);
        }
        self.board.adapt_window(&said);
        let mut ack = self.ack(now, segment, &said, delivered);
        ack.marked = u32::try_from(marked.unwrap_or(0)).unwrap_or(u32::MAX);
        // What fills a gap still waits for the application when its ACK leaves: the window that this
        // ACK announces is another one, and the header was not predicted.
        let same_window = segment.window == std::mem::replace(&mut self.window, segment.window);
        ack.undisturbed &= same_window && !had_gaps;
        self.congestion.on_ack(&ack);
        let of_probe = self.conclude_probe(now, segment.ack, &said);
        self.recovery.pause();
        let losses_due = if said.is_dubious() || self.recovery.state() != CongestionState::Open {
            let (recovery, parts) = self.recovery(now);
            recovery.on_ack(&said, parts)
        } else {
            None
        };
        match losses_due {
            Some(at) => self.timer.await_reordering(now, at),
            None if said.restarts_timer => {
                let probes = self.may_probe();
                self.timer.restart(now, probes, &self.board, &self.rtt);
            }
            None => {}
        }
        if !said.old {
            self.update_window(&mut ack, &said, self.board.lost() - lost, of_probe);
        }
        if self.paced || self.resumes {
            self.update_pace();
        }
        if self.is_complete() {
            self.timer.stop();
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.pacer.on_time(now) {
            self.recovery.on_released();
        }
        let Some(purpose) = self.timer.expire(now) else { return };
        if self.connection != Connection::Established {
            self.rtt.back_off();
            self.counters.timeouts += 1;
            return;
        }
        if self.board.flight().is_empty() {
            return;
        }
        match purpose {
            Purpose::Retransmission => {
                let (recovery, parts) = self.recovery(now);
                recovery.on_retransmission_timeout(parts);
                self.rtt.back_off();
                self.timer.start(now, &self.rtt);
            }
            Purpose::Probe => {
                let new = self.next_new().is_some();
                if !self.recovery.on_probe_timeout(new) {
                    self.timer.resume(now, &self.board, &self.rtt);
                }
            }
            Purpose::Reordering => {
                let (recovery, parts) = self.recovery(now);
                recovery.on_reordering_timeout(parts);
                self.timer.resume(now, &self.board, &self.rtt);
            }
        }
    }

    fn transmit_into(&mut self, now: Instant, segment: &mut Segment) -> bool {
        match self.connection {
            Connection::Established if std::mem::take(&mut self.answer_due) => {
                self.counters.bytes_sent += u64::from(self.headers);
                let (wire, ts_ecr) = (self.headers, self.heard);
                *segment = Segment { wire, ts_val: now, ts_ecr, ..Segment::default() };
                self.ecn.stamp_answer(segment);
                true
            }
            Connection::Established => self.send_next(now, segment),
            Connection::Closed => false,
            Connection::SynSent { .. } if self.timer.deadline().is_some() => false,
            Connection::SynDue | Connection::SynSent { .. } => {
                self.write_syn(now, segment);
                true
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        match (self.timer.deadline(), self.pacer.deadline()) {
            (Some(timer), Some(paced)) => Some(timer.min(paced)),
            (timer, paced) => timer.or(paced),
        }
    }
}

#[cfg(test)]
mod tests;
