//! Round robin.

use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CarrierOptions, Scheduler, SchedulerParameters, Terminals};

/// Each slot goes to the next terminal with data, in turn. The scheduler knows all queues at once, as
/// a gateway does on its forward carrier.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct RoundRobin {}

impl SchedulerParameters for RoundRobin {
    fn build(&self, _: &CarrierOptions, _: ChaCha8Rng) -> Box<dyn Scheduler> {
        Box::new(Turn { next: 0 })
    }
}

#[derive(Debug)]
struct Turn {
    next: usize,
}

impl Scheduler for Turn {
    fn assign(&mut self, _: u64, terminals: &Terminals, plan: &mut [Option<u32>]) {
        if let Some(terminal) = terminals.next_waiting(self.next) {
            plan[0] = Some(terminal as u32);
            self.next = terminal + 1;
        }
    }
}
