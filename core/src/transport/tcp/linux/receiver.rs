//! The receiving end of a TCP connection as in Linux.

use super::compression::Compression;
use super::delayed_ack::AckTimer;
use super::ecn::ReceiverEcn;
use super::receive_buffer::ReceiveBuffer;
use super::rtt::RttEstimator;
use super::ticks::Ticks;
use crate::transport::tcp::config::TcpConfig;
use crate::transport::tcp::half::{Half, Receiver};
use crate::transport::tcp::shared::arrivals::{Arrivals, InOrder, announced};
use crate::transport::tcp::shared::counters::ReceiverCounters;
use crate::transport::train::{Arrival, Rank, Train};
use crate::transport::{Outbox, Received, SackBlock, Segment};
use crate::units::{Duration, Ecn, Instant};

/// SACK blocks that are remembered (`TCP_NUM_SACKS`); beside timestamps an ACK carries three.
const REMEMBERED: usize = 4;
/// Timestamps may decrease by this many milliseconds.
const PAWS_WINDOW: u64 = 1;

/// Next packet to send.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum PendingReply {
    Nothing,
    SynAck,
    Ack,
}

/// Data that filled a gap. Their ACK leaves before the application reads them.
#[derive(Clone, Copy, Debug)]
struct Unread {
    bytes: u64,
    arrived: Instant,
    /// End of the segment that arrived, which is read before those that waited.
    first: u64,
    /// Bytes from the next one expected to the highest received.
    ahead: u64,
}

/// A TCP receiver. It acknowledges every second segment, acknowledges out-of-order segments at
/// once, and reports duplicates in a D-SACK block (RFC 2883).
#[derive(Debug)]
pub(crate) struct LinuxReceiver {
    mss: u32,
    /// Bytes of an ACK without SACK blocks, and of a SYN-ACK.
    ack_size: u32,
    syn_size: u32,
    /// Receive window that ACKs announce, in bytes, once fully grown.
    window: u32,
    /// Set if the window grows with the buffer; holds the first byte beyond the announced window,
    /// which never decreases.
    growth: Option<u64>,
    /// Kept while their ACK is due, if the window grows with the buffer.
    unread: Option<Unread>,
    /// Replaces the window if set: the first byte that the application does not accept.
    edge: Option<u64>,
    timestamps: bool,
    /// Most SACK blocks that an ACK carries.
    blocks: usize,
    dsack: bool,
    ecn: ReceiverEcn,
    arrivals: Arrivals,
    delayed: AckTimer,
    compression: Compression,
    buffer: ReceiveBuffer,
    /// Round-trip time of the handshake.
    rtt: RttEstimator,
    answered: Option<Instant>,
    /// Timestamp to echo (RFC 7323 section 4.3).
    echo: Instant,
    /// Last acknowledgement sent.
    last_ack: u64,
    duplicate: Option<SackBlock>,
    /// An ACK made before the last segment was taken in, which it replaces.
    early: Option<Box<Segment>>,
    due: PendingReply,
}

impl LinuxReceiver {
    /// A receiver that expects a SYN, or the first byte.
    pub(crate) fn new(config: &TcpConfig) -> Self {
        // 40 bytes of options: 12 for timestamps, and 4 plus 8 per block for SACK.
        let blocks = match (config.sack, config.timestamps) {
            (false, _) => 0,
            (true, true) => 3,
            (true, false) => 4,
        };
        Self {
            arrivals: Arrivals::new(config.mss().0, if config.sack { REMEMBERED } else { 0 }),
            delayed: AckTimer::new(
                config.ack_delay(),
                config.options().quick_ack,
                Ticks::new(config.options().timer_ticks),
            ),
            compression: Compression::new(config.options().sack_compression),
            buffer: ReceiveBuffer::new(config.mss().0, config.announced_window()),
            mss: config.mss().0,
            ack_size: config.headers(),
            syn_size: config.syn_size(),
            window: config.announced_window(),
            growth: config.options().window_growth.then(|| config.first_window().into()),
            unread: None,
            edge: None,
            timestamps: config.timestamps,
            blocks,
            dsack: config.options().dsack,
            ecn: ReceiverEcn::new(config.ecn_mode()),
            rtt: RttEstimator::new(),
            answered: None,
            echo: Instant::ZERO,
            last_ack: 0,
            duplicate: None,
            early: None,
            due: PendingReply::Nothing,
        }
    }

    fn handle_syn(&mut self, now: Instant, segment: &Segment) {
        self.ecn.on_syn(segment);
        self.echo = segment.ts_val;
        self.answered = Some(now);
        self.due = PendingReply::SynAck;
    }

    /// Takes a round-trip sample from the first segment after the SYN-ACK.
    #[inline]
    fn time_handshake(&mut self, now: Instant) {
        if let Some(answered) = self.answered.take() {
            self.rtt.sample(now.saturating_since(answered), 0, 0);
            self.buffer.begin(now);
        }
    }

    /// RFC 7323 section 4.3 (2). A duplicate below the window is not acceptable and does not update
    /// the echo.
    #[inline]
    fn update_echo(&mut self, segment: &Segment) {
        let in_window = segment.seq + u64::from(segment.len) >= self.last_ack;
        if in_window && segment.seq <= self.last_ack && segment.ts_val >= self.echo {
            self.echo = segment.ts_val;
        }
    }

    /// PAWS (RFC 7323 section 5.3, R1): the segment is older than the last one that arrived in
    /// order by more than the millisecond that Linux tolerates. PAWS protects against wrapped
    /// sequence numbers, but also discards segments that a retransmission at the left edge has
    /// overtaken.
    fn is_stale(&self, segment: &Segment) -> bool {
        segment.ts_val < self.echo
            && self.timestamps
            && millis(segment.ts_val) + PAWS_WINDOW < millis(self.echo)
    }

    /// Discards a stale segment and acknowledges at once, with a D-SACK if it is a duplicate.
    fn refuse(&mut self, segment: &Segment) {
        if self.arrivals.refuse(segment) {
            self.report_duplicate(segment);
            self.delayed.on_duplicate();
        }
        self.due = PendingReply::Ack;
    }

    fn report_duplicate(&mut self, segment: &Segment) {
        if self.dsack {
            let end = segment.seq + u64::from(segment.len);
            self.duplicate = Some(SackBlock { start: segment.seq, end });
        }
    }

    /// Handles new data; byte `before` was expected before them. Data in order are read
    /// at once, data that fill a gap once their ACK has left.
    #[inline(always)] // called in one place
    fn grow_buffer(&mut self, now: Instant, before: u64, had_gap: bool, segment: &Segment) {
        let next = self.arrivals.next();
        let ahead = self.arrivals.highest().saturating_sub(next);
        // Data that fill a gap count as read, unless the announced window grows with the buffer.
        let used = match self.growth {
            // A segment beyond a gap takes its room after the window grew (`tcp_data_queue_ofo`).
            Some(_) if next == before => {
                self.arrivals.held_bytes().saturating_sub(segment.len.into())
            }
            Some(_) => next - before + self.arrivals.held_bytes(),
            None => ahead.max(self.mss.into()),
        };
        // Without SACK the window grows in order only: an ACK with another window is no duplicate
        // (`tcp_data_queue_ofo`).
        if (self.blocks > 0 || next > before) && self.buffer.grows(used) {
            self.delayed.on_window_growth();
        }
        if ahead > 0 {
            self.buffer.on_gap(ahead);
        }
        // The application reads, which may end a round trip, only if there is something in order.
        if next > before {
            let (bytes, first) = (next - before, segment.seq + u64::from(segment.len));
            self.read();
            if had_gap && self.growth.is_some() {
                self.unread = Some(Unread { bytes, arrived: now, first, ahead });
            } else {
                self.buffer.on_taken(now, first, next, ahead);
            }
        }
    }

    /// The application reads what it has not read yet.
    #[inline]
    fn read(&mut self) {
        if let Some(Unread { arrived, first, ahead, .. }) = self.unread.take() {
            self.buffer.on_taken(arrived, first, self.arrivals.next(), ahead);
        }
    }

    /// Bytes that wait for a gap to be filled, or for the application.
    #[inline]
    fn waiting_bytes(&self) -> u64 {
        self.arrivals.held_bytes() + self.unread.map_or(0, |unread| unread.bytes)
    }

    /// True if the segment's ACK must leave at once: more than one full segment waits for an ACK,
    /// the segment filled the last gap, ACKs are quick now, or the segment leaves a gap and its
    /// SACK is not compressed. In order, PSH triggers an ACK too, except in interactive mode: the
    /// application reads all data, and an ACK follows (`tcp_measure_rcv_mss` in `tcp_input.c`,
    /// `__tcp_cleanup_rbuf` in `tcp.c`).
    #[inline]
    fn is_urgent(&mut self, now: Instant, had_gap: bool, push: bool) -> bool {
        let next = self.arrivals.next();
        let is_due = next - self.last_ack > u64::from(self.mss);
        if self.arrivals.is_contiguous() {
            let quick = self.delayed.is_quick();
            return is_due || quick || had_gap || (push && !self.delayed.answers());
        }
        if (is_due && self.moves_window()) || self.delayed.is_quick() {
            return true;
        }
        let (smoothed, timer) = (self.rtt.smoothed(), self.delayed.timer(now));
        let waits = self.compression.holds(now, next, smoothed, timer);
        if waits && is_due {
            self.read(); // and the ACK leaves
        }
        !waits || is_due
    }

    /// True if an ACK announces as large a window as the last one, before the application
    /// has read (`__tcp_ack_snd_check`). Otherwise an ACK that leaves a gap counts as a repeated one.
    fn moves_window(&mut self) -> bool {
        let Some(told) = self.growth else { return true };
        let waiting = self.waiting_bytes();
        if self.buffer.is_half_used(waiting) {
            self.delayed.on_scarce_room();
        }
        self.buffer.window(waiting, 0) >= told - self.last_ack
    }

    /// The window to announce with an acknowledgement of byte `next`.
    #[inline]
    fn announce(&mut self, next: u64) -> u32 {
        let window = announced(self.window, self.edge, next);
        let waiting = self.waiting_bytes();
        let Some(told) = &mut self.growth else { return window };
        if self.buffer.is_half_used(waiting) {
            self.delayed.on_scarce_room();
        }
        let size = self.buffer.window(waiting, told.saturating_sub(next));
        *told = next + size;
        if self.unread.is_some() {
            self.read();
            if self.buffer.reopens(self.arrivals.held_bytes(), size) {
                self.due = PendingReply::Ack;
            }
        }
        window.min(u32::try_from(size).unwrap_or(u32::MAX))
    }

    fn syn_ack(&mut self, now: Instant) -> Segment {
        let mut reply = Segment::default();
        let first = self.growth;
        self.reply(now, &mut reply);
        // The window of a SYN has no scale (RFC 7323 section 2.2).
        if let Some(told) = first {
            (self.growth, reply.window) = (first, reply.window.min(told as u32));
        }
        (reply.syn, reply.wire) = (true, self.syn_size);
        self.ecn.stamp(&mut reply);
        reply
    }

    /// An ACK with the blocks received so far; it replaces all ACKs that wait.
    #[inline]
    fn make_ack(&mut self, now: Instant, ack: &mut Segment) {
        self.reply(now, ack);
        self.ecn.stamp(ack);
        if let Some(duplicate) = self.duplicate.take() {
            ack.dsack = true;
            ack.sack.push(ack.ack, duplicate);
        }
        let room = self.blocks - ack.sack.len();
        self.arrivals.report(room, &mut ack.sack);
        ack.wire = match ack.sack.len() {
            0 => self.ack_size,
            blocks => self.ack_size + 4 + 8 * blocks as u32,
        };
        self.compression.on_ack_sent();
        self.on_ack_made(ack.ack);
    }

    /// An ACK while nothing is missing, without explicit congestion notification.
    #[inline(always)] // called in one place
    fn make_plain_ack(&mut self, now: Instant, ack: &mut Segment) {
        self.reply(now, ack);
        ack.wire = self.ack_size;
        self.on_ack_made(ack.ack);
    }

    #[inline(always)] // as `make_plain_ack`
    fn on_ack_made(&mut self, ack: u64) {
        self.last_ack = ack;
        self.arrivals.counters.acks_sent += 1;
        self.delayed.on_ack_sent();
    }

    #[inline]
    fn reply(&mut self, now: Instant, segment: &mut Segment) {
        let ack = self.arrivals.next();
        let (ts_ecr, window) = (self.echo, self.announce(ack));
        *segment = Segment { ack, ts_val: now, ts_ecr, window, ..Segment::default() };
    }

    /// Acknowledges a segment that was taken in, unless an earlier ACK just replaced its ACK.
    #[inline]
    fn answer(&mut self, now: Instant, had_gap: bool, push: bool, at_once: bool) {
        if self.early.is_some() {
            return;
        }
        let urgent = at_once || self.is_urgent(now, had_gap, push);
        if urgent || self.arrivals.is_contiguous() {
            self.acknowledge(now, urgent);
        }
        if self.due == PendingReply::Nothing {
            self.read();
        }
    }

    #[inline]
    fn acknowledge(&mut self, now: Instant, urgent: bool) {
        if urgent || self.delayed.start(now, self.rtt.smoothed()) {
            self.due = PendingReply::Ack;
        }
    }
}

impl Receiver for LinuxReceiver {
    fn counters(&self) -> &ReceiverCounters {
        &self.arrivals.counters
    }

    fn received(&self) -> u64 {
        self.arrivals.next()
    }

    fn permit(&mut self, edge: u64, tell: bool) {
        self.edge = Some(edge);
        if tell && self.due == PendingReply::Nothing {
            self.due = PendingReply::Ack;
        }
    }

    fn accept(&mut self, now: Instant, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt, 0, 0);
        }
        self.buffer.begin(now);
    }

    fn on_reply(&mut self, now: Instant) {
        self.delayed.on_reply(now);
        if self.delayed.deadline().is_some() {
            self.due = PendingReply::Ack;
        }
    }
}

impl Half for LinuxReceiver {
    #[inline(always)] // called for every packet: a call costs as much as what it does
    fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        if segment.syn {
            return self.handle_syn(now, segment);
        }
        self.time_handshake(now);
        if segment.len == 0 {
            return self.update_echo(segment);
        }
        self.arrivals.counters.marked_segments += u64::from(segment.ecn == Ecn::Ce);
        if self.is_stale(segment) {
            return self.refuse(segment);
        }
        let reduced = self.ecn.hears_reduction(segment);
        self.update_echo(segment);
        let (had_gap, before) = (!self.arrivals.is_contiguous(), self.arrivals.next());
        // A report that did not leave is forgotten (`tcp_data_queue`).
        self.duplicate = None;
        let beyond = segment.seq > before;
        if beyond && self.compression.must_leave(self.arrivals.block_position(segment)) {
            if self.arrivals.holds(segment) {
                self.report_duplicate(segment);
            }
            let mut early = Box::<Segment>::default();
            self.make_ack(now, &mut early);
            self.early = Some(early);
            self.due = PendingReply::Ack;
        }
        if self.timestamps && segment.len >= self.mss {
            self.buffer.on_echo(now, segment.ts_ecr);
        }
        if self.arrivals.take_in(segment) {
            // Data beyond a gap do not affect the ACK delay estimate (`tcp_data_queue_ofo`).
            if self.arrivals.next() > before {
                self.delayed.on_data(now, self.rtt.timeout());
            }
            let waits = self.delayed.deadline().is_some();
            let asks = self.ecn.on_new(segment.ecn, self.arrivals.next(), waits);
            if asks.hurry {
                self.delayed.on_mark();
            }
            self.grow_buffer(now, before, had_gap, segment);
            return self.answer(now, had_gap, segment.push, asks.now || reduced);
        }
        if self.early.is_none() {
            self.report_duplicate(segment);
        }
        if beyond {
            // Its ACK waits like others beyond a gap (`tcp_data_queue_ofo`).
            return self.answer(now, had_gap, segment.push, reduced);
        }
        self.delayed.on_duplicate();
        self.acknowledge(now, true);
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.delayed.expire(now, self.rtt.timeout()) || self.compression.expire(now) {
            self.due = PendingReply::Ack;
        }
    }

    #[inline(always)]
    fn transmit_into(&mut self, now: Instant, segment: &mut Segment) -> bool {
        if let Some((ack, flags, ecn)) = self.ecn.take_first() {
            *segment = Segment {
                ack,
                ts_val: now,
                ts_ecr: self.echo,
                window: self.announce(ack),
                wire: self.ack_size,
                flags,
                ecn,
                ..Segment::default()
            };
            self.arrivals.counters.acks_sent += 1;
            return true;
        }
        match std::mem::replace(&mut self.due, PendingReply::Nothing) {
            PendingReply::Nothing => return false,
            PendingReply::SynAck => *segment = self.syn_ack(now),
            PendingReply::Ack => match self.early.take() {
                Some(early) => *segment = *early,
                None => self.make_ack(now, segment),
            },
        }
        true
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Instant> {
        match (self.delayed.deadline(), self.compression.deadline()) {
            (Some(delayed), Some(compressed)) => Some(delayed.min(compressed)),
            (delayed, compressed) => delayed.or(compressed),
        }
    }

    /// Segments in order while nothing is missing.
    fn answer_expected(&mut self, first: usize, train: &mut Train, outbox: &mut Outbox) -> usize {
        let from = self.arrivals.next();
        let in_order = self.arrivals.is_contiguous() && self.arrivals.highest() == from;
        let is_calm = self.answered.is_none()
            && self.early.is_none()
            && self.duplicate.is_none()
            && self.due == PendingReply::Nothing
            && self.compression.is_empty()
            && self.ecn.is_off();
        if !in_order || !is_calm || self.arrivals.block_count() > 0 {
            return first;
        }
        let (timeout, smoothed) = (self.rtt.timeout(), self.rtt.smoothed());
        let (mut number, mut next, mut taken) = (first, from, InOrder::default());
        while let Some(&Arrival { key, packet, .. }) = train.arrivals.get(number)
            && !train.alarm.is_before(key)
        {
            let now = key.0;
            let Segment { seq, len, wire, ts_val, ts_ecr, syn, push, .. } = outbox[packet].segment;
            if seq != next || len == 0 || syn || ts_val < self.echo {
                break;
            }
            if seq == self.last_ack {
                self.echo = ts_val;
            }
            if self.timestamps && len >= self.mss {
                self.buffer.on_echo(now, ts_ecr);
            }
            next += u64::from(len);
            taken.segments += 1;
            taken.payload += u64::from(len);
            taken.bytes += u64::from(wire);
            self.delayed.on_data(now, timeout);
            let used = if self.growth.is_some() { len } else { self.mss };
            if self.buffer.grows(used.into()) {
                self.delayed.on_window_growth();
            }
            self.buffer.on_taken(now, next, next, 0);
            let is_due = next - self.last_ack > u64::from(self.mss);
            let asks = push && !self.delayed.answers();
            if is_due || asks || self.delayed.is_quick() || self.delayed.start(now, smoothed) {
                self.arrivals.take_in_order(std::mem::take(&mut taken));
                let packet = outbox.draft();
                self.make_plain_ack(now, &mut packet.segment);
                packet.show_segment(true);
                outbox.send();
                train.sent.push(now);
            }
            train.received.push(Received::Data { in_vain: false, delivered: next });
            train.alarm.set(self.delayed.deadline(), Rank::Alarm.at(now));
            number += 1;
        }
        self.arrivals.take_in_order(taken);
        number
    }
}

/// The timestamp clock, in milliseconds.
fn millis(time: Instant) -> u64 {
    time.as_nanos() / 1_000_000
}

#[cfg(test)]
mod tests;
