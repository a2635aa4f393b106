//! CLIFT computes how a transport protocol performs over a satellite link whose physical layer is
//! described by a trace or a channel model.
//!
//! The modules are the stages of that computation, in the order of the data flow:
//!
//! 1. [`trace`]: the behaviour of the physical layer, slot by slot ([`trace::PhyTrace`]);
//!    [`channel`] generates such traces from a model.
//! 2. [`link`]: a state machine without I/O that carries packets over a link trace
//!    ([`trace::LinkTrace`]), or over slots with a scheme that runs with the traffic.
//! 3. [`scheme`]: link-layer reliability schemes, one folder each: the conversion of a PHY trace
//!    into a link trace (the papers' Trace Manager Tool, TMT), the live version that runs with the
//!    traffic, and the closed forms of its performance over a channel model.
//! 4. [`transport`]: state machines without I/O, one for each end of a connection, that send over
//!    such a link; [`application`] defines what they send.
//! 5. [`simulation`]: the engine that connects them in simulated time.
//! 6. [`metrics`]: performance measures of links and flows.
//!
//! [`diagnosis`] explains the goodput of a run: what capacity was spent on, and which loss or delay
//! made TCP slow down.
//!
//! [`queue`] has the queues that can replace the drop-tail queue of any hop.
//!
//! `scenario` reads the files that describe all of them; [`capture`] writes the packets of a run as
//! a packet sniffer would record them.
//!
//! [`units`], [`seed`], [`config`] and [`budget`] are shared by all modules. Time is integer
//! nanoseconds throughout. A run is a function of its inputs and its seed.
#![forbid(unsafe_code)]

pub use config::Registry;

pub mod application;
pub mod budget;
pub mod capture;
pub mod channel;
pub mod config;
pub mod diagnosis;
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
