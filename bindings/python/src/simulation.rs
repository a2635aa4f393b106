//! Setups of the engine.

use std::sync::Arc;

use clift::simulation::{self as engine, Change, ChangeKind, Hop, LegConfig, Loss};
use clift::units::{Duration, Instant};
use pyo3::prelude::*;

use crate::errors::scenario_error;
use crate::scheme::LinkTrace;

/// One run: everything that determines its outcome.
#[pyclass(frozen, module = "clift._clift")]
pub(crate) struct Setup(pub(crate) Arc<engine::Setup>);

#[pymethods]
impl Setup {
    /// The link trace of the first link, if it has one.
    fn link_trace(&self) -> Option<LinkTrace> {
        first_link(&self.0).map(LinkTrace)
    }

    /// Name of each flow and of the hops that its packets cross, there and back, for each of its
    /// paths; empty for a path.
    fn routes(&self) -> Vec<(String, Vec<String>, Vec<String>)> {
        let routing = &self.0.routing;
        let named = |way: &[u32]| {
            way.iter().map(|&hop| routing.hop_names[hop as usize].to_string()).collect()
        };
        let mut routes = Vec::new();
        for (number, first) in routing.ways.iter().enumerate() {
            let name = routing.flow_names.get(number);
            let name = name.map_or_else(|| number.to_string(), |name| name.to_string());
            let further = routing.further.get(&number).map_or(&[][..], Vec::as_slice);
            for (path, ways) in std::iter::once(first).chain(further).enumerate() {
                let name = match further {
                    [] => name.clone(),
                    _ => format!("{name}, path {}", path + 1),
                };
                routes.push((name, named(&ways.to_receiver), named(&ways.to_sender)));
            }
        }
        routes
    }

    /// Returns the setup with given packet fates on the first hop, which must be a leg: it loses
    /// the data packets with the numbers `lost` and delays those in `held` by the nanoseconds
    /// given. Equivalent to `lost_data` and `held_data` of the leg, for lists that are too long for
    /// a scenario.
    #[pyo3(signature = (lost, held=Vec::new()))]
    fn with_fates(&self, mut lost: Vec<u64>, held: Vec<(u64, u64)>) -> PyResult<Self> {
        lost.sort_unstable();
        lost.dedup();
        let held = held.into_iter().map(|(number, nanos)| Ok((number, time(nanos)?)));
        let mut held = held.collect::<PyResult<Vec<_>>>()?;
        held.sort_unstable();
        held.dedup_by_key(|&mut (number, _)| number);
        let mut setup = engine::Setup::clone(&self.0);
        let Some(Hop::Leg(leg)) = setup.forward.first_mut() else {
            return Err(scenario_error("the first hop must be a leg"));
        };
        *leg =
            LegConfig { loss: Loss::Data { lost: lost.into(), held: held.into() }, ..leg.clone() };
        Ok(setup.into())
    }

    /// The setup with changes in the middle of the run: `kept` are cuts of the window (flow,
    /// connection, ns) after which the window stays as it was; from the times (ns) of `later` on the
    /// congestion controls, the limits of queues and the schemes of live links are those of another
    /// setup.
    fn changed(&self, kept: Vec<(u32, u32, u64)>, later: Vec<(u64, Py<Setup>)>) -> PyResult<Self> {
        let at = |nanos| Ok::<_, PyErr>(Instant::ZERO + time(nanos)?);
        let mut setup = engine::Setup::clone(&self.0);
        for (flow, connection, nanos) in kept {
            let what = ChangeKind::KeepWindow { flow, connection };
            setup.changes.push(Change { at: at(nanos)?, what });
        }
        for (nanos, other) in later {
            setup.change_to(&other.get().0, at(nanos)?).map_err(scenario_error)?;
        }
        Ok(setup.into())
    }
}

impl From<engine::Setup> for Setup {
    fn from(setup: engine::Setup) -> Self {
        Self(Arc::new(setup))
    }
}

/// The link trace of the first link, if it has one.
pub(crate) fn first_link(setup: &engine::Setup) -> Option<Arc<clift::trace::LinkTrace>> {
    let mut links = setup.forward.iter().filter_map(|hop| match hop {
        Hop::Link(link) => Some(&link.medium),
        Hop::Leg(_) => None,
    });
    links.next()?.get()
}

/// A time in nanoseconds, at most 2^61 (73 years).
pub(crate) fn time(nanos: u64) -> PyResult<Duration> {
    if nanos > 1 << 61 {
        return Err(scenario_error(format!("{nanos} ns is over 73 years; check the unit")));
    }
    Ok(Duration::from_nanos(nanos))
}
