//! The `[channel]` section: which model erases slots, and its parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::Problem;
use super::limit::Burst;
use crate::units::{BitRate, Bytes, Duration, Probability};

/// Erasures from a model: slots of its own, or on top of a trace.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// The model: "bernoulli" (slots are erased independently) or "gilbert-elliott" (in bursts).
    pub model: Model,
    /// Share of slots that are erased.
    #[serde(default)]
    pub erasures: Option<Probability>,
    /// Gilbert-Elliott: mean stay in the bad state, in slots (2.5) or as a time ("200 ms"). With
    /// `p_bad = 1` this is the mean length of a burst of erasures.
    #[serde(default)]
    pub burst: Option<Burst>,
    /// Gilbert-Elliott: probability of staying in the good state from slot to slot; with `beta`,
    /// in place of `erasures` and `burst`.
    #[serde(default)]
    pub alpha: Option<Probability>,
    /// Gilbert-Elliott: probability of staying in the bad state from slot to slot.
    #[serde(default)]
    pub beta: Option<Probability>,
    /// Gilbert-Elliott: erasure probability in the good state; 0 unless set.
    #[serde(default)]
    pub p_good: Option<Probability>,
    /// Gilbert-Elliott: erasure probability in the bad state; 1 unless set.
    #[serde(default)]
    pub p_bad: Option<Probability>,
    /// Time from one slot to the next; or give `rate`.
    #[serde(default)]
    pub slot: Option<Duration>,
    /// Rate of the link: one LLDU a slot; or give `slot`.
    #[serde(default)]
    pub rate: Option<BitRate>,
    /// Payload of an LLDU; 33 bytes unless set.
    #[serde(default)]
    pub lldu: Option<Bytes>,
    /// From the start of a slot until its LLDU is decoded; 36 ms unless set.
    #[serde(default)]
    pub decoding: Option<Duration>,
    /// Length of the trace that is made; the duration of a run plus a minute unless set.
    #[serde(default)]
    pub length: Option<Duration>,
    /// Seed of the erasures where they are to stay while `seed` changes.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Draw the erasures anew in each run; otherwise all runs share them. True unless
    /// `link.start` is "random".
    #[serde(default)]
    pub redraw: Option<bool>,
}

/// A model of erasures.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Slots are erased independently.
    Bernoulli,
    /// A two-state Markov chain erases slots in bursts.
    GilbertElliott,
}

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
}

/// The slots of a channel that stands alone.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Slots {
    /// How many.
    pub slots: u64,
    /// Time from one to the next, ns.
    pub slot_ns: u64,
    /// Decoding time, ns.
    pub decode_ns: u64,
    /// Payload of an LLDU.
    pub lldu_bytes: u32,
}

impl Channel {
    const LLDU: Bytes = Bytes(33);
    const DECODING: Duration = Duration::from_millis(36);
    /// Bounds the memory that a typing error can ask for: 16 GB of columns.
    const MOST_SLOTS: u64 = 1_000_000_000;

    /// The slots of this channel standing alone, for runs of `duration`.
    pub(super) fn slots(&self, key: &str, duration: Duration) -> Result<Slots, Problem> {
        let lldu = self.lldu.unwrap_or(Self::LLDU);
        let slot = match (self.slot, self.rate) {
            (Some(slot), None) => slot,
            (None, Some(rate)) => rate.time_to_send(lldu),
            (Some(_), Some(_)) => {
                return Err(Problem::new(key, "rate", "`slot` and `rate` say the same; give one"));
            }
            (None, None) => {
                let cure = "missing key `slot`: give the time from slot to slot, e.g. slot = \"1003802 ns\", or the rate, e.g. rate = \"263 kbit/s\", or a [trace] to erase on";
                return Err(Problem::at(key, cure));
            }
        };
        if lldu.0 == 0 {
            return Err(Problem::new(
                key,
                "lldu",
                "an LLDU of 0 bytes carries nothing; give 1 B or more",
            ));
        }
        if slot == Duration::ZERO {
            let given = if self.slot.is_some() { "slot" } else { "rate" };
            return Err(Problem::new(
                key,
                given,
                "slots follow one another in 0 ns; give more time or a lower rate",
            ));
        }
        let decoding = self.decoding.unwrap_or(Self::DECODING);
        if decoding == Duration::ZERO {
            return Err(Problem::new(key, "decoding", "0 would mean erased; give 1 ns or more"));
        }
        let length = self.length.unwrap_or(duration + Duration::from_secs(60));
        let slots = length.as_nanos() / slot.as_nanos();
        if slots == 0 || slots > Self::MOST_SLOTS {
            let message = format!(
                "{length} hold {slots} slots of {slot}; give a length of 1 to {} slots",
                Self::MOST_SLOTS
            );
            return Err(Problem::new(key, "length", message));
        }
        Ok(Slots {
            slots,
            slot_ns: slot.as_nanos(),
            decode_ns: decoding.as_nanos(),
            lldu_bytes: lldu.0,
        })
    }

    /// Complains of keys that say what a trace says already.
    pub(super) fn check_on_trace(&self, key: &str) -> Result<(), Problem> {
        let given = [
            ("slot", self.slot.is_some()),
            ("rate", self.rate.is_some()),
            ("length", self.length.is_some()),
            ("decoding", self.decoding.is_some()),
            ("lldu", self.lldu.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(Problem::new(
                key,
                name,
                "the slots come from [trace], which this channel only erases; leave it out, or leave out [trace]",
            )),
            None => Ok(()),
        }
    }

    /// The model with its parameters filled in; `slot_ns` turns a burst given as a time into slots
    /// (`None` on a trace, whose slots are not known yet).
    pub(super) fn erasures(&self, key: &str, slot_ns: Option<u64>) -> Result<Erasures, Problem> {
        match self.model {
            Model::Bernoulli => self.bernoulli(key),
            Model::GilbertElliott => self.gilbert_elliott(key, slot_ns),
        }
    }

    fn bernoulli(&self, key: &str) -> Result<Erasures, Problem> {
        let foreign = [
            ("burst", self.burst.is_some()),
            ("alpha", self.alpha.is_some()),
            ("beta", self.beta.is_some()),
            ("p_good", self.p_good.is_some()),
            ("p_bad", self.p_bad.is_some()),
        ];
        if let Some((name, _)) = foreign.iter().find(|(_, given)| *given) {
            let cure = "belongs to model = \"gilbert-elliott\"; leave it out or change the model";
            return Err(Problem::new(key, name, cure));
        }
        let p = self.erasures.ok_or_else(|| {
            Problem::at(
                key,
                "missing key `erasures`: give the share of slots erased, e.g. erasures = 0.02",
            )
        })?;
        Ok(Erasures::Bernoulli { p: p.get() })
    }

    /// By `alpha` and `beta`, or by the share of erasures and the mean burst: with pi the share of
    /// bad slots, erasures = pi P_B + (1 - pi) P_G, and the mean stay in bad is 1 / (1 - beta).
    fn gilbert_elliott(&self, key: &str, slot_ns: Option<u64>) -> Result<Erasures, Problem> {
        let p_good = self.p_good.map_or(0.0, Probability::get);
        let p_bad = self.p_bad.map_or(1.0, Probability::get);
        match (self.erasures, self.burst, self.alpha, self.beta) {
            (None, None, Some(alpha), Some(beta)) => {
                if alpha.get() == 1.0 && beta.get() == 1.0 {
                    return Err(Problem::new(
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
                        return Err(Problem::new(
                            key,
                            "burst",
                            "on a trace, give the burst in slots, e.g. burst = 2.5",
                        ));
                    }
                };
                if slots < 1.0 {
                    return Err(Problem::new(
                        key,
                        "burst",
                        "is shorter than a slot; give a longer time",
                    ));
                }
                let share = (erasures.get() - p_good) / (p_bad - p_good);
                if !(0.0..1.0).contains(&share) {
                    let message = format!(
                        "{erasures} cannot be reached between p_good = {p_good} and p_bad = {p_bad}; give a value between them"
                    );
                    return Err(Problem::new(key, "erasures", message));
                }
                let leave_bad = 1.0 / slots;
                let leave_good = share / (1.0 - share) * leave_bad;
                if leave_good > 1.0 {
                    let message = format!(
                        "so many erasures need bursts of at least {} slots",
                        share / (1.0 - share)
                    );
                    return Err(Problem::new(key, "burst", message));
                }
                Ok(Erasures::GilbertElliott {
                    alpha: 1.0 - leave_good,
                    beta: 1.0 - leave_bad,
                    p_good,
                    p_bad,
                })
            }
            (None, None, None, None) => Err(Problem::at(
                key,
                "missing key `erasures`: give `erasures` and `burst`, e.g. erasures = 0.02, burst = 2, or `alpha` and `beta`",
            )),
            (Some(_), None, None, None) => Err(Problem::at(
                key,
                "missing key `burst`: give the mean burst in slots or as a time, e.g. burst = 2",
            )),
            (None, Some(_), None, None) => Err(Problem::at(
                key,
                "missing key `erasures`: give the share of slots erased, e.g. erasures = 0.02",
            )),
            (None, None, Some(_), None) => {
                Err(Problem::at(key, "missing key `beta`: alpha and beta come together"))
            }
            (None, None, None, Some(_)) => {
                Err(Problem::at(key, "missing key `alpha`: alpha and beta come together"))
            }
            (_, _, alpha, _) => {
                let name = if alpha.is_some() { "alpha" } else { "beta" };
                Err(Problem::new(
                    key,
                    name,
                    "give either `erasures` and `burst`, or `alpha` and `beta`, not both",
                ))
            }
        }
    }
}
