//! The kinds of links: what each has in a scenario, what contradicts it, and how it is made.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::cell::Cell;
use super::link::SlotLink;
use super::path::Sections;
use super::plan::{PlannedLink, PlannedPhy};
use super::shared::Shared;
use super::spec::PhySpec;
use super::traces::{SetupFault, Traces, varying};
use crate::config::{Fault, first_changed_key, join};
use crate::scheme::nr::NtnOptions;
use crate::scheme::{HybridConfig, HybridOptions, LiveConfig, Medium, Scheme, Timing};
use crate::trace::PhyTrace;
use crate::units::{Bytes, Duration};

/// A kind of link, described: what it is made from, once the traces that it needs are there.
pub trait LinkKind: fmt::Debug + Send + Sync {
    /// That there can be such a link for runs of `duration`; `traced`: a trace or channel beside it
    /// says what becomes of what it sends.
    ///
    /// # Errors
    /// The key that is wrong, within its section.
    fn check(&self, _traced: bool, _duration: Duration) -> Result<(), Fault> {
        Ok(())
    }

    /// What carries the packets of the link; traces are asked for on the way.
    ///
    /// # Errors
    /// A trace that cannot be made, or a key, within its section, that does not go with the traces.
    fn medium(&self, making: &Making<'_>) -> Result<Arc<dyn Medium>, SetupFault>;

    /// What all runs have in common of it, beside the trace or channel under the link.
    fn shared(&self) -> Option<Shared> {
        None
    }
}

/// A kind of link with a section of its own: a row of the registry.
pub(super) struct OwnKind {
    /// Its section.
    pub(super) section: &'static str,
    /// Why there is no scheme beside it.
    repairs: &'static str,
    /// What it has in the place of LLDUs and a round-trip time.
    units: &'static str,
    /// Whether a header of each LLDU takes room in its units.
    header: bool,
    /// Why there is no trace or channel beside it, if there is none.
    channel: Option<&'static str>,
    /// The section, if it is given.
    given: fn(&Sections) -> Option<Arc<dyn LinkKind>>,
}

static KINDS: [OwnKind; 3] = [
    OwnKind {
        section: "hybrid",
        repairs: "is the scheme",
        units: "units and a delay of its own",
        header: false,
        channel: None,
        given: |sections| boxed(&sections.hybrid),
    },
    OwnKind {
        section: "ntn",
        repairs: "has its own retransmissions",
        units: "blocks and a delay of its own",
        header: true,
        channel: None,
        given: |sections| boxed(&sections.ntn),
    },
    OwnKind {
        section: "adaptive_harq",
        repairs: "has its own retransmissions",
        units: "no LLDUs and a delay of its own",
        header: false,
        channel: Some("makes its channel from `preset` and `snr`"),
        given: |sections| boxed(&sections.adaptive_harq),
    },
];

fn boxed<K: LinkKind + Clone + 'static>(section: &Option<K>) -> Option<Arc<dyn LinkKind>> {
    section.clone().map(|kind| Arc::new(kind) as Arc<dyn LinkKind>)
}

/// A kind of link with the name of its section.
type Named = (&'static str, Arc<dyn LinkKind>);

/// The kind of link with a section of its own, if there is one in the section `key`.
pub(super) fn own_kind(
    key: &str,
    sections: &Sections,
    duration: Duration,
) -> Result<Option<Named>, Fault> {
    let mut given = KINDS.iter().filter_map(|row| Some((row, (row.given)(sections)?)));
    let Some((row, kind)) = given.next() else { return Ok(None) };
    let own = row.section;
    if let Some((OwnKind { section, .. }, _)) = given.next() {
        let cure = format!("a link is of one kind; leave [{section}] or [{own}] out");
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
        let cure = format!("is not for [{own}], which has {}; leave it out", row.units);
        return Err(Fault::of(&join(key, "link"), &name, cure));
    }
    Ok(Some((own, kind)))
}

/// What a link is made with: its plan, and whoever makes its traces.
pub struct Making<'a> {
    /// The plan of the link.
    pub link: &'a PlannedLink,
    /// Who makes traces.
    pub traces: &'a dyn Traces,
    pub(super) cell: &'a Cell,
    /// Number of the link, forward links first.
    pub(super) index: usize,
    pub(super) replication: u32,
}

impl Making<'_> {
    /// The PHY trace under the link, if it has one.
    ///
    /// # Errors
    /// A trace that cannot be made.
    pub fn phy(&self) -> Result<Option<PhyTrace>, SetupFault> {
        Ok(self.spec().map(|spec| self.traces.phy(&spec)).transpose()?)
    }

    /// Which PHY trace that is.
    fn spec(&self) -> Option<PhySpec> {
        let phy = self.link.phy.as_ref();
        phy.map(|phy| self.cell.phy(self.index, phy, self.replication))
    }

    /// Duration of a run.
    pub fn duration(&self) -> Duration {
        self.cell.config.run.duration
    }

    /// The seed of a channel that the link makes for itself: the one given, or one that is drawn.
    pub fn channel_seed(&self, given: Option<u64>, redraw: bool) -> u64 {
        self.cell.channel_seed(self.index, given, redraw, self.replication)
    }

    /// The times that a scheme over the slots of `phy` knows. Where the delays of the way there stand
    /// in the trace and `[return]` gives that of the way back, reports take that one.
    fn timing(&self, slots: &SlotLink, phy: Option<&PhyTrace>) -> Result<Timing, Fault> {
        let measured = phy.and_then(|phy| phy.header().rtt);
        let timing = slots.timing(measured).map_err(|fault| fault.within("link"))?;
        let feedback = phy.and_then(|phy| self.cell.feedback_by_return(self.index, slots, phy));
        Ok(Timing { feedback: feedback.or(timing.feedback), ..timing })
    }
}

/// A scheme over slots: beforehand, as if every slot were used.
#[derive(Clone, Debug)]
pub(super) struct Open(pub(super) Scheme);

impl LinkKind for Open {
    fn medium(&self, making: &Making<'_>) -> Result<Arc<dyn Medium>, SetupFault> {
        let spec = making.spec().ok_or_else(nothing)?;
        let slots = &making.link.link.slots;
        // Only a file can say how long the way is.
        let asked = slots.rtt.is_none_or(|rtt| rtt == Duration::ZERO) && spec.trace.is_some();
        let asked = asked.then(|| making.traces.phy(&spec)).transpose()?;
        let timing = making.timing(slots, asked.as_ref())?;
        Ok(making.traces.link_trace(&spec, &self.0, timing)?)
    }
}

/// A scheme over slots that runs with the traffic.
#[derive(Clone, Debug)]
pub(super) struct Live {
    pub(super) scheme: Scheme,
    /// The PHY trace of the way back, if that is what loses its reports.
    pub(super) reports: Option<PlannedPhy>,
}

impl LinkKind for Live {
    fn shared(&self) -> Option<Shared> {
        self.reports.as_ref().and_then(Shared::of)
    }

    fn medium(&self, making: &Making<'_>) -> Result<Arc<dyn Medium>, SetupFault> {
        let Making { link: PlannedLink { link, .. }, traces, index, replication, .. } = *making;
        let reports = self.reports.as_ref();
        let spec = |back| making.cell.feedback(index, back, replication);
        let reports = reports.map(|back| traces.phy(&spec(back))).transpose()?;
        let slots = making.phy()?.ok_or_else(nothing)?;
        if reports.as_ref().is_some_and(|back| back.period() == Duration::ZERO) {
            let name = link.reports.given().unwrap_or("feedback_trace");
            let cure = "is of one slot, which has no period to repeat; give two slots or more";
            return Err(Fault::of("link", name, cure).into());
        }
        let options = link.live.clone();
        let timing = making.timing(&link.slots, Some(&slots))?;
        let live = LiveConfig::new(slots, self.scheme.clone(), timing);
        Ok(Arc::new(LiveConfig { options, reports, ..live }))
    }
}

fn nothing() -> SetupFault {
    super::store::MakeError::Nothing.into()
}

/// A link trace that is there.
#[derive(Clone, Debug)]
pub(super) struct Held(pub(super) PathBuf);

impl LinkKind for Held {
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
        if traced && self.loss.is_some() {
            let cure = "the trace or channel beside it says which units are lost; leave it out";
            return Err(Fault::new("loss", cure));
        }
        Ok(())
    }

    fn medium(&self, making: &Making<'_>) -> Result<Arc<dyn Medium>, SetupFault> {
        let losses = making.phy()?.map(Arc::new);
        Ok(Arc::new(HybridConfig { options: self.clone(), losses }))
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
        let config = self.over(phy, there, back)?;
        config.check()?;
        Ok(Arc::new(config))
    }
}
