//! A TCP connection over several paths (MPTCP, RFC 8684).
//!
//! Each path is a subflow: a connection of profile `linux` with its own sequence numbers, windows
//! and repairs. Above them the data have one sequence. The sender hands each segment to a subflow
//! whose window has room, chosen by a [scheduler](PathScheduler); the receiver puts the data of all
//! subflows in order and shares one receive window among them. A subflow delivers its own data in
//! order first. A retransmission timeout on a path makes the other paths carry the data that it
//! held, and keeps new data off it until one of its segments is acknowledged (as the first Linux
//! implementation does, Raiciu et al. 2012).
//!
//! A data sequence signal takes its bytes of each packet of data. Not modelled: the bytes of the
//! other options, address management, opportunistic retransmission and penalisation (Raiciu et al. 2012),
//! and data in both directions.

mod receiver;
mod scheduler;
mod sender;

use std::fmt::Debug;

use rand_chacha::ChaCha8Rng;

use super::config::{Profile, TcpConfig};
use super::split::ProxyConfig;
use crate::config::Fault;
use crate::transport::{Endpoint, FlowControl, Protocol, Purpose};
use crate::units::Bytes;
pub use scheduler::{
    BuildScheduler, PathScheduler, PathSchedulerChoice, PathSchedulerKind, PathState, Waiting,
};

/// TCP over several paths.
///
/// ```
/// use clift::transport::Protocol;
/// use clift::transport::tcp::{Multipath, PathSchedulerChoice, TcpConfig};
/// let scheduler = PathSchedulerChoice::default();
/// let connection = Multipath { tcp: TcpConfig::default(), paths: 2, scheduler };
/// assert_eq!(connection.check(), Ok(()));
/// assert_eq!(Protocol::paths(&connection), 2);
/// let many = Multipath { paths: 9, ..connection };
/// assert_eq!(many.check().unwrap_err().to_string(), "paths: 9 paths; give 1 to 8");
/// ```
#[derive(Clone, Debug)]
pub struct Multipath {
    /// Configuration of each subflow. The receive window is that of the connection; `cwnd_max`
    /// bounds each subflow.
    pub tcp: TcpConfig,
    /// Number of paths, at most [`Multipath::MOST_PATHS`].
    pub paths: usize,
    /// Which path carries the next segment.
    pub scheduler: PathSchedulerChoice,
}

impl Multipath {
    /// Most paths of a connection (`MPTCP_SUBFLOWS_MAX` of Linux).
    pub const MOST_PATHS: usize = sender::MOST_PATHS;
}

/// Stream of the scheduler's draws within those of a connection: no subflow has it.
const SCHEDULER: u64 = 1 << 63;

impl Protocol for Multipath {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn check(&self) -> Result<(), Fault> {
        if !(1..=Self::MOST_PATHS).contains(&self.paths) {
            let message = format!("{} paths; give 1 to {}", self.paths, Self::MOST_PATHS);
            return Err(Fault::new("paths", message));
        }
        if self.tcp.profile() != Profile::Linux {
            let message = "several paths need profile = \"linux\"; set it, or leave `paths` out";
            return Err(Fault::new("profile", message));
        }
        self.tcp.check()
    }

    fn packet(&self) -> Bytes {
        self.tcp.packet
    }

    fn payload(&self) -> Bytes {
        self.tcp.subflow(self.paths).mss()
    }

    fn flow_control(&self) -> FlowControl {
        Protocol::flow_control(&self.tcp)
    }

    fn connect(
        &self,
        purpose: Purpose,
        _: [Option<&ProxyConfig>; 2],
        rng: ChaCha8Rng,
    ) -> Option<[Box<dyn Endpoint>; 2]> {
        if purpose == Purpose::Dialogue {
            return None;
        }
        let mut draws = rng.clone();
        draws.set_stream(SCHEDULER);
        let scheduler = self.scheduler.build(draws);
        let window = self.tcp.announced_window();
        let (senders, receivers) =
            self.tcp.subflows(self.paths, rng).into_iter().map(|[a, b]| (a, b)).unzip();
        Some([
            Box::new(sender::MultipathSender::new(senders, (self.payload(), window), scheduler)),
            Box::new(receiver::MultipathReceiver::new(receivers, window)),
        ])
    }

    fn paths(&self) -> usize {
        self.paths
    }
}
