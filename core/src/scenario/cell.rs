//! One cell of a campaign: a configuration without anything that varies, but for replications.

use rand::Rng;

use super::config::Config;
use super::limit::Start;
use super::plan::{Plan, PlannedLink};
use super::spec::{FileSpec, LinkSpec, PhySpec};
use crate::seed::{Seed, Stream};
use crate::units::Duration;

/// A cell: its labels on the axes, its configuration and the plan that follows from it.
#[derive(Clone, Debug)]
pub struct Cell {
    pub(super) labels: Vec<(String, String)>,
    pub(super) config: Config,
    pub(super) plan: Plan,
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

    /// Hops and flows.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The seed of a replication: the scenario's own for the first, and for the others a draw from
    /// (scenario seed, replication). It does not depend on the cell, so that cells are compared
    /// under the same draws.
    pub fn seed(&self, replication: u32) -> Seed {
        if replication == 0 {
            return Seed(self.config.seed);
        }
        Seed(self.config.seed).rng(Stream::Replication(replication)).next_u64().into()
    }

    /// The link traces that a replication needs, forward links first.
    pub fn links(&self, replication: u32) -> Vec<LinkSpec> {
        let spec = |(index, link): (usize, &PlannedLink)| LinkSpec {
            phy: self.phy(index, link, replication),
            scheme: link.scheme.to_string(),
            rtt_ns: link.link.rtt.as_nanos(),
            feedback_ns: link.link.feedback.map(Duration::as_nanos),
        };
        self.plan.links().enumerate().map(spec).collect()
    }

    fn phy(&self, index: usize, link: &PlannedLink, replication: u32) -> PhySpec {
        let base = match &link.erasures {
            None => 0, // nothing is drawn: all replications share the file's trace
            Some(erasures) => erasures.seed.unwrap_or_else(|| {
                if erasures.redraw { self.seed(replication).0 } else { self.config.seed }
            }),
        };
        // Each further link has a channel of its own.
        let seed = match (index, &link.erasures) {
            (1.., Some(_)) => Seed(base).rng(Stream::Channel(index as u32)).next_u64(),
            _ => base,
        };
        PhySpec {
            trace: link.trace.as_ref().map(FileSpec::from),
            erasures: link.erasures.as_ref().map(|erasures| erasures.model.clone()),
            slots: link.erasures.as_ref().and_then(|erasures| erasures.slots.clone()),
            seed,
        }
    }

    /// Where in their traces the links start in a replication; `spans` are the first and the last
    /// slot of each PHY trace and the gap that closes it, in ns, in the order of [`Cell::links`].
    ///
    /// # Errors
    /// The key of a link whose trace is too short for a random start, and why.
    pub fn starts(
        &self,
        replication: u32,
        spans: &[(u64, u64, u64)],
    ) -> Result<Vec<Duration>, (String, String)> {
        let mut rng = Seed(self.config.seed).rng(Stream::Replication(replication));
        let _of_the_seed = rng.next_u64();
        let mut starts = Vec::new();
        for (link, &(first, last, gap)) in self.plan.links().zip(spans) {
            // Every link takes its draw, so that one fixed start does not shift another.
            let draw = rng.next_u64();
            let Start::At(time) = link.link.start else {
                starts.push(self.random_start(link, draw, (first, last + gap))?);
                continue;
            };
            starts.push(time);
        }
        Ok(starts)
    }

    fn random_start(
        &self,
        link: &PlannedLink,
        draw: u64,
        (first, end): (u64, u64),
    ) -> Result<Duration, (String, String)> {
        let length = end - first;
        let taken = if link.link.wrap { 0 } else { self.config.duration.as_nanos() };
        let Some(room) = length.checked_sub(taken) else {
            let message = format!(
                "a run of {} does not fit into a trace of {} s; shorten the duration, lengthen the trace or set wrap = true",
                self.config.duration,
                length as f64 / 1e9
            );
            return Err((super::tree::join(&link.key, "link.start"), message));
        };
        let offset = (u128::from(draw) * u128::from(room)) >> 64;
        Ok(Duration::from_nanos(first + offset as u64))
    }
}

impl From<u64> for Seed {
    fn from(seed: u64) -> Self {
        Self(seed)
    }
}
