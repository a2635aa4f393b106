//! Who sends what: `[transport]` and `[[flow]]`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::leg::Leg;
use crate::application::ApplicationConfig;
use crate::config::parts;
use crate::transport;
use crate::transport::quic::QuicOptions;
use crate::transport::tcp::TcpConfig;
use crate::transport::{Choice, Options};
use crate::units::Duration;

/// A transport protocol and its options; of those that belong to another protocol none counts.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct Transport {
    /// Which protocol.
    #[serde(flatten)]
    pub kind: TransportKind,
    /// The connection; of datagrams only the size of packets counts.
    #[serde(flatten)]
    pub tcp: TcpConfig,
    /// What QUIC has besides.
    #[serde(flatten)]
    pub besides: Besides,
}

parts!(Transport { kind, tcp, besides });

/// Which protocol a transport speaks.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct TransportKind {
    /// The protocol: "tcp", "quic", or "udp" for datagrams without acknowledgement. QUIC shares
    /// `congestion`, `packet`, `initial_window`, `cwnd_max` and `receive_window` with TCP.
    pub protocol: Choice,
}

/// Options of one protocol alone.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Besides {
    /// Of protocol "quic".
    pub quic: Option<QuicOptions>,
}

impl Transport {
    /// What the engine runs.
    pub(super) fn protocol(&self) -> Arc<dyn transport::Protocol> {
        let quic = self.besides.quic.clone().unwrap_or_default();
        self.kind.protocol.make(&Options { tcp: self.tcp.clone(), quic })
    }

    /// The same with what TCP's profile decides written out.
    pub(super) fn settled(self) -> Self {
        let is_tcp = self.kind.protocol.name() == "tcp";
        Self { tcp: if is_tcp { self.tcp.settled() } else { self.tcp }, ..self }
    }
}

/// One flow, or several of a kind.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Flow {
    /// How many of this kind.
    pub count: u32,
    /// When it starts.
    pub start: Duration,
    /// Its transport; keys left out are taken from the scenario's `[transport]`.
    pub transport: Transport,
    /// What drives it; the scenario's `[application]` unless given.
    pub application: ApplicationConfig,
    /// Its own wired leg at the source; the scenario's `[access]` unless given.
    pub access: Option<Leg>,
}

impl Flow {
    /// Whether it ends when all has arrived.
    pub fn is_transfer(&self) -> bool {
        self.application.ends()
    }
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            count: 1,
            start: Duration::ZERO,
            transport: Transport::default(),
            application: ApplicationConfig::default(),
            access: None,
        }
    }
}
