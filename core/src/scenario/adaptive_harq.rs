//! Adaptive-HARQ links in scenario files.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::channel::{self, Channel};
use super::delays::{self, Delays};
use super::link::Link;
use super::store::MakeError;
use super::traces::{Information, Traces};
use crate::channel::lms::{Options, Preset};
use crate::config::{Fault, join, nearest};
use crate::link::Propagation;
use crate::scheme::Scheme;
use crate::scheme::{AdaptiveHarqConfig, AdaptiveHarqError, Sizing, Threshold};
use crate::trace::MiTrace;
use crate::units::Decibels;
use crate::units::{BitRate, Duration, Probability};

/// A link that runs adaptive HARQ with its traffic (Tauran 2017): packets are code words, sent
/// again in part until they are decoded.
///
/// It takes the place of a scheme over a trace, and makes the land mobile channel that it lives on.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdaptiveHarq {
    /// The land mobile channel, one of the papers; "its" is that of Tauran 2017.
    #[schemars(extend("enum" = Preset::ALL.map(|(name, _)| name)))]
    pub preset: String,
    /// Mean Es/N0 of the channel.
    pub snr: Decibels,
    /// A land mobile channel in the place of `preset` and `snr`, with the keys of `[channel]`.
    pub channel: Option<Box<Channel>>,
    /// Measured mutual information in memory, in the place of a channel.
    pub information: Option<PathBuf>,
    /// Rate of coded bits; it serialises the first attempt at each packet.
    pub rate: BitRate,
    /// Propagation delay, one way, in both directions; 80 ms unless set.
    pub delay: Option<Duration>,
    /// In its place delays that vary: a CSV file with columns `time_s` and `delay_ms`, as
    /// `clift constellation` writes them, relative to the folder of the scenario file. Each holds
    /// until the next.
    pub delays: Option<Delays>,
    /// With `delays`: what was decoded earlier never arrives later. Otherwise packets overtake one
    /// another where the path gets shorter.
    pub keep_order: bool,
    /// Coded bits per information bit of the first attempt, in units of the inverse of the
    /// channel's mean mutual information at this Es/N0; 1 unless set.
    pub first: Option<f64>,
    /// The same of each retransmission; 0.47 unless set.
    pub increment: Option<f64>,
    /// In the place of `first` and `increment`: the probabilities with which the first attempt and
    /// each retransmission are to bring what is still missing.
    pub targets: Option<Vec<Probability>>,
    /// Spread of the decoding threshold from packet to packet, relative to the packet; 0 is the
    /// physical limit.
    pub packet_sigma: f64,
    /// The same from attempt to attempt.
    pub attempt_sigma: f64,
    /// Whether retransmissions take time from other packets: "beside" (they don't, as in the
    /// paper's module) or "compete" (they do, and go before new packets).
    pub repairs: Repairs,
    /// Retransmissions of a packet before it is given up, at most 7.
    pub max_retx: u32,
    /// From an attempt to the next.
    pub step: Duration,
    /// Length of the channel that is made; the duration of a run plus a minute unless set.
    pub length: Option<Duration>,
    /// Seed of the channel where it is to stay while `seed` changes.
    pub seed: Option<u64>,
    /// Draw the channel anew in each run, as is done unless this is false; otherwise all runs share
    /// it, and their interval allows for that.
    pub redraw: Option<bool>,
}

/// Whether retransmissions of adaptive HARQ take time from other packets.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Repairs {
    /// They don't.
    #[default]
    Beside,
    /// They do, and go first.
    Compete,
}

impl From<Repairs> for crate::scheme::Repairs {
    fn from(repairs: Repairs) -> Self {
        match repairs {
            Repairs::Beside => Self::Beside,
            Repairs::Compete => Self::Compete,
        }
    }
}

impl Default for AdaptiveHarq {
    fn default() -> Self {
        let (max_retx, step) = AdaptiveHarqConfig::PAPER;
        let (_, Threshold { packet_sigma, attempt_sigma }) = AdaptiveHarqConfig::fitted(1.0);
        Self {
            preset: Preset::Its.to_string(),
            snr: Decibels(13.0),
            channel: None,
            information: None,
            rate: BitRate::from_bits_per_second(50_000_000).expect("above zero"),
            delay: None,
            delays: None,
            keep_order: false,
            first: None,
            increment: None,
            targets: None,
            packet_sigma,
            attempt_sigma,
            repairs: Repairs::Beside,
            max_retx,
            step,
            length: None,
            seed: None,
            redraw: None,
        }
    }
}

impl AdaptiveHarq {
    /// The delay one way.
    pub(super) fn propagation(&self, traces: &dyn Traces) -> Result<Propagation, MakeError> {
        let varying = delays::propagation(self.delays.as_ref(), self.keep_order, traces)?;
        let usual = || self.delay.unwrap_or(Duration::from_millis(80)).into();
        Ok(varying.unwrap_or_else(usual))
    }

    /// The link over a channel; `key` is the section it stands in.
    pub(super) fn config(
        &self,
        key: &str,
        channel: &Information,
        delay: Propagation,
    ) -> Result<AdaptiveHarqConfig, Fault> {
        let (information, mean) = (&channel.trace, channel.mean);
        let own = join(key, "adaptive_harq");
        let fault = |error| self.problem(&own, mean, error);
        // What the usual sizes take, and so less than any other that there may be.
        if self.targets.is_none() && mean * Sizing::MOST_RATIO < 1.0 {
            let low = format!(
                "mean mutual information of {mean:.2e} per coded bit is too little for a link"
            );
            return Err(match (&self.information, &self.channel) {
                (Some(_), _) => Fault::of(&own, "information", format!("a {low}; measure more")),
                (_, Some(_)) => Fault::of(&own, "channel", format!("its {low}; give a better one")),
                _ => {
                    let level = self.snr;
                    let message =
                        format!("{level} leaves the channel a {low}; give a higher level");
                    Fault::of(&own, "snr", message)
                }
            });
        }
        let sizing = match &self.targets {
            Some(targets) => Sizing::for_targets(information, targets).map_err(fault)?,
            None => self.fixed(mean),
        };
        let config = self.over(Arc::clone(information), sizing, delay);
        config.check().map_err(fault)?;
        Ok(config)
    }

    /// Fixed sizes at a channel's mean mutual information.
    fn fixed(&self, mean: f64) -> Sizing {
        let (mut sizing, _) = AdaptiveHarqConfig::fitted(mean);
        if let Sizing::Fixed { first, increment } = &mut sizing {
            *first = self.first.map_or(*first, |own| own / mean);
            *increment = self.increment.map_or(*increment, |own| own / mean);
        }
        sizing
    }

    fn over(
        &self,
        information: Arc<MiTrace>,
        sizing: Sizing,
        delay: Propagation,
    ) -> AdaptiveHarqConfig {
        AdaptiveHarqConfig {
            information,
            rate: self.rate,
            delay,
            sizing,
            max_retransmissions: self.max_retx,
            step: self.step,
            repairs: self.repairs.into(),
            threshold: Threshold {
                packet_sigma: self.packet_sigma,
                attempt_sigma: self.attempt_sigma,
            },
            reorder: None,
        }
    }

    /// Length of the channel for runs of `duration`, if there can be such a link and nothing beside
    /// it contradicts it. `key` is the section it stands in, `beside` the name of a section there
    /// that says what becomes of packets, too.
    pub(super) fn check(
        &self,
        key: &str,
        scheme: Option<&Scheme>,
        link: &Link,
        beside: Option<&str>,
        duration: Duration,
    ) -> Result<Duration, Fault> {
        let own = join(key, "adaptive_harq");
        self.check_keys(&own)?;
        let slot = self.check_channel(&own)?;
        // What a channel that lets everything through would do: the real one is not made yet.
        let clear = MiTrace::new(slot, vec![1.0]).map_err(|e| Fault::new(&own, e.to_string()))?;
        self.config(
            key,
            &Information { trace: Arc::new(clear), mean: 1.0 },
            Duration::ZERO.into(),
        )?;
        if let Some(name) = beside {
            let cure =
                "[adaptive_harq] makes its channel from `preset` and `snr`; leave one of them out";
            return Err(Fault::of(key, name, cure));
        }
        if scheme.is_some_and(|scheme| *scheme != Scheme::None) {
            let cure = "[adaptive_harq] has its own retransmissions; leave one of them out";
            return Err(Fault::of(key, "scheme", cure));
        }
        if let Some(name) = link.of_slots().next() {
            let cure = "is not for [adaptive_harq], which has no LLDUs and a delay of its own; leave it out";
            return Err(Fault::of(&join(key, "link"), name, cure));
        }
        channel::length(&own, self.length, duration, slot)
    }

    /// Keys that contradict one another.
    fn check_keys(&self, own: &str) -> Result<(), Fault> {
        delays::check(own, self.delay, self.delays.as_ref(), self.keep_order)?;
        let sizes = [("first", self.first), ("increment", self.increment)];
        match sizes.iter().find(|(_, given)| given.is_some() && self.targets.is_some()) {
            Some((name, _)) => {
                let cure = "`targets` say how much is sent; leave one of them out";
                Err(Fault::of(own, name, cure))
            }
            None => Ok(()),
        }
    }

    /// The channel's preset.
    pub(super) fn preset(&self, own: &str) -> Result<Preset, Fault> {
        self.preset.parse().map_err(|_| {
            let names = Preset::ALL.map(|(name, _)| name);
            let hint = nearest(&self.preset, names.iter().copied())
                .map(|near| format!(" (did you mean {near}?)"))
                .unwrap_or_default();
            let message = format!("unknown; write one of {}{hint}", names.join(", "));
            Fault::of(own, "preset", message)
        })
    }

    /// The channel and its Es/N0 in dB.
    pub(super) fn channel(&self, own: &str) -> Result<(Options, f64), Fault> {
        match &self.channel {
            Some(channel) => channel.land_mobile_options(&join(own, "channel")),
            None => Ok((Options::of(self.preset(own)?), self.snr.0)),
        }
    }

    /// That there is such a channel; its slot.
    fn check_channel(&self, own: &str) -> Result<Duration, Fault> {
        let usual = Self::default();
        let given = [("preset", self.preset != usual.preset), ("snr", self.snr.0 != usual.snr.0)];
        if let Some((name, _)) = given.iter().find(|(_, given)| *given)
            && (self.channel.is_some() || self.information.is_some())
        {
            let cure = "another key says what the channel is; leave one of them out";
            return Err(Fault::of(own, name, cure));
        }
        if self.channel.is_some() && self.information.is_some() {
            let cure = "`information` says what the channel is; leave one of them out";
            return Err(Fault::of(own, "channel", cure));
        }
        let (options, esn0_db) = self.channel(own)?;
        let channel = options.channel().map_err(|error| Fault::new(own, error.to_string()))?;
        if channel.check(esn0_db).is_err() {
            let message =
                format!("{} is out of range; give a level from -100 dB to 100 dB", self.snr);
            return Err(Fault::of(own, "snr", message));
        }
        Ok(channel.slot)
    }

    /// The words of a scenario file for what the link says.
    fn problem(&self, own: &str, mean: f64, error: AdaptiveHarqError) -> Fault {
        match error {
            AdaptiveHarqError::Ratio { name } => {
                let most = mean * Sizing::MOST_RATIO;
                let cure = format!(
                    "give a number above 0 and at most {most}, which are 1000 coded bits per information bit"
                );
                Fault::of(own, name, cure)
            }
            AdaptiveHarqError::Retransmissions => {
                let most = AdaptiveHarqConfig::MOST_RETRANSMISSIONS;
                let message = format!("{} are too many; give 0 to {most}", self.max_retx);
                Fault::of(own, "max_retx", message)
            }
            AdaptiveHarqError::Sigma { name } => {
                let given =
                    if name == "packet_sigma" { self.packet_sigma } else { self.attempt_sigma };
                Fault::of(own, name, format!("{given} is out of range; give a number from 0 to 10"))
            }
            AdaptiveHarqError::Step => {
                let message =
                    format!("{} is out of range; give a time above 0 s to 1000 s", self.step);
                Fault::of(own, "step", message)
            }
            AdaptiveHarqError::Targets { given, attempts } => {
                let message = format!(
                    "{given} for {attempts} attempts; give one for each, or change max_retx"
                );
                Fault::of(own, "targets", message)
            }
            AdaptiveHarqError::Hopeless => {
                let cure =
                    "the channel lets next to nothing through that often; give lower probabilities";
                Fault::of(own, "targets", cure)
            }
        }
    }
}
