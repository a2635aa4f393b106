//! HARQ-II: a block, then rounds of repair LLDUs until it can be decoded.

use crate::scheme::law::Block;
use crate::scheme::law::times;
use crate::scheme::law::{Blocks, Chain, ModelError, Prediction, RecoveryDelays, Setting};
use crate::scheme::{BlockCode, Persistency};

mod delays;
mod rounds;

pub(crate) use rounds::Rounds;

/// Data LLDUs times rounds, and times extra repair LLDUs, at most: no input exhausts memory.
const MOST_ROUNDS: u64 = 1 << 20;
const MOST_EXTRA: u64 = 1 << 22;

/// Its parameters.
#[derive(Clone, Copy)]
pub(crate) struct Harq2 {
    pub(crate) code: BlockCode,
    pub(crate) extra: u32,
    pub(crate) limit: Persistency,
}

/// What happens to blocks, per block.
struct Outcome {
    /// Data LLDUs erased at first and recovered, and their waits in ns.
    recovered: f64,
    waits_ns: f64,
    lost: f64,
    /// Repair LLDUs and rounds.
    units: f64,
    rounds: f64,
    /// Expected number of rounds, each counted by 1 - rho^(its LLDUs): what the block after a round
    /// has forgotten of the slot before it.
    forgotten: f64,
}

impl Harq2 {
    pub(crate) fn new(code: BlockCode, extra: u32, limit: Persistency) -> Result<Self, ModelError> {
        let data = code.data() as u64;
        match limit {
            Persistency::AtMost(rounds) if u64::from(rounds) * data > MOST_ROUNDS => {
                Err(ModelError::Rounds { rounds, data: code.data() })
            }
            _ if u64::from(extra) * data > MOST_EXTRA => {
                Err(ModelError::Extra { extra, data: code.data() })
            }
            _ => Ok(Self { code, extra, limit }),
        }
    }

    pub(crate) fn predict(
        &self,
        chain: &Chain,
        setting: &Setting,
    ) -> Result<Prediction, ModelError> {
        let outcome = match setting.blocks {
            Blocks::Consecutive => self.outcome(chain, chain, setting, 1.0),
            Blocks::CutApart => self.cut_apart(chain, setting)?,
        };
        let data = self.code.data() as f64;
        let slots = self.code.total() as f64 + outcome.units;
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
        &self,
        chain: &Chain,
        setting: &Setting,
    ) -> Result<RecoveryDelays, ModelError> {
        match setting.blocks {
            Blocks::Consecutive => delays::law(self, chain, setting),
            Blocks::CutApart => Err(ModelError::CutApart),
        }
    }

    /// Blocks sent over `chain` in slots `stretch` times as long, repaired over `repairs`.
    fn outcome(&self, chain: &Chain, repairs: &Chain, setting: &Setting, stretch: f64) -> Outcome {
        let block = Block::new(chain, self.code);
        let rounds = Rounds::new(self, repairs, setting);
        let slot_ns = setting.slot_ns() * stretch;
        let mut outcome = Outcome {
            recovered: block.recovered,
            waits_ns: block.waits * slot_ns,
            lost: 0.0,
            units: 0.0,
            rounds: 0.0,
            forgotten: 0.0,
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
    /// many per slot of new data as a block has rounds per slot of its own. Taken as a Poisson
    /// process, rounds of L slots turn the correlation rho from slot to slot of a block into
    /// rho exp(-rate E[1 - rho^L]). How many rounds there are depends on that again.
    fn cut_apart(&self, chain: &Chain, setting: &Setting) -> Result<Outcome, ModelError> {
        if setting.feedback_slots().is_none() {
            return Err(ModelError::NoSlot);
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
