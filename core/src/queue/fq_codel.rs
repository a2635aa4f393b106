//! FQ-CoDel: a CoDel queue for each flow, with a round-robin scheduler.

use std::collections::{BTreeMap, VecDeque};

use super::codel::CoDelQueue;
use super::text::{changed, size};
use super::{Aqm, CoDel, Discipline, QueueKind, WaitingPacket};
use crate::link::QueueLimit;
use crate::units::{Bytes, Instant, Size};

/// The row of FQ-CoDel.
pub(super) const KIND: QueueKind = QueueKind {
    name: "fq-codel",
    summary: "A CoDel queue for each flow (RFC 8290).",
    text: "fq-codel(quantum 1514 B)",
    read: &|mut arguments| {
        let standard = FqCoDel::default();
        let quantum = arguments.option("quantum", size)?.unwrap_or(standard.quantum);
        let codel = CoDel::read(&mut arguments)?;
        arguments.end().map(|()| Aqm::FqCoDel(FqCoDel { codel, quantum }))
    },
};

/// Flow Queue CoDel (RFC 8290).
///
/// Each flow has its own queue under [`CoDel`]. Flows are not hashed, so that no two flows share a
/// queue. A flow that sends less than its share is served before flows with a standing queue. If
/// the queue is full, packets are dropped from the head of the flow with the most bytes: half of
/// them, at most 64 at a time. As in Linux, CoDel adds them to its own drops.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FqCoDel {
    /// Parameters of each queue.
    pub codel: CoDel,
    /// Bytes that a flow may send per turn.
    pub quantum: Bytes,
}

impl Default for FqCoDel {
    /// One Ethernet packet of 1514 bytes (RFC 8290, section 5.2.4), and the times of [`CoDel`].
    fn default() -> Self {
        Self { codel: CoDel::default(), quantum: Bytes(1514) }
    }
}

impl FqCoDel {
    /// The options that are not standard, as text.
    pub(super) fn changed(&self) -> Vec<String> {
        let [quantum, standard] = [self, &Self::default()].map(|it| Size(it.quantum.0.into()));
        let mut options = self.codel.changed();
        options.extend(changed([("quantum", quantum, standard)]));
        options
    }
}

/// Maximum number of packets dropped at once for lack of room (RFC 8290, section 4.1: a batch).
const BATCH: u32 = 64;

#[derive(Clone, Debug)]
struct Flow {
    queue: CoDelQueue,
    /// Bytes that the flow may still send in this turn.
    deficit: i64,
    /// True if the flow is in one of the lists.
    listed: bool,
}

/// The queues of the flows and the schedule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flows {
    parameters: FqCoDel,
    limit: QueueLimit,
    flows: Vec<Flow>,
    /// Index of a flow by its number.
    places: BTreeMap<u32, usize>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    packets: usize,
    bytes: u64,
}

impl Flows {
    pub(super) fn new(parameters: FqCoDel, limit: QueueLimit) -> Self {
        Self { parameters, limit, ..Self::default() }
    }

    fn place(&mut self, flow: u32) -> usize {
        *self.places.entry(flow).or_insert_with(|| {
            let queue = CoDelQueue::new(self.parameters.codel);
            self.flows.push(Flow { queue, deficit: 0, listed: false });
            self.flows.len() - 1
        })
    }

    fn gone(&mut self, held: &WaitingPacket) {
        self.packets -= 1;
        self.bytes -= u64::from(held.size.0);
    }

    /// Drops from the head of the longest queue.
    fn shorten(&mut self, dropped: &mut Vec<WaitingPacket>) {
        // The first of equally long queues, so that runs are reproducible.
        let longest =
            (0..self.flows.len()).rev().max_by_key(|&place| self.flows[place].queue.waiting.bytes);
        let Some(longest) = longest else { return };
        let half = self.flows[longest].queue.waiting.bytes / 2;
        let (mut bytes, mut count) = (0, 0);
        while count < BATCH && (count == 0 || bytes < half) {
            let Some(held) = self.flows[longest].queue.waiting.pop() else { break };
            self.gone(&held);
            bytes += u64::from(held.size.0);
            count += 1;
            dropped.push(held);
        }
        self.flows[longest].queue.press(count);
    }
}

impl Discipline for Flows {
    #[inline]
    fn enqueue(&mut self, _: Instant, held: WaitingPacket, dropped: &mut Vec<WaitingPacket>) {
        let full = !self.limit.has_room(self.packets, self.bytes, held.size);
        let quantum = i64::from(self.parameters.quantum.0);
        let place = self.place(held.flow);
        self.packets += 1;
        self.bytes += u64::from(held.size.0);
        let flow = &mut self.flows[place];
        flow.queue.waiting.push(held);
        // RFC 8290, section 4.1: a flow that was empty goes first once, with one quantum.
        if !flow.listed {
            flow.listed = true;
            flow.deficit = quantum;
            self.new.push_back(place);
        }
        if full {
            self.shorten(dropped);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<WaitingPacket>) -> Option<WaitingPacket> {
        loop {
            let is_new = !self.new.is_empty();
            let place = *self.new.front().or_else(|| self.old.front())?;
            let from = if is_new { &mut self.new } else { &mut self.old };
            let flow = &mut self.flows[place];
            // RFC 8290, section 4.2: a flow that used its quantum waits behind all others.
            if flow.deficit <= 0 {
                flow.deficit += i64::from(self.parameters.quantum.0);
                from.pop_front();
                self.old.push_back(place);
                continue;
            }
            let already = dropped.len();
            let head = flow.queue.dequeue(now, dropped);
            for held in &dropped[already..] {
                self.packets -= 1;
                self.bytes -= u64::from(held.size.0);
            }
            let Some(head) = head else {
                from.pop_front();
                // A flow of single packets must not always go first (RFC 8290, section 4.2).
                if is_new && !self.old.is_empty() {
                    self.old.push_back(place);
                } else {
                    flow.listed = false;
                }
                continue;
            };
            flow.deficit -= i64::from(head.size.0);
            self.gone(&head);
            return Some(head);
        }
    }

    #[inline]
    fn passes(&mut self, _: Instant, held: &WaitingPacket) -> bool {
        let passes = self.is_at_rest(Instant::ZERO) && self.has_room(held.size);
        if passes {
            let place = self.place(held.flow);
            let Flow { queue, deficit, listed } = &mut self.flows[place];
            queue.pass();
            (*deficit, *listed) =
                (i64::from(self.parameters.quantum.0) - i64::from(held.size.0), true);
            self.new.push_back(place);
        }
        passes
    }

    #[inline]
    fn is_at_rest(&self, _: Instant) -> bool {
        self.new.is_empty() && self.old.is_empty()
    }

    /// Always true: a new packet displaces packets of the flow with the most bytes.
    #[inline]
    fn has_room(&self, size: Bytes) -> bool {
        self.limit.has_room(self.packets, self.bytes, size)
    }

    #[inline]
    fn len(&self) -> usize {
        self.packets
    }
}
