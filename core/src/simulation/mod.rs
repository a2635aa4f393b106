//! Stage 5: the engine, which joins applications, endpoints, legs and links in simulated time.
//!
//! [`Setup`] says what is simulated over a path, [`run`] runs it, an [`Observer`] may watch; a
//! [`Network`] has nodes that forward, and links between them. Events are
//! ordered by (time, sequence number); a run is a function of its setup, seed included.

pub mod agenda;
mod births;
mod change;
mod engine;
mod flow;
mod graph;
mod leg;
mod leg_link;
mod managed_leg;
mod network;
mod observer;
mod path;
mod proxy;
mod reordering;
mod report;
mod rerouting;
mod route;
mod setup;
mod socket;
mod stretch;
mod transmitter;
mod units;
mod way;

pub use crate::metrics::Outcome;
pub use change::{Change, ChangeKind};
pub use engine::{RunError, run};
pub use graph::{Graph, RouteError, Routes};
pub use network::{Demand, Edge, Network};
pub use observer::{
    Discarded, Event, EventKind, FlowSample, HopSample, Observer, Sample, SenderState, Step, Wants,
};
pub use rerouting::Rerouting;
pub use setup::{Flow, Hop, LegConfig, Loss, Proxy, Setup, SetupError};
pub use socket::{Routing, Ways};
pub use stretch::Stretch;
pub(crate) use units::UnitCounts;
pub use units::Units;
pub use way::{Passed, Way};
