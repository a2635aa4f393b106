//! A block of n slots of which the first k carry data: what its own slots decode, and what is
//! missing after the last of them.

use crate::scheme::BlockCode;
use crate::scheme::law::Chain;

/// Expectations per block. Times are in slots of the block.
pub(crate) struct Block {
    /// Data LLDUs that are erased in a block that its own slots decode.
    pub(crate) recovered: f64,
    /// Sum of their waits: from their slot to that of the k-th arrival.
    pub(crate) waits: f64,
    /// By the number missing at the end - 1, and the state of the last slot.
    pub(crate) short: Vec<[Short; 2]>,
}

/// A law without norm of blocks, with what it weighs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Short {
    /// Probability.
    pub(crate) probability: f64,
    /// Data LLDUs that are erased.
    pub(crate) erased: f64,
    /// Sum of the slots that have passed since each of them was sent.
    pub(crate) waits: f64,
}

impl Block {
    /// Over `chain` from slot to slot of the block, in its stationary law at first.
    pub(crate) fn new(chain: &Chain, code: BlockCode) -> Self {
        let (data, total) = (code.data(), code.total());
        let transition = chain.transition();
        let erasing = chain.erasing();
        let mut block = Self { recovered: 0.0, waits: 0.0, short: Vec::new() };
        // By the erasures so far, blocks that are not decoded yet.
        let mut open = vec![[Short::default(); 2]; total + 1];
        // A slot before the first, whose fate does not count: the law stays stationary.
        let law = chain.stationary();
        open[0] = [0, 1].map(|state| Short { probability: law[state], ..Short::default() });
        for slot in 1..=total {
            let mut fewer = [Short::default(); 2]; // with an erasure fewer, before this slot's fate
            for cell in &mut open[slot.saturating_sub(data)..=slot] {
                let before = moved(cell, &transition);
                *cell = [0, 1].map(|state| {
                    let arrived = before[state].scaled(1.0 - erasing[state]);
                    let mut erased = fewer[state].scaled(erasing[state]);
                    if slot <= data {
                        erased.erased += erased.probability;
                    }
                    arrived.plus(erased)
                });
                fewer = before;
            }
            if slot >= data {
                // Decoded now: as many as data have arrived, the last of them in this slot.
                for decoded in std::mem::take(&mut open[slot - data]) {
                    block.recovered += decoded.erased;
                    block.waits += decoded.waits;
                }
            }
        }
        block.short = open.split_off(total - data + 1);
        block
    }

    /// Data LLDUs that are erased and not recovered by the block's own slots.
    pub(crate) fn erased(&self) -> f64 {
        self.short.iter().flatten().map(|short| short.erased).sum()
    }
}

impl Short {
    #[inline]
    fn scaled(self, by: f64) -> Self {
        Self {
            probability: self.probability * by,
            erased: self.erased * by,
            waits: self.waits * by,
        }
    }

    #[inline]
    fn plus(self, other: Self) -> Self {
        Self {
            probability: self.probability + other.probability,
            erased: self.erased + other.erased,
            waits: self.waits + other.waits,
        }
    }
}

/// A slot later, in the states of that slot.
#[inline]
fn moved(cell: &[Short; 2], transition: &[[f64; 2]; 2]) -> [Short; 2] {
    [0, 1].map(|to| {
        let law = cell[0].scaled(transition[0][to]).plus(cell[1].scaled(transition[1][to]));
        Short { waits: law.waits + law.erased, ..law }
    })
}
