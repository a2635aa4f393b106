//! One cell of a campaign: a configuration in which nothing varies except between replications.

use std::collections::BTreeSet;

use rand::Rng;

use super::config::Config;
use super::error::Origin;
use super::limit::Start;
use super::link::SlotLink;
use super::plan::{Plan, PlannedHop, PlannedLink, PlannedPhy, PlannedProxy};
use super::setup::fragmentation;
use super::spec::PhySpec;
use super::traces::{MakeError, SetupFault, Traces};
use super::traffic::Flow;
use crate::config::{Fault, join};
use crate::seed::{Seed, Stream};
use crate::trace::PhyTrace;
use crate::units::{Duration, counted};

/// A cell: its labels on the axes, its configuration and the resulting plan.
#[derive(Clone, Debug)]
pub struct Cell {
    pub(super) labels: Vec<(String, String)>,
    pub(super) config: Config,
    pub(super) plan: Plan,
    /// Dotted keys that the scenario gives, with their places.
    pub(super) origins: Vec<(String, Origin)>,
}

impl Cell {
    /// Axis and label, for each axis in order.
    pub fn labels(&self) -> &[(String, String)] {
        &self.labels
    }

    /// The configuration with every default filled in.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The configuration with the values that depend on other keys filled in: the options that
    /// TCP's profile decides, and whether a run ends with its last flow.
    pub fn settled(&self) -> Config {
        let mut config = self.config.clone();
        config.run.stop_when_done = Some(self.plan.stop_when_done);
        let traffic = &mut config.traffic;
        let flows = traffic.flow.iter_mut().map(|flow| &mut flow.transport);
        for transport in flows.chain([&mut traffic.transport]) {
            *transport = std::mem::take(transport).settled();
        }
        config
    }

    /// The hops and flows.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The seed of a replication: the scenario's own seed for the first one, a draw from (scenario
    /// seed, replication) for the others. It does not depend on the cell, so cells are compared
    /// under the same random draws.
    pub fn seed(&self, replication: u32) -> Seed {
        if replication == 0 {
            return Seed(self.config.run.seed);
        }
        Seed(Seed(self.config.run.seed).rng(Stream::Replication(replication)).next_u64())
    }

    /// The PHY trace under each link in a replication, forward links first; `None` for a link that
    /// draws its losses itself or uses another kind of trace.
    pub fn phy_traces(&self, replication: u32) -> Vec<Option<PhySpec>> {
        let links = self.plan.links().enumerate();
        links.map(|(index, link)| Some(self.phy(index, link.phy.as_ref()?, replication))).collect()
    }

    /// Lists, one line each: values that links took from their traces because the scenario leaves
    /// them out, values of traces that were not used because the scenario gives them, warnings of
    /// the import of a trace, and coupled congestion controls that have nothing to couple.
    ///
    /// # Errors
    /// If a trace cannot be made.
    pub fn taken(&self, traces: &dyn Traces) -> Result<Vec<String>, SetupFault> {
        let mut lines = Vec::new();
        for (index, link) in self.plan.links().enumerate() {
            if let Some(rtt) = self.measured_rtt(index, link, traces)? {
                let key = join(&link.key, "link.rtt");
                lines.push(format!("{key}: {rtt}, as the trace says"));
            }
            let file = link.phy.as_ref().filter(|phy| phy.trace.is_some());
            let Some(phy) = file else { continue };
            let phy = traces.phy(&self.phy(index, phy, 0))?;
            let measured = phy.header().rtt.filter(|rtt| rtt.as_nanos() > 0);
            if let (Some(given), Some(measured)) = (link.link.slots.rtt, measured)
                && link.section.is_empty()
                && given != measured
            {
                let key = join(&link.key, "link.rtt");
                lines.push(format!(
                    "{key}: {given} as given; the trace's measured {measured} is not used"
                ));
            }
            let there = phy.nominal_decoding();
            // A quarter, because the path may have other parts, such as a terrestrial one.
            if let (Some(given), Some(Duration::ZERO)) = (link.link.slots.rtt, phy.header().rtt)
                && link.section.is_empty()
                && given > Duration::ZERO
                && there + there + there + there >= given
            {
                let key = join(&link.key, "link.rtt");
                lines.push(format!(
                    "{key}: {given} as given, in addition to the one-way delays in the trace \
                     (median {there}): if they are of the same path, the delay counts twice, so set \
                     {key} to 0 ms"
                ));
            }
            lines.extend(self.of_the_way_back(index, link, &phy));
            lines.extend(self.padding(index, link, &phy));
            let key = join(&link.key, "trace");
            let warnings = &phy.header().notes.warnings;
            lines.extend(warnings.iter().map(|warning| format!("{key}: {warning}")));
        }
        lines.extend(self.uncoupled());
        Ok(lines)
    }

    /// Notes on coupled congestion controls of connections with one path.
    fn uncoupled(&self) -> BTreeSet<String> {
        let flows = self.plan.flows.iter().filter(|flow| flow.paths.is_none());
        let of_flow = |flow: &Flow| {
            let control = flow.transport.protocol().tcp()?.congestion;
            Some(("transport.congestion".to_owned(), control))
        };
        let proxies = self.plan.forward.iter().filter_map(|hop| match hop {
            PlannedHop::Proxy(PlannedProxy { key, config }) => {
                Some((join(key, "congestion"), config.congestion?))
            }
            _ => None,
        });
        let given = flows.filter_map(of_flow).chain(proxies);
        let uncoupled = given.filter(|(_, control)| control.is_coupled());
        let line = |(key, control)| {
            format!("{key}: {control} couples several `paths`; over one path it is newreno")
        };
        uncoupled.map(line).collect()
    }

    /// Time from a slot until its sender can act on its loss, if the trace under the link `index`
    /// contains one-way delays and `[return]` gives the return delay; else `None`.
    pub(super) fn feedback_by_return(
        &self,
        index: usize,
        slots: &SlotLink,
        phy: &PhyTrace,
    ) -> Option<Duration> {
        let only_link = index == 0
            && matches!(
                self.plan.forward[..],
                [PlannedHop::Link(_)] | [PlannedHop::Coding(_), PlannedHop::Link(_)]
            );
        let [PlannedHop::Leg(back)] = &self.plan.backward[..] else { return None };
        let told = !only_link || slots.feedback.is_some() || !there_in_delays(slots, phy);
        if told { None } else { Some(phy.nominal_decoding() + back.delay?) }
    }

    /// Notes on packets that leave more than a twentieth of their LLDUs empty.
    fn padding(&self, index: usize, link: &PlannedLink, phy: &PhyTrace) -> Vec<String> {
        let there = |hop: &&PlannedHop| matches!(hop, PlannedHop::Link(_));
        let backward = index >= self.plan.forward.iter().filter(there).count();
        if backward || !link.section.is_empty() {
            return Vec::new();
        }
        let flows = self.plan.flows.iter();
        let mut sizes: Vec<_> = flows.map(|flow| flow.transport.protocol().packet()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let fragmentation = fragmentation(&link.link).over(phy.header().loading).ok();
        let padded = sizes.into_iter().filter_map(|size| {
            let (lldus, share) = fragmentation?.padding(phy.lldu(), size).ok()?;
            let lldu = phy.lldu().0;
            (share > 0.05).then(|| {
                format!(
                    "{}: packets of {} bytes take {} of {lldu} bytes, of which {:.1} % is padding; \
                     with \"bytes\" packets share LLDUs",
                    join(&link.key, "link.packing"),
                    size.0,
                    counted(lldus, "LLDU", "LLDUs"),
                    100.0 * share
                )
            })
        });
        padded.collect()
    }

    /// Notes on the defaults for reports and acknowledgements over a trace of one-way delays.
    fn of_the_way_back(&self, index: usize, link: &PlannedLink, phy: &PhyTrace) -> Vec<String> {
        let (slots, there) = (&link.link.slots, phy.nominal_decoding());
        let mut lines = Vec::new();
        if !link.section.is_empty() || !there_in_delays(slots, phy) {
            return lines;
        }
        if slots.feedback.is_none() && self.feedback_by_return(index, slots, phy).is_none() {
            let (key, back) = (join(&link.key, "link.feedback"), there + there);
            lines.push(format!("{key}: {back}, twice the trace's median one-way delay"));
        }
        if index == 0 && matches!(self.plan.backward[..], [PlannedHop::WayBack(_)]) {
            lines.push(format!("return.delay: {there}, the trace's median one-way delay"));
        }
        lines
    }

    /// The round-trip time that a link takes from its trace.
    pub(super) fn measured_rtt(
        &self,
        index: usize,
        link: &PlannedLink,
        traces: &dyn Traces,
    ) -> Result<Option<Duration>, MakeError> {
        // A link with its own section has its own delay, and only a trace from a file can have a
        // measured one.
        let asks = link.section.is_empty() && link.link.slots.rtt.is_none();
        let phy = link.phy.as_ref().filter(|phy| asks && phy.trace.is_some());
        let phy = phy.map(|phy| traces.phy(&self.phy(index, phy, 0))).transpose()?;
        Ok(phy.and_then(|phy| phy.header().rtt))
    }

    pub(super) fn phy(&self, index: usize, phy: &PlannedPhy, replication: u32) -> PhySpec {
        phy.spec(|own| self.channel_seed(index, own.seed, own.redraw, replication))
    }

    /// The PHY trace that loses the reports of the link `index`; it has its own channel.
    pub(super) fn feedback(&self, index: usize, back: &PlannedPhy, replication: u32) -> PhySpec {
        back.spec(|own| {
            let drawn = || {
                let shared = Seed(self.shared_seed(own.redraw, replication));
                let (seed, number) = match self.of_name(index, shared) {
                    Some(seed) => (seed, 0),
                    None => (shared, index as u32),
                };
                seed.rng(Stream::FeedbackChannel(number)).next_u64()
            };
            own.seed.unwrap_or_else(drawn)
        })
    }

    /// The seed of the channel of the link `index`; each link has its own channel.
    pub(super) fn channel_seed(
        &self,
        index: usize,
        given: Option<u64>,
        redraw: bool,
        replication: u32,
    ) -> u64 {
        let base = given.unwrap_or_else(|| self.shared_seed(redraw, replication));
        match (self.of_name(index, Seed(base)), index) {
            (Some(seed), _) => seed.0,
            (None, 0) => base,
            (None, 1..) => Seed(base).rng(Stream::Channel(index as u32)).next_u64(),
        }
    }

    /// The seed that the link `index` has by its name, if it is a link of a network.
    fn of_name(&self, index: usize, seed: Seed) -> Option<Seed> {
        let (name, direction) = self.plan.links().nth(index)?.named.as_ref()?;
        Some(seed.of_link(name, *direction))
    }

    /// The seed from which the seeds of channels are derived: that of the run, or that of the
    /// scenario.
    fn shared_seed(&self, redraw: bool, replication: u32) -> u64 {
        if redraw { self.seed(replication).0 } else { self.config.run.seed }
    }

    /// The trace time at which each link starts in a replication. `span` gives the first and the
    /// end time of each link's trace in ns, or `None` for a link without a trace.
    ///
    /// # Errors
    /// Fails if a link without a trace has a start or repeats, or if a trace is too short for a random start.
    pub(super) fn starts(
        &self,
        replication: u32,
        spans: &[Option<(u64, u64)>],
    ) -> Result<Vec<Duration>, Fault> {
        let own = Seed(self.config.run.seed);
        let mut rng = own.rng(Stream::Replication(replication));
        let _of_the_seed = rng.next_u64();
        let mut starts = Vec::new();
        for (link, &span) in self.plan.links().zip(spans) {
            // Every link takes a draw, so that fixing one start does not change another.
            let draw = match &link.named {
                None => rng.next_u64(),
                Some((name, direction)) => {
                    let seed = own.of_link(name, *direction);
                    seed.rng(Stream::Replication(replication)).next_u64()
                }
            };
            let usage = &link.link.usage;
            let Some(span) = span else {
                let given = [("start", usage.start != Start::default()), ("wrap", usage.wrap)];
                if let Some((name, _)) = given.into_iter().find(|(_, given)| *given) {
                    let message = "the link has no trace, whose time this is about; leave it out";
                    return Err(Fault::of(&join(&link.key, "link"), name, message));
                }
                starts.push(Duration::ZERO);
                continue;
            };
            starts.push(match usage.start {
                Start::At(time) => time,
                Start::Random => self.random_start(link, draw, span)?,
            });
        }
        Ok(starts)
    }

    fn random_start(
        &self,
        link: &PlannedLink,
        draw: u64,
        (first, end): (u64, u64),
    ) -> Result<Duration, Fault> {
        let length = end - first;
        let taken = if link.link.usage.wrap { 0 } else { self.config.run.duration.as_nanos() };
        let Some(room) = length.checked_sub(taken) else {
            let message = format!(
                "a run of {} does not fit into a trace of {} s; shorten the duration, lengthen the trace or set wrap = true",
                self.config.run.duration,
                length as f64 / 1e9
            );
            return Err(Fault::of(&link.key, "link.start", message));
        };
        let offset = (u128::from(draw) * u128::from(room)) >> 64;
        Ok(Duration::from_nanos(first + offset as u64))
    }
}

/// Whether the trace contains one-way delays, so that its round-trip time is 0.
fn there_in_delays(slots: &SlotLink, phy: &PhyTrace) -> bool {
    let none = Some(Duration::ZERO);
    phy.header().rtt == none && slots.rtt.or(none) == none
}
