//! Results of the repair rounds of a block, by the number of missing LLDUs and the channel state.

use crate::scheme::Harq2;
use crate::scheme::law::ErasureCount;
use crate::scheme::law::{Chain, Setting};
use crate::scheme::law::{Transient, times};

/// Expected values for a block with a given number of LLDUs missing, by the state of its last slot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Future {
    /// Probability that a round makes it decodable.
    pub(crate) decoded: f64,
    /// Probability that none does: 1 - `decoded`, without losing digits.
    pub(crate) failed: f64,
    /// Expected repair LLDUs.
    pub(crate) units: f64,
    /// Expected rounds.
    pub(crate) rounds: f64,
    /// Expected rounds, each counted by 1 - rho^(its LLDUs).
    pub(crate) forgotten: f64,
    /// Expected rounds, of blocks that get decoded only.
    pub(crate) rounds_decoded: f64,
    /// Expected time from the last slot to the k-th arrival, of blocks that get decoded only.
    pub(crate) wait_ns: f64,
}

/// Expected values of blocks, by `missing - 1` and state.
pub(crate) struct Rounds {
    pub(crate) futures: Vec<[Future; 2]>,
}

/// A round of one block, from the state of the slot before the wait for feedback.
pub(crate) struct Round {
    pub(crate) slots: usize,
    /// Time from that slot to the round's last, ns.
    length_ns: f64,
    forgotten: f64,
    /// Slots from the round's first to the one that decodes, with the probability by that state.
    pub(crate) arrivals: Vec<(usize, [f64; 2])>,
    /// By that state: probability that this round decodes, and the expected wait if it does.
    decoded: [f64; 2],
    wait_ns: [f64; 2],
    /// By that state, `missing - 1` and the state of the round's last slot.
    pub(crate) short: [Vec<[f64; 2]>; 2],
}

impl Rounds {
    /// With `missing` LLDUs a round has `missing + N_S`; after it `erased - N_S` are missing, never
    /// more than before. So futures follow from those with less missing, and rounds of one LLDU
    /// more from those of one less.
    pub(crate) fn new(harq: &Harq2, chain: &Chain, setting: &Setting) -> Self {
        let data = harq.code.data();
        let levels = harq.max_rounds.get().map(|limit| limit as usize);
        // levels[r][missing - 1]: with r rounds left; without a limit there is one level.
        let given_up = Future { failed: 1.0, ..Future::default() };
        let depth = levels.unwrap_or(0);
        let mut futures = vec![Vec::with_capacity(data); depth + 1];
        for round in Sender::new(harq, chain, setting).take(data) {
            if levels.is_none() {
                let next = unlimited(&round, &futures[0]);
                futures[0].push(next);
                continue;
            }
            futures[0].push([given_up; 2]);
            for level in 1..=depth {
                let next = [0, 1].map(|state| round.future(state, &futures[level - 1]));
                futures[level].push(next);
            }
        }
        Self { futures: futures.swap_remove(depth) }
    }
}

/// The future if rounds go on until one decodes: some of them leave as much missing as before.
fn unlimited(round: &Round, fewer: &[[Future; 2]]) -> [Future; 2] {
    let most = fewer.len();
    let stay = [0, 1].map(|state| round.short[state][most]);
    let partly = [0, 1].map(|state| round.future(state, fewer));
    let leave = [0, 1].map(|state| {
        let falling: f64 = round.short[state][..most].iter().flatten().sum();
        round.decoded[state] + falling
    });
    let process = Transient { stay, leave };
    let sum = |gain: fn(&Future) -> f64| process.sum([gain(&partly[0]), gain(&partly[1])]);
    let decoded = sum(|future| future.decoded);
    // Rounds without effect delay the blocks that are decoded after them.
    let after =
        |state: usize, value: [f64; 2]| stay[state][0] * value[0] + stay[state][1] * value[1];
    let later = [0, 1].map(|state| after(state, decoded));
    let rounds_decoded =
        process.sum([0, 1].map(|state| partly[state].rounds_decoded + later[state]));
    let wait_ns =
        process.sum([0, 1].map(|state| partly[state].wait_ns + later[state] * round.length_ns));
    let (units, rounds) = (sum(|future| future.units), sum(|future| future.rounds));
    let forgotten = sum(|future| future.forgotten);
    // Unlimited rounds end in a decoded block, unless they never end.
    let failed = if process.ends() {
        sum(|future| future.failed)
    } else {
        decoded.map(|decoded| 1.0 - decoded.min(1.0))
    };
    [0, 1].map(|state| Future {
        decoded: decoded[state],
        failed: failed[state],
        units: units[state],
        rounds: rounds[state],
        forgotten: forgotten[state],
        rounds_decoded: rounds_decoded[state],
        wait_ns: wait_ns[state],
    })
}

impl Round {
    /// Expected values with this round, given those after it by the number of missing LLDUs. The
    /// case of as many missing as now, without a limit, is left out: the caller solves for it.
    fn future(&self, state: usize, after: &[[Future; 2]]) -> Future {
        let mut future = Future {
            decoded: self.decoded[state],
            failed: 0.0,
            units: self.slots as f64,
            rounds: 1.0,
            forgotten: self.forgotten,
            rounds_decoded: self.decoded[state],
            wait_ns: self.wait_ns[state],
        };
        let short = self.short[state].iter().flatten();
        for (&share, next) in short.zip(after.iter().flatten()) {
            future.decoded += share * next.decoded;
            future.failed += share * next.failed;
            future.units += times(share, next.units);
            future.rounds += times(share, next.rounds);
            future.forgotten += times(share, next.forgotten);
            future.rounds_decoded += share * (next.decoded + next.rounds_decoded);
            future.wait_ns += share * (next.decoded * self.length_ns + next.wait_ns);
        }
        future
    }
}

/// Rounds for one missing LLDU, for two, ...; at most as many as a block has data.
pub(crate) struct Sender {
    chain: Chain,
    extra: usize,
    /// Over the wait for feedback.
    transition: [[f64; 2]; 2],
    feedback_ns: f64,
    slot_ns: f64,
    /// Erasures so far, by the state of the first slot.
    counts: [ErasureCount; 2],
    slots: usize,
    /// Entry `missing - 1`: number of slots until `missing` have arrived, and its probability by
    /// the state of the first slot.
    arrivals: Vec<Vec<(usize, [f64; 2])>>,
    missing: usize,
}

impl Sender {
    pub(crate) fn new(harq: &Harq2, chain: &Chain, setting: &Setting) -> Self {
        let (data, extra) = (harq.code.data(), harq.extra as usize);
        let first = [[1.0, 0.0], [0.0, 1.0]];
        let mut arrivals = vec![Vec::new(); data];
        arrivals[0].push((0, chain.erasing().map(|erasing| 1.0 - erasing)));
        let mut sender = Self {
            chain: *chain,
            extra,
            transition: chain.transition_over(setting.feedback_slots()),
            feedback_ns: setting.feedback_ns(),
            slot_ns: setting.slot_ns(),
            counts: first.map(|first| ErasureCount::new(chain, first, data + extra)),
            slots: 1,
            arrivals,
            missing: 0,
        };
        (0..extra).for_each(|_| sender.one_more());
        sender
    }

    /// One slot more in every round, and what has arrived with it.
    fn one_more(&mut self) {
        let since = self.slots;
        self.slots += 1;
        for erased in 0..=self.extra.min(since) {
            // After `erased` erasures, an arrival in this slot is number `slots - erased`.
            if let Some(cell) = self.arrivals.get_mut(since - erased) {
                cell.push((since, [0, 1].map(|state| self.counts[state].arriving_next(erased))));
            }
        }
        self.counts.iter_mut().for_each(ErasureCount::step);
    }

    /// By the state before the wait for feedback, given by the state after it.
    fn before(&self, after: [f64; 2]) -> [f64; 2] {
        self.transition.map(|to| to[0] * after[0] + to[1] * after[1])
    }
}

impl Iterator for Sender {
    type Item = Round;

    fn next(&mut self) -> Option<Round> {
        self.missing += 1;
        if self.missing > self.arrivals.len() {
            return None;
        }
        if self.missing > 1 {
            self.one_more();
        }
        let (mut decoded, mut wait_ns) = ([0.0; 2], [0.0; 2]);
        let mut arrivals = std::mem::take(&mut self.arrivals[self.missing - 1]);
        for (since, share) in &mut arrivals {
            *share = self.before(*share);
            for state in 0..2 {
                decoded[state] += share[state];
                wait_ns[state] += share[state] * (self.feedback_ns + *since as f64 * self.slot_ns);
            }
        }
        let mut short = [Vec::with_capacity(self.missing), Vec::with_capacity(self.missing)];
        for erased in self.extra + 1..=self.slots {
            let [from_good, from_bad] = &self.counts;
            let good = self.before([from_good.good[erased], from_bad.good[erased]]);
            let bad = self.before([from_good.bad[erased], from_bad.bad[erased]]);
            for state in 0..2 {
                short[state].push([good[state], bad[state]]);
            }
        }
        Some(Round {
            slots: self.slots,
            length_ns: self.feedback_ns + (self.slots - 1) as f64 * self.slot_ns,
            forgotten: self.chain.forgotten_after(self.slots as u64),
            arrivals,
            decoded,
            wait_ns,
            short,
        })
    }
}
