//! The schemes of DESIGN section 4 a second time: slow, slot by slot, one sentence after the
//! other, without the library but for the names of the parameters.

use std::collections::{BTreeMap, VecDeque};

use clift::scheme::{Arq, BlockCode, Fec, Harq2, Scheme};
use clift::units::Limit;

/// A slot of the PHY trace: (t, d).
pub type Slot = (i64, i64);

/// What a scheme must give.
#[derive(Debug, Default, PartialEq)]
pub struct Expected {
    pub t: Vec<i64>,
    pub d: Vec<i64>,
    pub lost: Vec<i64>,
    pub transmissions: Vec<u32>,
    pub slots_used: u64,
    pub recovered: (u64, u128),
}

/// A data LLDU on its way.
#[derive(Clone, Debug)]
struct Unit {
    t: i64,
    erased_at_first: bool,
    delivered_after: Option<i64>,
    lost_after: Option<i64>,
    transmissions: u32,
}

pub fn apply(scheme: Scheme, slots: &[Slot], nominal: i64, feedback: i64) -> Expected {
    match scheme {
        Scheme::None => none(slots, nominal),
        Scheme::Fec(Fec { code, interleave }) => {
            fec(code, interleave.get() as usize, slots, nominal)
        }
        Scheme::Arq(Arq { max_retx }) => arq(max_retx, slots, nominal, feedback),
        Scheme::Harq2(Harq2 { code, extra, max_rounds }) => {
            harq2(code, extra as usize, max_rounds, slots, nominal, feedback)
        }
        other => panic!("no reference for {other}"),
    }
}

fn none(slots: &[Slot], nominal: i64) -> Expected {
    let units = slots.iter().map(|&slot| {
        let mut unit = Unit::sent(slot);
        if unit.erased_at_first {
            unit.lost_after = Some(nominal);
        }
        unit
    });
    expected(units.collect(), slots.len())
}

fn fec(code: BlockCode, depth: usize, slots: &[Slot], nominal: i64) -> Expected {
    let size = depth * code.total();
    let whole = slots.len() / size * size;
    // Code word (super-block, b) takes slots b, b + I, b + 2 I, ... of its super-block.
    let mut code_words: BTreeMap<(usize, usize), Vec<Slot>> = BTreeMap::new();
    for (number, &slot) in slots[..whole].iter().enumerate() {
        code_words.entry((number / size, number % depth)).or_default().push(slot);
    }
    let mut units: BTreeMap<i64, Unit> = BTreeMap::new();
    for word in code_words.values() {
        let decoded = kth_arrival(word, code.data());
        for &slot in &word[..code.data()] {
            let mut unit = Unit::sent(slot);
            if unit.erased_at_first {
                match decoded {
                    Some(at) => unit.delivered_after = Some(at - unit.t),
                    None => unit.lost_after = Some(word[code.total() - 1].0 + nominal - unit.t),
                }
            }
            units.insert(unit.t, unit);
        }
    }
    expected(units.into_values().collect(), whole)
}

fn arq(limit: Limit, slots: &[Slot], nominal: i64, feedback: i64) -> Expected {
    let mut units: Vec<Unit> = Vec::new();
    let mut fifo: VecDeque<(i64, usize)> = VecDeque::new();
    for &(t, d) in slots {
        let number = match fifo.front() {
            Some(&(ready, number)) if ready <= t => {
                fifo.pop_front();
                let unit = &mut units[number];
                unit.transmissions += 1;
                if d > 0 {
                    unit.delivered_after = Some(t + d - unit.t);
                }
                number
            }
            _ => {
                units.push(Unit::sent((t, d)));
                units.len() - 1
            }
        };
        if d == 0 {
            let retransmitted = units[number].transmissions - 1;
            let fewer = limit.get().is_none_or(|times| retransmitted < times);
            if fewer {
                fifo.push_back((t + feedback, number));
            } else {
                units[number].lost_after = Some(t + nominal - units[number].t);
            }
        }
    }
    expected(units, slots.len())
}

/// A block of HARQ-II: its first n slots, then its repair slots.
struct Block {
    sent: Vec<Slot>,
    rounds_asked: u32,
    rounds_begun: u32,
    lost_at: Option<i64>,
}

/// A repair LLDU that waits.
struct Repair {
    ready: i64,
    block: usize,
    first_of_round: bool,
    last_of_round: bool,
}

fn harq2(
    code: BlockCode,
    extra: usize,
    limit: Limit,
    slots: &[Slot],
    nominal: i64,
    feedback: i64,
) -> Expected {
    let mut blocks: Vec<Block> = Vec::new();
    let mut fifo: VecDeque<Repair> = VecDeque::new();
    for &(t, d) in slots {
        let repairs = fifo.front().is_some_and(|repair| repair.ready <= t);
        let (number, ended) = if repairs {
            let repair = fifo.pop_front().unwrap();
            let block = &mut blocks[repair.block];
            block.rounds_begun += u32::from(repair.first_of_round);
            block.sent.push((t, d));
            (repair.block, repair.last_of_round)
        } else {
            if blocks.last().is_none_or(|block| block.sent.len() >= code.total()) {
                blocks.push(Block {
                    sent: Vec::new(),
                    rounds_asked: 0,
                    rounds_begun: 0,
                    lost_at: None,
                });
            }
            let block = blocks.last_mut().unwrap();
            block.sent.push((t, d));
            (blocks.len() - 1, blocks[blocks.len() - 1].sent.len() == code.total())
        };
        if !ended {
            continue;
        }
        let block = &mut blocks[number];
        let arrived = block.sent.iter().filter(|&&(_, d)| d > 0).count();
        if arrived >= code.data() {
            continue;
        }
        let fewer = limit.get().is_none_or(|rounds| block.rounds_asked < rounds);
        if !fewer {
            block.lost_at = Some(t + nominal);
            continue;
        }
        block.rounds_asked += 1;
        let round = code.data() - arrived + extra;
        for unit in 0..round {
            fifo.push_back(Repair {
                ready: t + feedback,
                block: number,
                first_of_round: unit == 0,
                last_of_round: unit == round - 1,
            });
        }
    }
    let mut units = Vec::new();
    for block in blocks.iter().filter(|block| block.sent.len() >= code.total()) {
        let decoded = kth_arrival(&block.sent, code.data());
        for &slot in &block.sent[..code.data()] {
            let mut unit = Unit::sent(slot);
            unit.transmissions += block.rounds_begun;
            if unit.erased_at_first {
                unit.delivered_after = decoded.map(|at| at - unit.t);
                unit.lost_after = block.lost_at.map(|at| at - unit.t);
            }
            units.push(unit);
        }
    }
    expected(units, slots.len())
}

impl Unit {
    fn sent((t, d): Slot) -> Self {
        Self {
            t,
            erased_at_first: d == 0,
            delivered_after: (d > 0).then_some(d),
            lost_after: None,
            transmissions: 1,
        }
    }
}

/// The k-th smallest `t + d`.
fn kth_arrival(sent: &[Slot], k: usize) -> Option<i64> {
    let mut arrivals: Vec<i64> =
        sent.iter().filter(|&&(_, d)| d > 0).map(|&(t, d)| t + d).collect();
    arrivals.sort();
    arrivals.get(k - 1).copied()
}

fn expected(units: Vec<Unit>, slots_used: usize) -> Expected {
    let mut expected = Expected { slots_used: slots_used as u64, ..Expected::default() };
    for unit in units {
        if let (true, Some(after)) = (unit.erased_at_first, unit.delivered_after) {
            expected.recovered.0 += 1;
            expected.recovered.1 += after as u128;
        }
        expected.t.push(unit.t);
        expected.d.push(unit.delivered_after.unwrap_or(0));
        expected.lost.push(unit.lost_after.unwrap_or(0));
        expected.transmissions.push(unit.transmissions);
    }
    expected
}
