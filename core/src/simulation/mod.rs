//! Stage 5: the engine, which joins senders, legs, links and receivers in simulated time.
//!
//! [`Setup`] says what is simulated, [`run`] runs it, an [`Observer`] may watch. Events are
//! ordered by (time, sequence number); a run is a function of its setup, seed included.

pub mod agenda;
mod engine;
mod flow;
mod leg;
mod leg_link;
mod managed_leg;
mod observer;
mod path;
mod report;
mod route;
mod setup;
mod stretches;
mod transmitter;
mod way;

pub use crate::metrics::Outcome;
pub use engine::{RunError, run};
pub use observer::{Event, EventKind, FlowSample, HopSample, Observer, Sample, Step};
pub use setup::{Flow, Hop, LegConfig, Loss, Proxy, Setup, SetupError};
pub use way::Way;
