//! CLIFT: given what the physical layer of a satellite link did, what does a transport feel?
//!
//! The modules are the stages of that question, in the order in which data flows:
//!
//! 1. [`trace`]: what the physical layer did, slot by slot ([`trace::PhyTrace`]);
//!    [`channel`] makes such traces from a model.
//! 2. [`scheme`]: a link-layer reliability scheme turns a PHY trace into a
//!    [`scheme::LinkTrace`] (the papers' Trace Manager Tool, TMT).
//!    [`analysis`] says what it gives over a channel model, in closed form.
//! 3. [`link`]: a state machine without I/O puts packets onto the link trace.
//! 4. [`transport`]: state machines without I/O that send over such a link.
//! 5. [`simulation`]: the engine that joins them in simulated time.
//! 6. [`metrics`]: what links and flows are measured by.
//!
//! `scenario` (a feature, on by default) reads the files that describe all of them.
//!
//! [`units`] and [`seed`] serve all of them. Time is integer nanoseconds throughout; a run is a
//! function of its inputs and its seed.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod application;
pub mod channel;
pub mod link;
pub mod metrics;
#[cfg(feature = "scenario")]
pub mod scenario;
pub mod scheme;
pub mod seed;
pub mod simulation;
pub mod trace;
pub mod transport;
pub mod units;
