//! Putting frames on the air: what is sent when, and what comes of it.

use crate::link::due::Due;
use crate::link::hybrid::HybridLink;
use crate::link::hybrid::counts::Note;
use crate::link::hybrid::repair::{Again, Repair};
use crate::link::trace_link::{TraceEnd, instant};
use crate::link::{PacketId, StreamRange, Transit, Transmission, TransmissionKind};

impl HybridLink {
    /// Sends again what starts up to `now`: the transmitter had nothing else to do until then.
    #[inline]
    pub(super) fn send_again_until(&mut self, now: i64) {
        while let Some(first) = self.repairs.first() {
            let start = first.ready.max(self.free_at);
            if start > now || !self.send_first_again(start) {
                return;
            }
        }
    }

    /// Sends the first frame of those to send again; false: its start is out of reach.
    fn send_first_again(&mut self, start: i64) -> bool {
        if start > self.end.min(self.traced_until) {
            if let Some(&Again { packet, .. }) = self.repairs.first() {
                let packet = self.repairs.packet(packet).transit.packet;
                self.ran_out(start, packet);
            }
            return false;
        }
        let Some(first) = self.repairs.pop_first() else { return false };
        let Again { packet, frame, times, .. } = first;
        self.frames.note(start, Note::Again);
        let repair = self.repairs.packet(packet);
        repair.sent += 1;
        let (order, carries) = (repair.transit.order, repair.carries);
        let sent = Frame { start, number: frame, times: times + 1, order, carries };
        if self.send(sent) {
            self.decoded(packet);
        } else {
            self.failed(packet, sent);
        }
        true
    }

    /// Sends the `count` new frames of a packet; `None`: they are out of reach.
    pub(super) fn send_new(
        &mut self,
        now: i64,
        count: u64,
        mut transit: Transit,
        carries: Option<StreamRange>,
    ) -> Option<i64> {
        let (mut departed, mut under_repair) = (None, None);
        for sent in 0..count {
            let start = self.next_start(now);
            if start > self.end.min(self.traced_until) {
                self.ran_out(start, transit.packet);
                return departed;
            }
            if departed.is_none() {
                departed = Some(start);
                transit.departed = instant(start);
            }
            let (number, order) = (self.frames.new, transit.order);
            self.frames.new += 1;
            let frame = Frame { start, number, times: 0, order, carries };
            let decodes = self.send(frame);
            match (under_repair, decodes) {
                (None, true) => {}
                (Some(packet), true) => {
                    self.repairs.packet(packet).sent += 1;
                    self.decoded(packet);
                }
                (Some(packet), false) => {
                    self.repairs.packet(packet).sent += 1;
                    self.failed(packet, frame);
                }
                (None, false) => {
                    let (open, sent) = (count - sent, sent + 1);
                    let repair = Repair { transit, carries, open, given_up: false, sent };
                    let packet = self.repairs.open(repair);
                    under_repair = Some(packet);
                    self.failed(packet, frame);
                }
            }
        }
        if under_repair.is_none() {
            transit.at = instant(self.free_at + self.delay);
            self.due.push_back((Due { transit, lost: false }, count));
        }
        departed
    }

    /// When a new frame can start that is there at `now`, after all that goes ahead of it.
    #[inline]
    fn next_start(&mut self, now: i64) -> i64 {
        loop {
            let start = self.free_at.max(now);
            match self.repairs.first() {
                Some(first) if first.ready <= start => {
                    if !self.send_first_again(start) {
                        return start;
                    }
                }
                _ => return start,
            }
        }
    }

    /// Puts a frame on the air; whether it is decoded.
    #[inline]
    fn send(&mut self, frame: Frame) -> bool {
        self.frames.sent += 1;
        self.free_at = frame.start + self.frame;
        let decodes = self.losses.decodes(frame.start);
        let there = self.free_at + self.delay;
        self.log.note(|| frame.transmission(decodes.then_some(there)));
        decodes
    }

    /// The frame just sent completes `packet`, unless others are still open.
    fn decoded(&mut self, packet: u32) {
        let at = instant(self.free_at + self.delay);
        let repair = self.repairs.packet(packet);
        repair.open -= 1;
        if repair.open > 0 {
            return;
        }
        let Repair { transit, given_up, sent, .. } = *repair;
        self.repairs.close(packet);
        if !given_up {
            self.due.push_back((Due { transit: Transit { at, ..transit }, lost: false }, sent));
        }
    }

    /// The frame just sent was not decoded.
    fn failed(&mut self, packet: u32, frame: Frame) {
        let Frame { start, number, times, .. } = frame;
        self.frames.note(start, Note::Failed);
        if times < self.config.persistency {
            let ready = self.free_at + 2 * self.delay;
            self.repairs.push(Again { ready, packet, frame: number, times });
            return;
        }
        self.frames.note(start, Note::GivenUp);
        let at = instant(self.free_at + self.delay);
        let repair = self.repairs.packet(packet);
        repair.open -= 1;
        if !repair.given_up {
            repair.given_up = true;
            let transit = Transit { at, ..repair.transit };
            let sent = repair.sent;
            self.due.push_back((Due { transit, lost: true }, sent));
        }
        if self.repairs.packet(packet).open == 0 {
            self.repairs.close(packet);
        }
    }

    /// A frame of `packet` would start at `start` and cannot.
    #[cold]
    fn ran_out(&mut self, start: i64, packet: PacketId) {
        let early = self.traced_until < start && start <= self.end;
        if early && matches!(self.ended, TraceEnd::Ahead) {
            self.ended = TraceEnd::Due { packet, at: instant(start) };
        }
    }
}

/// A frame that goes on the air.
#[derive(Clone, Copy, Debug)]
struct Frame {
    start: i64,
    /// In the order of first transmissions, from 0.
    number: u64,
    /// How often it was sent before.
    times: u32,
    /// Its packet's place among those admitted, and what that carries.
    order: u64,
    carries: Option<StreamRange>,
}

impl Frame {
    fn transmission(self, arrival: Option<i64>) -> Transmission {
        let again = self.times > 0;
        Transmission {
            at: instant(self.start),
            kind: if again { TransmissionKind::Again } else { TransmissionKind::New },
            unit: self.number,
            attempt: self.times,
            arrival: arrival.map(instant),
            packets: (self.order, self.order),
            carries: self.carries,
        }
    }
}
