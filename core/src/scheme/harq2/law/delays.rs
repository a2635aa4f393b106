//! The law of the recovery delay of HARQ-II, by the slots and the waits for feedback in it.

use crate::config::Fault;
use crate::scheme::Harq2;
use crate::scheme::fec::law::{block_waits, one_more};
use crate::scheme::harq2::law::rounds::{Round, Rounds, Sender};
use crate::scheme::law::ErasureCount;
use crate::scheme::law::{Chain, RecoveryDelays, Setting};

/// Share of the LLDUs at which the law of an unlimited scheme is cut.
const REST: f64 = 1e-15;
/// Maximum number of delays in a law.
const MOST_TERMS: usize = 1 << 22;

/// Expected erased data LLDUs of a block, by slots since they were sent, given the number missing
/// and the state of the last slot: waiting[missing - 1][state][slots].
type Waiting = Vec<[Vec<f64>; 2]>;

pub(crate) fn law(harq: &Harq2, chain: &Chain, setting: &Setting) -> Result<RecoveryDelays, Fault> {
    let mut terms: Vec<(f64, f64)> = Vec::new();
    let mut add = |rounds: u32, shares: &[f64]| {
        let feedback_ns = f64::from(rounds) * setting.feedback_ns();
        for (slots, &share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
            let wait_ns = feedback_ns + slots as f64 * setting.slot_ns();
            terms.push((setting.delay_ms(wait_ns), share));
        }
        terms.len() <= MOST_TERMS
    };
    add(0, &block_waits(chain, harq.code));
    let rounds: Vec<Round> = Sender::new(harq, chain, setting).collect();
    let futures = Rounds::new(harq, chain, setting).futures;
    let mut waiting = after_the_block(harq, chain);
    let most = harq.max_rounds.get().unwrap_or(u32::MAX);
    for number in 1..=most {
        let left = waiting.iter().flatten().zip(futures.iter().flatten());
        let recoverable = left.map(|(shares, future)| shares.iter().sum::<f64>() * future.decoded);
        if recoverable.sum::<f64>() < REST {
            break;
        }
        let (decoded, short) = after_a_round(&rounds, &waiting);
        if !add(number, &decoded) {
            let cure = "limit the rounds, or take a shorter block";
            return Err(Fault::at(format!("more than 2^22 different delays; {cure}")));
        }
        waiting = short;
    }
    terms.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let merged = terms.chunk_by(|a, b| a.0 == b.0);
    let shares = merged.map(|equal| (equal[0].0, equal.iter().map(|term| term.1).sum()));
    Ok(RecoveryDelays::new(shares))
}

/// By the fate of the slots before an erased one, and of those after it.
fn after_the_block(harq: &Harq2, chain: &Chain) -> Waiting {
    let (data, total) = (harq.code.data(), harq.code.total());
    let spare = total - data;
    let mut waiting: Waiting = vec![[vec![0.0; total], vec![0.0; total]]; data];
    // Laws before each data slot, to meet those after it, which grow from the block's end.
    let mut befores = vec![vec![chain.stationary()]];
    for slot in 1..data {
        befores.push(one_more(chain, &befores[slot - 1]));
    }
    let rows = chain.transition();
    let mut afters = rows.map(|row| ErasureCount::new(chain, row, total));
    for slots in 0..total {
        if slots > 1 {
            afters.iter_mut().for_each(ErasureCount::step);
        }
        let Some(before) = befores.get(total - slots - 1) else { continue };
        for (earlier, law) in before.iter().enumerate() {
            for (state, &share) in law.iter().enumerate() {
                let share = share * chain.erasing()[state];
                let after = &afters[state];
                for later in 0..=slots {
                    let Some(missing) = (earlier + 1 + later).checked_sub(spare + 1) else {
                        continue;
                    };
                    if slots == 0 {
                        waiting[missing][state][0] += share;
                        continue;
                    }
                    waiting[missing][0][slots] += share * after.good[later];
                    waiting[missing][1][slots] += share * after.bad[later];
                }
            }
        }
    }
    waiting
}

/// Blocks that a round of all waiting blocks recovers, by slots, and the LLDUs missing after it.
fn after_a_round(rounds: &[Round], waiting: &Waiting) -> (Vec<f64>, Waiting) {
    let longest = rounds.iter().map(|round| round.slots).max().unwrap_or(1);
    let room = waiting[0][0].len() + longest - 1;
    let mut decoded = vec![0.0; room];
    let mut short: Waiting = vec![[vec![0.0; room], vec![0.0; room]]; waiting.len()];
    for (round, states) in rounds.iter().zip(waiting) {
        for (state, shares) in states.iter().enumerate() {
            for &(since, probability) in &round.arrivals {
                add_shifted(&mut decoded, shares, since, probability[state]);
            }
            for (missing, probability) in round.short[state].iter().enumerate() {
                for last in 0..2 {
                    let cell = &mut short[missing][last];
                    add_shifted(cell, shares, round.slots - 1, probability[last]);
                }
            }
        }
    }
    (decoded, short)
}

fn add_shifted(to: &mut [f64], shares: &[f64], by: usize, factor: f64) {
    for (to, share) in to[by..].iter_mut().zip(shares) {
        *to += share * factor;
    }
}
