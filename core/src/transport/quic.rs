//! Options of QUIC beyond those shared with TCP. This module only describes a connection; the crate
//! `clift-quic` runs it, so that this crate needs no QUIC implementation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::Fault;
use crate::units::{Bytes, Duration, Size};

/// Options of QUIC. Defaults are those of quinn.
///
/// ```
/// use clift::transport::quic::QuicOptions;
/// let usual = QuicOptions::default();
/// assert_eq!(usual.check(), Ok(()));
/// let fault = QuicOptions { packet_threshold: 2, ..usual }.check().unwrap_err();
/// assert_eq!(fault.to_string(), "packet_threshold: 2 packets; give 3 (RFC 9002 section 6.1.1) or more");
/// ```
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Quic")]
pub struct QuicOptions {
    /// UDP payload of the first packets, at least 1200 bytes.
    pub initial_mtu: Bytes,
    /// Path MTU discovery (RFC 8899): the sender tries larger packets, up to the transport's
    /// `packet`.
    pub mtu_discovery: bool,
    /// Assumed round-trip time before the first measurement (RFC 9002 section 6.2.2).
    pub initial_rtt: Duration,
    /// A packet counts as lost once a packet sent this many packets later is acknowledged (RFC 9002
    /// section 6.1.1).
    pub packet_threshold: u32,
    /// A packet counts as lost this many round-trip times after it was sent, if a later packet is
    /// acknowledged (RFC 9002 section 6.1.2).
    pub time_threshold: f64,
    /// Number of consecutive probe timeouts that means persistent congestion (RFC 9002 section
    /// 7.6).
    pub persistent_congestion_threshold: u32,
    /// Limit of the unacknowledged bytes that the sender stores; eight receive windows unless set, 64 MB if those are not set either.
    pub send_window: Option<Size>,
    /// A connection that receives nothing for this time ends silently (RFC 9000 section 10.1).
    pub idle_timeout: Duration,
    /// ACK frequency (draft-ietf-quic-ack-frequency): number of packets that the receiver may
    /// receive without sending an acknowledgement. Unless set, the extension is off and the
    /// receiver acknowledges every second packet, as with 1.
    pub ack_eliciting_threshold: Option<u32>,
    /// ACK frequency: longest delay of an acknowledgement. Default 25 ms; at most the larger of 25
    /// ms and the round-trip time.
    pub max_ack_delay: Option<Duration>,
    /// ACK frequency: number of out-of-order packets that triggers an immediate acknowledgement; 0
    /// means never. Default 2.
    pub reordering_threshold: Option<u32>,
    /// Size of the server's certificates in the handshake. One Ed25519 certificate has about 300
    /// bytes; the chains of web servers have 2 to 4 kB, and the limit on data sent before the
    /// client's address is validated (RFC 9000 section 8) may then cost a round trip.
    pub certificate: Bytes,
    /// The client resumes an earlier connection to the same server: its first data or request leave
    /// with its first packets (0-RTT, RFC 9001 section 4.6), and the server sends no certificates.
    pub zero_rtt: bool,
}

impl Default for QuicOptions {
    fn default() -> Self {
        Self {
            initial_mtu: Bytes(1200),
            mtu_discovery: true,
            initial_rtt: Duration::from_millis(333),
            packet_threshold: 3,
            time_threshold: 1.125,
            persistent_congestion_threshold: 3,
            send_window: None,
            idle_timeout: Duration::from_secs(30),
            ack_eliciting_threshold: None,
            max_ack_delay: None,
            reordering_threshold: None,
            certificate: Bytes(300),
            zero_rtt: false,
        }
    }
}

/// Smallest UDP payload that every path supports (RFC 9000 section 14).
pub const LEAST_PAYLOAD: u32 = 1200;

impl QuicOptions {
    /// Validates the options.
    ///
    /// # Errors
    /// The field that is wrong, and a valid value.
    pub fn check(&self) -> Result<(), Fault> {
        let fault = |field: &str, message: String| Err(Fault::new(field, message));
        if !(LEAST_PAYLOAD..=65_507).contains(&self.initial_mtu.0) {
            let message =
                format!("{} bytes of UDP payload; give 1200 to 65507", self.initial_mtu.0);
            return fault("initial_mtu", message);
        }
        if self.initial_rtt == Duration::ZERO {
            return fault("initial_rtt", "is zero; give a time above zero".to_owned());
        }
        if self.packet_threshold < 3 {
            let message = format!(
                "{} packets; give 3 (RFC 9002 section 6.1.1) or more",
                self.packet_threshold
            );
            return fault("packet_threshold", message);
        }
        if !(1.0..=1000.0).contains(&self.time_threshold) {
            let message = format!("{} round-trip times; give 1 to 1000", self.time_threshold);
            return fault("time_threshold", message);
        }
        if self.persistent_congestion_threshold == 0 {
            let message = "0 timeouts; give 1 or more (RFC 9002: 3)".to_owned();
            return fault("persistent_congestion_threshold", message);
        }
        if self.send_window == Some(Size(0)) {
            return fault("send_window", "is zero; give 1 B or more".to_owned());
        }
        if self.idle_timeout < Duration::from_millis(1) {
            let message = "is below a millisecond, the unit of the QUIC field; give 1 ms or more";
            return fault("idle_timeout", message.to_owned());
        }
        if !(100..=16_000).contains(&self.certificate.0) {
            let message =
                format!("{} bytes of certificates; give 100 to 16000", self.certificate.0);
            return fault("certificate", message);
        }
        Ok(())
    }
}
