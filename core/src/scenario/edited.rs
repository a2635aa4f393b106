//! The same replication over a trace in which some slots are received, or erased, that were not.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::cell::Cell;
use super::spec::PhySpec;
use super::traces::{Information, InformationSpec, MakeError, SetupFault, Traces};
use crate::application::PageContent;
use crate::config::{Fault, delegate};
use crate::link::DelaySeries;
use crate::simulation::Setup;
use crate::trace::{LinkTrace, PhyTrace};
use crate::units::Duration;

/// Changes to the erasures of the first link's PHY trace, by the numbers of slots.
///
/// ```
/// use clift::scenario::{Edits, Scenario, Store};
/// use clift::simulation::run;
/// use clift::trace::Folder;
///
/// let text = r#"
///     scheme = "ARQ"
///     duration = "20 s"
///     [channel]
///     model = "bernoulli"
///     erasures = 0.02
///     slot = "1 ms"
///     [link]
///     rtt = "300 ms"
/// "#;
/// let scenario = Scenario::parse("arq.toml", text, &[], &clift::Registry::new())?;
/// let (cell, store) = (&scenario.cells()[0], Store::new(Folder::new("")));
/// let bursts = cell.bursts(0, &store)?;
/// let without = Edits { received: vec![bursts[3].slots()], erased: vec![] };
/// let gained = run(&cell.edited(0, &store, &without)?, &mut ())?.goodput()
///     - run(&cell.setup(0, &store)?, &mut ())?.goodput();
/// assert!(gained.abs() < 1e6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Edits {
    /// Slots that are received, decoded in the nominal time.
    pub received: Vec<Range<u64>>,
    /// Slots that are erased.
    pub erased: Vec<u64>,
}

/// A run of erased slots.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Burst {
    /// Number of its first slot in the trace.
    pub first: u64,
    /// Slots.
    pub count: u64,
    /// Run time of its first slot; of its first passage if the trace repeats.
    pub at: Duration,
    /// Run time of its last slot.
    pub last: Duration,
}

impl Burst {
    /// Its slots.
    pub fn slots(&self) -> Range<u64> {
        self.first..self.first + self.count
    }
}

/// The PHY trace under the first link, and the part of it that a run uses.
struct Place {
    spec: PhySpec,
    phy: PhyTrace,
    /// Trace time at the start of the run, ns.
    start: i64,
    wraps: bool,
    duration: i64,
}

impl Cell {
    /// The bursts of erased slots of the first link that pass during a replication, in order of
    /// their slots.
    ///
    /// # Errors
    /// If a trace cannot be made, or the first link has no PHY trace.
    pub fn bursts(&self, replication: u32, traces: &dyn Traces) -> Result<Vec<Burst>, SetupFault> {
        let place = self.place(replication, traces)?;
        let mut bursts: Vec<Burst> = Vec::new();
        for (slot, &d) in place.phy.d().iter().enumerate() {
            let Some(at) = place.passes(slot).filter(|_| d == 0) else { continue };
            match bursts.last_mut() {
                Some(burst) if burst.slots().end == slot as u64 && burst.at <= at => {
                    burst.count += 1;
                    burst.last = at;
                }
                _ => bursts.push(Burst { first: slot as u64, count: 1, at, last: at }),
            }
        }
        Ok(bursts)
    }

    /// The received slots of the first link that pass during a replication, with their run time.
    ///
    /// # Errors
    /// As [`Cell::bursts`].
    pub fn received_slots(
        &self,
        replication: u32,
        traces: &dyn Traces,
    ) -> Result<Vec<(u64, Duration)>, SetupFault> {
        let place = self.place(replication, traces)?;
        let slots = place.phy.d().iter().enumerate().filter(|(_, d)| **d > 0);
        Ok(slots.filter_map(|(slot, _)| Some((slot as u64, place.passes(slot)?))).collect())
    }

    /// The engine's input for one replication, with these changes to the erasures.
    ///
    /// # Errors
    /// As [`Cell::bursts`], or if a slot does not exist.
    pub fn edited(
        &self,
        replication: u32,
        traces: &dyn Traces,
        edits: &Edits,
    ) -> Result<Setup, SetupFault> {
        let Place { spec, phy, .. } = self.place(replication, traces)?;
        let phy = edits.apply(&phy)?;
        self.setup(replication, &Edited { traces, spec, phy })
    }

    fn place(&self, replication: u32, traces: &dyn Traces) -> Result<Place, SetupFault> {
        let spec = self.phy_traces(replication).into_iter().next().flatten().ok_or_else(|| {
            let message = "the first link draws its losses itself, so no slot can be changed; give a link over slots of a trace or a channel";
            Fault::new("link", message)
        })?;
        let phy = traces.phy(&spec)?;
        let started = self.started(replication, traces)?;
        let start = started.first().map_or(0, |(_, start)| start.as_nanos() as i64);
        let wraps = self.plan.links().next().is_some_and(|link| link.link.usage.wrap);
        let duration = self.config.run.duration.as_nanos().min(i64::MAX as u64) as i64;
        Ok(Place { spec, phy, start, wraps, duration })
    }
}

impl Place {
    /// Run time at which a slot passes first; `None` if it does not pass during the run.
    fn passes(&self, slot: usize) -> Option<Duration> {
        let mut at = self.phy.t()[slot] - self.start;
        if self.wraps {
            at = at.rem_euclid((self.phy.period().as_nanos() as i64).max(1));
        }
        (0..=self.duration).contains(&at).then(|| Duration::from_nanos(at as u64))
    }
}

impl Edits {
    fn apply(&self, phy: &PhyTrace) -> Result<PhyTrace, Fault> {
        let slots = phy.len() as u64;
        let missing = |slot: u64| {
            Fault::new("slot", format!("{slot}: the trace has the slots 0 to {}", slots - 1))
        };
        let mut d = phy.d().to_vec();
        let nominal = (phy.nominal_decoding().as_nanos() as i64).max(1);
        for range in &self.received {
            if range.end > slots || range.start > range.end {
                return Err(missing(range.end.saturating_sub(1)));
            }
            d[range.start as usize..range.end as usize]
                .iter_mut()
                .filter(|d| **d == 0)
                .for_each(|d| *d = nominal);
        }
        for &slot in &self.erased {
            let place = usize::try_from(slot).ok().and_then(|slot| d.get_mut(slot));
            *place.ok_or_else(|| missing(slot))? = 0;
        }
        phy.with_decoding(d).map_err(|error| Fault::new("slot", error.to_string()))
    }
}

/// Traces of which one is replaced.
struct Edited<'a> {
    traces: &'a dyn Traces,
    spec: PhySpec,
    phy: PhyTrace,
}

impl Traces for Edited<'_> {
    fn phy(&self, spec: &PhySpec) -> Result<PhyTrace, MakeError> {
        if *spec == self.spec { Ok(self.phy.clone()) } else { self.traces.phy(spec) }
    }

    delegate! { self.traces =>
        fn held_link(&self, name: &Path) -> Result<Arc<LinkTrace>, MakeError>;
        fn held_information(&self, name: &Path) -> Result<Information, MakeError>;
        fn information(&self, spec: &InformationSpec) -> Result<Information, MakeError>;
        fn delays(&self, file: &str) -> Result<Arc<DelaySeries>, MakeError>;
        fn times(&self, file: &str) -> Result<Vec<Duration>, MakeError>;
        fn page(&self, file: &str) -> Result<Arc<PageContent>, MakeError>;
    }
}
