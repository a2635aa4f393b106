//! What a configuration says of a 3GPP link: its preset, and the keys that replace values of it.

use std::num::NonZeroU32;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{Fault, first_changed_key, flatten_variants, nearest, parts};
use crate::link::{Delays, Propagation, check_delays};
use crate::scheme::ntn::cell::CellOptions;
use crate::scheme::ntn::combining::Combining;
use crate::scheme::ntn::config::{
    Asking, ControlErrors, Handovers, HarqConfig, HarqMode, NtnConfig, NtnHeaders, NtnPhy,
    PdcpConfig, RlcConfig, UplinkConfig, nonzero,
};
use crate::scheme::ntn::preset::{PRESETS, Preset};
use crate::trace::PhyTrace;
use crate::units::{Bytes, Duration, Probabilities};

/// A 3GPP NR link, which runs with its traffic: HARQ, RLC and PDCP.
///
/// Keys that are not given come from the preset; timers suit the delays and HARQ of the link. It
/// takes the place of a scheme over a trace. A `[trace]` or `[channel]` beside it says what becomes
/// of the transport block (TB) in each slot; its LLDU is the TB.
#[derive(Clone, Debug, Default, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "Ntn", transform = flatten_variants, extend("additionalProperties" = false))]
pub struct NtnOptions {
    /// Where the link starts from, and its way there and back.
    #[serde(flatten)]
    pub path: NtnPath,
    /// How packets are cut into transport blocks and repaired above HARQ.
    #[serde(flatten)]
    pub rlc: RlcConfig,
    /// Random errors of transport blocks.
    #[serde(flatten)]
    pub blocks: NtnBlocks,
    /// How transport blocks are repeated.
    #[serde(flatten)]
    pub harq: HarqOptions,
    /// Which slots an uplink may use.
    #[serde(flatten)]
    pub uplink: UplinkOptions,
    /// Which terminals share the slots.
    #[serde(flatten)]
    pub cell: CellOptions,
    /// When the terminal changes its cell.
    #[serde(flatten)]
    pub mobility: MobilityOptions,
    /// How often grants and HARQ feedback go wrong.
    #[serde(flatten)]
    pub control: ControlErrors,
    /// In which order packets leave the link.
    #[serde(flatten)]
    pub pdcp: PdcpConfig,
    /// Bytes that carry no packet.
    #[serde(flatten)]
    pub headers: NtnHeaders,
}

parts!(NtnOptions { path, rlc, blocks, harq, uplink, cell, mobility, control, pdcp, headers });

/// The preset of a 3GPP link, and its delays where they are not the preset's.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct NtnPath {
    /// "nr-ntn-geo", "nr-ntn-leo600", "nr-ntn-leo1200" or "nr-terrestrial".
    #[schemars(extend("enum" = PRESETS.map(|preset| preset.name)))]
    pub preset: String,
    /// One-way delay, in both directions.
    pub delay: Option<Duration>,
    /// In its place delays that vary: a CSV file with columns `time_s` and `delay_ms`, as
    /// `clift constellation` writes them, relative to the folder of the scenario file. Each holds
    /// until the next; timers suit the longest.
    pub delays: Option<Delays>,
    /// One-way delay of the way back, of HARQ feedback and status reports; `delay` unless set.
    pub return_delay: Option<Duration>,
    /// In its place delays that vary, as `delays`.
    pub return_delays: Option<Delays>,
    /// With `delays`: blocks arrive in the order in which they were sent; true unless set.
    /// Otherwise they overtake one another where the path gets shorter.
    pub keep_order: Option<bool>,
}

impl Default for NtnPath {
    fn default() -> Self {
        Self {
            preset: PRESETS[0].name.to_owned(),
            delay: None,
            delays: None,
            return_delay: None,
            return_delays: None,
            keep_order: None,
        }
    }
}

/// The slots of a 3GPP link and random errors in them, where they are not the preset's.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct NtnBlocks {
    /// Length of a slot.
    pub slot: Option<Duration>,
    /// Size of a TB.
    pub tb: Option<Bytes>,
    /// Block error rate; or a list, one for each transmission of a TB given that all before it
    /// failed, the last of them for further ones too.
    pub bler: Option<Probabilities>,
    /// From the start of a slot to the decoded TB, without propagation.
    pub decoding: Option<Duration>,
}

/// HARQ, where it is not the preset's.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct HarqOptions {
    /// Whether there is HARQ feedback; without it only repetitions are sent again.
    pub harq_feedback: bool,
    /// HARQ processes.
    pub processes: Option<NonZeroU32>,
    /// How often HARQ sends a TB at most.
    pub max_transmissions: Option<NonZeroU32>,
    /// Consecutive slots of each transmission.
    pub repetitions: NonZeroU32,
    /// How the receiver combines the transmissions of a TB over a land mobile channel beside the
    /// link ("lms"), with the code of the channel. Unless set, each transmission meets the fate of
    /// its slot alone.
    pub combining: Option<Combining>,
    /// How many of the processes have no feedback; 0 unless set. A TB takes a free process with
    /// feedback if there is one.
    pub silent_processes: Option<u32>,
    /// From the decoded TB to the sender acting on its feedback, without propagation.
    pub processing: Option<Duration>,
    /// K_offset: the round trip that HARQ feedback and grants are timed for, that of the whole
    /// cell; 0 for none, the momentary round trip of this link. Unless set, the least whole
    /// milliseconds that cover the longest round trip, over a LEO preset also that of the preset;
    /// none with "nr-terrestrial".
    pub k_offset: Option<Duration>,
}

impl Default for HarqOptions {
    fn default() -> Self {
        Self {
            harq_feedback: true,
            processes: None,
            max_transmissions: None,
            repetitions: NonZeroU32::MIN,
            combining: None,
            silent_processes: None,
            processing: None,
            k_offset: None,
        }
    }
}

/// Which slots new data may use: those of a downlink, or of an uplink that needs grants.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct UplinkOptions {
    /// "always": new data may use every slot, as in a downlink; "requested": an uplink that sends
    /// scheduling requests and buffer status reports, and waits for grants; "configured": an uplink
    /// with a configured grant at intervals, and what is granted upon its reports.
    pub grants: GrantsBy,
    /// From one occasion for a scheduling request to the next (grants = "requested"); ten slots of
    /// the preset unless set.
    pub sr_period: Option<Duration>,
    /// How many TBs the answer to a scheduling request grants (grants = "requested"); 1 unless set.
    pub first_grant: Option<NonZeroU32>,
    /// From one configured grant to the next (grants = "configured"); ten slots of the preset
    /// unless set.
    pub cg_period: Option<Duration>,
    /// Whether TBs of an uplink carry buffer status reports; true unless set. Without them only
    /// requests or configured grants bring slots.
    pub buffer_status: Option<bool>,
    /// `retxBSR-Timer`: when the terminal asks again if data waits and a report brought no grant; a
    /// round trip unless set.
    pub retx_bsr: Option<Duration>,
}

/// Handovers of a 3GPP link; none unless set.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct MobilityOptions {
    /// Period of the handovers; the first is one period after the start.
    pub handover_every: Option<Duration>,
    /// From a handover until slots can be used again (with `handover_every`).
    pub interruption: Option<Duration>,
}

/// How an uplink comes by its grants.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GrantsBy {
    /// Every slot is granted.
    #[default]
    Always,
    /// The terminal asks for them.
    Requested,
    /// Some are configured, further ones are asked for in them.
    Configured,
}

impl MobilityOptions {
    fn handovers(self) -> Result<Option<Handovers>, Fault> {
        match (self.handover_every, self.interruption) {
            (Some(every), Some(interruption)) => Ok(Some(Handovers { every, interruption })),
            (None, None) => Ok(None),
            (Some(_), None) => {
                let cure = "without `interruption`; give the time without service, e.g. \"50 ms\"";
                Err(Fault::new("handover_every", cure))
            }
            (None, Some(_)) => {
                let cure =
                    "without `handover_every`; give the time between handovers, e.g. \"15 s\"";
                Err(Fault::new("interruption", cure))
            }
        }
    }
}

impl NtnOptions {
    /// Validates the link for any delays that vary; `traced`: a trace decides the fate of its
    /// blocks.
    ///
    /// # Errors
    /// The key that is wrong, and what to do.
    pub fn check(&self, traced: bool) -> Result<(), Fault> {
        let NtnPath { delay, delays, return_delay, return_delays, keep_order, .. } = &self.path;
        let varies = delays.as_ref().or(return_delays.as_ref());
        check_delays(*delay, delays.as_ref(), false)?;
        check_delays(None, varies, keep_order.is_some())?;
        if return_delay.is_some() && return_delays.is_some() {
            let cure = "`return_delay` and `return_delays` are alternatives; give one of them";
            return Err(Fault::new("return_delays", cure));
        }
        let link = self.over(None, delay.map(Into::into), return_delay.map(Into::into))?;
        link.check()?;
        if self.has_several() {
            self.cell.carrier(&link)?;
            if traced {
                return Err(CellOptions::traced());
            }
        }
        let harq = &self.harq;
        let always = self.uplink.grants == GrantsBy::Always;
        let of_feedback = [
            ("processes", harq.processes.is_some()),
            ("max_transmissions", harq.max_transmissions.is_some()),
            ("silent_processes", harq.silent_processes.is_some()),
            ("processing", harq.processing.is_some() && always),
            ("k_offset", harq.k_offset.is_some() && always),
        ];
        self.uplink.check()?;
        if !harq.harq_feedback {
            let cure = "is of HARQ feedback, which harq_feedback = false switches off; leave one of them out";
            Fault::refuse(of_feedback, cure)?;
        }
        if self.harq.combining.is_some() && !traced {
            return Err(Self::no_levels());
        }
        match first_changed_key(&self.blocks) {
            Some(name) if traced => {
                Err(Fault::new(&name, "the trace or channel beside it says that; leave it out"))
            }
            _ => Ok(()),
        }
    }

    /// Whether several terminals share its slots.
    pub(crate) fn has_several(&self) -> bool {
        self.cell.terminals > NonZeroU32::MIN
    }

    /// The fault of `combining` without mutual information of slots.
    pub(crate) fn no_levels() -> Fault {
        let cure = "needs a land mobile channel beside the link; give [channel] with model = \"lms\", or leave it out";
        Fault::new("combining", cure)
    }

    /// The link, over the slots of `phy` or with random errors, and over delays that are not the
    /// preset's: there, and back where that is not as long.
    ///
    /// # Errors
    /// If the name is unknown.
    pub fn over(
        &self,
        phy: Option<PhyTrace>,
        delay: Option<Propagation>,
        back: Option<Propagation>,
    ) -> Result<NtnConfig, Fault> {
        let preset = PRESETS.into_iter().find(|known| known.name == self.path.preset);
        let preset = preset.ok_or_else(|| {
            let names = PRESETS.map(|known| known.name);
            let hint = nearest(&self.path.preset, names.iter().copied())
                .map(|near| format!(" (did you mean {near}?)"))
                .unwrap_or_default();
            Fault::new("preset", format!("unknown; write one of {}{hint}", names.join(", ")))
        })?;
        let NtnBlocks { slot, tb, bler, decoding } = &self.blocks;
        let mut rlc = self.rlc;
        if let RlcConfig::Am(am) = &mut rlc {
            am.status_delay.get_or_insert(preset.slot);
        }
        let processing = self.harq.processing.unwrap_or(preset.slot * 4);
        let own_delay = || preset.rtt.half().into();
        let propagation = delay.clone().unwrap_or_else(own_delay);
        let way_back = back.or(delay).unwrap_or_else(own_delay);
        let k_offset = match self.harq.k_offset {
            Some(given) => Some(given).filter(|&given| given > Duration::ZERO),
            None => preset.k_offset(propagation.longest() + way_back.longest()),
        };
        Ok(NtnConfig {
            phy: match phy {
                Some(phy) => NtnPhy::Trace(Arc::new(phy)),
                None => NtnPhy::Random {
                    slot: slot.unwrap_or(preset.slot),
                    tb: tb.unwrap_or(preset.tb),
                    decode: decoding.unwrap_or(preset.slot * 2),
                    bler: match bler {
                        Some(rates) => rates.0.as_slice().into(),
                        None => Preset::bler(),
                    },
                },
            },
            combining: None,
            propagation,
            way_back,
            k_offset,
            harq: HarqConfig {
                mode: match self.harq.harq_feedback {
                    false => HarqMode::NoFeedback,
                    true => HarqMode::Feedback {
                        processes: self.harq.processes.unwrap_or(preset.processes),
                        silent: self.harq.silent_processes.unwrap_or(0),
                        max_transmissions: self
                            .harq
                            .max_transmissions
                            .unwrap_or(nonzero(Preset::TRANSMISSIONS)),
                        processing,
                    },
                },
                repetitions: self.harq.repetitions,
            },
            uplink: self.uplink.over(preset.slot, processing),
            handovers: self.mobility.handovers()?,
            control: self.control,
            rlc,
            pdcp: self.pdcp,
            headers: self.headers,
        })
    }
}

impl UplinkOptions {
    fn check(&self) -> Result<(), Fault> {
        let Self { grants, sr_period, first_grant, cg_period, buffer_status, retx_bsr } = self;
        let (asks, has_own) = (*grants == GrantsBy::Requested, *grants == GrantsBy::Configured);
        let keys = [
            ("sr_period", sr_period.is_some(), asks, "\"requested\""),
            ("first_grant", first_grant.is_some(), asks, "\"requested\""),
            ("cg_period", cg_period.is_some(), has_own, "\"configured\""),
            (
                "buffer_status",
                buffer_status.is_some(),
                asks || has_own,
                "\"requested\" or \"configured\"",
            ),
            ("retx_bsr", retx_bsr.is_some(), asks, "\"requested\""),
        ];
        match keys.iter().find(|(_, given, fits, _)| *given && !fits) {
            Some((name, .., with)) => {
                let cure = format!("is for grants = {with}; remove it, or change `grants`");
                Err(Fault::new(name, cure))
            }
            None => Ok(()),
        }
    }

    fn over(&self, slot: Duration, processing: Duration) -> Option<UplinkConfig> {
        let ten = slot * 10;
        let asking = match self.grants {
            GrantsBy::Always => return None,
            GrantsBy::Requested => Asking::Request {
                every: self.sr_period.unwrap_or(ten),
                blocks: self.first_grant.unwrap_or(NonZeroU32::MIN),
            },
            GrantsBy::Configured => Asking::Configured { every: self.cg_period.unwrap_or(ten) },
        };
        let buffer_status = self.buffer_status.unwrap_or(true);
        Some(UplinkConfig { asking, buffer_status, processing, retx_bsr: self.retx_bsr })
    }
}
