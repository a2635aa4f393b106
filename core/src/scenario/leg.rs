//! Wired legs: `[access]` and the legs of `[[path]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::store::MakeError;
use super::traces::{Traces, varying};
use crate::config::Fault;
use crate::link::{Delays, QueueLimit, check_delays};
use crate::simulation::{LegConfig, Loss};
use crate::units::{BitRate, Duration, Probability};

/// A wired leg: a drop-tail queue, a transmitter, random loss behind it, a delay.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Leg {
    /// Serialisation rate; without it packets take no time.
    pub rate: Option<BitRate>,
    /// Propagation delay, one way; 0 unless set.
    pub delay: Option<Duration>,
    /// In its place delays that vary: a CSV file with columns `time_s` and `delay_ms`, as
    /// `clift constellation` writes them, relative to the folder of the scenario file. Each holds
    /// until the next.
    pub delays: Option<Delays>,
    /// With `delays`: what was sent earlier never arrives later. Otherwise packets overtake one
    /// another where the path gets shorter.
    pub keep_order: bool,
    /// The drop-tail queue before the transmitter.
    pub queue: QueueLimit,
    /// Probability that a packet is lost behind the transmitter.
    pub loss: Probability,
}

impl Default for Leg {
    fn default() -> Self {
        Self {
            rate: None,
            delay: None,
            delays: None,
            keep_order: false,
            queue: QueueLimit::Unlimited,
            loss: Probability::ZERO,
        }
    }
}

impl Leg {
    /// That it carries something and its keys do not contradict one another; `key` is the section
    /// that they stand in.
    pub(super) fn check(&self, key: &str) -> Result<(), Fault> {
        check_delays(self.delay, self.delays.as_ref(), self.keep_order)
            .map_err(|fault| fault.within(key))?;
        if self.loss == Probability::ONE {
            return Err(Fault::of(key, "loss", "everything is lost; give less than 1"));
        }
        Ok(())
    }

    /// The leg of the engine.
    pub(super) fn config(&self, traces: &dyn Traces) -> Result<LegConfig, MakeError> {
        let delay = varying(self.delays.as_ref(), self.keep_order, traces)?;
        Ok(LegConfig {
            rate: self.rate,
            delay: delay.unwrap_or(self.delay.unwrap_or_default().into()),
            queue: self.queue,
            loss: if self.loss == Probability::ZERO { Loss::None } else { Loss::Random(self.loss) },
        })
    }
}
