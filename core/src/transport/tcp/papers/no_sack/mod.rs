//! The sending end without SACK in profile `papers`: `Agent/TCP/Newreno` of ns-2.35, which
//! Al Fawal 2003 used. NewReno's fast recovery (RFC 6582) in its impatient variant, on a window that is
//! a real number.

mod window;

use self::window::InflatedWindow;
use super::rtt::{NativeAgent, RttEstimator};
use crate::transport::tcp::config::TcpConfig;
use crate::transport::tcp::congestion::CongestionState;
use crate::transport::tcp::half::{Half, Sender};
use crate::transport::tcp::shared::counters::SenderCounters;
use crate::transport::tcp::shared::flight::Flight;
use crate::transport::tcp::shared::supply::Supply;
use crate::transport::{Limit, Segment};
use crate::units::{Duration, Instant};

/// Duplicate ACKs that prove a loss (RFC 5681 section 3.2).
const DUPLICATES: u32 = 3;
/// Segments that an ACK lets out at most while duplicates are being counted.
const RECOVERY_BURST: u64 = 2;
/// Bytes of a SYN: ns-2 sends it without options.
const SYN: u32 = 40;

/// What `Agent/TCP/Newreno` of ns-2.35 does with its default settings: a SYN first, then data. A
/// loss shows by three duplicate ACKs; each partial ACK has the next segment sent again; only the
/// first partial ACK restarts the timer; a timeout sends everything again from there.
#[derive(Debug)]
pub(crate) struct NoSackSender {
    headers: u32,
    initial_window: u32,
    timestamps: bool,
    supply: Supply,
    connection: Connection,
    flight: Flight,
    /// The segment to be sent next: one sent before, after a timeout, else a new one.
    cursor: u64,
    window: InflatedWindow,
    rtt: RttEstimator<NativeAgent>,
    timed: Option<Timed>,
    deadline: Option<Instant>,
    /// Duplicate ACKs since the last ACK that was neither duplicate nor partial.
    duplicates: u32,
    cause: Cause,
    /// The segment that was to be sent next for the first time when the window last fell.
    recovery_point: u64,
    /// Fast recovery has seen a partial ACK.
    partial: bool,
    /// The lowest segment not acknowledged leaves next, with any window.
    forced: bool,
    turn: Turn,
    counters: SenderCounters,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Connection {
    Closed,
    /// The SYN leaves next.
    SynDue,
    SynSent,
    Established,
}

/// Why the window last fell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Cause {
    /// Duplicate ACKs, and what was in flight then is not acknowledged whole.
    FastRecovery,
    Timeout,
    /// It has not, or fast recovery is over.
    Past,
}

/// What the last event lets out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Turn {
    /// What the window has room for, but no more than this.
    Window(u64),
    /// One segment by Limited Transmit (RFC 3042).
    One,
    Nothing,
}

/// What is being timed: answered when this many data segments are acknowledged; 0: the SYN.
#[derive(Clone, Copy, Debug)]
struct Timed {
    acknowledged: u64,
    sent: Instant,
}

impl NoSackSender {
    /// A sender without data.
    pub(crate) fn new(config: &TcpConfig) -> Self {
        Self {
            headers: config.headers(),
            initial_window: config.initial_window(),
            timestamps: config.timestamps,
            supply: Supply::new(config),
            connection: Connection::Closed,
            flight: Flight::new(config.mss().0),
            cursor: 0,
            window: InflatedWindow::new(config.window_limit()),
            rtt: RttEstimator::new(),
            timed: None,
            deadline: None,
            duplicates: 0,
            cause: Cause::Past,
            recovery_point: 0,
            partial: false,
            forced: false,
            turn: Turn::Nothing,
            counters: SenderCounters::default(),
        }
    }

    fn is_complete(&self) -> bool {
        self.supply.is_complete(self.flight.una())
    }

    fn state(&self) -> CongestionState {
        match self.cause {
            Cause::FastRecovery => CongestionState::Recovery,
            Cause::Timeout if self.flight.first() < self.recovery_point => CongestionState::Loss,
            _ => CongestionState::Open,
        }
    }

    /// The SYN is answered.
    fn connect(&mut self, now: Instant, segment: &Segment) {
        self.connection = Connection::Established;
        self.duplicates = 0;
        self.take_sample(now, segment);
        self.restart_timer(now);
        self.window.open(self.initial_window);
        self.turn = Turn::Window(u64::MAX);
    }

    /// Takes acknowledged segments out of the flight; returns how many there were.
    fn advance(&mut self, ack: u64) -> u64 {
        let (una, first) = (self.flight.una(), self.flight.first());
        while let Some(segment) = self.flight.pop_acknowledged(ack) {
            self.counters.on_acknowledged(segment.sends);
        }
        self.counters.bytes_acked += self.flight.una() - una;
        self.cursor = self.cursor.max(self.flight.first());
        self.flight.first() - first
    }

    fn send_syn(&mut self, now: Instant, segment: &mut Segment) {
        self.connection = Connection::SynSent;
        if self.deadline.is_none() {
            self.timed = Some(Timed { acknowledged: 0, sent: now });
            self.deadline = Some(now + self.rtt.timeout());
        }
        self.counters.bytes_sent += u64::from(SYN);
        *segment = Segment { syn: true, wire: SYN, ts_val: now, ..Segment::default() };
    }

    fn retransmit(&mut self, now: Instant, number: u64, segment: &mut Segment) {
        let (start, end) = self.flight.bounds(number);
        let sends = self.flight.sends(number);
        self.flight.mark_probed(number);
        self.counters.retransmissions += 1;
        if self.cause == Cause::FastRecovery {
            self.counters.fast_retransmits += 1;
        }
        let len = (end - start) as u32;
        *segment = Segment {
            seq: start,
            len,
            first_sent: self.flight.first_sent(number),
            retransmission: sends,
            ..self.written(now, len)
        };
    }

    fn send_new(&mut self, now: Instant, segment: &mut Segment) -> bool {
        let start = self.flight.nxt();
        let Some(len) = self.supply.segment_at(start) else { return false };
        if self.flight.is_empty() || self.deadline.is_none() {
            self.deadline = Some(now + self.rtt.timeout());
        }
        let acknowledged = self.flight.next() + 1;
        self.timed = self.timed.or(Some(Timed { acknowledged, sent: now }));
        self.flight.push(now, len);
        *segment = Segment { seq: start, len, first_sent: now, ..self.written(now, len) };
        true
    }

    /// Counts a data segment and fills in what all of them have.
    fn written(&mut self, now: Instant, len: u32) -> Segment {
        let wire = len + self.headers;
        self.counters.on_sent(wire);
        Segment { wire, ts_val: now, ..Segment::default() }
    }

    /// Sends what the cursor points at.
    fn send_next(&mut self, now: Instant, segment: &mut Segment) -> bool {
        if self.cursor < self.flight.next() {
            self.retransmit(now, self.cursor, segment);
        } else if !self.send_new(now, segment) {
            return false;
        }
        self.cursor += 1;
        true
    }

    fn on_new_ack(&mut self, now: Instant, segment: &Segment) {
        if self.window.inflation() > 0 {
            self.window.end_inflation();
            if self.cause == Cause::FastRecovery {
                self.cause = Cause::Past;
            }
        }
        self.partial = false;
        self.duplicates = 0;
        self.take_sample(now, segment);
        self.restart_timer(now);
        self.window.grow();
    }

    /// New data are acknowledged, but not all that was in flight when the loss showed.
    fn on_partial_ack(&mut self, now: Instant, segments: u64) {
        if !self.partial {
            self.partial = true;
            self.restart_timer(now);
        }
        self.window.deflate(segments);
        if self.take_timed().is_some() {
            self.rtt.end_backoff();
        }
        self.forced = true;
    }

    fn on_duplicate_ack(&mut self, now: Instant) {
        self.duplicates = self.duplicates.saturating_add(1);
        if self.duplicates == DUPLICATES {
            self.enter_recovery(now);
        } else if self.duplicates > DUPLICATES && self.cause == Cause::FastRecovery {
            self.window.inflate(1);
        }
    }

    /// RFC 6582 section 3.2 step 2: only beyond the last loss ("careful"), and for the first
    /// segment.
    fn enter_recovery(&mut self, now: Instant) {
        let first = self.flight.first();
        if first <= self.recovery_point && first > 0 {
            return;
        }
        self.recovery_point = self.flight.next();
        self.restart_timer(now);
        self.timed = None;
        self.window.halve();
        self.window.end_inflation();
        self.window.inflate(u64::from(DUPLICATES));
        self.cause = Cause::FastRecovery;
        self.forced = true;
        self.counters.recovery_entries_by_dupacks += 1;
        self.counters.cwnd_reductions += 1;
    }

    /// After any ACK the rest of the window lets segments out: a whole window if no duplicates
    /// are being counted, two segments in recovery, and one for the first and second duplicate.
    fn next_turn(&self, duplicate: bool) -> Turn {
        match self.duplicates {
            0 => Turn::Window(u64::MAX),
            DUPLICATES.. => Turn::Window(RECOVERY_BURST),
            _ if duplicate => Turn::One,
            _ => Turn::Nothing,
        }
    }

    /// What was being timed, if it is answered now.
    fn take_timed(&mut self) -> Option<Timed> {
        let first = self.flight.first();
        self.timed.take_if(|timed| first >= timed.acknowledged)
    }

    /// With timestamps every ACK of new data gives a sample; only an answer to what is being timed
    /// ends the back-off.
    fn take_sample(&mut self, now: Instant, segment: &Segment) {
        if self.timestamps {
            self.rtt.sample(now.saturating_since(segment.ts_ecr));
        }
        if let Some(timed) = self.take_timed() {
            self.rtt.end_backoff();
            if !self.timestamps {
                self.rtt.sample_between(timed.sent, now);
            }
        }
    }

    fn restart_timer(&mut self, now: Instant) {
        self.deadline = (!self.is_complete()).then(|| now + self.rtt.timeout());
    }

    fn on_timeout(&mut self, now: Instant) {
        self.window.end_inflation();
        self.duplicates = 0;
        self.recovery_point = self.flight.next();
        self.cause = Cause::Timeout;
        self.timed = None;
        self.cursor = self.flight.first();
        self.turn = Turn::Window(u64::MAX);
        match self.connection {
            Connection::Established if self.flight.is_empty() => {
                self.window.idle();
                self.deadline = None;
                return;
            }
            Connection::Established => {}
            // A lost SYN: the connection opens with one segment.
            _ => {
                self.connection = Connection::SynDue;
                self.initial_window = 1;
            }
        }
        self.window.collapse();
        self.rtt.back_off();
        self.restart_timer(now);
        self.counters.timeouts += 1;
        self.counters.cwnd_reductions += 1;
    }
}

impl Sender for NoSackSender {
    fn supply(&mut self, bytes: u64) {
        if bytes == 0 || !self.supply.add(bytes) {
            return;
        }
        self.turn = Turn::Window(u64::MAX);
        if self.connection == Connection::Closed {
            self.connection = Connection::SynDue;
        }
    }

    /// The SYN leaves before there are data.
    fn open(&mut self) {
        if self.connection == Connection::Closed {
            self.connection = Connection::SynDue;
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

    /// Congestion window in segments, without what duplicate ACKs add to it.
    fn cwnd(&self) -> u32 {
        self.window.cwnd()
    }

    fn ssthresh(&self) -> Option<u32> {
        self.window.ssthresh()
    }

    /// Segments between the acknowledgement and the next one to send, less those that duplicate
    /// ACKs say have arrived.
    fn in_flight(&self) -> u64 {
        (self.cursor - self.flight.first()).saturating_sub(self.window.inflation())
    }

    fn srtt(&self) -> Option<Duration> {
        self.rtt.smoothed()
    }

    fn acknowledged(&self) -> u64 {
        self.flight.una()
    }

    fn limit(&self) -> Limit {
        match self.connection {
            Connection::Closed => return Limit::Application,
            Connection::Established if self.state() == CongestionState::Open => {}
            _ => return Limit::Path,
        }
        let is_full = self.cursor - self.flight.first() >= self.window.limit();
        self.supply.limit(self.flight.nxt(), is_full, self.cwnd(), self.window.most())
    }
}

impl Half for NoSackSender {
    fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        if segment.ack > self.flight.nxt() {
            return;
        }
        let opens = self.supply.on_ack(segment);
        match self.connection {
            Connection::Established => {}
            Connection::SynSent | Connection::SynDue if self.deadline.is_some() => {
                return self.connect(now, segment);
            }
            _ => return,
        }
        let duplicate = segment.ack == self.flight.una() && !self.flight.is_empty() && !opens;
        let segments = self.advance(segment.ack);
        if segments > 0 {
            let beyond = self.flight.first() >= self.recovery_point;
            if beyond || self.cause != Cause::FastRecovery {
                self.on_new_ack(now, segment);
            } else {
                self.on_partial_ack(now, segments);
            }
        } else if duplicate {
            self.counters.duplicate_acks += 1;
            self.on_duplicate_ack(now);
        }
        self.turn = self.next_turn(duplicate);
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            self.on_timeout(now);
        }
    }

    fn transmit_into(&mut self, now: Instant, segment: &mut Segment) -> bool {
        match self.connection {
            Connection::Established => {}
            Connection::SynDue => {
                self.send_syn(now, segment);
                return true;
            }
            Connection::Closed | Connection::SynSent => return false,
        }
        if std::mem::take(&mut self.forced) && !self.flight.is_empty() {
            self.retransmit(now, self.flight.first(), segment);
            return true;
        }
        let beyond = self.cursor - self.flight.first();
        match self.turn {
            Turn::Window(burst) if burst > 0 && beyond < self.window.limit() => {
                self.turn = Turn::Window(burst - 1);
                self.send_next(now, segment)
            }
            Turn::One if self.window.admits_after(self.duplicates, beyond + 1) => {
                self.turn = Turn::Nothing;
                self.send_next(now, segment)
            }
            _ => false,
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.deadline
    }
}

#[cfg(test)]
mod tests;
