//! Adaptive-HARQ links in scenario files: the link and its channel.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::channel::{self, Channel};
use super::link_kind::{LinkKind, Making};
use super::shared::Shared;
use super::traces::{Information, InformationSpec, SetupFault, varying};
use crate::channel::lms::{LandMobile, Preset};
use crate::config::{Fault, nearest, parts};
use crate::scheme::{AdaptiveHarqOptions, Medium, Sizing};
use crate::trace::MiTrace;
use crate::units::{Decibels, Duration};

/// A live link with adaptive HARQ (Tauran 2017): each packet is a code word, and parts of it are
/// retransmitted until it is decoded.
///
/// It replaces a scheme over a trace, and makes its own land mobile channel.
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
    /// Preset of the land mobile channel; "its" is that of Tauran 2017.
    #[schemars(extend("enum" = Preset::ALL.map(|(name, _)| name)))]
    pub preset: String,
    /// Mean Es/N0 of the channel.
    pub snr: Decibels,
    /// A land mobile channel instead of `preset` and `snr`, with the keys of `[channel]`.
    pub channel: Option<Box<Channel>>,
    /// Measured mutual information in memory, instead of a channel.
    pub information: Option<PathBuf>,
    /// Length of the channel that is made. Default: the duration of a run plus one minute.
    pub length: Option<Duration>,
    /// Seed of the channel, to keep the channel fixed while `seed` changes.
    pub seed: Option<u64>,
    /// Draw a new channel in each run (default). If false, all runs share one draw, and their
    /// confidence interval accounts for it.
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
        // Checked with an error-free channel, since the real one is not made yet.
        let clear = MiTrace::new(slot, vec![1.0]).map_err(|error| Fault::at(error.to_string()))?;
        self.link.over(Arc::new(clear), 1.0, None)?;
        channel::length("", self.channel.length, duration, slot).map(drop)
    }

    fn medium(&self, making: &Making<'_>) -> Result<Arc<dyn Medium>, SetupFault> {
        let Information { trace, mean } = self.channel.information(making)?;
        // The default sizes need the least mutual information; other sizes need at least as much.
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
        let length = channel::length("", self.length, making.duration, self.check()?)?;
        Ok(making.traces.information(&InformationSpec { channel, esn0_db, length, seed })?)
    }

    fn too_little(&self, mean: f64) -> Fault {
        let low =
            format!("mean mutual information of {mean:.2e} per coded bit is too low for a link");
        match (&self.information, &self.channel) {
            (Some(_), _) => {
                Fault::new("information", format!("a {low}; give a better measurement"))
            }
            (_, Some(_)) => Fault::new("channel", format!("a {low}; give a better channel")),
            _ => {
                let message =
                    format!("{} gives the channel a {low}; give a higher level", self.snr);
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
            let message = format!("unknown; use one of {}{hint}", names.join(", "));
            Fault::new("preset", message)
        })?;
        Ok((preset.channel(), self.snr.0))
    }

    /// Validates the channel and returns its slot duration.
    fn check(&self) -> Result<Duration, Fault> {
        let usual = Self::default();
        if self.channel.is_some() || self.information.is_some() {
            let own = [("preset", self.preset != usual.preset), ("snr", self.snr.0 != usual.snr.0)];
            let cure = "another key already defines the channel; leave one of them out";
            Fault::refuse(own, cure)?;
        }
        if self.channel.is_some() && self.information.is_some() {
            let cure = "`information` already defines the channel; leave one of them out";
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
