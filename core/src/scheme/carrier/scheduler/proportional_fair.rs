//! Proportional fair.

use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CarrierOptions, Scheduler, SchedulerParameters, Terminals};
use crate::config::Fault;
use crate::units::Duration;

/// Each slot goes to the terminal with data whose slot carries most, divided by its mean rate so far
/// (Jalali, Padovani and Pankaj 2000): a terminal in a fade waits for better times, unless it has
/// had less than others. The scheduler knows all queues and channels at once.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct ProportionalFair {
    /// Proportional fair: time constant of the mean rate.
    pub memory: Duration,
}

impl Default for ProportionalFair {
    fn default() -> Self {
        Self { memory: Duration::from_secs(1) }
    }
}

impl SchedulerParameters for ProportionalFair {
    fn check(&self, carrier: &CarrierOptions) -> Result<(), Fault> {
        if self.memory < carrier.slot_time() {
            return Err(Fault::new("memory", "is shorter than a slot; give a longer time"));
        }
        Ok(())
    }

    fn build(&self, carrier: &CarrierOptions, _: ChaCha8Rng) -> Box<dyn Scheduler> {
        let slots = self.memory.as_secs_f64() / carrier.slot_time().as_secs_f64();
        Box::new(Means {
            means: vec![0.0; carrier.terminals as usize],
            weight: 1.0,
            growth: 1.0 / (1.0 - 1.0 / slots.max(2.0)),
            last: 0,
        })
    }
}

/// Mean rates with exponential memory. All of them decay alike from slot to slot; instead, the
/// weight of new bytes grows, which leaves their ratios as they are.
#[derive(Debug)]
struct Means {
    means: Vec<f64>,
    weight: f64,
    growth: f64,
    /// The slot up to which the weight has grown.
    last: u64,
}

/// All means are divided by the weight above this one.
const HEAVY: f64 = 1e100;

impl Scheduler for Means {
    fn assign(&mut self, slot: u64, terminals: &Terminals, plan: &mut [Option<u32>]) {
        self.weight *= libm::pow(self.growth, (slot - self.last) as f64);
        self.last = slot;
        if self.weight > HEAVY {
            // After a long pause the past has no weight left.
            self.means.iter_mut().for_each(|mean| *mean /= self.weight);
            self.weight = 1.0;
        }
        let mut best: Option<(f64, usize)> = None;
        for terminal in terminals.all_waiting() {
            let priority = f64::from(terminals.room(terminal)) / self.means[terminal];
            if best.is_none_or(|(most, _)| priority > most) {
                best = Some((priority, terminal));
            }
        }
        plan[0] = best.map(|(_, terminal)| terminal as u32);
    }

    fn served(&mut self, terminal: usize, bytes: u32) {
        self.means[terminal] += f64::from(bytes) * self.weight;
    }
}
