//! One cell of a campaign: a configuration in which nothing varies except between replications.

use std::collections::BTreeSet;

use rand::Rng;

use super::channel_seeds::ChannelSeeds;
use super::config::Config;
use super::error::Origin;
use super::limit::Start;
use super::plan::{Plan, PlannedHop, PlannedLink, PlannedProxy};
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
        links.map(|(index, link)| self.phy(index, link, replication)).collect()
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
            let file = self.phy(index, link, 0).filter(|spec| spec.trace.is_some());
            let Some(spec) = file else { continue };
            let phy = traces.phy(&spec)?;
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

    /// The delay of the return path, if `[return]` gives it and the link `index` is the only one.
    pub(super) fn return_delay(&self, index: usize) -> Option<Duration> {
        let only_link = index == 0
            && matches!(
                self.plan.forward[..],
                [PlannedHop::Link(_)] | [PlannedHop::Coding(_), PlannedHop::Link(_)]
            );
        let [PlannedHop::Leg(back)] = &self.plan.backward[..] else { return None };
        back.delay.filter(|_| only_link)
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
        let fragmentation = link.link.fragmentation().over(phy.header().loading).ok();
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
        if !link.section.is_empty() || !slots.takes_delays_of(phy) {
            return lines;
        }
        let by_return = slots.feedback_over(phy, self.return_delay(index));
        if slots.feedback.is_none() && by_return.is_none() {
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
        let spec = self.phy(index, link, 0).filter(|spec| asks && spec.trace.is_some());
        let phy = spec.map(|spec| traces.phy(&spec)).transpose()?;
        Ok(phy.and_then(|phy| phy.header().rtt))
    }

    /// The PHY trace under a link in a replication.
    fn phy(&self, index: usize, link: &PlannedLink, replication: u32) -> Option<PhySpec> {
        let seeds = self.seeds(index, link, replication);
        Some(link.phy.as_ref()?.spec(|own| seeds.channel(own.seed, own.redraw)))
    }

    /// The seeds of the channels of the link `index`.
    pub(super) fn seeds<'a>(
        &self,
        index: usize,
        link: &'a PlannedLink,
        replication: u32,
    ) -> ChannelSeeds<'a> {
        let (run, scenario) = (self.seed(replication), Seed(self.config.run.seed));
        ChannelSeeds { run, scenario, link: index as u32, named: link.named.as_ref() }
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
                let message = "the link has no trace, whose time this is about; leave it out";
                Fault::refuse(given, message)
                    .map_err(|fault| fault.within(&join(&link.key, "link")))?;
                starts.push(Duration::ZERO);
                continue;
            };
            if usage.wrap && span.0 == span.1 {
                let cure =
                    "a trace of one slot cannot repeat; give a longer one, or a smaller share";
                return Err(Fault::of(&link.key, "link.wrap", cure));
            }
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
