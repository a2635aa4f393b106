//! Schedulers assign the slots of a carrier to terminals.

mod demand;
mod own;
mod proportional_fair;
mod round_robin;

pub use demand::Demand;
pub use own::{MakeScheduler, SchedulerKind};
pub use proportional_fair::ProportionalFair;
pub use round_robin::RoundRobin;

use std::fmt::Debug;

use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::Serialize;

use super::config::CarrierOptions;
use super::terminals::Terminals;
use crate::config::{Fault, Own, list_built_in};
use crate::tagged;

/// A running scheduler. It assigns the slots of one frame after the other. A frame in which nothing
/// waits is left out, unless the scheduler is busy ([`Scheduler::is_busy`]).
pub trait Scheduler: Debug + Send {
    /// Slots of a frame, at least one; always the same.
    fn slots(&self) -> usize {
        1
    }

    /// Assigns the slots of a frame, at its start: `plan` has one entry for each slot, all `None`.
    fn assign(&mut self, frame: u64, terminals: &Terminals, plan: &mut [Option<u32>]);

    /// A slot carried bytes of a terminal.
    fn served(&mut self, _terminal: usize, _bytes: u32) {}

    /// Whether the frames have an effect on later ones although nothing waits.
    fn is_busy(&self, _frame: u64) -> bool {
        false
    }
}

/// Parameters of a scheduler.
pub trait SchedulerParameters {
    /// Checks the parameters for a carrier.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    fn check(&self, _carrier: &CarrierOptions) -> Result<(), Fault> {
        Ok(())
    }

    /// The scheduler; `rng` is for its own random draws.
    fn build(&self, carrier: &CarrierOptions, rng: ChaCha8Rng) -> Box<dyn Scheduler>;
}

/// The registry: one row for each scheduler.
macro_rules! schedulers {
    ($($name:literal => $kind:ident),+ $(,)?) => {
        /// Scheduler of a carrier: "round robin", "proportional fair" or "demand", or the name of
        /// a registered one.
        #[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
        #[serde(tag = "type")]
        #[schemars(rename = "Scheduler", transform = list_built_in)]
        #[allow(missing_docs)]
        pub enum SchedulerConfig {
            $(#[serde(rename = $name)] $kind($kind),)+
            /// A scheduler registered from outside the core.
            #[serde(untagged)]
            #[schemars(skip)]
            Own(Own<SchedulerKind>),
        }

        /// The names of the built-in schedulers.
        const NAMES: &[&str] = &[$($name),+];

        tagged!(SchedulerConfig by "type" or Own(Own<SchedulerKind>) { $($name => $kind($kind)),+ });

        impl SchedulerConfig {
            /// Its parameters.
            pub fn parameters(&self) -> &dyn SchedulerParameters {
                match self {
                    $(Self::$kind(own) => own,)+
                    Self::Own(own) => own,
                }
            }
        }
    };
}

schedulers! {
    "round robin" => RoundRobin,
    "proportional fair" => ProportionalFair,
    "demand" => Demand,
}

impl Default for SchedulerConfig {
    fn default() -> Self {
        Self::RoundRobin(RoundRobin {})
    }
}
