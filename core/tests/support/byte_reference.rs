//! ARQ and FEC over slots of different size, byte by byte, without any thought of speed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use clift::scheme::Fec;
use clift::units::Limit;

use super::tmt_strategies::Case;

/// (t, d') and the time until it was given up, of each data LLDU.
pub type Unit = ((i64, i64), i64);

/// Every byte has its own story; those of one LLDU that are sent again in one slot stay together.
pub fn arq(case: &Case, sizes: &[i64], limit: Limit) -> Vec<Unit> {
    let mut first: Vec<i64> = Vec::new();
    // (LLDU, byte) to when it arrived, and how often it was sent.
    let mut arrived: BTreeMap<(usize, i64), i64> = BTreeMap::new();
    let mut sent: BTreeMap<(usize, i64), u32> = BTreeMap::new();
    let mut bytes: Vec<i64> = Vec::new();
    let mut given_up: BTreeMap<usize, i64> = BTreeMap::new();
    // Lots of bytes that wait for their slots.
    let mut fifo: VecDeque<(i64, usize, VecDeque<i64>)> = VecDeque::new();
    for (&(t, d), &size) in case.slots.iter().zip(sizes) {
        fifo.retain(|(_, unit, _)| !given_up.contains_key(unit));
        let again = fifo.front().is_some_and(|&(ready, _, _)| ready <= t);
        let (unit, lot) = if again {
            let (ready, unit, mut waiting) = fifo.pop_front().unwrap();
            let mut lot = Vec::new();
            while (lot.len() as i64) < size && !waiting.is_empty() {
                lot.push(waiting.pop_front().unwrap());
            }
            if !waiting.is_empty() {
                fifo.push_front((ready, unit, waiting));
            }
            (unit, lot)
        } else {
            first.push(t);
            bytes.push(size);
            (first.len() - 1, (0..size).collect())
        };
        for &byte in &lot {
            *sent.entry((unit, byte)).or_default() += 1;
            if d > 0 {
                arrived.insert((unit, byte), t + d);
            }
        }
        if d == 0 {
            let times = sent[&(unit, lot[0])];
            match limit {
                Limit::AtMost(most) if times > most => {
                    given_up.insert(unit, t + case.nominal() - first[unit]);
                }
                _ => fifo.push_back((t.saturating_add(case.feedback), unit, lot.into())),
            }
        }
    }
    let fate = |unit: usize| {
        let ends: Option<Vec<i64>> =
            (0..bytes[unit]).map(|byte| arrived.get(&(unit, byte)).copied()).collect();
        let last = ends.filter(|_| !given_up.contains_key(&unit));
        let after = last.map_or(0, |ends| ends.into_iter().max().unwrap() - first[unit]);
        ((first[unit], after), given_up.get(&unit).copied().unwrap_or(0))
    };
    (0..first.len()).map(fate).collect()
}

/// A code word's bytes are counted as they come in.
pub fn fec(case: &Case, sizes: &[i64], fec: Fec) -> Vec<Unit> {
    let (code, depth) = (fec.code, fec.interleave.get() as usize);
    let size = depth * code.total();
    let mut units = Vec::new();
    for start in (0..case.slots.len() / size).map(|block| block * size) {
        let mut of_block = Vec::new();
        for word in 0..depth {
            let slots: Vec<usize> =
                (0..code.total()).map(|row| start + row * depth + word).collect();
            let data = &slots[..code.data()];
            let wanted: i64 = data.iter().map(|&slot| sizes[slot]).sum();
            let instants: BTreeSet<i64> =
                slots.iter().map(|&slot| case.slots[slot].0 + case.slots[slot].1).collect();
            let here = |at: i64| {
                let in_time = slots.iter().filter(|&&slot| {
                    let (t, d) = case.slots[slot];
                    d > 0 && t + d <= at
                });
                in_time.map(|&slot| sizes[slot]).sum::<i64>() >= wanted
            };
            let decoded = instants.into_iter().find(|&at| here(at));
            let last = case.slots[slots[code.total() - 1]].0;
            for &slot in data {
                let (t, d) = case.slots[slot];
                let (after, lost) = match (d, decoded) {
                    (0, Some(at)) => (at - t, 0),
                    (0, None) => (0, last + case.nominal() - t),
                    (d, _) => (d, 0),
                };
                of_block.push(((t, after), lost));
            }
        }
        of_block.sort_unstable();
        units.extend(of_block);
    }
    units
}
