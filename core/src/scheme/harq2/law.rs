//! HARQ-II: a block, then rounds of repair LLDUs until it can be decoded.

use crate::config::Fault;
use crate::scheme::law::Block;
use crate::scheme::law::times;
use crate::scheme::law::{Blocks, Chain, Prediction, RecoveryDelays, Setting};
use crate::scheme::{Harq2, Printed};
use crate::units::{Duration, Limit};

mod delays;
mod rounds;

pub(crate) use rounds::Rounds;

/// Data LLDUs times rounds, and times extra repair LLDUs, at most: no input exhausts memory.
const MOST_ROUNDS: u64 = 1 << 20;
const MOST_EXTRA: u64 = 1 << 22;

/// Expected values per block.
#[derive(Default)]
struct Outcome {
    /// Data LLDUs erased at first and recovered, and their waits in ns.
    recovered: f64,
    waits_ns: f64,
    lost: f64,
    /// Repair LLDUs and rounds.
    units: f64,
    rounds: f64,
    /// Expected number of rounds, each weighted by 1 - rho^(its LLDUs): the share of the
    /// correlation with the slot before the round that is lost after it.
    forgotten: f64,
}

/// That its rounds can be followed.
pub(crate) fn check(harq: &Harq2) -> Result<(), Fault> {
    let data = harq.code.data();
    match harq.max_rounds {
        Limit::AtMost(rounds) if u64::from(rounds) * data as u64 > MOST_ROUNDS => {
            Err(Fault::at(format!(
                "{rounds} rounds of blocks of {data} data LLDUs are too many to follow; the most is \
                 2^20 / k, or give no limit"
            )))
        }
        _ if u64::from(harq.extra) * data as u64 > MOST_EXTRA => Err(Fault::at(format!(
            "{} extra repair LLDUs for blocks of {data} data LLDUs are too many to follow; \
                 the most is 2^22 / k",
            harq.extra
        ))),
        _ => Ok(()),
    }
}

pub(crate) fn predict(harq: &Harq2, chain: &Chain, setting: &Setting) -> Result<Prediction, Fault> {
    check(harq)?;
    let outcome = match setting.blocks {
        Blocks::Consecutive => harq.outcome(chain, chain, setting, 1.0),
        Blocks::CutApart => harq.cut_apart(chain, setting)?,
    };
    let data = harq.code.data() as f64;
    let slots = harq.code.total() as f64 + outcome.units;
    let delivered = data - outcome.lost;
    let mean = |of: f64| (of > 0.0).then(|| setting.delay_ms(outcome.waits_ns / of));
    Ok(Prediction {
        efficiency: delivered / slots,
        residual_loss: outcome.lost / data,
        coding_ratio: data / slots,
        transmissions: 1.0 + outcome.rounds,
        recovered: outcome.recovered / data,
        recovery_delay_ms: mean(outcome.recovered),
        mean_delay_ms: mean(delivered),
    })
}

pub(crate) fn delays(
    harq: &Harq2,
    chain: &Chain,
    setting: &Setting,
) -> Result<RecoveryDelays, Fault> {
    check(harq)?;
    match setting.blocks {
        Blocks::Consecutive => delays::law(harq, chain, setting),
        Blocks::CutApart => {
            let cure =
                "blocks that rounds cut apart have no law of delays; take consecutive blocks";
            Err(Fault::at(cure))
        }
    }
}

/// What Kuhn 2014 prints, eta_HARQ and d_HARQ, for any number of rounds. The sum of R_z goes to R,
/// a round after l erasures sends l LLDUs (equation 6; P_R has l + N_S), and delta and Delta are
/// those of the text.
pub(crate) fn printed(harq: &Harq2, chain: &Chain, setting: &Setting) -> Result<Printed, Fault> {
    check(harq)?;
    let (data, total) = (harq.code.data(), harq.code.total());
    let spare = total - data;
    // Without memory from a round to the next; from slot to slot of a round the chain has one.
    let independent = Setting { slot: Duration::ZERO, ..*setting };
    let rounds = Rounds::new(harq, chain, &independent);
    let block = chain.erasures(total);
    let (mut decoded, mut sent, mut repeats) = (0.0, total as f64, 0.0);
    decoded += block[..=spare].iter().sum::<f64>();
    for (share, [future, _]) in block[spare + 1..].iter().zip(&rounds.futures) {
        decoded += share * future.decoded;
        sent += times(*share, future.units);
        repeats += share * future.rounds_decoded;
    }
    let (erased_data, erased_repair) = (chain.erasures(data), chain.erasures(spare));
    let mut received = decoded * data as f64;
    for i in 1..data {
        let erased = data - i;
        for (lost, repair) in erased_repair.iter().enumerate() {
            if let Some(missing) = (erased + lost).checked_sub(spare + 1) {
                let failed = rounds.futures[missing][0].failed;
                received += erased_data[erased] * repair * failed * i as f64;
            }
        }
    }
    let block_ms = total as f64 * setting.slot_ns() / 1e6;
    Ok(Printed {
        efficiency: received / sent,
        delay_ms: block_ms + setting.rtt_ms() / 2.0 + repeats * setting.rtt_ms(),
    })
}

impl Harq2 {
    /// Blocks sent over `chain` in slots `stretch` times as long, repaired over `repairs`.
    fn outcome(&self, chain: &Chain, repairs: &Chain, setting: &Setting, stretch: f64) -> Outcome {
        let block = Block::new(chain, self.code);
        let rounds = Rounds::new(self, repairs, setting);
        let slot_ns = setting.slot_ns() * stretch;
        let mut outcome = Outcome {
            recovered: block.recovered,
            waits_ns: block.waits * slot_ns,
            ..Outcome::default()
        };
        for (short, future) in block.short.iter().flatten().zip(rounds.futures.iter().flatten()) {
            outcome.recovered += short.erased * future.decoded;
            outcome.waits_ns += short.waits * slot_ns * future.decoded;
            outcome.waits_ns += short.erased * future.wait_ns;
            outcome.lost += short.erased * future.failed;
            outcome.units += times(short.probability, future.units);
            outcome.rounds += times(short.probability, future.rounds);
            outcome.forgotten += times(short.probability, future.forgotten);
        }
        outcome
    }

    /// Blocks whose slots the rounds of other blocks come between.
    ///
    /// A round starts between two slots of a block with the probability that it is due then: as
    /// many per slot of new data as a block has rounds per slot. Taken as a Poisson
    /// process, rounds of L slots turn the correlation rho from slot to slot of a block into
    /// rho exp(-rate E[1 - rho^L]). How many rounds there are depends on that again.
    fn cut_apart(&self, chain: &Chain, setting: &Setting) -> Result<Outcome, Fault> {
        if setting.feedback_slots().is_none() {
            let cure = "slots of 0 ns must not be cut apart; \
                        give slot_ns of at least 1, or consecutive blocks";
            return Err(Fault::at(cure));
        }
        let total = self.code.total() as f64;
        let mut outcome = self.outcome(chain, chain, setting, 1.0);
        for _ in 0..20 {
            let kept = libm::exp(-outcome.forgotten / total);
            let cut = chain.forgetting(1.0 - chain.correlation() * kept);
            let stretch = 1.0 + outcome.units / total;
            let before = outcome.units;
            outcome = self.outcome(&cut, chain, setting, stretch);
            if !outcome.units.is_finite() || (outcome.units - before).abs() <= 1e-13 * before {
                break;
            }
        }
        Ok(outcome)
    }
}
