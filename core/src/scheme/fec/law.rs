//! FEC, plain and interleaved.

use crate::scheme::law::Block;
use crate::scheme::law::{Chain, Prediction, RecoveryDelays, Setting};
use crate::scheme::{BlockCode, Fec};

pub(crate) fn predict(
    Fec { code, interleave }: Fec,
    chain: &Chain,
    setting: &Setting,
) -> Prediction {
    let block = Block::new(&chain.every(interleave.get().into()), code);
    let data = code.data() as f64;
    let (lost, spacing) = (block.erased(), f64::from(interleave.get()) * setting.slot_ns());
    let delivered = data - lost;
    let mean = |of: f64| (of > 0.0).then(|| setting.delay_ms(block.waits / of * spacing));
    Prediction {
        efficiency: delivered / code.total() as f64,
        residual_loss: lost / data,
        coding_ratio: data / code.total() as f64,
        transmissions: 1.0,
        recovered: block.recovered / data,
        recovery_delay_ms: mean(block.recovered),
        mean_delay_ms: mean(delivered),
    }
}

pub(crate) fn delays(
    Fec { code, interleave }: Fec,
    chain: &Chain,
    setting: &Setting,
) -> RecoveryDelays {
    let waits = block_waits(&chain.every(interleave.get().into()), code);
    let spacing = f64::from(interleave.get()) * setting.slot_ns();
    let shares = waits.iter().enumerate();
    RecoveryDelays::new(
        shares.map(|(slots, &share)| (setting.delay_ms(slots as f64 * spacing), share)),
    )
}

/// Expected data LLDUs of a block that its slots recover, by the number of slots waited.
///
/// The k-th arrival is `wait` slots after an erased data slot `slot` if, with e erasures before,
/// k - slot + 1 + e of the `wait` slots after it arrive, the last of them among these.
pub(crate) fn block_waits(chain: &Chain, code: BlockCode) -> Vec<f64> {
    let (data, total) = (code.data(), code.total());
    let erasing = chain.erasing();
    let ends = endings(chain, total - data, total);
    let mut waits = vec![0.0; total];
    // Erasures before data slot 1, 2, ... and the state of that slot.
    let mut before: Vec<[f64; 2]> = vec![chain.stationary()];
    for slot in 1..=data {
        for (wait, sum) in waits.iter_mut().enumerate().take(total - slot + 1).skip(1) {
            // Slots 1 to slot + wait have slot + wait - k erasures, this slot among them.
            let Some(erased) = (slot + wait).checked_sub(data + 1) else { continue };
            for (earlier, law) in before.iter().enumerate().take(erased + 1) {
                let later = ends[wait][erased - earlier];
                *sum += law[0] * erasing[0] * later[0] + law[1] * erasing[1] * later[1];
            }
        }
        before = one_more(chain, &before);
    }
    waits
}

/// endings[w][e][s]: probability that of the `w` slots after one in state `s`, `e` are erased and
/// the last is not; for e up to `erasures`, w below `slots`.
fn endings(chain: &Chain, erasures: usize, slots: usize) -> Vec<Vec<[f64; 2]>> {
    let (transition, erasing) = (chain.transition(), chain.erasing());
    let mut table = vec![vec![[0.0; 2]; erasures + 1]; slots.max(2)];
    for wait in 1..slots {
        for erased in 0..=erasures.min(wait - 1) {
            // By the fate of the first of these slots.
            let from = [0, 1].map(|state| {
                if wait == 1 {
                    return 1.0 - erasing[state];
                }
                let arrives = (1.0 - erasing[state]) * table[wait - 1][erased][state];
                let fewer = erased.checked_sub(1).map_or(0.0, |e| table[wait - 1][e][state]);
                arrives + erasing[state] * fewer
            });
            table[wait][erased] = transition.map(|to| to[0] * from[0] + to[1] * from[1]);
        }
    }
    table
}

/// The law of erasures before the next slot, and of that slot's state.
pub(crate) fn one_more(chain: &Chain, before: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let (transition, erasing) = (chain.transition(), chain.erasing());
    let cell = |erased: Option<usize>| erased.and_then(|e| before.get(e)).copied();
    (0..=before.len())
        .map(|erased| {
            let arrives = cell(Some(erased)).unwrap_or_default();
            let fewer = cell(erased.checked_sub(1)).unwrap_or_default();
            let after = [0, 1].map(|s| arrives[s] * (1.0 - erasing[s]) + fewer[s] * erasing[s]);
            [0, 1].map(|to| after[0] * transition[0][to] + after[1] * transition[1][to])
        })
        .collect()
}
