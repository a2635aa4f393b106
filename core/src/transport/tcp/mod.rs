//! TCP as two state machines without I/O: [`TcpSender`] and [`TcpReceiver`].
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
//! `config` describes a connection. `connection` makes its endpoints; `endpoint` holds the halves of
//! either profile for hosts that carry segments themselves.
//!
//! ```
//! use clift::transport::Half;
//! use clift::transport::tcp::{CongestionAlgorithm, TcpConfig, TcpReceiver, TcpSender};
//! use clift::units::{Duration, Instant};
//!
//! let config = TcpConfig::papers(CongestionAlgorithm::NEWRENO);
//! let mut sender = TcpSender::new(&config);
//! let mut receiver = TcpReceiver::new(&config);
//! sender.supply(100_000);
//! sender.close();
//!
//! // A loss-free path of 500 ms: every round of segments comes back as a round of ACKs.
//! let mut now = Instant::ZERO;
//! let mut rounds = 0;
//! let mut round: Vec<_> = std::iter::from_fn(|| sender.poll_transmit(now)).collect();
//! while !round.is_empty() {
//!     rounds += 1;
//!     now = now + Duration::from_millis(500);
//!     for segment in std::mem::take(&mut round) {
//!         receiver.handle_segment(now, &segment);
//!         while let Some(ack) = receiver.poll_transmit(now) {
//!             sender.handle_segment(now, &ack);
//!             round.extend(std::iter::from_fn(|| sender.poll_transmit(now)));
//!         }
//!     }
//! }
//! assert!(sender.is_complete());
//! assert_eq!(sender.counters().segments_sent, 70); // 69 full ones and one of 88 bytes
//! assert_eq!(receiver.counters().bytes_in_order, 100_000);
//! assert_eq!(rounds, 6); // 2, 4, 8, 16, 32, then the last 8
//! ```

mod config;
mod congestion;
mod connection;
mod endpoint;
mod linux;
mod multipath;
mod papers;
mod shared;
mod split;

pub use config::{
    CubeRoot, DelayedAck, LinuxOptions, PapersOptions, Profile, SavedPath, TcpConfig,
};
pub use congestion::{
    Ack, BuildControl, CongestionAlgorithm, CongestionControl, CongestionControlKind, Loss,
    LostSegment, Pace, Rate, Reduction, Sample, Subflow, Totals, Window,
};
pub use endpoint::{CongestionState, TcpReceiver, TcpSender};
pub use multipath::{
    BuildScheduler, Multipath, PathScheduler, PathSchedulerChoice, PathSchedulerKind, PathState,
    Waiting,
};
pub use shared::counters::{ReceiverCounters, SenderCounters, TRANSMISSION_COUNTS};
pub use split::{Pep, ProxyConfig};
