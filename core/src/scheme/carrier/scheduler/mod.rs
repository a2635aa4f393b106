//! Schedulers assign the slots of a carrier to terminals.

mod demand;
mod proportional_fair;
mod round_robin;

pub use demand::Demand;
pub use proportional_fair::ProportionalFair;
pub use round_robin::RoundRobin;

use std::fmt::Debug;

use schemars::JsonSchema;
use serde::Serialize;

use super::config::CarrierOptions;
use super::terminals::Terminals;
use crate::config::Fault;
use crate::tagged;

/// A running scheduler. It assigns the slots of one frame after the other. A frame in which nothing
/// waits is left out, unless the scheduler is busy ([`Scheduler::is_busy`]).
pub trait Scheduler: Debug + Send {
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

    /// Slots of a frame.
    fn slots(&self, _carrier: &CarrierOptions) -> u64 {
        1
    }

    /// The scheduler.
    fn build(&self, carrier: &CarrierOptions) -> Box<dyn Scheduler>;
}

/// The registry: one row for each scheduler.
macro_rules! schedulers {
    ($($name:literal => $kind:ident),+ $(,)?) => {
        /// Scheduler of a carrier: "round robin", "proportional fair" or "demand".
        #[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
        #[serde(tag = "type")]
        #[schemars(rename = "Scheduler")]
        #[allow(missing_docs)]
        pub enum SchedulerConfig {
            $(#[serde(rename = $name)] $kind($kind),)+
        }

        tagged!(SchedulerConfig by "type" { $($name => $kind($kind)),+ });

        impl SchedulerConfig {
            /// Its parameters.
            pub fn parameters(&self) -> &dyn SchedulerParameters {
                match self {
                    $(Self::$kind(own) => own,)+
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
