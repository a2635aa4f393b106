//! Adaptive-HARQ links in scenario files: the link, and the channel that is made for it.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::channel::{self, Channel};
use super::kinds::{LinkKind, Making};
use super::shared::Shared;
use super::traces::{Information, InformationSpec, SetupFault, varying};
use crate::channel::lms::{LandMobile, Preset};
use crate::config::{Fault, nearest, parts};
use crate::scheme::{AdaptiveHarqOptions, Medium, Sizing};
use crate::trace::MiTrace;
use crate::units::{Decibels, Duration};

/// A link that runs adaptive HARQ with its traffic (Tauran 2017): packets are code words, sent
/// again in part until they are decoded.
///
/// It takes the place of a scheme over a trace, and makes the land mobile channel that it lives on.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[schemars(extend("additionalProperties" = false))]
pub struct AdaptiveHarq {
    /// The channel.
    #[serde(flatten)]
    pub channel: HarqChannel,
    /// The link.
    #[serde(flatten)]
    pub link: AdaptiveHarqOptions,
}

parts!(AdaptiveHarq { channel, link });

/// The channel of an adaptive-HARQ link.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct HarqChannel {
    /// The land mobile channel, one of the papers; "its" is that of Tauran 2017.
    #[schemars(extend("enum" = Preset::ALL.map(|(name, _)| name)))]
    pub preset: String,
    /// Mean Es/N0 of the channel.
    pub snr: Decibels,
    /// A land mobile channel in the place of `preset` and `snr`, with the keys of `[channel]`.
    pub channel: Option<Box<Channel>>,
    /// Measured mutual information in memory, in the place of a channel.
    pub information: Option<PathBuf>,
    /// Length of the channel that is made; the duration of a run plus a minute unless set.
    pub length: Option<Duration>,
    /// Seed of the channel where it is to stay while `seed` changes.
    pub seed: Option<u64>,
    /// Draw the channel anew in each run, as is done unless this is false; otherwise all runs share
    /// it, and their interval allows for that.
    pub redraw: Option<bool>,
}

impl Default for HarqChannel {
    fn default() -> Self {
        Self {
            preset: Preset::Its.to_string(),
            snr: Decibels(13.0),
            channel: None,
            information: None,
            length: None,
            seed: None,
            redraw: None,
        }
    }
}

impl LinkKind for AdaptiveHarq {
    fn check(&self, _traced: bool, duration: Duration) -> Result<(), Fault> {
        let slot = self.channel.check()?;
        // What a channel that lets everything through would do: the real one is not made yet.
        let clear = MiTrace::new(slot, vec![1.0]).map_err(|error| Fault::at(error.to_string()))?;
        self.link.over(Arc::new(clear), 1.0, None)?;
        channel::length("", self.channel.length, duration, slot).map(drop)
    }

    fn medium(&self, making: &Making<'_>) -> Result<Arc<dyn Medium>, SetupFault> {
        let Information { trace, mean } = self.channel.information(making)?;
        // What the usual sizes take, and so less than any other that there may be.
        if self.link.targets.is_none() && mean * Sizing::MOST_RATIO < 1.0 {
            return Err(self.channel.too_little(mean).into());
        }
        let AdaptiveHarqOptions { delays, keep_order, .. } = &self.link;
        let delay = varying(delays.as_ref(), *keep_order, making.traces)?;
        Ok(Arc::new(self.link.over(trace, mean, delay)?))
    }

    fn shared(&self) -> Option<Shared> {
        match &self.channel {
            HarqChannel { information: Some(_), .. } => Some(Shared::Trace),
            HarqChannel { redraw, seed, .. } => {
                Shared::if_drawn_once(redraw.unwrap_or(true), *seed)
            }
        }
    }
}

impl HarqChannel {
    /// The mutual information over time.
    fn information(&self, making: &Making<'_>) -> Result<Information, SetupFault> {
        if let Some(name) = &self.information {
            return Ok(making.traces.held_information(name)?);
        }
        let redraw = self.redraw.unwrap_or(true);
        let (channel, esn0_db) = self.land_mobile()?;
        let seed = making.channel_seed(self.seed, redraw);
        let length = channel::length("", self.length, making.duration(), self.check()?)?;
        Ok(making.traces.information(&InformationSpec { channel, esn0_db, length, seed })?)
    }

    fn too_little(&self, mean: f64) -> Fault {
        let low =
            format!("mean mutual information of {mean:.2e} per coded bit is too little for a link");
        match (&self.information, &self.channel) {
            (Some(_), _) => Fault::new("information", format!("a {low}; measure more")),
            (_, Some(_)) => Fault::new("channel", format!("its {low}; give a better one")),
            _ => {
                let message =
                    format!("{} leaves the channel a {low}; give a higher level", self.snr);
                Fault::new("snr", message)
            }
        }
    }

    /// The channel and its Es/N0 in dB.
    fn land_mobile(&self) -> Result<(LandMobile, f64), Fault> {
        if let Some(channel) = &self.channel {
            return channel.land_mobile("channel");
        }
        let preset: Preset = self.preset.parse().map_err(|_| {
            let names = Preset::ALL.map(|(name, _)| name);
            let hint = nearest(&self.preset, names.iter().copied())
                .map(|near| format!(" (did you mean {near}?)"))
                .unwrap_or_default();
            let message = format!("unknown; write one of {}{hint}", names.join(", "));
            Fault::new("preset", message)
        })?;
        Ok((preset.channel(), self.snr.0))
    }

    /// That there is such a channel; its slot.
    fn check(&self) -> Result<Duration, Fault> {
        let usual = Self::default();
        let given = [("preset", self.preset != usual.preset), ("snr", self.snr.0 != usual.snr.0)];
        if let Some((name, _)) = given.iter().find(|(_, given)| *given)
            && (self.channel.is_some() || self.information.is_some())
        {
            let cure = "another key says what the channel is; leave one of them out";
            return Err(Fault::new(name, cure));
        }
        if self.channel.is_some() && self.information.is_some() {
            let cure = "`information` says what the channel is; leave one of them out";
            return Err(Fault::new("channel", cure));
        }
        let (channel, esn0_db) = self.land_mobile()?;
        if channel.check(esn0_db).is_err() {
            let message =
                format!("{} is out of range; give a level from -100 dB to 100 dB", self.snr);
            return Err(Fault::new("snr", message));
        }
        Ok(channel.slot)
    }
}
