//! HARQ-II: a block code whose further repair LLDUs are sent on demand (DESIGN section 4).

use std::collections::VecDeque;

use crate::scheme::arrivals::Arrivals;
use crate::scheme::fec::open::has_zero;
use crate::scheme::timing::nominal_ns;
use crate::scheme::{Harq2, Timing};
use crate::trace::{LinkTrace, Parts, PhyTrace};

pub(crate) fn apply(scheme: Harq2, phy: &PhyTrace, timing: Timing) -> LinkTrace {
    let mut sender = Sender::new(scheme, phy, timing);
    let (t, d) = (&phy.t()[..], &phy.d()[..]);
    let total = scheme.code.total();
    let mut slot = 0;
    while slot < t.len() {
        if sender.round_is_ready(t[slot]) {
            slot += sender.send_round(&t[slot..], &d[slot..]);
        } else if let (0, Some(end)) = (sender.in_block, slot.checked_add(total))
            && end <= t.len()
            && !sender.round_is_ready(t[end - 1])
        {
            sender.send_block(&t[slot..end], &d[slot..end]);
            slot = end;
        } else {
            sender.send_unit(t[slot], d[slot]);
            slot += 1;
        }
    }
    sender.finish()
}

/// A block that waits for a repair round.
struct Round {
    ready: i64,
    /// Repair LLDUs to send.
    units: u32,
    /// Arrivals so far, put aside in `Sender::aside`.
    arrived: u32,
    /// Its place in `Sender::repaired`.
    record: u32,
}

/// A block that was not decodable at once.
struct Repaired {
    /// Index of its first data LLDU.
    first: u32,
    /// Rounds of which a unit was sent: all that were asked for, but for one that waits.
    rounds: u32,
}

struct Sender {
    scheme: Harq2,
    nominal: i64,
    feedback: i64,
    parts: Parts,
    t: Vec<i64>,
    d: Vec<i64>,
    /// Data LLDUs of complete blocks.
    done: usize,
    /// Slots of the current block so far, and the units of it that arrived.
    in_block: usize,
    block: Arrivals,
    /// By index: blocks become complete in order.
    repaired: Vec<Repaired>,
    /// `ready` rises along the queue: rounds are asked for in order of t.
    queue: VecDeque<Round>,
    /// The arrivals of the blocks in `queue`, one block after the other.
    aside: VecDeque<i64>,
    /// Those of the block under repair.
    repair: Arrivals,
}

impl Sender {
    fn new(scheme: Harq2, phy: &PhyTrace, timing: Timing) -> Self {
        let mut parts = Parts::of(phy, timing.rtt);
        parts.slots_used = parts.slots;
        let most = (phy.len() / scheme.code.total() + 1) * scheme.code.data();
        Self {
            scheme,
            nominal: nominal_ns(phy),
            feedback: timing.feedback_ns(phy),
            parts,
            t: Vec::with_capacity(most.min(phy.len())),
            d: Vec::with_capacity(most.min(phy.len())),
            done: 0,
            in_block: 0,
            block: Arrivals::default(),
            repaired: Vec::new(),
            queue: VecDeque::new(),
            aside: VecDeque::new(),
            repair: Arrivals::default(),
        }
    }

    #[inline]
    fn round_is_ready(&self, now: i64) -> bool {
        self.queue.front().is_some_and(|round| round.ready <= now)
    }

    /// Sends a whole block in consecutive slots.
    #[inline]
    fn send_block(&mut self, t: &[i64], d: &[i64]) {
        let data = self.scheme.code.data();
        self.t.extend_from_slice(&t[..data]);
        self.d.extend_from_slice(&d[..data]);
        if !has_zero(&d[..data]) {
            self.done += data;
            return;
        }
        if let Some(at) = self.block.of_word((t, d), (0, 1), self.scheme.code) {
            self.done += data;
            self.rebuild(self.done - data, at);
            return;
        }
        self.block.extend(t.iter().copied().zip(d.iter().copied()));
        self.complete_block(t[t.len() - 1]);
    }

    /// Sends the next unit of the current block.
    fn send_unit(&mut self, t: i64, d: i64) {
        if self.in_block < self.scheme.code.data() {
            self.t.push(t);
            self.d.push(d);
        }
        self.block.extend(std::iter::once((t, d)));
        self.in_block += 1;
        if self.in_block == self.scheme.code.total() {
            self.complete_block(t);
            self.in_block = 0;
        }
    }

    /// After the last slot of a block, at `now`.
    fn complete_block(&mut self, now: i64) {
        let first = self.done;
        self.done += self.scheme.code.data();
        let mut block = std::mem::take(&mut self.block);
        if let Some(at) = block.kth(self.scheme.code) {
            self.rebuild(first, at);
        } else {
            let record = self.repaired.len() as u32;
            self.repaired.push(Repaired { first: first as u32, rounds: 0 });
            self.ask(record, &block, now);
        }
        block.clear();
        self.block = block;
    }

    /// Sends the round at the head of the queue, as far as the trace goes; returns its slots.
    fn send_round(&mut self, t: &[i64], d: &[i64]) -> usize {
        let Some(round) = self.queue.pop_front() else { unreachable!("a round was ready") };
        self.repaired[round.record as usize].rounds += 1;
        let slots = t.len().min(round.units as usize);
        let mut repair = std::mem::take(&mut self.repair);
        repair.clear();
        repair.restore(self.aside.drain(..round.arrived as usize));
        repair.extend(t[..slots].iter().copied().zip(d[..slots].iter().copied()));
        if let Some(at) = repair.kth(self.scheme.code) {
            self.rebuild(self.repaired[round.record as usize].first as usize, at);
        // A round that the end of the trace cuts asks for no other: its block is censored.
        } else if slots == round.units as usize {
            self.ask(round.record, &repair, t[slots - 1]);
        }
        self.repair = repair;
        slots
    }

    /// Asks for a round after the slot at `now`, or gives the block up.
    fn ask(&mut self, record: u32, arrived: &Arrivals, now: i64) {
        let block = &self.repaired[record as usize];
        if !self.scheme.max_rounds.allows(block.rounds) {
            self.give_up(block.first as usize, now + self.nominal);
            return;
        }
        let missing = (self.scheme.code.data() - arrived.times().len()) as u32;
        self.aside.extend(arrived.times());
        self.queue.push_back(Round {
            ready: now.saturating_add(self.feedback),
            // More units than u32 can count are more than a trace has slots.
            units: missing.saturating_add(self.scheme.extra),
            arrived: arrived.times().len() as u32,
            record,
        });
    }

    /// Decodes the block of the data LLDUs from `first` on at the instant `at`.
    #[inline]
    fn rebuild(&mut self, first: usize, at: i64) {
        let block = first..first + self.scheme.code.data();
        self.parts.rebuild(&self.t[block.clone()], &mut self.d[block], at);
    }

    /// Blocks run out of rounds in order, so `lost` is by index.
    fn give_up(&mut self, first: usize, at: i64) {
        let block = first..first + self.scheme.code.data();
        self.parts.give_up(first, &self.t[block.clone()], &self.d[block], at);
    }

    /// The link trace, without a block that the trace cuts.
    fn finish(mut self) -> LinkTrace {
        self.t.truncate(self.done);
        self.d.truncate(self.done);
        let data = self.scheme.code.data() as u32;
        let repaired = self.repaired.iter().filter(|block| block.rounds > 0);
        let mut transmissions = Vec::with_capacity(repaired.clone().count() * data as usize);
        for block in repaired {
            let indices = block.first..block.first + data;
            transmissions.extend(indices.map(|index| (index, 1 + block.rounds)));
        }
        LinkTrace::from_parts(Parts {
            t: self.t.into(),
            d: self.d.into(),
            transmissions,
            ..self.parts
        })
    }
}
