//! Segments in flight in order of their last transmission, as RACK visits them (RFC 8985 section
//! 7.2). A doubly linked list indexed by segment number, so that SACKed, lost or retransmitted
//! segments are moved in constant time.

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
}

const EMPTY: Node =
    Node { transmission: Transmission { sent: Instant::ZERO, delivered: 0 }, before: 0, after: 0 };

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
    pub(super) fn push(&mut self, first: u64, next: u64, transmission: Transmission) {
        if next - first >= self.nodes.len() as u64 {
            self.grow(first, next);
        }
        *self.node_mut(next) = Node { transmission, before: next, after: next };
        self.append(next);
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

    /// Removes a segment from the list.
    #[inline]
    pub(super) fn remove(&mut self, number: u64) {
        let Node { before, after, .. } = *self.node(number);
        if before == number {
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

    /// Puts segments back that were sent before every listed one.
    pub(super) fn restore(&mut self, mut numbers: Vec<u64>) {
        numbers.sort_unstable_by_key(|&number| (self.transmission(number).sent, number));
        for number in numbers.into_iter().rev() {
            self.remove(number);
            let oldest = self.oldest;
            *self.node_mut(number) = Node { before: NONE, after: oldest, ..*self.node(number) };
            match oldest {
                NONE => self.newest = number,
                oldest => self.node_mut(oldest).before = number,
            }
            self.oldest = number;
            if self.overtaken == NONE {
                self.overtaken = number;
            }
        }
    }

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
            // Removes the older half and puts it back.
            let half: Vec<u64> = reference[..reference.len() / 2].to_vec();
            half.iter().for_each(|&number| order.remove(number));
            order.restore(half);
            prop_assert_eq!(listed(&order), reference);
        }
    }
}
