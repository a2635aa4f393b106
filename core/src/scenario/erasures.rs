//! Erasures from a model: which parameters belong together, and what follows from them.

use serde::Serialize;

use super::channel::Channel;
use super::land_mobile::LandMobileSpec;
use super::limit::Burst;
use crate::channel::{ChannelError, GilbertElliott};
use crate::config::Fault;
use crate::units::Probability;

/// A channel whose parameters have been checked and filled in.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "model", rename_all = "kebab-case")]
pub enum Erasures {
    /// Independent erasures.
    Bernoulli {
        /// Probability of an erasure.
        p: f64,
    },
    /// Erasures in bursts.
    GilbertElliott {
        /// Probability of staying good.
        alpha: f64,
        /// Probability of staying bad.
        beta: f64,
        /// Erasure probability while good.
        p_good: f64,
        /// Erasure probability while bad.
        p_bad: f64,
    },
    /// A land mobile satellite channel, which makes slots of its own.
    Lms(Box<LandMobileSpec>),
}

impl Channel {
    /// The share of erasures is all that independent erasures need.
    pub(super) fn bernoulli(&self, key: &str) -> Result<Erasures, Fault> {
        let foreign = [
            ("burst", self.burst.is_some()),
            ("alpha", self.alpha.is_some()),
            ("beta", self.beta.is_some()),
            ("p_good", self.p_good.is_some()),
            ("p_bad", self.p_bad.is_some()),
        ];
        if let Some((name, _)) = foreign.iter().find(|(_, given)| *given) {
            let cure = "belongs to model = \"gilbert-elliott\"; leave it out or change the model";
            return Err(Fault::of(key, name, cure));
        }
        let p = self.erasures.ok_or_else(|| {
            Fault::new(
                key,
                "missing key `erasures`: give the share of slots erased, e.g. erasures = 0.02",
            )
        })?;
        Ok(Erasures::Bernoulli { p: p.get() })
    }

    /// By `alpha` and `beta`, or by the share of erasures and the mean burst: with pi the share of
    /// bad slots, erasures = pi P_B + (1 - pi) P_G, and the mean stay in bad is 1 / (1 - beta).
    /// `slot_ns` turns a burst given as a time into slots (`None` on a trace, whose slots are not
    /// known yet).
    pub(super) fn gilbert_elliott(
        &self,
        key: &str,
        slot_ns: Option<u64>,
    ) -> Result<Erasures, Fault> {
        let p_good = self.p_good.map_or(0.0, Probability::get);
        let p_bad = self.p_bad.map_or(1.0, Probability::get);
        match (self.erasures, self.burst, self.alpha, self.beta) {
            (None, None, Some(alpha), Some(beta)) => {
                if alpha.get() == 1.0 && beta.get() == 1.0 {
                    return Err(Fault::of(
                        key,
                        "alpha",
                        "a chain with alpha = beta = 1 never moves; give less than 1 for one of them",
                    ));
                }
                Ok(Erasures::GilbertElliott { alpha: alpha.get(), beta: beta.get(), p_good, p_bad })
            }
            (Some(erasures), Some(burst), None, None) => {
                let slots = match (burst, slot_ns) {
                    (Burst::Slots(slots), _) => slots,
                    (Burst::Time(time), Some(slot_ns)) => time.as_nanos() as f64 / slot_ns as f64,
                    (Burst::Time(_), None) => {
                        return Err(Fault::of(
                            key,
                            "burst",
                            "on a trace, give the burst in slots, e.g. burst = 2.5",
                        ));
                    }
                };
                if slots < 1.0 {
                    return Err(Fault::of(
                        key,
                        "burst",
                        "is shorter than a slot; give a longer time",
                    ));
                }
                let chain = GilbertElliott::from_mean(erasures.get(), slots, p_good, p_bad);
                let chain = chain.map_err(|error| match error {
                    ChannelError::Unreachable { .. } => {
                        let message = format!(
                            "{erasures} is not between p_good = {p_good} and p_bad = {p_bad}; give a value between them"
                        );
                        Fault::of(key, "erasures", message)
                    }
                    ChannelError::Short { least, .. } => {
                        let message = format!("so many erasures need bursts of at least {least} slots");
                        Fault::of(key, "burst", message)
                    }
                    other => Fault::new(key, other.to_string()),
                })?;
                Ok(Erasures::GilbertElliott {
                    alpha: chain.alpha(),
                    beta: chain.beta(),
                    p_good,
                    p_bad,
                })
            }
            (None, None, None, None) => Err(Fault::new(
                key,
                "missing key `erasures`: give `erasures` and `burst`, e.g. erasures = 0.02, burst = 2, or `alpha` and `beta`",
            )),
            (Some(_), None, None, None) => Err(Fault::new(
                key,
                "missing key `burst`: give the mean burst in slots or as a time, e.g. burst = 2",
            )),
            (None, Some(_), None, None) => Err(Fault::new(
                key,
                "missing key `erasures`: give the share of slots erased, e.g. erasures = 0.02",
            )),
            (None, None, Some(_), None) => {
                Err(Fault::new(key, "missing key `beta`: alpha and beta come together"))
            }
            (None, None, None, Some(_)) => {
                Err(Fault::new(key, "missing key `alpha`: alpha and beta come together"))
            }
            (_, _, alpha, _) => {
                let name = if alpha.is_some() { "alpha" } else { "beta" };
                Err(Fault::of(
                    key,
                    name,
                    "give either `erasures` and `burst`, or `alpha` and `beta`, not both",
                ))
            }
        }
    }
}
