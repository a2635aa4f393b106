//! What the sender believes of the segments in flight: SACKed, lost, sent again.

use super::{Flight, State};
use crate::units::Instant;

impl Flight {
    /// The lowest segment of `from..to` that is not SACKed; the range lies in flight.
    pub(in crate::transport::tcp) fn next_not_sacked(&self, from: u64, to: u64) -> Option<u64> {
        self.sacked.next_gap(from, to)
    }

    /// The lowest lost segment at or above `from`.
    pub(in crate::transport::tcp) fn next_lost(&self, from: u64) -> Option<u64> {
        if self.lost_count == 0 {
            return None;
        }
        self.lost.next_member(from, self.next)
    }

    /// The lowest lost segment.
    pub(in crate::transport::tcp) fn lowest_lost(&mut self) -> Option<u64> {
        let lowest = self.next_lost(self.lost_floor.max(self.first));
        self.lost_floor = lowest.unwrap_or(self.next);
        lowest
    }

    /// A SACK block covers the segment.
    pub(in crate::transport::tcp) fn mark_sacked(&mut self, number: u64) {
        self.leave_state(number, self.state(number));
        self.slot_mut(number).state = State::Sacked;
        self.sacked.insert(number);
        self.sacked_count += 1;
    }

    /// The segment is declared lost.
    pub(in crate::transport::tcp) fn mark_lost(&mut self, number: u64) {
        self.leave_state(number, self.state(number));
        self.slot_mut(number).state = State::Lost;
        self.lost.insert(number);
        self.lost_count += 1;
        self.lost_floor = self.lost_floor.min(number);
    }

    /// The segment is sent again, as the episode's `retransmission`-th.
    pub(in crate::transport::tcp) fn mark_retransmitted(
        &mut self,
        number: u64,
        retransmission: u32,
    ) {
        self.leave_state(number, self.state(number));
        let slot = self.slot_mut(number);
        slot.state = State::Retransmitted;
        slot.retransmission = retransmission;
        slot.sends = slot.sends.saturating_add(1);
        self.retransmitted_count += 1;
    }

    /// The segment is sent again without having been declared lost.
    pub(in crate::transport::tcp) fn mark_probed(&mut self, number: u64) {
        let slot = self.slot_mut(number);
        slot.sends = slot.sends.saturating_add(1);
    }

    /// A segment declared lost and not sent again is believed to be in flight after all.
    pub(in crate::transport::tcp) fn mark_found(&mut self, number: u64) {
        self.leave_state(number, self.state(number));
        self.slot_mut(number).state = State::InFlight;
    }

    /// Segments that a SACK block covers.
    pub(in crate::transport::tcp) fn sacked_count(&self) -> u64 {
        self.sacked_count
    }

    /// Segments declared lost and not sent again.
    pub(in crate::transport::tcp) fn lost_count(&self) -> u64 {
        self.lost_count
    }

    /// Segments declared lost and sent again.
    pub(in crate::transport::tcp) fn retransmitted_count(&self) -> u64 {
        self.retransmitted_count
    }

    /// The SACKed segment that has `count - 1` SACKed ones above it.
    pub(in crate::transport::tcp) fn sacked_from_top(&self, count: u64) -> Option<u64> {
        self.sacked.member_from_end(self.first, self.next, count)
    }

    /// A segment in flight left again `now`.
    pub(in crate::transport::tcp) fn set_last_sent(&mut self, number: u64, now: Instant) {
        self.slot_mut(number).last_sent = now;
    }

    /// Everything is declared lost that is not SACKed.
    pub(in crate::transport::tcp) fn mark_all_lost(&mut self) {
        let mut from = self.first;
        while let Some(number) = self.sacked.next_gap(from, self.next) {
            if self.state(number) != State::Lost {
                self.mark_lost(number);
            }
            from = number + 1;
        }
    }

    /// Everything counts as in flight again; what SACK blocks said is forgotten.
    pub(in crate::transport::tcp) fn forget(&mut self) {
        for number in self.first..self.next {
            self.slot_mut(number).state = State::InFlight;
        }
        self.sacked.clear();
        self.lost.clear();
        self.sacked_count = 0;
        self.lost_count = 0;
        self.retransmitted_count = 0;
        self.lost_floor = self.next;
    }

    /// The segment is not in that state any more.
    #[inline]
    pub(super) fn leave_state(&mut self, number: u64, state: State) {
        match state {
            State::InFlight => {}
            State::Retransmitted => self.retransmitted_count -= 1,
            State::Sacked => {
                self.sacked.remove(number);
                self.sacked_count -= 1;
            }
            State::Lost => {
                self.lost.remove(number);
                self.lost_count -= 1;
            }
        }
    }
}
