//! QUIC as a transport of CLIFT's engine: unmodified [quinn-proto](quinn_proto), with real packets
//! and frames, over links that depend on the size of each packet.
//!
//! A [`Registry`](clift::Registry) to which [`KIND`] was added lets a scenario select it with
//! `[transport] protocol = "quic"`. Programs that make their own setup use [`QuicConfig`]. A run is
//! a function of its setup: keys, connection ids and all draws come from the flow's random stream,
//! the time from the engine, and the handshake from a session without cryptography whose messages
//! have the sizes of TLS ([`session`]).
//!
//! ```
//! use std::sync::Arc;
//! use clift::application::File;
//! use clift::link::QueueLimit;
//! use clift::queue::Aqm;
//! use clift::seed::Seed;
//! use clift::simulation::{self, Flow, Hop, LegConfig, Loss, Routing, Setup};
//! use clift::units::{BitRate, Duration, Instant, Size};
//! use clift_quic::QuicConfig;
//!
//! let there = LegConfig {
//!     rate: BitRate::from_bits_per_second(8_000_000),
//!     delay: Duration::from_millis(250).into(),
//!     queue: QueueLimit::Unlimited,
//!     loss: Loss::None,
//!     aqm: Aqm::None,
//! };
//! let back = LegConfig::of_delay(Duration::from_millis(250));
//! let flow = Flow {
//!     start: Instant::ZERO,
//!     transport: Arc::new(QuicConfig::default()),
//!     application: Arc::new(File { size: Size(8_000) }),
//!     source_leg: None,
//! };
//! let setup = Setup {
//!     seed: Seed(1),
//!     duration: Duration::from_secs(60),
//!     stop_when_done: true,
//!     forward: vec![Hop::Leg(there)],
//!     backward: vec![Hop::Leg(back)],
//!     flows: vec![flow],
//!     proxies: Vec::new(),
//!     changes: Vec::new(),
//!     routing: Routing::default(),
//! };
//! let outcome = simulation::run(&setup, &mut ())?;
//! // One round trip for the handshake, half a round trip for data within the initial window.
//! let completion = outcome.flows[0].completion().unwrap();
//! assert!((0.75..0.78).contains(&completion.as_secs_f64()));
//! # Ok::<(), clift::simulation::RunError>(())
//! ```
#![forbid(unsafe_code)]

mod clock;
mod config;
mod congestion;
mod endpoint;
mod frames;
mod keys;
mod messages;
mod received;
mod resume;
mod sent;
pub mod session;

pub use config::{KIND, QuicConfig};
