//! A carrier that terminals share: slots of one rate, a scheduler that assigns them, and a queue and
//! a channel for each terminal.
//!
//! The forward carrier of a DVB-S2X network is one (a slot is a frame, and the gateway knows all
//! queues), and so is the return carrier of DVB-RCS2 (a slot is a burst; terminals request
//! capacity, [`Demand`]). A carrier is one link and one state machine: all its queues compete for
//! the same slots. The flow of a packet says to which terminal it belongs.

mod channel;
mod config;
mod link;
mod scheduler;
mod terminals;

pub use config::{CarrierConfig, CarrierOptions, Fades};
pub use link::CarrierLink;
pub use scheduler::{
    Demand, MakeScheduler, ProportionalFair, RoundRobin, Scheduler, SchedulerConfig, SchedulerKind,
    SchedulerParameters,
};
pub use terminals::Terminals;
