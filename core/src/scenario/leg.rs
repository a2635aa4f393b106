//! Wired legs: `[access]` and the legs of `[[path]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::traces::{MakeError, Traces, varying};
use crate::config::Fault;
use crate::link::{Delays, QueueLimit, check_delays};
use crate::queue::Aqm;
use crate::simulation::{LegConfig, Loss};
use crate::units::{BitRate, Duration, Instant, Probability};

/// A wired leg: a drop-tail queue, a transmitter, random loss and a delay, in this order.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Leg {
    /// Serialisation rate. Without it, serialisation takes no time.
    pub rate: Option<BitRate>,
    /// One-way propagation delay. Default: 0.
    pub delay: Option<Duration>,
    /// Instead of `delay`, a delay that varies over time: a CSV file with columns `time_s` and
    /// `delay_ms`, as `clift constellation` writes it. The path is relative to the folder of the
    /// scenario file. Each delay holds until the next row.
    pub delays: Option<Delays>,
    /// With `delays`: a packet sent earlier never arrives later. If false, packets overtake one
    /// another when the delay decreases.
    pub keep_order: bool,
    /// The drop-tail queue before the transmitter.
    pub queue: QueueLimit,
    /// Queue management that drops or marks packets before the queue is full: "none", "codel",
    /// "fq-codel", "pie" or "dualpi2", with its parameters in parentheses.
    pub aqm: Aqm,
    /// Probability that a packet is lost after the transmitter.
    pub loss: Probability,
    /// Instead of `loss`, the numbers of the packets that are lost after the transmitter, e.g. `[3,
    /// 17]`. Packets that carry data are numbered from 0 in the order in which they leave the
    /// transmitter; SYNs and pure acknowledgements are not counted.
    pub lost_data: Vec<u64>,
    /// Packets with an additional delay, e.g. `[[5, "35 ms"]]`: the number as in `lost_data`, and
    /// the additional delay. Other packets may overtake them.
    pub held_data: Vec<(u64, Duration)>,
    /// Instead of `loss`, times in which all packets that leave the transmitter are lost, e.g.
    /// `[["20 s", "25 s"]]`: beginning and end of each, in order.
    pub outages: Vec<(Duration, Duration)>,
}

impl Leg {
    /// Checks that the leg carries something and that its keys do not contradict one another. `key`
    /// is the section that holds them.
    pub(super) fn check(&self, key: &str) -> Result<(), Fault> {
        check_delays(self.delay, self.delays.as_ref(), self.keep_order)
            .map_err(|fault| fault.within(key))?;
        if self.loss == Probability::ONE {
            return Err(Fault::of(key, "loss", "all packets are lost; give less than 1"));
        }
        self.check_outages(key)?;
        self.check_fates(key)
    }

    /// Checks that outages come one after the other, and stand alone.
    fn check_outages(&self, key: &str) -> Result<(), Fault> {
        let others = [
            ("loss", self.loss != Probability::ZERO),
            ("lost_data", !self.lost_data.is_empty()),
            ("held_data", !self.held_data.is_empty()),
        ];
        if let Some((name, _)) = others.into_iter().find(|(_, given)| *given)
            && !self.outages.is_empty()
        {
            let message = format!("excludes `{name}`; leave one of them out");
            return Err(Fault::of(key, "outages", message));
        }
        let mut end = Duration::ZERO;
        for &(from, to) in &self.outages {
            if from < end || to <= from {
                let message = format!(
                    "from {from} to {to}: give times in order, each with an end after its beginning"
                );
                return Err(Fault::of(key, "outages", message));
            }
            end = to;
        }
        Ok(())
    }

    /// Checks that each packet has one fate.
    fn check_fates(&self, key: &str) -> Result<(), Fault> {
        let fates = [("lost_data", self.lost_data.clone()), ("held_data", self.held())];
        for (name, mut numbers) in fates {
            if !numbers.is_empty() && self.loss != Probability::ZERO {
                let message = "excludes `loss`; give random losses or packet numbers, not both";
                return Err(Fault::of(key, name, message));
            }
            numbers.sort_unstable();
            if let Some(twice) = numbers.windows(2).find(|pair| pair[0] == pair[1]) {
                let message = format!("packet {} is listed twice; list it once", twice[0]);
                return Err(Fault::of(key, name, message));
            }
        }
        if let Some(both) = self.held().into_iter().find(|it| self.lost_data.contains(it)) {
            let message =
                format!("packet {both} is in `lost_data` and never arrives; leave it out");
            return Err(Fault::of(key, "held_data", message));
        }
        Ok(())
    }

    fn held(&self) -> Vec<u64> {
        self.held_data.iter().map(|&(number, _)| number).collect()
    }

    fn losses(&self) -> Loss {
        if self.loss != Probability::ZERO {
            return Loss::Random(self.loss);
        }
        if !self.outages.is_empty() {
            let at = |time| Instant::ZERO + time;
            let spans = self.outages.iter().map(|&(from, to)| (at(from), at(to)));
            return Loss::Outages(spans.collect());
        }
        if self.lost_data.is_empty() && self.held_data.is_empty() {
            return Loss::None;
        }
        let (mut lost, mut held) = (self.lost_data.clone(), self.held_data.clone());
        lost.sort_unstable();
        held.sort_unstable();
        Loss::Data { lost: lost.into(), held: held.into() }
    }

    /// The leg's configuration in the engine.
    pub(super) fn config(&self, traces: &dyn Traces) -> Result<LegConfig, MakeError> {
        let delay = varying(self.delays.as_ref(), self.keep_order, traces)?;
        Ok(LegConfig {
            rate: self.rate,
            delay: delay.unwrap_or(self.delay.unwrap_or_default().into()),
            queue: self.queue,
            aqm: self.aqm.clone(),
            loss: self.losses(),
        })
    }
}
