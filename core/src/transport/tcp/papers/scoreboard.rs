//! Loss detection from SACK blocks by FACK distance, as the scoreboard of ns-2's
//! `Agent/TCP/Linux` does it.
//!
//! A segment is lost once a SACK covers one at least four further on: three overtaking segments
//! are tolerated, by distance and not by the number of duplicate ACKs. A retransmission is lost
//! again once anything first sent after it is SACKed, or once a retransmission made more than
//! four later is acknowledged.
//!
//! The original walks the whole window on every ACK, and stops early when an ACK brings nothing
//! new. The results here are the same, including what that early stop leaves undone, but the
//! work is proportional to what changes: a segment is touched when it becomes SACKed, lost or
//! acknowledged, and retransmissions wait in the order in which they can be lost again.

use std::collections::VecDeque;

use crate::transport::tcp::shared::flight::{Acknowledged, Flight, State};
use crate::transport::tcp::shared::sack_blocks::Blocks;

/// How many later segments may overtake one that is not lost.
const TOLERATED: u64 = 3;

/// What an ACK said.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Findings {
    /// A segment was SACKed that had not been before.
    pub(super) newly_sacked: bool,
    /// A segment was declared lost.
    pub(super) newly_lost: bool,
    /// A retransmission was SACKed: the ACK may answer either transmission.
    pub(super) retransmission_sacked: bool,
}

/// A retransmission that has not been acknowledged yet, as far as is known.
#[derive(Clone, Copy, Debug)]
struct Retransmission {
    segment: u64,
    /// Counted from 0 within an episode.
    id: u32,
    /// The segment to be sent next at that time.
    next: u64,
}

/// SACK scoreboard with FACK loss detection.
#[derive(Clone, Debug, Default)]
pub(super) struct FackScoreboard {
    /// One beyond the highest segment that SACKs or a timeout made known; the scoreboard is
    /// empty if nothing in flight lies below.
    end: u64,
    /// One beyond the highest SACKed segment; 0: none.
    forward: u64,
    /// Segments below were looked at: none of them is in flight and overlooked.
    examined: u64,
    /// Retransmissions in the order in which they were made.
    retransmissions: VecDeque<Retransmission>,
    next_id: u32,
    /// The retransmission acknowledged last; -1: none.
    acknowledged_id: i64,
    /// Where the search for a segment to send again goes on; `None`: nothing known to be lost.
    cursor: Option<u64>,
    /// A retransmission advanced `acknowledged_id` since the last update.
    advanced: bool,
    /// The blocks of the last update that had any: all SACKed, no need to look again.
    covered: Blocks,
}

impl FackScoreboard {
    pub(super) fn new() -> Self {
        Self { acknowledged_id: -1, ..Self::default() }
    }

    /// A segment was taken out of the flight by the cumulative acknowledgement.
    #[inline]
    pub(super) fn on_acknowledged(&mut self, segment: &Acknowledged) {
        if segment.state != State::Retransmitted {
            return;
        }
        let id = i64::from(segment.retransmission);
        if id > self.acknowledged_id {
            self.acknowledged_id = id;
            self.advanced = true;
        }
    }

    /// Whether [`FackScoreboard::update`] has anything to do for an ACK without SACK blocks.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.end == 0
    }

    /// Takes in an ACK: `flight` has lost the segments it acknowledges, `blocks` are the SACK
    /// blocks above them.
    pub(super) fn update(&mut self, flight: &mut Flight, blocks: &Blocks) -> Findings {
        let mut findings = Findings::default();
        let mut thorough = std::mem::take(&mut self.advanced);
        if self.end <= flight.first() {
            self.clear_to(flight.first());
            thorough = false;
        }
        self.cursor = self.cursor.map(|at| at.max(flight.first()));
        let highest = blocks.as_slice().iter().map(|&(_, end)| end).max().unwrap_or(0);
        if !thorough && highest == 0 {
            return findings;
        }
        if highest > self.forward {
            self.forward = highest;
            thorough = true;
        }
        self.end = self.end.max(self.forward);

        let before = self.acknowledged_id;
        let changes = self.mark_sacked(flight, blocks, &mut findings);
        thorough |= !changes.is_empty();
        let limit = if thorough {
            flight.next()
        } else {
            // Nothing new: look no further than the first segment beyond the blocks.
            let beyond = blocks.as_slice().last().map_or(0, |&(_, end)| end);
            flight.next_not_sacked(beyond, self.end).map_or(self.end, |segment| segment + 1)
        };
        self.mark_overtaken(flight, &mut findings);
        self.mark_lost_again(flight, before, &changes, limit, &mut findings);
        self.cursor = flight.lowest_lost().filter(|&lost| lost < limit);
        findings
    }

    /// The segment to send again next, if any.
    #[inline]
    pub(super) fn next_retransmission(&mut self, flight: &Flight) -> Option<u64> {
        self.cursor = self.cursor.and_then(|at| flight.next_lost(at));
        self.cursor
    }

    /// `segment` is sent again now.
    pub(super) fn on_retransmitted(&mut self, flight: &mut Flight, segment: u64) {
        let id = self.next_id;
        self.next_id += 1;
        flight.mark_retransmitted(segment, id);
        self.retransmissions.push_back(Retransmission { segment, id, next: flight.next() });
    }

    /// Timeout: everything is lost that is not SACKed.
    pub(super) fn on_timeout(&mut self, flight: &mut Flight) {
        flight.mark_all_lost();
        self.end = flight.next();
        self.forget_retransmissions();
        self.cursor = flight.lowest_lost();
    }

    /// Recovery is over: what SACK blocks said is forgotten.
    pub(super) fn clear(&mut self, flight: &mut Flight) {
        flight.forget();
        self.clear_to(flight.first());
    }

    fn clear_to(&mut self, first: u64) {
        self.end = 0;
        self.forward = 0;
        self.examined = first;
        self.cursor = None;
        self.covered = Blocks::default();
        self.forget_retransmissions();
    }

    fn forget_retransmissions(&mut self) {
        self.retransmissions.clear();
        self.next_id = 0;
        self.acknowledged_id = -1;
        self.advanced = false;
    }

    /// Marks what the blocks cover; returns the retransmissions among it, by segment.
    fn mark_sacked(
        &mut self,
        flight: &mut Flight,
        blocks: &Blocks,
        findings: &mut Findings,
    ) -> Changes {
        let mut changes = Changes::default();
        for &(start, end) in blocks.as_slice() {
            let mut from = self.covered.beyond(start);
            while let Some(segment) = flight.next_not_sacked(from, end) {
                if flight.state(segment) == State::Retransmitted {
                    self.acknowledged_id = i64::from(flight.retransmission(segment));
                    changes.push(segment, self.acknowledged_id);
                    findings.retransmission_sacked = true;
                }
                flight.mark_sacked(segment);
                findings.newly_sacked = true;
                from = segment + 1;
            }
        }
        if !blocks.as_slice().is_empty() {
            self.covered = *blocks;
        }
        changes
    }

    /// Segments that more than the tolerated number overtook are lost.
    fn mark_overtaken(&mut self, flight: &mut Flight, findings: &mut Findings) {
        let overtaken = self.forward.saturating_sub(TOLERATED + 1);
        let mut from = self.examined.max(flight.first());
        while let Some(segment) = flight.next_not_sacked(from, overtaken) {
            if flight.state(segment) == State::InFlight {
                flight.mark_lost(segment);
                findings.newly_lost = true;
            }
            from = segment + 1;
        }
        self.examined = self.examined.max(overtaken);
    }

    /// Retransmissions are lost again, in the order in which they were made.
    fn mark_lost_again(
        &mut self,
        flight: &mut Flight,
        before: i64,
        changes: &Changes,
        limit: u64,
        findings: &mut Findings,
    ) {
        let highest = changes.highest(before);
        let tolerated = TOLERATED as i64 + 1;
        let mut at = 0;
        while let Some(&sent) = self.retransmissions.get(at) {
            let current = sent.segment >= flight.first()
                && flight.state(sent.segment) == State::Retransmitted
                && flight.retransmission(sent.segment) == sent.id;
            if !current {
                if at == 0 {
                    self.retransmissions.pop_front();
                } else {
                    at += 1;
                }
                continue;
            }
            let id = i64::from(sent.id);
            let overtaken = sent.next < self.forward;
            if !overtaken && id + tolerated >= highest {
                break;
            }
            let seen = changes.acknowledged_below(sent.segment, before);
            if sent.segment < limit && (overtaken || id + tolerated < seen) {
                flight.mark_lost(sent.segment);
                findings.newly_lost = true;
                continue; // no longer current: taken out or passed over above
            }
            at += 1;
        }
    }
}

/// Retransmissions that one ACK's SACK blocks cover, by ascending segment: a walk up the window
/// knows of each only beyond its place.
#[derive(Debug, Default)]
struct Changes {
    inline: [(u64, i64); 4],
    len: usize,
    more: Vec<(u64, i64)>,
}

impl Changes {
    fn push(&mut self, segment: u64, id: i64) {
        if self.len < self.inline.len() {
            self.inline[self.len] = (segment, id);
            self.len += 1;
        } else {
            self.more.push((segment, id));
        }
    }

    fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn iter(&self) -> impl DoubleEndedIterator<Item = &(u64, i64)> {
        self.inline[..self.len].iter().chain(&self.more)
    }

    /// The highest retransmission known at any place, `before` at the lowest.
    fn highest(&self, before: i64) -> i64 {
        self.iter().map(|&(_, id)| id).fold(before, i64::max)
    }

    /// The retransmission known to be acknowledged at the place of `segment`.
    fn acknowledged_below(&self, segment: u64, before: i64) -> i64 {
        let last = self.iter().rev().find(|&&(changed, _)| changed < segment);
        last.map_or(before, |&(_, id)| id)
    }
}

#[cfg(test)]
mod tests;
