//! Flows: `[transport]` and `[[flow]]`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arrivals::Arrivals;
use super::leg::Leg;
use crate::application::ApplicationConfig;
use crate::config::parts;
use crate::transport;
use crate::transport::quic::QuicOptions;
use crate::transport::tcp::{Multipath, PathSchedulerChoice, TcpConfig};
use crate::transport::{Choice, Options};
use crate::units::Duration;

/// A transport protocol and its options. Options that no flow uses are refused.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct Transport {
    /// The protocol.
    #[serde(flatten)]
    pub kind: TransportKind,
    /// Options of the connection. Datagrams use only the packet size.
    #[serde(flatten)]
    pub tcp: TcpConfig,
    /// Options of QUIC alone.
    #[serde(flatten)]
    pub options: ProtocolOptions,
}

parts!(Transport { kind, tcp, options });

/// The protocol of a transport.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct TransportKind {
    /// The protocol: "tcp", "quic", or "udp" for datagrams without acknowledgement. QUIC shares
    /// `congestion`, `packet`, `initial_window`, `cwnd_max` and `receive_window` with TCP; datagrams
    /// use only `packet`. `profile` may stand beside any protocol.
    pub protocol: Choice,
}

/// Options of a single protocol.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct ProtocolOptions {
    /// Options of protocol "quic".
    pub quic: Option<QuicOptions>,
}

impl Transport {
    /// The protocol as the engine runs it.
    pub(super) fn protocol(&self) -> Arc<dyn transport::Protocol> {
        let quic = self.options.quic.clone().unwrap_or_default();
        self.kind.protocol.make(&Options { tcp: self.tcp.clone(), quic })
    }

    /// The same with the options that TCP's profile decides filled in.
    pub(super) fn settled(self) -> Self {
        let is_tcp = self.kind.protocol.name() == "tcp";
        Self { tcp: if is_tcp { self.tcp.settled() } else { self.tcp }, ..self }
    }
}

/// One flow, or several of the same kind.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Flow {
    /// Name of the flow in results. It has letters, digits, `_` and `-`; several flows of this kind
    /// have the names NAME-0, NAME-1 and so on.
    pub name: Option<String>,
    /// Number of flows of this kind; with `arrivals`, of sources.
    pub count: u32,
    /// Start time; with `arrivals`, that of the arrival process.
    pub start: Duration,
    /// Time at which the application stops: unlimited data, messages, voice and sessions without an end
    /// (requests, a conference, a video). What arrives later counts with its time. With
    /// `arrivals`, the time at which the arrival process ends; flows that have begun go on.
    pub end: Option<Duration>,
    /// Arrival process: each source starts a flow at each arrival, from `start` to `end`, or to the
    /// end of the run.
    pub arrivals: Option<Arrivals>,
    /// In a `[network]`: node of the sender.
    pub from: Option<String>,
    /// In a `[network]`: node of the receiver.
    pub to: Option<String>,
    /// In a `[network]`: names of the links that packets cross from the sender to the receiver, in
    /// order. Default: the route that `routing` finds.
    pub route: Option<Vec<String>>,
    /// In a `[network]`: names of the links back to the sender. Default: the route that `routing`
    /// finds.
    pub return_route: Option<Vec<String>>,
    /// In a `[network]`: several paths of one connection (MPTCP), each as the names of its links
    /// from the sender to the receiver, in order; 2 to 8 of them. Acknowledgements return over the
    /// same links. The first path opens the connection. Needs TCP of profile "linux" and data in
    /// one direction; `receive_window` is shared by all paths.
    pub paths: Option<Vec<Vec<String>>>,
    /// With `paths`: which path carries the next segment: "least rtt" (the default), "earliest
    /// completion", "blocking estimation", "least linger" (Linux), "round robin" or "redundant".
    pub path_scheduler: Option<PathSchedulerChoice>,
    /// Transport of the flow. Keys left out are taken from the scenario's `[transport]`.
    pub transport: Transport,
    /// Application of the flow. Default: the scenario's `[application]`.
    pub application: ApplicationConfig,
    /// Wired leg at the source of this flow. Default: the scenario's `[access]`.
    pub access: Option<Leg>,
}

impl Flow {
    /// Whether the flow ends once all its data has arrived.
    pub fn is_transfer(&self) -> bool {
        self.application.ends()
    }

    /// The protocol as the engine runs it, over all paths of the flow.
    pub(super) fn protocol(&self) -> Arc<dyn transport::Protocol> {
        match &self.paths {
            Some(paths) => Arc::new(Multipath {
                tcp: self.transport.tcp.clone(),
                paths: paths.len(),
                scheduler: self.path_scheduler.unwrap_or_default(),
            }),
            None => self.transport.protocol(),
        }
    }
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            name: None,
            count: 1,
            start: Duration::ZERO,
            end: None,
            arrivals: None,
            from: None,
            to: None,
            route: None,
            return_route: None,
            paths: None,
            path_scheduler: None,
            transport: Transport::default(),
            application: ApplicationConfig::default(),
            access: None,
        }
    }
}
