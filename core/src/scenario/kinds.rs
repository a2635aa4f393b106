//! The sections of a link, and its kinds: the keys of each, the keys that it excludes, and how it is
//! made.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::adaptive_harq::AdaptiveHarq;
use super::channel::Channel;
use super::link::{Link, SlotLink};
use super::link_kind::{LinkKind, Making};
use super::phy::PlannedPhy;
use super::shared::Shared;
use super::traces::{InformationSpec, MakeError, SetupFault, varying};
use crate::channel::lms;
use crate::config::{Fault, first_changed_key, join};
use crate::link::Coding;
use crate::queue::Aqm;
use crate::scheme::carrier::{CarrierConfig, CarrierOptions};
use crate::scheme::ntn::{CellConfig, Decoder, NtnOptions, SoftCombining};
use crate::scheme::{HybridConfig, HybridOptions, LiveConfig, Medium, Scheme};
use crate::trace::TraceFile;
use crate::units::{Bytes, Duration};

/// The sections of a link: a trace or channel with a scheme, or a kind of link with its own
/// section.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Sections {
    /// A PHY trace from a file.
    pub trace: Option<TraceFile>,
    /// Erasures from a model, alone or on top of the trace.
    pub channel: Option<Channel>,
    /// A link trace in memory, instead of trace, channel and scheme: the result of a scheme on a
    /// PHY trace.
    pub link_trace: Option<PathBuf>,
    /// The link-layer reliability scheme: "none", "FEC(10/12)", "FEC(10/12, interleave 8)", "ARQ",
    /// "ARQ(max 3)", "HARQ(10/12)" or "HARQ(10/12, extra 1, rounds 2)". Default: "none".
    pub scheme: Option<Scheme>,
    /// The link: its round-trip time, its queue, and how packets are put onto LLDUs.
    pub link: Option<Link>,
    /// Erasure coding above the link: around the whole path, or in a hop of `[[path]]` from that hop
    /// on.
    pub coding: Option<Coding>,
    /// A live hybrid FEC/ARQ-SR link.
    pub hybrid: Option<HybridOptions>,
    /// A live 3GPP NR link.
    pub ntn: Option<NtnOptions>,
    /// A live adaptive-HARQ link.
    pub adaptive_harq: Option<AdaptiveHarq>,
    /// A carrier that terminals share.
    pub carrier: Option<CarrierOptions>,
}

impl Sections {
    /// The keys that are given.
    pub(super) fn given(&self) -> impl Iterator<Item = &'static str> {
        let slots = [
            ("trace", self.trace.is_some()),
            ("channel", self.channel.is_some()),
            ("link_trace", self.link_trace.is_some()),
            ("scheme", self.scheme.is_some()),
        ];
        let own = KINDS.iter().map(|row| (row.section, (row.given)(self).is_some()));
        let of_all = [("link", self.link.is_some()), ("coding", self.coding.is_some())];
        let keys = slots.into_iter().chain(own).chain(of_all);
        keys.filter(|(_, given)| *given).map(|(name, _)| name)
    }

    /// The first key that defines a link; `scheme`, `link` and `coding` only modify one.
    pub(super) fn makes_link(&self) -> Option<&'static str> {
        self.given().find(|name| !["scheme", "link", "coding"].contains(name))
    }

    /// The first key that provides slots.
    pub(super) fn slots(&self) -> Option<&'static str> {
        self.given().find(|name| ["trace", "channel"].contains(name))
    }
}

/// A kind of link with its own section: a row of the registry.
pub(super) struct OwnKind {
    /// The section.
    pub(super) section: &'static str,
    /// Reason why the link excludes a scheme.
    repairs: &'static str,
    /// What the link uses instead of LLDUs and a round-trip time.
    units: &'static str,
    /// Whether the header of each LLDU takes space in the link's units.
    header: bool,
    /// Reason why the link excludes a trace or channel; `None` if it allows one.
    channel: Option<&'static str>,
    /// Whether the link has a queue for each terminal, which excludes another than drop-tail.
    queues: fn(&Sections) -> bool,
    /// Whether packets leave it in order, so that a re-sequencing buffer behind it holds nothing.
    orders: fn(&Sections) -> bool,
    /// Whether it has only the fates of a channel's slots, and decodes in its own time.
    fates_only: bool,
    /// Returns the section, if it is given.
    given: fn(&Sections) -> Option<Arc<dyn LinkKind>>,
}

static KINDS: [OwnKind; 4] = [
    OwnKind {
        section: "hybrid",
        repairs: "is the scheme",
        units: "its own units and delay",
        header: false,
        channel: None,
        queues: |_| false,
        orders: |sections| sections.hybrid.as_ref().is_some_and(|hybrid| hybrid.in_order),
        fates_only: true,
        given: |sections| boxed(&sections.hybrid),
    },
    OwnKind {
        section: "ntn",
        repairs: "has its own retransmissions",
        units: "its own blocks and delay",
        header: true,
        channel: None,
        queues: |sections| sections.ntn.as_ref().is_some_and(NtnOptions::has_several),
        orders: |sections| sections.ntn.as_ref().is_some_and(|ntn| ntn.pdcp.in_order),
        fates_only: false,
        given: |sections| boxed(&sections.ntn),
    },
    OwnKind {
        section: "adaptive_harq",
        repairs: "has its own retransmissions",
        units: "no LLDUs and its own delay",
        header: false,
        channel: Some("makes its own channel from `preset` and `snr`"),
        queues: |_| false,
        orders: |_| false,
        fates_only: false,
        given: |sections| boxed(&sections.adaptive_harq),
    },
    OwnKind {
        section: "carrier",
        repairs: "has its own retransmissions",
        units: "its own slots and delay",
        header: false,
        channel: Some("makes the channels of its terminals from `loss` and `fades`"),
        queues: |_| true,
        orders: |_| false,
        fates_only: false,
        given: |sections| boxed(&sections.carrier),
    },
];

/// The sections of the kinds of links that have one.
pub(super) fn own_sections() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|row| row.section)
}

fn boxed<K: LinkKind + Clone + 'static>(section: &Option<K>) -> Option<Arc<dyn LinkKind>> {
    section.clone().map(|kind| Arc::new(kind) as Arc<dyn LinkKind>)
}

/// A kind of link and the name of its section.
type NamedKind = (&'static str, Arc<dyn LinkKind>);

/// Returns the kind of link that has its own section within the section `key`, if one is given.
pub(super) fn own_kind(
    key: &str,
    sections: &Sections,
    duration: Duration,
) -> Result<Option<NamedKind>, Fault> {
    let mut given = KINDS.iter().filter_map(|row| Some((row, (row.given)(sections)?)));
    let Some((row, kind)) = given.next() else { return Ok(None) };
    let own = row.section;
    if let Some((OwnKind { section, .. }, _)) = given.next() {
        let cure = format!("a link has one kind; leave [{section}] or [{own}] out");
        return Err(Fault::of(key, section, cure));
    }
    let slots = sections.slots();
    kind.check(slots.is_some(), duration).map_err(|fault| fault.within(own).within(key))?;
    if let (Some(why), Some(name)) = (row.channel, slots) {
        return Err(Fault::of(key, name, format!("[{own}] {why}; leave one of them out")));
    }
    if sections.scheme.as_ref().is_some_and(|scheme| *scheme != Scheme::None) {
        let cure = format!("[{own}] {}; leave one of them out", row.repairs);
        return Err(Fault::of(key, "scheme", cure));
    }
    let link = sections.link.as_ref().map_or_else(SlotLink::default, |link| link.slots.clone());
    let lldu_header = if row.header { Bytes(0) } else { link.lldu_header };
    if let Some(name) = first_changed_key(&SlotLink { lldu_header, ..link }) {
        let cure = format!("does not apply to [{own}], which has {}; leave it out", row.units);
        return Err(Fault::of(&join(key, "link"), &name, cure));
    }
    if let (true, Some(link)) = ((row.queues)(sections), &sections.link) {
        let usage = &link.usage;
        let given = [("aqm", usage.aqm != Aqm::None), ("reorder", usage.reorder.is_some())];
        let cure =
            format!("does not apply to [{own}], which has a queue for each terminal; leave it out");
        Fault::refuse(given, cure).map_err(|fault| fault.within(&join(key, "link")))?;
    }
    if let (true, Some(channel)) = (row.fates_only, &sections.channel) {
        channel.check_fates_only().map_err(|fault| fault.within("channel").within(key))?;
    }
    let buffer = sections.link.as_ref().is_some_and(|link| link.usage.reorder.is_some());
    if buffer && (row.orders)(sections) {
        let cure = format!(
            "[{own}] already has a re-sequencing buffer; leave it out, or set {own}.in_order = false"
        );
        return Err(Fault::of(&join(key, "link"), "reorder", cure));
    }
    Ok(Some((own, kind)))
}

/// A scheme over slots that runs beforehand, as if every slot were used.
#[derive(Clone, Debug)]
pub(super) struct OpenLoop(pub(super) Scheme);

impl LinkKind for OpenLoop {
    fn medium(&self, making: &Making<'_>) -> Result<Arc<dyn Medium>, SetupFault> {
        let spec = making.spec().ok_or_else(nothing)?;
        let slots = &making.link.slots;
        // Only a trace from a file can have a measured delay.
        let asked = slots.rtt.is_none_or(|rtt| rtt == Duration::ZERO) && spec.trace.is_some();
        let asked = asked.then(|| making.traces.phy(&spec)).transpose()?;
        let timing = making.timing(asked.as_ref())?;
        Ok(making.traces.link_trace(&spec, &self.0, timing)?)
    }
}

/// A scheme over slots that runs with the traffic.
#[derive(Clone, Debug)]
pub(super) struct LiveScheme {
    pub(super) scheme: Scheme,
    /// The PHY trace of the return path, if one decides which reports are lost.
    pub(super) reports: Option<PlannedPhy>,
}

impl LinkKind for LiveScheme {
    fn shared(&self) -> Option<Shared> {
        self.reports.as_ref().and_then(Shared::of)
    }

    fn medium(&self, making: &Making<'_>) -> Result<Arc<dyn Medium>, SetupFault> {
        let Making { link, traces, seeds, .. } = *making;
        let reports = self.reports.as_ref();
        let spec = |back: &PlannedPhy| back.spec(|own| seeds.feedback(own.seed, own.redraw));
        let reports = reports.map(|back| traces.phy(&spec(back))).transpose()?;
        let slots = making.phy()?.ok_or_else(nothing)?;
        if reports.as_ref().is_some_and(|back| back.period() == Duration::ZERO) {
            let name = link.reports.given().unwrap_or("feedback_trace");
            let cure = "has one slot, and so no period to repeat with; give two slots or more";
            return Err(Fault::of("link", name, cure).into());
        }
        let options = link.live.clone();
        let timing = making.timing(Some(&slots))?;
        let live = LiveConfig::new(slots, self.scheme.clone(), timing);
        Ok(Arc::new(LiveConfig { options, reports, ..live }))
    }
}

fn nothing() -> SetupFault {
    MakeError::Nothing.into()
}

/// A link trace given in memory.
#[derive(Clone, Debug)]
pub(super) struct GivenLinkTrace(pub(super) PathBuf);

impl LinkKind for GivenLinkTrace {
    fn shared(&self) -> Option<Shared> {
        Some(Shared::Trace)
    }

    fn medium(&self, making: &Making<'_>) -> Result<Arc<dyn Medium>, SetupFault> {
        Ok(making.traces.held_link(&self.0)?)
    }
}

impl LinkKind for HybridOptions {
    fn check(&self, traced: bool, _: Duration) -> Result<(), Fault> {
        self.check()?;
        if !traced {
            return Ok(());
        }
        let given = [("loss", self.loss.is_some()), ("seed", self.seed != Self::default().seed)];
        Fault::refuse(given, "the trace or channel already says which units are lost; leave it out")
    }

    fn medium(&self, making: &Making<'_>) -> Result<Arc<dyn Medium>, SetupFault> {
        let losses = making.phy()?.map(Arc::new);
        Ok(Arc::new(HybridConfig { options: self.clone(), losses }))
    }
}

impl LinkKind for CarrierOptions {
    fn check(&self, _: bool, _: Duration) -> Result<(), Fault> {
        self.check()
    }

    fn medium(&self, making: &Making<'_>) -> Result<Arc<dyn Medium>, SetupFault> {
        let terminals = Arc::clone(making.terminals);
        Ok(Arc::new(CarrierConfig { options: self.clone(), terminals }))
    }
}

impl Decoder for lms::Decoder {
    fn information(&self, esn0: f64) -> f64 {
        self.information(esn0)
    }

    fn esn0(&self, information: f64) -> f64 {
        self.esn0(information)
    }

    fn bler(&self, information: f64) -> f64 {
        self.per(information)
    }
}

impl LinkKind for NtnOptions {
    fn check(&self, traced: bool, _: Duration) -> Result<(), Fault> {
        self.check(traced)
    }

    fn medium(&self, making: &Making<'_>) -> Result<Arc<dyn Medium>, SetupFault> {
        let phy = making.phy()?;
        let path = &self.path;
        let keep_order = path.keep_order.unwrap_or(true);
        let there = varying(path.delays.as_ref(), keep_order, making.traces)?;
        let back = varying(path.return_delays.as_ref(), keep_order, making.traces)?;
        let there = there.or(path.delay.map(Into::into));
        let back = back.or(path.return_delay.map(Into::into));
        let mut config = self.over(phy, there, back)?;
        if let Some(rule) = self.harq.combining {
            let spec = making.spec().ok_or_else(nothing)?;
            let (channel, esn0_db) = spec
                .channel
                .and_then(|own| own.land_mobile().ok())
                .ok_or_else(NtnOptions::no_levels)?;
            let slots = spec.slots.unwrap_or_default();
            let length = Duration::from_nanos(channel.slot.as_nanos().saturating_mul(slots));
            let decoder = Arc::new(lms::Decoder::new(&channel.receiver));
            let spec = InformationSpec { channel, esn0_db, length, seed: spec.seed };
            let information = making.traces.information(&spec)?.trace;
            config.combining = Some(SoftCombining { rule, information, decoder });
        }
        config.check()?;
        if self.has_several() {
            let (options, flows) = (self.cell.clone(), Arc::clone(making.terminals));
            return Ok(Arc::new(CellConfig { link: config, options, flows }));
        }
        Ok(Arc::new(config))
    }
}
