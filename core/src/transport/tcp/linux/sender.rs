//! The sending end of a TCP connection as in Linux: connection state and choice of the next
//! segment.

mod expected;

use rand_chacha::ChaCha8Rng;

use super::buffers::Buffers;
use super::congestion::Congestion;
use super::ecn::SenderEcn;
use super::pacing::{Departure, Pacer, QUANTUM, pace_of};
use super::recovery::{Probe, Recovery, SenderParts};
use super::rtt::RttEstimator;
use super::scoreboard::{AckContext, AckOutcome, Scoreboard};
use super::ticks::Ticks;
use super::timers::{Timer, TimerPurpose};
use super::undo::by_clock;
use crate::transport::tcp::config::TcpConfig;
use crate::transport::tcp::congestion::{Ack, CongestionState, Pace, Sample, Subflow};
use crate::transport::tcp::half::{Half, Sender};
use crate::transport::tcp::shared::counters::SenderCounters;
use crate::transport::tcp::shared::supply::Supply;
use crate::transport::train::{Arrival, Train};
use crate::transport::{EndpointChange, Limit, Outbox, Segment};
use crate::units::{Duration, Instant};

/// Handshake state of the connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Handshake {
    /// No data and no SYN yet.
    Closed,
    /// The SYN must be sent.
    SynDue,
    /// The SYN was sent at `first`, and at `at` for the `attempts`-th time.
    SynSent { first: Instant, at: Instant, attempts: u32 },
    /// The SYN-ACK has arrived.
    Established,
}

/// A burst that the window cuts short waits for an ACK that is due within this time, unless the
/// burst is a third of the window (`tcp_tso_should_defer` in `tcp_output.c`).
const DEFERRAL: Duration = Duration::from_millis(1);
const DEFERRAL_SHARE: u64 = 3;
/// After more SYNs than this, the window starts at one segment (`tcp_init_transfer` in
/// `tcp_input.c`; RFC 6298 section 5.7 does so after the second one).
const MOST_SYNS: u32 = 2;

/// A group of segments that Linux builds as one packet and splits on output (`tcp_write_xmit`): one
/// millisecond at the pacing rate, within half of the window, its free part and two buffers. The last
/// segment of a group may be short, and carries PSH (`__tcp_transmit_skb`).
#[derive(Clone, Copy, Debug, Default)]
struct Burst {
    at: Instant,
    /// Segments that have not left.
    left: u64,
    /// End of its last segment.
    end: u64,
}

/// A group that the next new segment begins.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// Segments that it may have.
    quantum: u64,
    /// Bytes that the window leaves it (`tcp_cwnd_test`).
    most: u64,
    /// Bytes of the packet that a kernel splits.
    packet: u64,
}

/// A TCP sender. Segments are counted by number.
#[derive(Debug)]
pub(crate) struct LinuxSender {
    handshake: bool,
    tail_loss_probe: bool,
    headers: u32,
    syn_size: u32,
    connection: Handshake,
    /// True if the SYN-ACK must be acknowledged by a packet without data.
    answer_due: bool,
    /// True if segments are paced by the window.
    paced: bool,
    /// Set if a burst that the window cuts short may wait; it does not wait at the end of a buffer.
    defers: Option<Buffers>,
    /// True if the control paces at times, during Careful Resume.
    resumes: bool,
    mss: u32,
    timestamps: bool,
    burst: Burst,
    /// Timestamp of the peer, to be echoed.
    heard: Instant,
    ecn: SenderEcn,
    supply: Supply,
    /// True if the application has more data that it does not hand over yet.
    more: bool,
    /// Receive window announced last.
    window: u32,
    board: Scoreboard,
    rtt: RttEstimator,
    congestion: Congestion,
    recovery: Recovery,
    timer: Timer,
    pacer: Pacer,
    /// True while a burst waits: only an ACK, data or the pacer has a kernel look at it again
    /// (`tcp_write_xmit`).
    deferred: bool,
    /// True if segments were sent since the last check of the window's usage.
    sent_some: bool,
    /// End of the last segment that was not full.
    part_end: u64,
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
            connection: Handshake::Closed,
            answer_due: false,
            paced: options.pacing,
            defers: options.burst_deferral.then(|| Buffers::new(config)),
            resumes: config.careful_resume.is_some(),
            mss: config.mss().0,
            timestamps: config.timestamps,
            burst: Burst::default(),
            heard: Instant::ZERO,
            ecn: SenderEcn::new(config.ecn_mode()),
            supply: Supply::new(config),
            more: false,
            window: 0,
            board: Scoreboard::new(config, congestion.has_model()),
            rtt: RttEstimator::new(),
            congestion,
            recovery: Recovery::new(&options, config.sack),
            timer: Timer::new(Ticks::new(options.timer_ticks)),
            pacer: Pacer::default(),
            deferred: false,
            sent_some: false,
            part_end: 0,
            last_sent: Instant::ZERO,
            counters: SenderCounters::default(),
        }
    }

    /// The connection is one path of several, and its data have an option of `signal` bytes.
    pub(crate) fn couple(&mut self, subflow: Subflow, signal: u32) {
        self.headers += signal;
        self.congestion.couple(subflow);
    }

    fn is_complete(&self) -> bool {
        self.supply.is_complete(self.acknowledged())
    }

    /// Size of the next new segment, if it may be sent.
    #[inline]
    fn next_new(&self) -> Option<u32> {
        self.supply.segment_at(self.board.flight().nxt())
    }

    /// Size of the next segment of the group that is leaving.
    #[inline]
    fn part_of_group(&self, now: Instant) -> Option<u32> {
        let rest = || (self.burst.end - self.board.flight().nxt()).min(self.mss.into()) as u32;
        self.is_in_group(now).then(rest)
    }

    /// True if the next new segment belongs to the group that began `now`.
    #[inline]
    fn is_in_group(&self, now: Instant) -> bool {
        self.burst.at == now && self.burst.left > 0
    }

    /// The recovery and the parts that it changes.
    #[inline]
    fn recovery(&mut self, now: Instant) -> (&mut Recovery, SenderParts<'_>) {
        let parts = SenderParts {
            now,
            board: &mut self.board,
            congestion: &mut self.congestion,
            rtt: &self.rtt,
            supply: &self.supply,
            counters: &mut self.counters,
        };
        (&mut self.recovery, parts)
    }

    /// Handles the SYN-ACK, which gives the first round-trip sample. It is acknowledged before any
    /// data leave (`tcp_rcv_synsent_state_process` in `tcp_input.c`).
    fn establish(&mut self, now: Instant, answer: &Segment) {
        let Handshake::SynSent { first, at, attempts } = self.connection else { return };
        self.timer.stop();
        self.answer_due = true;
        self.rtt = RttEstimator::new();
        self.board.on_established();
        let by_echo = self.timestamps.then(|| by_clock(answer.ts_ecr, now));
        let sample = if attempts == 1 { Some(now.saturating_since(at)) } else { by_echo };
        if let Some(rtt) = sample {
            self.rtt.sample(rtt, 0, 0);
            self.rtt.sample_least(now, rtt);
        }
        // The answer to the first SYN proves the others needless (`tcp_try_undo_spurious_syn`).
        let was_needless = self.timestamps && answer.ts_ecr == first;
        if attempts > MOST_SYNS && !was_needless {
            self.congestion.on_lost_syn();
        }
        // Until data are acknowledged the pace is that of the initial window, even if the control begins
        // with a larger one (`tcp_ack` comes before `tcp_init_transfer`).
        self.update_pace();
        self.begin(now);
        if self.congestion.pace().is_some() {
            self.update_pace();
        }
    }

    /// Starts the data transfer.
    fn begin(&mut self, now: Instant) {
        self.connection = Handshake::Established;
        self.note_shortage();
        let (smoothed, delivered) = (self.rtt.smoothed(), self.board.delivered());
        self.congestion.on_established(now, smoothed, delivered);
    }

    /// Marks the connection as application-limited if the window allows more than the supplied data
    /// (`tcp_rate_check_app_limited`).
    fn note_shortage(&mut self) {
        let flight = self.board.flight();
        if !self.more && flight.outstanding() < u64::from(self.cwnd()) && flight.lost_count() == 0 {
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

    /// Grows or reduces the window after an ACK.
    #[inline]
    fn update_window(&mut self, ack: &mut Ack, outcome: &AckOutcome, lost: u64, of_probe: bool) {
        if self.congestion.has_model() {
            return self.update_model(ack, outcome, lost, of_probe);
        }
        ack.state = self.recovery.state();
        if self.recovery.is_reducing() {
            let (delivered, in_flight) = (u64::from(ack.segments), self.in_flight());
            self.congestion.fall(delivered, in_flight, outcome.advanced && lost == 0);
        } else if outcome.advanced || (outcome.sacked && self.board.is_reordered()) {
            self.congestion.grow(ack);
        }
    }

    /// Passes an ACK to a model-based control, which sets window and pacing rate.
    fn update_model(&mut self, ack: &Ack, outcome: &AckOutcome, lost: u64, of_probe: bool) {
        let (now, acked) = (ack.now, u64::from(ack.segments));
        let sample = Sample {
            now,
            rate: self.board.rate_sample(now, acked, &self.rtt),
            rtt: outcome.rtt,
            delayed: outcome.maybe_delayed,
            acked,
            lost,
            prior_in_flight: outcome.prior_in_flight,
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
    fn conclude_probe(&mut self, now: Instant, ack: u64, outcome: &AckOutcome) -> bool {
        if !self.recovery.probe().is_out() {
            return false;
        }
        let (recovery, parts) = self.recovery(now);
        recovery.conclude_probe(ack, outcome, parts)
    }

    /// Handles an ACK with nothing in flight: a D-SACK may still prove a retransmission spurious.
    fn conclude_late(&mut self, now: Instant, ack: u64, outcome: &AckOutcome) {
        if outcome.dsack {
            let (recovery, parts) = self.recovery(now);
            recovery.on_ack(outcome, parts);
        }
        self.conclude_probe(now, ack, outcome);
    }

    /// Builds the ACK event for the congestion control.
    #[inline]
    fn ack(&self, now: Instant, segment: &Segment, outcome: &AckOutcome, delivered: u64) -> Ack {
        let flight = self.board.flight();
        Ack {
            now,
            segments: u32::try_from(delivered).unwrap_or(u32::MAX),
            prior_in_flight: outcome.prior_in_flight,
            una: flight.una(),
            first: flight.first(),
            next: flight.next(),
            echo: outcome.echo,
            rtt: outcome.rtt,
            srtt: self.rtt.smoothed(),
            state: self.recovery.state(),
            undisturbed: outcome.advanced && segment.sack.is_empty(),
            marked: 0,
            limited: None,
        }
    }

    /// True if a tail loss probe may be scheduled: not during loss repair.
    #[inline]
    fn may_probe(&self) -> bool {
        let state = self.recovery.state();
        self.tail_loss_probe && matches!(state, CongestionState::Open | CongestionState::Cwr)
    }

    /// Sends the next segment, if any: a probe, a retransmission or new data.
    #[inline(always)] // called for every packet: a call costs as much as what it does
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
        let Some(len) = self.part_of_group(now).or_else(|| self.next_new()) else {
            self.stop(now, false);
            return false;
        };
        if self.pacer.refuses(now) {
            self.stop(now, false);
            return false;
        }
        let group = self.next_group(now);
        if self.deferred || group.is_some_and(|group| self.is_deferred(now, group)) {
            self.defer(now);
            return false;
        }
        self.send_new(now, len, group, segment);
        true
    }

    fn write_syn(&mut self, now: Instant, segment: &mut Segment) {
        let (first, attempts) = match self.connection {
            Handshake::SynSent { first, attempts, .. } => (first, attempts + 1),
            _ => (now, 1),
        };
        self.connection = Handshake::SynSent { first, at: now, attempts };
        self.timer.start(now, &self.rtt);
        self.counters.bytes_sent += u64::from(self.syn_size);
        *segment = Segment { syn: true, wire: self.syn_size, ts_val: now, ..Segment::default() };
        self.ecn.stamp_syn(segment);
    }

    /// Sends a new segment, and sets the timer; `group`: [`LinuxSender::next_group`].
    #[inline(always)]
    fn send_new(&mut self, now: Instant, len: u32, group: Option<Group>, segment: &mut Segment) {
        let was_empty = self.board.flight().is_empty();
        self.write_new(now, len, group, segment);
        let probes = self.may_probe() && !self.recovery.probe().is_due();
        self.timer.on_new_data(now, was_empty, probes, &self.board, &self.rtt);
    }

    /// Sends a new segment.
    #[inline(always)]
    fn write_new(&mut self, now: Instant, len: u32, group: Option<Group>, segment: &mut Segment) {
        let mut group = group;
        if self.board.flight().is_empty() {
            self.end_idle(now);
            group = self.next_group(now); // of the window as it is now
        }
        let start = self.board.flight().nxt();
        if len < self.mss {
            self.part_end = start + u64::from(len);
        }
        let ends_burst = self.continue_burst(now, group);
        self.board.on_sent(now, len);
        self.sent_some = true;
        self.write(now, now, start, len, 0, segment);
        let alone = !ends_burst && self.burst.left == 0;
        let pushed = self.defers.as_mut().is_some_and(|it| alone && it.ends_with_push(start));
        segment.push = ends_burst || pushed || (self.next_new().is_none() && !self.more);
    }

    /// Free part of the congestion window, in bytes.
    fn room(&self) -> u64 {
        u64::from(self.cwnd()).saturating_sub(self.in_flight()) * u64::from(self.mss)
    }

    /// The group that the next new segment begins; `None` if it belongs to the last one.
    #[inline]
    fn next_group(&mut self, now: Instant) -> Option<Group> {
        (!self.is_in_group(now)).then(|| self.group())
    }

    /// The group that the next new segment begins.
    #[inline]
    fn group(&mut self) -> Group {
        let (quantum, cwnd) = (self.quantum(), u64::from(self.cwnd()));
        let room = cwnd.saturating_sub(self.in_flight());
        self.group_of(quantum, quantum.min(room).min(cwnd / 2).max(1) * u64::from(self.mss))
    }

    /// The group of `quantum` segments and `most` bytes at most.
    #[inline]
    fn group_of(&mut self, quantum: u64, most: u64) -> Group {
        let start = self.board.flight().nxt();
        let packet = self.defers.as_mut().map_or(most, |buffers| buffers.packet(start, most));
        Group { quantum, most, packet: packet.min(self.supply.beyond(start)) }
    }

    /// The next group waits.
    #[inline]
    fn defer(&mut self, now: Instant) {
        self.deferred = true;
        self.stop(now, self.room() < self.supply.permitted_beyond(self.board.flight().nxt()));
    }

    /// True if the next group waits for an ACK because it would be short and the ACK is near.
    #[inline]
    fn is_deferred(&self, now: Instant, Group { quantum, packet, .. }: Group) -> bool {
        if self.defers.is_none() {
            return false;
        }
        let (flight, mss) = (self.board.flight(), u64::from(self.mss));
        let recent = now <= self.pacer.departure(self.last_sent) + DEFERRAL;
        if flight.is_empty()
            || !recent
            || self.recovery.state() >= CongestionState::Recovery
            || packet <= mss
        {
            return false;
        }
        let room = self.room().min(self.supply.permitted_beyond(flight.nxt()));
        let window = (u64::from(self.cwnd()) * mss).min(self.window.into());
        // The packet may leave as a whole and gets no more data.
        let whole = room >= packet && self.supply.beyond(flight.nxt()) > packet;
        if whole || room >= quantum * mss || room >= window / DEFERRAL_SHARE {
            return false;
        }
        let Some(rtt) = self.rtt.smoothed() else { return false };
        let near = Duration::from_nanos(rtt.as_nanos() / 2).min(DEFERRAL);
        flight.last_sent(flight.first()) + rtt <= now + near
    }

    /// Accounts for a new segment about to leave. Returns true if it is the last of a group.
    #[inline(always)] // as `send_next`
    fn continue_burst(&mut self, now: Instant, group: Option<Group>) -> bool {
        let Some(group) = group else {
            self.burst.left -= 1;
            return self.burst.left == 0;
        };
        self.begin_burst(now, group);
        false
    }

    /// The first segment of a group is about to leave.
    #[inline]
    fn begin_burst(&mut self, now: Instant, group: Group) {
        let size = self.size(group);
        let end = self.board.flight().nxt() + size;
        self.burst = Burst { at: now, left: size.div_ceil(self.mss.into()) - 1, end };
        if let Some(buffers) = &mut self.defers {
            buffers.on_group(now, end);
        }
    }

    /// Bytes of a group. If it reaches the edge of the receive window or the end of the data, it
    /// ends with no part of a segment while another part is unacknowledged (`tcp_mss_split_point`,
    /// `tcp_minshall_check`).
    #[inline]
    fn size(&self, Group { most, packet, .. }: Group) -> u64 {
        let (start, mss) = (self.board.flight().nxt(), u64::from(self.mss));
        let permitted = self.supply.permitted_beyond(start);
        let is_last = packet == self.supply.beyond(start);
        let needed = packet.min(permitted);
        if packet <= mss || (most <= permitted && !is_last) || most <= needed {
            return packet.min(most);
        }
        let waits = self.part_end > self.board.flight().una();
        if waits { needed - needed % mss } else { needed }
    }

    /// Segments per group.
    #[inline(always)]
    fn quantum(&self) -> u64 {
        if let Some(pace) = self.congestion.pace() {
            return pace.quantum;
        }
        match self.rtt.smoothed() {
            Some(rtt) => self.window_pace(rtt).quantum,
            None => QUANTUM.0,
        }
    }

    #[inline(always)]
    fn window_pace(&self, rtt: Duration) -> Pace {
        let flight = self.board.flight();
        let outstanding = flight.next() - flight.first();
        pace_of(self.congestion.window(), self.mss, outstanding, rtt)
    }

    /// Retransmits a lost segment.
    #[cold]
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

    /// Sends a tail loss probe: a new segment, or the last segment again (RFC 8985 section 7.3).
    #[cold]
    fn send_probe(&mut self, now: Instant, segment: &mut Segment) {
        match (self.recovery.probe(), self.next_new()) {
            (Probe::NewDue, Some(len)) => {
                let group = self.next_group(now);
                self.send_new(now, len, group, segment);
            }
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

    /// Lost segments after the one at `seq` that were first sent in one burst with it: a kernel holds
    /// them in one buffer, which leaves as a whole (`tcp_xmit_retransmit_queue`).
    fn repaired_along(&self, seq: u64) -> u64 {
        let flight = self.board.flight();
        let number = flight.at_or_after(seq);
        let is_along = |other: &u64| {
            flight.next_lost(*other) == Some(*other)
                && flight.first_sent(*other) == flight.first_sent(number)
        };
        let most = number + self.quantum();
        (number + 1..most).take_while(is_along).count() as u64
    }

    /// After an idle period longer than a timeout the window restarts small.
    fn end_idle(&mut self, now: Instant) {
        let idle = now.saturating_since(self.last_sent);
        if self.last_sent == Instant::ZERO || idle == Duration::ZERO {
            return;
        }
        let app_limited = self.board.is_app_limited();
        self.congestion.end_idle(now, idle, self.rtt.timeout(), app_limited);
        self.update_pace();
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
        self.counters.on_sent(len + self.headers);
        if self.recovery.is_reducing() {
            self.congestion.on_sent_in_recovery();
        }
        let along = if sends == 0 { self.burst.left } else { self.repaired_along(seq) };
        let count = self.counters.segments_sent + along;
        self.pacer.on_sent(Departure { now, len, count, along });
        self.last_sent = now;
        *segment = Segment { first_sent, retransmission: sends, ..self.new_segment(now, seq, len) };
        self.ecn.stamp(sends == 0, self.recovery.reduced(), segment);
    }

    /// A segment that is sent for the first time.
    #[inline(always)]
    fn new_segment(&self, now: Instant, seq: u64, len: u32) -> Segment {
        let wire = len + self.headers;
        let (ts_val, ts_ecr, first_sent) = (now, self.heard, now);
        Segment { seq, len, wire, ts_val, ts_ecr, first_sent, ..Segment::default() }
    }

    /// Nothing more to send now; `limited` tells whether the window is the reason.
    #[inline]
    fn stop(&mut self, now: Instant, limited: bool) {
        if std::mem::take(&mut self.sent_some) || limited {
            let (timeout, state) = (self.rtt.timeout(), self.recovery.state());
            self.congestion.on_stop(now, limited, self.board.flight(), timeout, state);
        }
    }

    /// True if data or retransmissions wait for the window.
    #[inline]
    fn has_something(&self) -> bool {
        (self.recovery.is_repairing() && self.board.flight().lost_count() > 0)
            || self.next_new().is_some()
            || self.more
    }
}

impl Sender for LinuxSender {
    fn supply(&mut self, bytes: u64) {
        let short = self.connection == Handshake::Established && self.next_new().is_none();
        if bytes == 0 || !self.supply.add(bytes) {
            return;
        }
        self.deferred = false;
        if short {
            self.note_shortage();
        }
        self.open();
    }

    fn expect(&mut self, more: bool) {
        self.more = more;
    }

    fn open(&mut self) {
        if self.connection == Handshake::Closed {
            if self.handshake {
                self.connection = Handshake::SynDue;
            } else {
                self.begin(Instant::ZERO);
                self.update_pace();
            }
        }
    }

    /// The time since the SYN-ACK is a sample if it was sent once (`tcp_synack_rtt_meas` in
    /// `tcp_input.c`).
    fn accept(&mut self, now: Instant, since: Duration, answers: u32) {
        if self.connection != Handshake::Closed {
            return;
        }
        self.board.on_established();
        if answers == 1 {
            self.rtt.sample(since, 0, 0);
            self.rtt.sample_least(now, since);
        } else if answers > MOST_SYNS {
            self.congestion.on_lost_syn();
        }
        self.begin(now);
        self.update_pace();
    }

    fn is_established(&self) -> bool {
        self.connection == Handshake::Established
    }

    fn unsent(&self) -> u64 {
        self.supply.beyond(self.board.flight().nxt())
    }

    fn close(&mut self) {
        self.supply.close(self.board.flight().nxt());
        if self.is_complete() {
            self.timer.stop();
        }
    }

    fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    fn cwnd(&self) -> u32 {
        self.congestion.window().cwnd()
    }

    fn ssthresh(&self) -> Option<u32> {
        let ssthresh = self.congestion.window().ssthresh();
        (ssthresh != u32::MAX).then_some(ssthresh)
    }

    fn in_flight(&self) -> u64 {
        self.board.flight().outstanding()
    }

    fn srtt(&self) -> Option<Duration> {
        self.rtt.smoothed()
    }

    fn acknowledged(&self) -> u64 {
        self.board.flight().una()
    }

    fn limit(&self) -> Limit {
        let flight = self.board.flight();
        match self.connection {
            Handshake::Closed => return Limit::Application,
            Handshake::Established if flight.lost_count() == 0 => {}
            _ => return Limit::Path,
        }
        let window = self.congestion.window();
        let is_full = flight.outstanding() >= u64::from(window.cwnd());
        self.supply.limit(flight.nxt(), is_full, window.cwnd(), window.limit())
    }

    fn change(&mut self, now: Instant, change: &EndpointChange) -> bool {
        match change {
            EndpointChange::KeepWindow { .. } => self.congestion.keep_window(),
            EndpointChange::Foresee { timetable, .. } => self.congestion.foresee(timetable),
            EndpointChange::Control(new) => {
                let (config, rng) = &**new;
                let (smoothed, delivered) = (self.rtt.smoothed(), self.board.delivered());
                let established = self.is_established().then_some((smoothed, delivered));
                if !self.congestion.take_over(now, (config, rng.clone()), established) {
                    return false;
                }
                self.update_pace();
            }
        }
        true
    }
}

impl Half for LinuxSender {
    #[inline(always)] // called for every packet: a call costs as much as what it does
    fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        self.heard = self.heard.max(segment.ts_val);
        self.deferred = false;
        if segment.syn {
            self.ecn.on_established(segment);
            return self.establish(now, segment);
        }
        let flight = self.board.flight();
        if self.connection != Handshake::Established || segment.ack > flight.nxt() {
            return;
        }
        let opens = self.supply.on_ack(segment);
        let (was_empty, had_gaps) = (flight.is_empty(), flight.sacked_count() > 0);
        // A window update is not a duplicate ACK (RFC 5681 section 2).
        if segment.ack == flight.una() && !was_empty && !opens {
            self.counters.duplicate_acks += 1;
        }
        let (delivered, lost) = (self.board.delivered(), self.board.lost());
        let context = AckContext {
            recovery: &mut self.recovery,
            rtt: &mut self.rtt,
            counters: &mut self.counters,
        };
        let mut outcome = self.board.take_in(now, segment, opens, context);
        let acked = self.board.delivered() - delivered;
        let marked = self.ecn.heard(segment, acked, outcome.advanced || outcome.sacked);
        outcome.marked = marked.is_some();
        if was_empty {
            return self.conclude_late(now, segment.ack, &outcome);
        }
        let mut ack = self.ack(now, segment, &outcome, acked);
        ack.marked = u32::try_from(marked.unwrap_or(0)).unwrap_or(u32::MAX);
        // Data that fill a gap still wait for the application when their ACK leaves, so that this
        // ACK announces a different window and misses the kernel's header prediction.
        let same_window = segment.window == std::mem::replace(&mut self.window, segment.window);
        ack.undisturbed &= same_window && !had_gaps;
        // Of an ACK below an earlier one only the SACK blocks count (`old_ack` in `tcp_ack`).
        if !outcome.old {
            self.board.adapt_window(&outcome);
            self.congestion.on_ack(&mut ack);
        }
        let of_probe = self.conclude_probe(now, segment.ack, &outcome);
        self.recovery.pause();
        let needs_processing = if outcome.old {
            !segment.sack.is_empty()
        } else {
            outcome.is_dubious() || self.recovery.state() != CongestionState::Open
        };
        let losses_due = if needs_processing {
            let (recovery, parts) = self.recovery(now);
            recovery.on_ack(&outcome, parts)
        } else {
            None
        };
        match losses_due {
            Some(at) => self.timer.await_reordering(now, at),
            None if outcome.restarts_timer => {
                let probes = self.may_probe();
                self.timer.restart(now, probes, &self.board, &self.rtt);
            }
            None => {}
        }
        if !outcome.old {
            // Without SACK, duplicate ACKs count as deliveries only now.
            let delivered = self.board.delivered() - delivered;
            ack.segments = u32::try_from(delivered).unwrap_or(u32::MAX);
            self.update_window(&mut ack, &outcome, self.board.lost() - lost, of_probe);
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
            self.deferred = false;
        }
        let Some(purpose) = self.timer.expire(now) else { return };
        if self.connection != Handshake::Established {
            self.rtt.back_off();
            self.counters.timeouts += 1;
            return;
        }
        if self.board.flight().is_empty() {
            return;
        }
        match purpose {
            TimerPurpose::Retransmission => {
                let (recovery, parts) = self.recovery(now);
                recovery.on_retransmission_timeout(parts);
                self.rtt.back_off();
                self.timer.start(now, &self.rtt);
            }
            TimerPurpose::Probe => {
                let new = self.next_new().is_some();
                if !self.recovery.on_probe_timeout(new) {
                    self.timer.resume(now, &self.board, &self.rtt);
                }
            }
            TimerPurpose::Reordering => {
                let (recovery, parts) = self.recovery(now);
                recovery.on_reordering_timeout(parts);
                self.timer.resume(now, &self.board, &self.rtt);
            }
        }
    }

    #[inline(always)]
    fn transmit_into(&mut self, now: Instant, segment: &mut Segment) -> bool {
        match self.connection {
            Handshake::Established if std::mem::take(&mut self.answer_due) => {
                self.counters.bytes_sent += u64::from(self.headers);
                let (wire, ts_ecr) = (self.headers, self.heard);
                *segment = Segment { wire, ts_val: now, ts_ecr, ..Segment::default() };
                self.ecn.stamp_answer(segment);
                true
            }
            Handshake::Established => self.send_next(now, segment),
            Handshake::Closed => false,
            Handshake::SynSent { .. } if self.timer.deadline().is_some() => false,
            Handshake::SynDue | Handshake::SynSent { .. } => {
                self.write_syn(now, segment);
                true
            }
        }
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Instant> {
        match (self.timer.deadline(), self.pacer.deadline()) {
            (Some(timer), Some(paced)) => Some(timer.min(paced)),
            (timer, paced) => timer.or(paced),
        }
    }

    /// ACKs of new data while nothing is missing, each of which may let new segments leave.
    fn answer_expected(&mut self, first: usize, train: &mut Train, outbox: &mut Outbox) -> usize {
        if !self.is_calm() {
            return first;
        }
        let mut number = first;
        while let Some(&Arrival { key, packet, .. }) = train.arrivals.get(number)
            && !train.alarm.is_before(key)
            && self.take_in_expected(key.0, &outbox[packet].segment)
        {
            self.send_expected(key.0, outbox);
            // The alarm stays where it is unless the timer may expire before it.
            let (look, timer) = (train.alarm.key().0, self.timer.earliest());
            let timeout = timer.filter(|&at| at < look).and_then(|_| self.poll_timeout());
            train.note(key.0, timeout, self.limit(), outbox);
            number += 1;
        }
        number
    }
}

#[cfg(test)]
mod tests;
