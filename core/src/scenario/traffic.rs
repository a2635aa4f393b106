//! Who sends what: `[transport]`, `[application]` and `[[flow]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::leg::Leg;
use crate::transport::tcp::{CongestionAlgorithm, DelayedAck, LinuxOptions, Profile};
use crate::units::Packets;
use crate::units::{BitRate, Bytes, Duration, Size};

/// A transport protocol and its options.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Transport {
    /// The protocol: "tcp", or "udp" for datagrams without acknowledgement.
    pub protocol: Protocol,
    /// Congestion control: "newreno", "cubic", "hybla", "westwood" and "compound"; "bbr" in the
    /// profile "linux".
    pub congestion: CongestionAlgorithm,
    /// Which stack the details follow: "papers" (the ns-2 agents of the papers) or "linux" (a
    /// kernel of today).
    pub profile: Profile,
    /// IP packet, headers included.
    pub packet: Bytes,
    /// Initial window; 2 packets in the profile "papers", 10 in "linux".
    pub initial_window: Option<Packets>,
    /// Delayed acknowledgement: false, true (40 ms) or its timer; off in the profile "papers", 40 ms
    /// and more in "linux".
    pub delayed_ack: Option<DelayedAck>,
    /// Upper limit of the congestion window. Without it the profile "papers", once it overshoots a
    /// deep queue, can stay in recovery for minutes, as ns-2 does.
    pub cwnd_max: Option<Packets>,
    /// Receive window.
    pub receive_window: Option<Size>,
    /// Timestamps (RFC 7323), 12 bytes of header; a segment carries 1448 bytes of a 1500-byte
    /// packet with them, 1460 without.
    pub timestamps: bool,
    /// Selective acknowledgements (RFC 2018). False: ns-2's Agent/TCP/Newreno (RFC 6582), for
    /// newreno in the profile "papers".
    pub sack: bool,
    /// Parts of the profile "linux" to be switched.
    pub linux: Option<LinuxOptions>,
}

impl Default for Transport {
    fn default() -> Self {
        Self {
            protocol: Protocol::Tcp,
            congestion: CongestionAlgorithm::CUBIC,
            profile: Profile::Papers,
            packet: Bytes(1500),
            initial_window: None,
            delayed_ack: None,
            cwnd_max: None,
            receive_window: None,
            timestamps: true,
            sack: true,
            linux: None,
        }
    }
}

impl Transport {
    /// Payload of a full packet.
    pub(super) fn payload(&self) -> u32 {
        let headers = match (self.protocol, self.timestamps) {
            (Protocol::Udp, _) => 28,
            (Protocol::Tcp, true) => 52,
            (Protocol::Tcp, false) => 40,
        };
        self.packet.0.saturating_sub(headers)
    }
}

/// A transport protocol.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Protocol {
    Tcp,
    Udp,
}

/// What drives a flow.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Application {
    /// "bulk" (always more to send), "file" (so many bytes) or "constant rate" (messages).
    #[serde(rename = "type")]
    pub kind: ApplicationKind,
    /// File: its size.
    pub size: Option<Size>,
    /// Constant rate: payload rate.
    pub rate: Option<BitRate>,
    /// Constant rate: payload of a message; what fits into a packet unless set.
    pub message: Option<Bytes>,
    /// Constant rate: when a message is too late to be of use.
    pub deadline: Option<Duration>,
}

/// What kind of application drives a flow.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum ApplicationKind {
    /// Always more to send.
    #[default]
    #[serde(rename = "bulk")]
    Bulk,
    /// A file of a given size.
    #[serde(rename = "file")]
    File,
    /// Messages of one size at a constant rate.
    #[serde(rename = "constant rate")]
    ConstantRate,
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
    pub application: Application,
    /// Its own wired leg at the source; the scenario's `[access]` unless given.
    pub access: Option<Leg>,
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            count: 1,
            start: Duration::ZERO,
            transport: Transport::default(),
            application: Application::default(),
            access: None,
        }
    }
}
