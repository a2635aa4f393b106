//! Live SR-ARQ: erased LLDUs are sent again, ahead of new data.

use std::collections::BTreeMap;

use crate::link::earliest;
use crate::link::line::{Line, Unit};
use crate::link::live::{LiveScheme, NOW};
use crate::link::schedule::ReadyQueue;
use crate::link::slots::Slot;
use crate::scheme::feedback::Feedback;
use crate::scheme::window::BufferLimits;
use crate::units::Limit;

#[derive(Clone, Debug)]
pub(crate) struct LiveArq {
    max_retx: Limit,
    feedback: Feedback,
    window: Option<BufferLimits>,
    again: ReadyQueue<Piece>,
    /// The rest of a piece that did not fit into a slot: it goes before all others.
    rest: Option<Piece>,
    /// Units in several pieces, by their number.
    parts: BTreeMap<u64, Parts>,
}

/// A unit to be sent, or a piece of one that did not fit into a slot. Each piece is acknowledged and
/// sent again separately.
#[derive(Clone, Copy, Debug)]
struct Piece {
    unit: Unit,
    bytes: u32,
    /// How often it was sent.
    times: u32,
    /// Whether there are or were other pieces.
    is_part: bool,
}

/// A unit in several pieces: complete with the last of them, given up with the first that is.
#[derive(Clone, Copy, Debug)]
struct Parts {
    /// Bytes that did not arrive yet.
    missing: u32,
    /// When the last of the others did.
    latest: i64,
}

impl LiveArq {
    pub(crate) fn new(max_retx: Limit, feedback: Feedback, window: Option<BufferLimits>) -> Self {
        let (again, parts) = (ReadyQueue::new(), BTreeMap::new());
        Self { max_retx, feedback, window, again, rest: None, parts }
    }

    fn may_send_new(&self) -> bool {
        self.window.as_ref().is_none_or(BufferLimits::has_room)
    }

    /// The next piece for the slot.
    #[inline]
    fn next(&mut self, slot: Slot, line: &mut Line) -> Option<Piece> {
        while let Some(piece) = self.rest.take().or_else(|| self.again.pop(slot.t)) {
            if piece.is_part && !self.parts.contains_key(&piece.unit.number) {
                continue; // given up
            }
            line.send_again(slot, piece.unit, piece.times);
            return Some(if piece.bytes > slot.bytes { self.cut(piece, slot) } else { piece });
        }
        if !line.data_wait() || !self.may_send_new() {
            return None;
        }
        let unit = line.send_new(slot);
        if let Some(window) = &mut self.window {
            window.open(unit.number);
        }
        Some(Piece { unit, bytes: slot.bytes, times: 0, is_part: false })
    }

    /// The part of a piece that fits into the slot.
    fn cut(&mut self, piece: Piece, slot: Slot) -> Piece {
        let Piece { unit, bytes, .. } = piece;
        self.parts.entry(unit.number).or_insert(Parts { missing: bytes, latest: 0 });
        self.rest = Some(Piece { bytes: bytes - slot.bytes, is_part: true, ..piece });
        Piece { bytes: slot.bytes, is_part: true, ..piece }
    }

    /// Notes a piece that arrived at `at`; returns when its unit is complete, if it is.
    #[inline]
    fn complete(&mut self, piece: Piece, at: i64) -> Option<i64> {
        if !piece.is_part {
            return Some(at);
        }
        let parts = self.parts.get_mut(&piece.unit.number)?;
        parts.missing -= piece.bytes;
        parts.latest = parts.latest.max(at);
        if parts.missing > 0 {
            return None;
        }
        self.parts.remove(&piece.unit.number).map(|parts| parts.latest)
    }
}

impl LiveScheme for LiveArq {
    #[inline]
    fn wants(&self, data_wait: bool) -> Option<i64> {
        if self.rest.is_some() {
            return Some(NOW);
        }
        let again = self.again.next_at();
        if !data_wait {
            return again;
        }
        match &self.window {
            Some(window) if !window.has_room() => earliest(again, window.next_report()),
            _ => Some(NOW),
        }
    }

    #[inline]
    fn carry(&mut self, slot: Slot, line: &mut Line) -> bool {
        if let Some(window) = &mut self.window {
            window.hear(slot.t);
        }
        let Some(piece) = self.next(slot, line) else { return false };
        let Piece { unit, times, .. } = piece;
        if slot.d == 0 && self.max_retx.allows(times) {
            let ready = self.feedback.report(slot.t);
            self.again.push(ready, Piece { times: times + 1, ..piece });
            return true;
        }
        if slot.d > 0 {
            let Some(at) = self.complete(piece, slot.t + slot.d) else { return true };
            line.arrived(unit.packet, at);
        } else {
            self.parts.remove(&unit.number);
            line.give_up(unit.packet, slot.t);
        }
        if let Some(window) = &mut self.window {
            window.ends(unit.number, self.feedback.report(slot.t));
        }
        true
    }

    fn feedback_lost(&self) -> u64 {
        self.feedback.lost
    }
}
