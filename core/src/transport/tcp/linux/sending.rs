//! What leaves: the SYN, new segments, those sent before, and probes.

use super::repair::Phase;
use super::sender::{Connection, LinuxSender};
use super::sent_order::Transmission;
use super::spacing::Departure;
use super::timers::{Probe, Timer};
use super::usage::Level;
use crate::transport::Segment;
use crate::units::{Duration, Instant};

impl LinuxSender {
    /// Sends what is next, if anything may leave: a probe, a repair, new data.
    pub(super) fn send_next(&mut self, now: Instant, segment: &mut Segment) -> bool {
        if self.probe.is_due() && self.flight.is_empty() {
            self.probe.forget(); // an ACK of everything came in between
        }
        if self.probe.is_due() {
            match (self.probe, self.next_new()) {
                (Probe::NewDue, Some(len)) => self.send_new(now, len, segment),
                _ => self.send_probe(now, segment),
            }
            self.on_probe_sent(now);
            return true;
        }
        if self.flight.outstanding() >= u64::from(self.window.cwnd) {
            let limited = self.has_something();
            self.stop(now, limited);
            return false;
        }
        if self.repairing
            && let Some(number) = self.flight.lowest_lost()
        {
            if self.spacing.refuses(now) {
                return false;
            }
            self.retransmit(now, number, segment);
            return true;
        }
        let Some(len) = self.next_new() else {
            self.stop(now, false);
            return false;
        };
        if self.spacing.refuses(now) {
            return false;
        }
        self.send_new(now, len, segment);
        true
    }

    pub(super) fn write_syn(&mut self, now: Instant, segment: &mut Segment) {
        let attempts = match self.connection {
            Connection::SynSent { attempts, .. } => attempts + 1,
            _ => 1,
        };
        self.connection = Connection::SynSent { at: now, attempts };
        self.timer = Some((now + self.rtt.timeout(), Timer::Retransmission));
        self.counters.bytes_sent += u64::from(self.syn_size);
        *segment = Segment { syn: true, wire: self.syn_size, ts_val: now, ..Segment::default() };
    }

    fn send_new(&mut self, now: Instant, len: u32, segment: &mut Segment) {
        let was_empty = self.flight.is_empty();
        if was_empty {
            self.end_idle(now);
        }
        let start = self.flight.nxt();
        let transmission = Transmission { sent: now, delivered: self.delivered };
        self.order.push(self.flight.first(), self.flight.next(), transmission);
        self.note_sent(now, self.flight.next());
        self.flight.push(now, len);
        self.write(now, now, start, len, 0, segment);
        self.on_new_data_sent(now, was_empty);
    }

    fn retransmit(&mut self, now: Instant, number: u64, segment: &mut Segment) {
        let sends = self.flight.sends(number);
        self.flight.mark_retransmitted(number, 0);
        self.undo.on_retransmitted(now);
        if self.phase == Phase::Recovery {
            self.counters.fast_retransmits += 1;
        }
        self.send_again(now, number, sends, segment);
        if number == self.flight.first() {
            self.on_head_retransmitted(now);
        }
    }

    /// The segment sent last, again, as a probe.
    fn send_probe(&mut self, now: Instant, segment: &mut Segment) {
        let number = self.flight.next() - 1;
        let sends = self.flight.sends(number);
        self.flight.mark_probed(number);
        self.send_again(now, number, sends, segment);
    }

    pub(super) fn send_again(
        &mut self,
        now: Instant,
        number: u64,
        sends: u16,
        segment: &mut Segment,
    ) {
        let (start, end) = self.flight.bounds(number);
        let transmission = Transmission { sent: now, delivered: self.delivered };
        self.order.send_again(number, transmission);
        self.note_sent(now, number);
        self.counters.retransmissions += 1;
        let first_sent = self.flight.first_sent(number);
        self.write(now, first_sent, start, (end - start) as u32, sends, segment);
    }

    /// After a pause longer than a timeout the window starts small again (RFC 5681 section 4.1).
    fn end_idle(&mut self, now: Instant) {
        let idle = now.saturating_since(self.last_sent);
        if self.last_sent == Instant::ZERO || idle == Duration::ZERO {
            return;
        }
        let app_limited = self.delivery.as_ref().is_some_and(|it| it.is_app_limited());
        self.control.on_idle(now, idle, app_limited, &mut self.window);
        self.update_pace();
        let timeout = self.rtt.timeout();
        if !self.decays() || idle <= timeout {
            return;
        }
        let cwnd = self.window.cwnd;
        self.window.ssthresh = self.window.ssthresh.max(cwnd / 2 + cwnd / 4);
        let restart = self.initial_window.min(cwnd);
        // Half for every timeout of pause.
        let halvings = (idle.as_nanos() / timeout.as_nanos()).min(31) as u32;
        self.window.set((cwnd >> halvings).max(restart));
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
        if self.phase == Phase::Recovery {
            self.prr.on_sent();
        }
        let outstanding = self.flight.next() - self.flight.first();
        self.spacing.on_sent(Departure {
            now,
            len,
            count: self.counters.segments_sent,
            window: &self.window,
            outstanding,
            smoothed: self.rtt.smoothed(),
        });
        self.sent_some = true;
        self.last_sent = now;
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

    /// Nothing leaves now: was the window the reason?
    fn stop(&mut self, now: Instant, limited: bool) {
        if !std::mem::take(&mut self.sent_some) && !limited {
            return;
        }
        let level = Level {
            now,
            limited,
            first: self.flight.first(),
            next: self.flight.next(),
            patience: self.decays().then(|| self.rtt.timeout()),
        };
        self.usage.on_stop(level, &mut self.window, self.initial_window);
    }

    /// Whether anything waits to leave once the window allows.
    fn has_something(&self) -> bool {
        (self.repairing && self.flight.lost_count() > 0) || self.next_new().is_some()
    }
}
