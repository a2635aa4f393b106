//! The segments in flight: those between the cumulative acknowledgement and the next new byte.
//!
//! Segments are numbered from 0 in the order of their first transmission and never change their
//! bounds. A ring holds what is known of each; two sets of bits, SACKed and lost, answer "the
//! next one" without walking the window, so an ACK costs the same with ten segments in flight
//! and with ten thousand.

use super::bits::RingBits;
use crate::units::Instant;

/// What the sender believes of a segment in flight.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum State {
    /// Sent once (or believed so) and not heard of.
    #[default]
    InFlight,
    /// Covered by a SACK block.
    Sacked,
    /// Declared lost, waiting to be sent again.
    Lost,
    /// Declared lost and sent again.
    Retransmitted,
}

/// One segment in flight.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// First byte.
    start: u64,
    /// First transmission.
    first_sent: Instant,
    /// Last transmission.
    last_sent: Instant,
    /// Which retransmission of its episode this was, counted by the scoreboard.
    retransmission: u32,
    /// Times sent.
    sends: u16,
    state: State,
}

impl Slot {
    /// A segment sent for the first time.
    #[inline(always)]
    fn new(start: u64, now: Instant) -> Self {
        let (first_sent, last_sent) = (now, now);
        Self { start, first_sent, last_sent, retransmission: 0, sends: 1, state: State::InFlight }
    }
}

/// The segments in flight, by number: `first..next`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flight {
    slots: Box<[Slot]>,
    first: u64,
    next: u64,
    una: u64,
    nxt: u64,
    mss: u32,
    sacked: RingBits,
    lost: RingBits,
    sacked_count: u64,
    lost_count: u64,
    /// Segments that are on their way no more: those below the first one, SACKed ones and lost ones.
    gone: u64,
    retransmitted_count: u64,
    /// No segment below is lost: where the search for the lowest one begins.
    lost_floor: u64,
    /// No segment from this one on was sent more than once.
    sent_once: u64,
}

impl Flight {
    /// Nothing in flight. `mss` is the most a segment carries, in bytes.
    pub(crate) fn new(mss: u32) -> Self {
        const CAPACITY: usize = 64;
        Self {
            slots: vec![Slot::default(); CAPACITY].into_boxed_slice(),
            mss,
            sacked: RingBits::new(CAPACITY),
            lost: RingBits::new(CAPACITY),
            ..Self::default()
        }
    }

    /// The lowest segment not acknowledged.
    #[inline]
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// The segment to be sent next for the first time.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// The lowest byte not acknowledged (SND.UNA).
    #[inline]
    pub(crate) fn una(&self) -> u64 {
        self.una
    }

    /// The first byte never sent (SND.NXT).
    #[inline]
    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Segments believed to be on their way: not acknowledged, not SACKed, and either sent again
    /// or not declared lost.
    #[inline]
    pub(crate) fn outstanding(&self) -> u64 {
        self.next - self.gone
    }

    /// Whether every byte sent is acknowledged.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first == self.next
    }

    /// The state of a segment in flight.
    pub(crate) fn state(&self, number: u64) -> State {
        self.slot(number).state
    }

    /// What [`Flight::mark_retransmitted`] was last told of a segment in flight.
    pub(crate) fn retransmission(&self, number: u64) -> u32 {
        self.slot(number).retransmission
    }

    /// How often a segment in flight was sent.
    pub(crate) fn sends(&self, number: u64) -> u16 {
        self.slot(number).sends
    }

    /// Bytes `start..end` of a segment in flight.
    #[inline]
    pub(crate) fn bounds(&self, number: u64) -> (u64, u64) {
        let end = if number + 1 == self.next { self.nxt } else { self.slot(number + 1).start };
        (self.slot(number).start, end)
    }

    /// When a segment in flight was first sent.
    pub(crate) fn first_sent(&self, number: u64) -> Instant {
        self.slot(number).first_sent
    }

    /// When a segment in flight was last sent.
    pub(crate) fn last_sent(&self, number: u64) -> Instant {
        self.slot(number).last_sent
    }

    /// Adds a segment of `len` bytes, sent `now` for the first time.
    #[inline(always)]
    pub(crate) fn push(&mut self, now: Instant, len: u32) {
        if self.next - self.first == self.slots.len() as u64 {
            self.grow();
        }
        let start = self.nxt;
        *self.slot_mut(self.next) = Slot::new(start, now);
        self.next += 1;
        self.nxt += u64::from(len);
    }

    /// Adds `count` segments of `bytes` in all, sent `now` for the first time; all but the last are full.
    #[inline(always)]
    pub(crate) fn push_all(&mut self, now: Instant, count: u64, bytes: u64) {
        while self.next + count - self.first > self.slots.len() as u64 {
            self.grow();
        }
        let (mask, mut start) = (self.slots.len() - 1, self.nxt);
        for number in self.next..self.next + count {
            self.slots[number as usize & mask] = Slot::new(start, now);
            start += u64::from(self.mss);
        }
        self.next += count;
        self.nxt += bytes;
    }

    /// Takes the lowest segment out if `ack` covers it whole; `ack` is at most SND.NXT.
    #[inline(always)]
    pub(crate) fn pop_acknowledged(&mut self, ack: u64) -> Option<Acknowledged> {
        if ack <= self.una {
            return None; // nothing in flight, or not the lowest segment
        }
        let (number, end) = (self.first, self.bounds(self.first).1);
        if end > ack {
            return None;
        }
        let slot = *self.slot(number);
        self.leave_state(number, slot.state);
        self.first += 1;
        self.gone += 1;
        self.una = end;
        Some(Acknowledged {
            state: slot.state,
            retransmission: slot.retransmission,
            sends: slot.sends,
            last_sent: slot.last_sent,
        })
    }

    /// Whether no segment in flight is SACKed, declared lost, or sent again after that.
    #[inline]
    pub(crate) fn is_undisturbed(&self) -> bool {
        self.sacked_count | self.lost_count | self.retransmitted_count == 0
    }

    /// Whether no segment in flight was sent more than once.
    #[inline]
    pub(crate) fn is_sent_once(&self) -> bool {
        self.sent_once <= self.first
    }

    /// Takes the lowest segments out that `ack` covers whole, which is at most SND.NXT, while the flight is
    /// undisturbed and [sent once](Flight::is_sent_once). Returns how many there are.
    #[inline(always)] // called for every ACK: a call costs as much as what it does
    pub(crate) fn pop_sent_once(&mut self, ack: u64) -> u32 {
        if ack <= self.una {
            return 0;
        }
        let mut end = self.at_or_after(ack);
        self.una = match end == self.next {
            true if ack == self.nxt => ack,
            false if self.slot(end).start == ack => ack,
            _ => {
                end -= 1; // `ack` is inside of this one
                self.slot(end).start
            }
        };
        let segments = end - self.first;
        self.first = end;
        self.gone += segments;
        segments as u32
    }

    /// Takes the lowest segments out that `ack` covers whole, which is above SND.UNA and at most SND.NXT, while
    /// the flight is undisturbed. `each` hears how often each was sent. Returns how many there are.
    #[inline(always)] // called for every packet: a call costs as much as what it does
    pub(crate) fn pop_undisturbed(&mut self, ack: u64, mut each: impl FnMut(u16)) -> u32 {
        let (first, mut number) = (self.first, self.first);
        while self.una < ack {
            let sends = self.slot(number).sends;
            number += 1;
            let end = if number == self.next { self.nxt } else { self.slot(number).start };
            if end > ack {
                number -= 1;
                break;
            }
            each(sends);
            self.una = end;
        }
        self.first = number;
        self.gone += number - first;
        (number - first) as u32
    }

    /// The lowest segment that begins at or after `byte` (SND.NXT begins the next one).
    pub(crate) fn at_or_after(&self, byte: u64) -> u64 {
        if byte <= self.una {
            return self.first;
        }
        if byte >= self.nxt {
            return self.next;
        }
        // Full segments put the answer where a division says; short ones only further on.
        let offset = byte - self.una;
        let whole = match u32::try_from(offset) {
            Ok(offset) => u64::from(offset / self.mss),
            Err(_) => offset / u64::from(self.mss),
        };
        let guess = self.first + whole;
        if self.slot(guess).start == byte {
            return guess;
        }
        let (mut low, mut high) = (guess, self.next);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.slot(middle).start < byte {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    #[inline]
    fn slot(&self, number: u64) -> &Slot {
        &self.slots[number as usize & (self.slots.len() - 1)]
    }

    #[inline]
    fn slot_mut(&mut self, number: u64) -> &mut Slot {
        let mask = self.slots.len() - 1;
        &mut self.slots[number as usize & mask]
    }

    #[cold]
    fn grow(&mut self) {
        let capacity = self.slots.len() * 2;
        let mut slots = vec![Slot::default(); capacity].into_boxed_slice();
        let (mut sacked, mut lost) = (RingBits::new(capacity), RingBits::new(capacity));
        for number in self.first..self.next {
            let slot = *self.slot(number);
            slots[number as usize & (capacity - 1)] = slot;
            match slot.state {
                State::Sacked => sacked.insert(number),
                State::Lost => lost.insert(number),
                State::InFlight | State::Retransmitted => {}
            }
        }
        (self.slots, self.sacked, self.lost) = (slots, sacked, lost);
    }

    /// The lowest segment of `from..to` that is not SACKed; the range lies in flight.
    pub(crate) fn next_not_sacked(&self, from: u64, to: u64) -> Option<u64> {
        self.sacked.next_gap(from, to)
    }

    /// The lowest lost segment at or above `from`.
    pub(crate) fn next_lost(&self, from: u64) -> Option<u64> {
        if self.lost_count == 0 {
            return None;
        }
        self.lost.next_member(from, self.next)
    }

    /// The lowest lost segment.
    pub(crate) fn lowest_lost(&mut self) -> Option<u64> {
        let lowest = self.next_lost(self.lost_floor.max(self.first));
        self.lost_floor = lowest.unwrap_or(self.next);
        lowest
    }

    /// A SACK block covers the segment.
    pub(crate) fn mark_sacked(&mut self, number: u64) {
        self.leave_state(number, self.state(number));
        self.slot_mut(number).state = State::Sacked;
        self.sacked.insert(number);
        self.sacked_count += 1;
        self.gone += 1;
    }

    /// The segment is declared lost.
    pub(crate) fn mark_lost(&mut self, number: u64) {
        self.leave_state(number, self.state(number));
        self.slot_mut(number).state = State::Lost;
        self.lost.insert(number);
        self.lost_count += 1;
        self.gone += 1;
        self.lost_floor = self.lost_floor.min(number);
    }

    /// The segment is sent again, as the episode's `retransmission`-th.
    pub(crate) fn mark_retransmitted(&mut self, number: u64, retransmission: u32) {
        self.leave_state(number, self.state(number));
        let slot = self.slot_mut(number);
        slot.state = State::Retransmitted;
        slot.retransmission = retransmission;
        slot.sends = slot.sends.saturating_add(1);
        self.sent_once = self.sent_once.max(number + 1);
        self.retransmitted_count += 1;
    }

    /// The segment is sent again without having been declared lost.
    pub(crate) fn mark_probed(&mut self, number: u64) {
        let slot = self.slot_mut(number);
        slot.sends = slot.sends.saturating_add(1);
        self.sent_once = self.sent_once.max(number + 1);
    }

    /// A segment declared lost and not sent again is believed to be in flight after all.
    pub(crate) fn mark_found(&mut self, number: u64) {
        self.leave_state(number, self.state(number));
        self.slot_mut(number).state = State::InFlight;
    }

    /// Without SACK blocks: this number of segments above a hole are assumed to have arrived, because
    /// duplicate ACKs say so; which ones they are is unknown.
    pub(crate) fn assume_sacked(&mut self, count: u64) {
        self.gone = self.gone - self.sacked_count + count;
        self.sacked_count = count;
    }

    /// Segments that a SACK block covers, or that are assumed to have arrived.
    pub(crate) fn sacked_count(&self) -> u64 {
        self.sacked_count
    }

    /// Segments declared lost and not sent again.
    pub(crate) fn lost_count(&self) -> u64 {
        self.lost_count
    }

    /// Segments declared lost and sent again.
    pub(crate) fn retransmitted_count(&self) -> u64 {
        self.retransmitted_count
    }

    /// The SACKed segment that has `count - 1` SACKed ones above it.
    pub(crate) fn sacked_from_top(&self, count: u64) -> Option<u64> {
        self.sacked.member_from_end(self.first, self.next, count)
    }

    /// A segment in flight left again `now`.
    pub(crate) fn set_last_sent(&mut self, number: u64, now: Instant) {
        self.slot_mut(number).last_sent = now;
    }

    /// Everything is declared lost that is not SACKed.
    pub(crate) fn mark_all_lost(&mut self) {
        let mut from = self.first;
        while let Some(number) = self.sacked.next_gap(from, self.next) {
            if self.state(number) != State::Lost {
                self.mark_lost(number);
            }
            from = number + 1;
        }
    }

    /// Everything counts as in flight again; what SACK blocks said is forgotten.
    pub(crate) fn forget(&mut self) {
        for number in self.first..self.next {
            self.slot_mut(number).state = State::InFlight;
        }
        self.sacked.clear();
        self.lost.clear();
        self.sacked_count = 0;
        self.lost_count = 0;
        self.gone = self.first;
        self.retransmitted_count = 0;
        self.lost_floor = self.next;
    }

    /// The segment is not in that state any more.
    #[inline(always)] // called for every packet: a call costs as much as what it does
    pub(crate) fn leave_state(&mut self, number: u64, state: State) {
        if state != State::InFlight {
            self.leave_counted(number, state);
        }
    }

    fn leave_counted(&mut self, number: u64, state: State) {
        match state {
            State::InFlight => {}
            State::Retransmitted => self.retransmitted_count -= 1,
            State::Sacked => {
                self.sacked.remove(number);
                self.sacked_count -= 1;
                self.gone -= 1;
            }
            State::Lost => {
                self.lost.remove(number);
                self.lost_count -= 1;
                self.gone -= 1;
            }
        }
    }
}

/// A segment that [`Flight::pop_acknowledged`] took out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledged {
    /// What was believed of it.
    pub(crate) state: State,
    /// Which retransmission of its episode it was.
    pub(crate) retransmission: u32,
    /// Times sent.
    pub(crate) sends: u16,
    /// Last transmission.
    pub(crate) last_sent: Instant,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Short segments among full ones, in windows that have moved on and grown.
        #[test]
        fn segments_are_found_by_their_bytes(
            lengths in proptest::collection::vec(prop_oneof![Just(10u32), 1u32..=10], 1..300),
            acknowledged in 0usize..300,
        ) {
            let mut flight = Flight::new(10);
            lengths.iter().for_each(|&len| flight.push(Instant::ZERO, len));
            let ack: u32 = lengths.iter().take(acknowledged).sum();
            while flight.pop_acknowledged(u64::from(ack)).is_some() {}
            prop_assert_eq!(flight.first(), acknowledged.min(lengths.len()) as u64);
            let starts: Vec<u64> =
                (flight.first()..flight.next()).map(|number| flight.bounds(number).0).collect();
            for byte in flight.una()..=flight.nxt() + 1 {
                let below = starts.iter().filter(|&&start| start < byte).count() as u64;
                prop_assert_eq!(flight.at_or_after(byte), flight.first() + below);
            }
        }
    }

    #[test]
    fn an_ack_inside_a_segment_leaves_it_in_flight() {
        let mut flight = Flight::new(10);
        flight.push(Instant::ZERO, 10);
        flight.push(Instant::ZERO, 10);
        assert!(flight.pop_acknowledged(9).is_none());
        assert!(flight.pop_acknowledged(19).is_some());
        assert!(flight.pop_acknowledged(19).is_none());
        assert_eq!((flight.una(), flight.outstanding()), (10, 1));
    }
}
