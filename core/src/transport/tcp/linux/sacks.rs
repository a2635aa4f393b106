//! What an ACK says: segments newly SACKed, acknowledged, or reported as duplicates, and the
//! round-trip samples in it.

use super::sender::LinuxSender;
use super::undo::is_before;
use crate::transport::tcp::shared::flight::State;
use crate::transport::tcp::shared::sack_blocks::Blocks;
use crate::transport::{SackBlock, Segment};
use crate::units::{Duration, Instant};

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
    /// A retransmission was declared lost again.
    pub(super) lost_again: bool,
    /// The timer starts anew.
    pub(super) restarts_timer: bool,
    /// Segments in flight before it.
    pub(super) prior_in_flight: u64,
    /// It acknowledges nothing but one short segment: the receiver may have held it back.
    pub(super) maybe_delayed: bool,
    /// The lowest segment in flight before it.
    pub(super) prior_first: u64,
    /// Segments delivered when the newest of what it delivers was sent; 0: it delivers nothing.
    pub(super) prior_delivered: u64,
    /// When the segment left that it echoes; `None` without timestamps.
    pub(super) echo: Option<Instant>,
    /// Round-trip time for the congestion control.
    pub(super) control_rtt: Option<Duration>,
    /// First and last segment newly SACKed, and acknowledged, that were sent once: when.
    sacked_sent: Option<(Instant, Instant)>,
    acked_sent: Option<(Instant, Instant)>,
    /// It acknowledges a segment that was sent again.
    ambiguous: bool,
}

impl Said {
    /// Whether it asks for more than sending on.
    pub(super) fn is_dubious(&self) -> bool {
        !self.advanced || self.sacked || self.dsack
    }

    /// Whether it says nothing new: a duplicate.
    pub(super) fn is_plain_duplicate(&self) -> bool {
        !self.advanced && !self.old && !self.dsack
    }

    fn widen(range: &mut Option<(Instant, Instant)>, sent: Instant) {
        *range = Some((range.map_or(sent, |(first, _)| first), sent));
    }
}

impl LinuxSender {
    pub(super) fn take_in(&mut self, now: Instant, segment: &Segment) -> Said {
        let mut said = Said {
            old: segment.ack < self.flight.una(),
            prior_in_flight: self.flight.outstanding(),
            prior_first: self.flight.first(),
            echo: self.timestamps.then_some(segment.ts_ecr),
            ..Said::default()
        };
        let highest_before = self.highest_or_first();
        if !segment.sack.is_empty() {
            self.take_in_sacks(now, segment, &mut said);
        }
        let late = if said.old { None } else { self.advance(now, segment.ack, &mut said) };
        if let Some(low) = late.filter(|&low| low < highest_before) {
            // A hole was filled by a segment sent once: it was late.
            let highest = self.highest_or_first();
            self.reordering.observe(low, highest);
        }
        self.sample_rtt(now, &mut said);
        said
    }

    /// The highest SACKed segment, or the lowest in flight if there is none.
    fn highest_or_first(&self) -> u64 {
        match self.flight.sacked_count() {
            0 => self.flight.first(),
            _ => self.highest_sacked,
        }
    }

    fn take_in_sacks(&mut self, now: Instant, segment: &Segment, said: &mut Said) {
        let una = self.flight.una().max(segment.ack);
        let mut blocks = Blocks::default();
        let mut late = u64::MAX;
        let mut iter = segment.sack.iter(segment.ack);
        if segment.dsack
            && self.options.dsack
            && let Some(block) = iter.next()
        {
            late = self.take_in_duplicate(block, said);
        }
        for block in iter {
            if block.end <= una || block.end > self.flight.nxt() {
                continue;
            }
            let start = self.flight.at_or_after(block.start.max(una));
            let end = self.flight.at_or_after(block.end);
            if start < end {
                blocks.insert(start, end);
            }
        }
        for &(start, end) in blocks.as_slice() {
            let mut from = self.covered.beyond(start);
            while let Some(number) = self.flight.next_not_sacked(from, end) {
                late = late.min(self.on_sacked(now, number, said));
                from = number + 1;
            }
        }
        self.covered = blocks;
        if late != u64::MAX && (self.phase != super::repair::Phase::Loss || self.undo.is_armed()) {
            self.reordering.observe(late, self.highest_or_first());
        }
    }

    /// A segment is SACKed for the first time; returns it if that shows it was late.
    fn on_sacked(&mut self, now: Instant, number: u64, said: &mut Said) -> u64 {
        let sends = self.flight.sends(number);
        let transmission = self.order.transmission(number);
        let mut late = u64::MAX;
        self.delivered_one(now, number, sends, said);
        if sends == 1 {
            if self.flight.sacked_count() > 0 && number < self.highest_sacked {
                late = number;
            }
            said.original_delivered |= number < self.phase_end;
            Said::widen(&mut said.sacked_sent, transmission.sent);
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

    /// RACK and the rate hear of a delivery, unless what is acknowledged is not what was sent
    /// last.
    fn delivered_one(&mut self, now: Instant, number: u64, sends: u16, said: &mut Said) {
        let transmission = self.order.transmission(number);
        self.delivered += 1;
        if let Some(delivery) = &mut self.delivery {
            delivery.on_delivered(number);
        }
        said.prior_delivered = said.prior_delivered.max(transmission.delivered);
        let again = sends > 1;
        if again && said.echo.is_some_and(|echo| is_before(echo, transmission.sent)) {
            return;
        }
        let (sent, least) = (transmission.sent, self.rtt.least());
        if self.rack.on_delivered(now, sent, number, again, least) {
            self.order.overtake(number);
        }
    }

    /// A D-SACK block. Returns a segment still in flight that it shows to have been late.
    fn take_in_duplicate(&mut self, block: SackBlock, said: &mut Said) -> u64 {
        if block.start >= block.end || block.end > self.flight.nxt() {
            return u64::MAX;
        }
        let start = self.flight.at_or_after(block.start);
        let end = self.flight.at_or_after(block.end);
        let below = block.end <= self.flight.una();
        let count = if below { 1 } else { (end - start).max(1) };
        said.dsack_of_probe = self.probe.is_duplicate_of(end);
        self.duplicates += count;
        // More duplicates than retransmissions: the network made them.
        if self.duplicates > self.counters.retransmissions {
            return u64::MAX;
        }
        said.dsack = true;
        self.delivered += count;
        if self.reordering.seen() && !said.dsack_of_probe {
            self.rack.on_dsack();
        }
        if below {
            // Segments taken out of flight have no number any more, but lie below all that have.
            let armed = block.end > self.undo_start;
            if armed {
                self.undo.on_duplicates(u64::MAX, count);
            }
            return u64::MAX;
        }
        let mut late = u64::MAX;
        for number in start..end {
            if self.flight.sends(number) > 1 {
                self.undo.on_duplicates(number + 1, 1);
                if self.flight.state(number) == State::Sacked {
                    late = late.min(number);
                }
            }
        }
        late
    }

    /// Takes out what is acknowledged; returns the lowest segment of it that was sent once and
    /// had not been SACKed.
    fn advance(&mut self, now: Instant, ack: u64, said: &mut Said) -> Option<u64> {
        let una = self.flight.una();
        let (mut late, delivered) = (None, self.delivered);
        loop {
            let number = self.flight.first();
            let Some(segment) = self.flight.pop_acknowledged(ack) else { break };
            said.advanced = true;
            if segment.sends > 1 {
                said.ambiguous = true;
            } else if segment.state != State::Sacked {
                let sent = self.order.transmission(number).sent;
                Said::widen(&mut said.acked_sent, sent);
                late = late.or(Some(number));
                said.original_delivered |= number < self.phase_end;
            }
            if segment.state != State::Sacked {
                self.delivered_one(now, number, segment.sends, said);
            }
            self.order.remove(number);
            self.counters.on_acknowledged(segment.sends);
        }
        let acked = self.flight.una() - una;
        self.counters.bytes_acked += acked;
        said.maybe_delayed = said.acked_sent.is_some()
            && self.delivered == delivered + 1
            && acked < u64::from(self.mss)
            && !said.sacked;
        said.restarts_timer |= said.advanced;
        late
    }

    /// Samples come from segments sent once; else from timestamps, if data were acknowledged.
    fn sample_rtt(&mut self, now: Instant, said: &mut Said) {
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
            sample = said.echo.map(since);
            newest = sample;
        }
        said.control_rtt = newest;
        let Some(sample) = sample else { return };
        if let Some(newest) = newest {
            self.rtt.sample_least(now, newest);
        }
        self.rtt.sample(sample, self.flight.first(), self.flight.next());
        // A SACK of something sent after the lowest segment in flight tells nothing of that one.
        if !said.advanced && !self.flight.is_empty() {
            let head = self.order.transmission(self.flight.first()).sent;
            said.restarts_timer = sacked.is_some_and(|rtt| rtt > since(head));
        }
    }
}
