//! The sending end: what a slot carries, and what comes back of it.

use super::{NtnLink, instant};
use crate::link::ntn::am_sender::GivenUp;
use crate::link::ntn::harq::{BlockId, Label};
use crate::link::ntn::rlc::Rlc;
use crate::link::{LinkEvent, Transmission, TransmissionKind};

impl NtnLink {
    /// Chooses the next slot, if one is wanted, and counts those that could not be used.
    pub(super) fn schedule(&mut self, now: i64) {
        if self.scheduled.is_some() {
            return;
        }
        let wanted = self.wanted();
        if let Some(from) = self.stalled_from
            && !(wanted && !self.harq.has_again() && !self.harq.has_free())
        {
            let first = self.slots.first(self.next_index, now).or_else(|| self.slots.end());
            self.counts.stalled_slots += first.map_or(0, |first| first.index - from);
            self.stalled_from = None;
        }
        if !wanted || self.trace_ended {
            return;
        }
        if self.stalled_from.is_none() {
            self.scheduled = self.slots.first(self.next_index, now);
        }
        if self.scheduled.is_none() && self.slots_end.is_none() {
            self.tell_trace_end(now);
        }
    }

    #[inline]
    pub(super) fn wanted(&self) -> bool {
        self.harq.has_again() || self.rlc.wants(&self.backlog)
    }

    /// Something is to be sent and the slots are over.
    fn tell_trace_end(&mut self, now: i64) {
        // A retransmission for which nobody waits is no reason to stop a run.
        let Some(packet) = self.backlog.oldest() else { return };
        if self.slots.end().is_none() {
            return;
        }
        self.trace_ended = true;
        if now <= self.end {
            self.out.push_back(LinkEvent::TraceEnded { packet, at: instant(now) });
        }
    }

    /// HARQ retransmissions first, then RLC retransmissions, then new data.
    pub(super) fn use_slot(&mut self) {
        let Some(slot) = self.scheduled.take() else { return };
        self.next_index = slot.index + 1;
        let block = match self.harq.next_again() {
            Some(block) => block,
            None if !self.rlc.wants(&self.backlog) => return,
            None if !self.harq.has_free() => {
                self.stalled_from = Some(slot.index);
                return;
            }
            None => self.new_block(slot.at),
        };
        if self.harq.begins() {
            self.harq.grant(block, self.control.granted(slot.index));
        }
        let signal = self.path.arrival(slot.at);
        let combined = self.harq.next_combined(block);
        let decoded = combined.and_then(|combined| self.slots.decode(slot, combined));
        let decoded = decoded.map(|time| signal + time);
        let attempt = self.harq.attempts(block);
        let known = signal + self.slots.nominal_decoding();
        let label = self.harq.label(block);
        self.log.note(|| Transmission {
            at: instant(slot.at),
            kind: match attempt > 0 || label.again {
                true => TransmissionKind::Again,
                false => TransmissionKind::New,
            },
            unit: label.unit,
            attempt,
            arrival: decoded.map(instant),
            packets: label.packets,
            carries: label.carries,
        });
        let sent = self.harq.transmit(block, known, decoded);
        if let Some((at, landing)) = sent.lands {
            self.landings.push(at, landing);
        }
        if let Some((leaves, feedback)) = sent.feedback {
            let read = self.control.reading(slot.index, feedback);
            self.feedback.push(self.path.feedback(leaves), (block, feedback, read));
        }
    }

    fn new_block(&mut self, now: i64) -> BlockId {
        let pdus = self.spare.pop().unwrap_or_default();
        let header = self.pdu_header;
        let pdus = self.rlc.fill(pdus, self.room, header, &mut self.backlog, now);
        let Some(first) = pdus.first() else { return self.harq.open(pdus, Label::default()) };
        let orders = || pdus.iter().map(|pdu| pdu.order);
        let label = Label {
            unit: 0,
            packets: (orders().min().unwrap_or(0), orders().max().unwrap_or(0)),
            again: first.again,
            carries: self.backlog.get_mut(first.order).carries,
        };
        self.harq.open(pdus, label)
    }

    pub(super) fn discard_first(&mut self, now: i64) {
        let Some(order) = self.backlog.leave(now) else { return };
        self.backlog.get_mut(order).open = false;
        self.counts.discarded += 1;
        self.lose(order, now);
    }

    /// HARQ feedback arrived.
    pub(super) fn hear_feedback(&mut self, now: i64) {
        let Some((_, (block, sent, read))) = self.feedback.pop() else { return };
        self.control.count(sent, read);
        if let Some(lost) = self.harq.feedback(block, read) {
            self.landings.push(now, lost);
        }
    }

    /// A status report arrived.
    pub(super) fn hear_status(&mut self, now: i64) {
        let Rlc::Am(am) = &mut self.rlc else { return };
        let Some((_, status)) = am.statuses.pop() else { return };
        for given_up in am.sender.status(&status, &mut self.backlog) {
            self.tell_given_up(given_up, now);
        }
    }

    /// `t-PollRetransmit` expired.
    pub(super) fn owe_poll(&mut self) {
        let Rlc::Am(am) = &mut self.rlc else { return };
        am.sender.expire();
    }

    /// A poll that is owed must find a PDU, also if what was to carry it is acknowledged, given up
    /// or discarded.
    pub(super) fn carry_poll(&mut self, now: i64) {
        let Rlc::Am(am) = &mut self.rlc else { return };
        for given_up in am.sender.carry_poll(&mut self.backlog) {
            self.tell_given_up(given_up, now);
        }
    }

    /// Tells the receiver that nothing more of a packet comes.
    fn tell_given_up(&mut self, given_up: GivenUp, now: i64) {
        let Rlc::Am(am) = &mut self.rlc else { return };
        am.given_up.push(self.path.notice(now), given_up);
        am.gave_up += 1;
    }
}
