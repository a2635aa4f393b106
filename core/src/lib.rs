//! CLIFT: given what the physical layer of a satellite link did, what does a transport feel?
//!
//! The modules are the stages of that question, in the order in which data flows:
//!
//! 1. [`trace`]: what the physical layer did, slot by slot ([`trace::PhyTrace`]);
//!    [`channel`] makes such traces from a model.
//! 2. [`link`]: a state machine without I/O puts packets onto a link trace
//!    ([`trace::LinkTrace`]), or onto slots with a scheme that runs with the traffic.
//! 3. [`scheme`]: link-layer reliability schemes, one folder each: what turns a PHY trace into a
//!    link trace (the papers' Trace Manager Tool, TMT), what runs with the traffic, and what it
//!    gives over a channel model in closed form.
//! 4. [`transport`]: state machines without I/O that send over such a link;
//!    [`application`] says what they send.
//! 5. [`simulation`]: the engine that joins them in simulated time.
//! 6. [`metrics`]: what links and flows are measured by.
//!
//! [`queue`] has what may stand before any hop in the place of a drop-tail queue.
//!
//! `scenario` reads the files that describe all of them; [`capture`] writes what packet sniffers would
//! have seen of a run.
//!
//! [`units`], [`seed`], [`config`] and [`budget`] serve all of them. Time is integer nanoseconds throughout; a run is a
//! function of its inputs and its seed.
#![forbid(unsafe_code)]

pub mod application;
pub mod budget;
pub mod capture;
pub mod channel;
pub mod config;
pub mod link;
pub mod metrics;
pub mod queue;
pub mod scenario;
pub mod scheme;
pub mod seed;
pub mod simulation;
pub mod sync;
pub mod trace;
pub mod transport;
pub mod units;
