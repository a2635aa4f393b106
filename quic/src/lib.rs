//! QUIC as a transport of CLIFT's engine: [quinn-proto](quinn_proto) as it is, real packets with real
//! frames, over links that see the size of each.
//!
//! [`register`] adds it to the transports of this process; from then on `[transport] protocol =
//! "quic"` in a scenario chooses it. [`QuicConfig`] is the same for programs that make their own
//! setup. A run is a function of its setup: keys, connection ids and every draw come from the flow's
//! random stream, time from the engine, and the handshake from a session without cryptography whose
//! messages have the sizes of TLS ([`session`]).
//!
//! ```
//! use std::sync::Arc;
//! use clift::application::File;
//! use clift::link::QueueLimit;
//! use clift::queue::Aqm;
//! use clift::seed::Seed;
//! use clift::simulation::{self, Flow, Hop, LegConfig, Loss, Setup};
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
//! };
//! let outcome = simulation::run(&setup, &mut ())?;
//! // One round trip for the handshake, half a one for the data, which fit into the first window.
//! let completion = outcome.flows[0].completion().unwrap();
//! assert!((0.75..0.78).contains(&completion.as_secs_f64()));
//! # Ok::<(), clift::simulation::RunError>(())
//! ```
#![forbid(unsafe_code)]

mod clock;
mod config;
mod congestion;
mod connection;
mod dialogue;
mod frames;
mod keys;
mod messages;
mod received;
mod resume;
mod sent;
pub mod session;

pub use config::{QuicConfig, register};
