//! TCP as state machines without I/O: [`TcpConfig`] makes the two endpoints of a connection.
//!
//! The [`Profile`] selects the stack that a connection imitates. Each profile has a folder:
//!
//! - `papers`: the agents of ns-2.35 that the five papers used (`Agent/TCP/Linux` with
//!   `Agent/TCPSink/Sack1`). Windows count segments, FACK distance detects losses, rate halving
//!   reduces the window, and no reduction is undone. Without SACK ([`TcpConfig::sack`]) the agents
//!   are `Agent/TCP/Newreno` and `Agent/TCPSink` (`papers/no_sack`).
//! - `linux`: a current kernel: handshake, initial window of ten, RACK-TLP, proportional rate
//!   reduction, adaptive reordering degree, and undo of reductions that D-SACK, timestamps or F-RTO
//!   prove spurious.
//! - `multipath`: a connection over several paths, each a connection of profile `linux` (RFC 8684).
//! - `shared`: parts that both profiles use: segments in flight, the receiver's reassembly queue,
//!   the application's data, counters.
//!
//! `config` describes a connection, and `check` checks it. `connection` makes its endpoints, each of two
//! halves (`half`).
//!
//! ```
//! use clift::seed::{Seed, Stream};
//! use clift::transport::tcp::{CongestionAlgorithm, TcpConfig};
//! use clift::transport::{Outbox, Protocol, Purpose};
//! use clift::units::{Duration, Instant};
//!
//! let config = TcpConfig::papers(CongestionAlgorithm::NEWRENO);
//! let rng = Seed(1).rng(Stream::Flow(0));
//! let [mut sender, mut receiver] = config.connect(Purpose::OneWay, [None; 2], rng).unwrap();
//! sender.write(0, 100_000, true);
//! sender.close();
//!
//! // A loss-free path of 500 ms: every round of segments comes back as a round of ACKs.
//! let (mut now, mut rounds) = (Instant::ZERO, 0);
//! let (mut data, mut acks) = (Outbox::default(), Outbox::default());
//! sender.transmit(now, &mut data);
//! while !data.sent().is_empty() {
//!     rounds += 1;
//!     now = now + Duration::from_millis(500);
//!     for number in data.sent().to_vec() {
//!         receiver.handle(now, &data[number], None);
//!         receiver.transmit(now, &mut acks);
//!     }
//!     data.forget_sent(0);
//!     for number in acks.sent().to_vec() {
//!         sender.handle(now, &acks[number], None);
//!         sender.transmit(now, &mut data);
//!     }
//!     acks.forget_sent(0);
//! }
//! assert_eq!(sender.acknowledged(), Some(100_000));
//! assert_eq!(sender.report().sender.segments_sent, 70); // 69 full ones and one of 88 bytes
//! assert_eq!(receiver.report().receiver.bytes_in_order, 100_000);
//! assert_eq!(rounds, 6); // 2, 4, 8, 16, 32, then the last 8
//! ```

mod check;
mod config;
mod congestion;
mod connection;
mod half;
mod linux;
mod multipath;
mod papers;
mod shared;
mod split;

pub use config::{
    BuildControl, CongestionAlgorithm, CongestionControlKind, CubeRoot, DelayedAck, LinuxOptions,
    PapersOptions, Profile, SavedPath, TcpConfig,
};
pub use congestion::{
    Ack, CongestionControl, CongestionState, Loss, LostSegment, Pace, Rate, Reduction, Sample,
    Subflow, Totals, Window,
};
pub use multipath::{
    BuildScheduler, Multipath, PathScheduler, PathSchedulerChoice, PathSchedulerKind, PathState,
    Waiting,
};
pub use shared::counters::{ReceiverCounters, SenderCounters, TRANSMISSION_COUNTS};
pub use split::{Pep, ProxyConfig};
