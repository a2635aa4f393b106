//! Segments in flight in order of their last transmission, as RACK visits them (RFC 8985 section
//! 7.2). A doubly linked list indexed by segment number, so that SACKed, lost or retransmitted
//! segments are moved in constant time.
//!
//! Membership is that of Linux's `tsorted_sent_queue`:
//!
//! | event | the segment |
//! |---|---|
//! | sent, or sent again (`tcp_update_skb_after_send`) | is the newest of the list |
//! | SACKed or acknowledged | leaves it |
//! | declared lost by RACK (`tcp_rack_detect_loss`) | leaves it until it is sent again |
//! | declared lost by a timeout (`tcp_timeout_mark_lost`) | keeps its place |
//!
//! RACK passes over segments that are lost already. Those that keep their place are therefore set
//! aside here, and return when they no longer count as lost.

use std::ops::Range;

use crate::units::Instant;

/// No segment.
const NONE: u64 = u64::MAX;

/// The last transmission of a segment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Transmission {
    pub(super) sent: Instant,
    /// Segments delivered before it.
    pub(super) delivered: u64,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    transmission: Transmission,
    /// Neighbours in transmission order; an unlisted segment is its own neighbour.
    before: u64,
    after: u64,
    /// A timeout declared the segment lost while it was listed.
    is_aside: bool,
}

const EMPTY: Node = Node {
    transmission: Transmission { sent: Instant::ZERO, delivered: 0 },
    before: 0,
    after: 0,
    is_aside: false,
};

/// Segments `first..` by number; some are listed in order of their last transmission.
#[derive(Clone, Debug)]
pub(super) struct SentOrder {
    nodes: Box<[Node]>,
    oldest: u64,
    newest: u64,
    /// Last listed segment sent before the most recently sent delivered segment.
    overtaken: u64,
}

impl SentOrder {
    pub(super) fn new() -> Self {
        let nodes = vec![EMPTY; 64].into_boxed_slice();
        Self { nodes, oldest: NONE, newest: NONE, overtaken: NONE }
    }

    /// Adds segment `next`, sent for the first time; `first` is the lowest in flight.
    #[inline(always)] // called for every packet: a call costs as much as what it does
    pub(super) fn push(&mut self, first: u64, next: u64, transmission: Transmission) {
        self.push_all(first, next..next + 1, transmission);
    }

    /// Adds segments sent together for the first time; `first` is the lowest in flight.
    #[inline(always)] // as `push`
    pub(super) fn push_all(&mut self, first: u64, new: Range<u64>, transmission: Transmission) {
        while new.end - first > self.nodes.len() as u64 {
            self.grow(first, new.start);
        }
        match self.newest {
            NONE => self.oldest = new.start,
            newest => self.node_mut(newest).after = new.start,
        }
        let (mut before, last) = (self.newest, new.end - 1);
        let mask = self.nodes.len() - 1;
        for number in new {
            self.nodes[number as usize & mask] =
                Node { transmission, before, after: number + 1, is_aside: false };
            before = number;
        }
        self.node_mut(last).after = NONE;
        self.newest = last;
    }

    /// Records the retransmission of a segment in flight.
    pub(super) fn send_again(&mut self, number: u64, transmission: Transmission) {
        self.remove(number);
        self.node_mut(number).transmission = transmission;
        self.append(number);
    }

    /// Last transmission of the segment.
    #[inline]
    pub(super) fn transmission(&self, number: u64) -> Transmission {
        self.node(number).transmission
    }

    /// The listed segment sent earliest.
    #[inline]
    pub(super) fn oldest(&self) -> Option<u64> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// The listed segment sent last among those that a delivered segment has overtaken.
    #[inline]
    pub(super) fn last_overtaken(&self) -> Option<u64> {
        (self.overtaken != NONE).then_some(self.overtaken)
    }

    /// Records the delivery of a segment sent after all other delivered segments.
    #[inline]
    pub(super) fn overtake(&mut self, number: u64) {
        let before = self.node(number).before;
        if before != number {
            self.overtaken = before;
        }
    }

    /// Removes a segment from the list, or from those set aside.
    #[inline]
    pub(super) fn remove(&mut self, number: u64) {
        let Node { before, after, .. } = *self.node(number);
        if before == number {
            self.node_mut(number).is_aside = false;
            return;
        }
        if number == self.overtaken {
            self.overtaken = before;
        }
        match before {
            NONE => self.oldest = after,
            before => self.node_mut(before).after = after,
        }
        match after {
            NONE => self.newest = before,
            after => self.node_mut(after).before = before,
        }
        let node = self.node_mut(number);
        (node.before, node.after) = (number, number);
    }

    /// Removes the segments up to `last`, none of which is set aside, while all are listed in the order of
    /// their numbers, if at all, and every one that was overtaken is among them.
    #[inline(always)] // called for every ACK: a call costs as much as what it does
    pub(super) fn remove_through(&mut self, last: u64) {
        while self.oldest <= last {
            self.oldest = self.node(self.oldest).after;
        }
        match self.oldest {
            NONE => self.newest = NONE,
            oldest => self.node_mut(oldest).before = NONE,
        }
        if self.overtaken <= last {
            self.overtaken = NONE;
        }
    }

    /// Sets a segment aside if it is listed: a timeout declared it lost.
    pub(super) fn set_aside(&mut self, number: u64) {
        let Node { before, is_aside, .. } = *self.node(number);
        let is_listed = before != number;
        self.remove(number);
        self.node_mut(number).is_aside = is_aside || is_listed;
    }

    /// Puts those of the segments back that were set aside. They were sent before every listed
    /// one: a timeout spares what was sent within a round trip, except for the lowest segment,
    /// which it sends again. `is_overtaken` tells whether a delivered segment was sent later.
    pub(super) fn restore(
        &mut self,
        mut numbers: Vec<u64>,
        is_overtaken: impl Fn(Instant, u64) -> bool,
    ) {
        numbers.retain(|&number| self.node(number).is_aside);
        numbers.sort_unstable_by_key(|&number| (self.transmission(number).sent, number));
        for number in numbers.into_iter().rev() {
            let (transmission, oldest) = (self.transmission(number), self.oldest);
            *self.node_mut(number) =
                Node { transmission, before: NONE, after: oldest, is_aside: false };
            match oldest {
                NONE => self.newest = number,
                oldest => self.node_mut(oldest).before = number,
            }
            self.oldest = number;
            if self.overtaken == NONE && is_overtaken(transmission.sent, number) {
                self.overtaken = number;
            }
        }
    }

    #[inline]
    fn append(&mut self, number: u64) {
        let newest = self.newest;
        let node = self.node_mut(number);
        (node.before, node.after) = (newest, NONE);
        match newest {
            NONE => self.oldest = number,
            newest => self.node_mut(newest).after = number,
        }
        self.newest = number;
    }

    #[inline]
    fn node(&self, number: u64) -> &Node {
        &self.nodes[number as usize & (self.nodes.len() - 1)]
    }

    #[inline]
    fn node_mut(&mut self, number: u64) -> &mut Node {
        let mask = self.nodes.len() - 1;
        &mut self.nodes[number as usize & mask]
    }

    #[cold]
    fn grow(&mut self, first: u64, next: u64) {
        let capacity = self.nodes.len() * 2;
        let mut nodes = vec![EMPTY; capacity].into_boxed_slice();
        for number in first..next {
            nodes[number as usize & (capacity - 1)] = *self.node(number);
        }
        self.nodes = nodes;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn listed(order: &SentOrder) -> Vec<u64> {
        let mut copy = order.clone();
        std::iter::from_fn(|| copy.oldest().inspect(|&number| copy.remove(number))).collect()
    }

    proptest! {
        /// Compared with a plain vector.
        #[test]
        fn agrees_with_a_vector(actions in proptest::collection::vec((0u8..4, 0u64..200), 1..400)) {
            let mut order = SentOrder::new();
            let mut reference: Vec<u64> = Vec::new();
            let mut next = 0;
            for (time, (kind, pick)) in actions.into_iter().enumerate() {
                let sent = Instant::from_nanos(time as u64);
                let transmission = Transmission { sent, delivered: 0 };
                match kind {
                    0 | 1 => {
                        order.push(0, next, transmission);
                        reference.push(next);
                        next += 1;
                    }
                    2 if next > 0 => {
                        order.remove(pick % next);
                        reference.retain(|&number| number != pick % next);
                    }
                    3 if next > 0 => {
                        order.send_again(pick % next, transmission);
                        reference.retain(|&number| number != pick % next);
                        reference.push(pick % next);
                    }
                    _ => {}
                }
                prop_assert_eq!(listed(&order), reference.clone());
            }
            // Sets the older half aside and puts it back, but for what RACK took out.
            let half: Vec<u64> = reference[..reference.len() / 2].to_vec();
            half.iter().for_each(|&number| order.set_aside(number));
            let (taken, kept) = half.split_at(half.len() / 2);
            taken.iter().for_each(|&number| order.remove(number));
            order.restore(half.clone(), |_, _| true);
            reference.retain(|number| kept.contains(number) || !half.contains(number));
            prop_assert_eq!(listed(&order), reference);
        }
    }

    /// A timeout leaves no trace on a segment that is sent again.
    #[test]
    fn a_segment_sent_again_is_no_longer_set_aside() {
        let mut order = SentOrder::new();
        let at = |nanos| Transmission { sent: Instant::from_nanos(nanos), delivered: 0 };
        (0..3).for_each(|number| order.push(0, number, at(number)));
        order.remove(0);
        (0..2).for_each(|number| order.set_aside(number));
        assert_eq!(listed(&order), [2]);
        order.send_again(1, at(3));
        order.remove(1);
        order.restore(vec![0, 1], |_, _| true);
        assert_eq!(listed(&order), [2]);
    }
}
