//! From `[transport]` to a TCP connection, and the parts of a kernel's: `[transport.linux]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limit::DelayedAck;
use super::traffic::{Congestion, Profile, Transport};
use crate::config::Fault;
use crate::config::join;
use crate::transport::tcp::{CongestionAlgorithm, LinuxOptions, TcpConfig};
use crate::units::Bytes;
use crate::units::Packets;

/// Parts of the profile "linux", named after the kernel's settings.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Linux {
    /// A SYN and its answer go before the data.
    pub handshake: bool,
    /// Losses are detected by the time of sending (RACK, RFC 8985), else by the number of segments
    /// SACKed above (RFC 6675).
    pub rack: bool,
    /// Tail loss probes (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// Proportional rate reduction (RFC 6937), else the window falls at once.
    pub prr: bool,
    /// Duplicates are reported (RFC 2883) and made use of.
    pub dsack: bool,
    /// Reductions that prove spurious are taken back.
    pub undo: bool,
    /// Spurious timeouts are detected by what is acknowledged after them (RFC 5682).
    pub frto: bool,
    /// How far the reordering degree may rise, in segments, 3 or more; 3: it does not adapt.
    pub max_reordering: u32,
    /// CUBIC leaves slow start when the round-trip time rises.
    pub hystart: bool,
    /// The first segments, and those after duplicates or long gaps, are acknowledged at once.
    pub quick_ack: bool,
    /// A window unused for a timeout decays (RFC 2861).
    pub slow_start_after_idle: bool,
    /// Segments leave spaced by a share of the round-trip time instead of in bursts.
    pub pacing: bool,
}

impl Default for Linux {
    fn default() -> Self {
        let LinuxOptions {
            handshake,
            rack,
            tail_loss_probe,
            prr,
            dsack,
            undo,
            frto,
            max_reordering,
            hystart,
            quick_ack,
            slow_start_after_idle,
            pacing,
        } = LinuxOptions::default();
        Self {
            handshake,
            rack,
            tail_loss_probe,
            prr,
            dsack,
            undo,
            frto,
            max_reordering,
            hystart,
            quick_ack,
            slow_start_after_idle,
            pacing,
        }
    }
}

impl From<Linux> for LinuxOptions {
    fn from(part: Linux) -> Self {
        Self {
            handshake: part.handshake,
            rack: part.rack,
            tail_loss_probe: part.tail_loss_probe,
            prr: part.prr,
            dsack: part.dsack,
            undo: part.undo,
            frto: part.frto,
            max_reordering: part.max_reordering,
            hystart: part.hystart,
            quick_ack: part.quick_ack,
            slow_start_after_idle: part.slow_start_after_idle,
            pacing: part.pacing,
        }
    }
}

/// The connection that `[transport]` (found at `key`) describes.
///
/// # Errors
/// If there is no such connection.
pub(super) fn connection(key: &str, config: &Transport) -> Result<TcpConfig, Fault> {
    let congestion = match config.congestion {
        Congestion::Newreno => CongestionAlgorithm::NEWRENO,
        Congestion::Cubic => CongestionAlgorithm::CUBIC,
        Congestion::Hybla => CongestionAlgorithm::HYBLA,
        Congestion::Westwood => CongestionAlgorithm::WESTWOOD,
        Congestion::Compound => CongestionAlgorithm::COMPOUND,
        Congestion::Bbr => CongestionAlgorithm::BBR,
    };
    let packets = |Packets(count): Packets| u32::try_from(count.get()).unwrap_or(u32::MAX);
    let mut tcp = match config.profile {
        Profile::Papers => TcpConfig::papers(congestion),
        Profile::Linux => TcpConfig::linux(congestion),
    };
    tcp.packet = config.packet;
    tcp.timestamps = config.timestamps;
    tcp.sack = config.sack;
    if let Some(window) = config.initial_window {
        tcp.initial_window = packets(window);
    }
    tcp.cwnd_max = config.cwnd_max.map(packets);
    tcp.receive_window =
        config.receive_window.map(|size| Bytes(u32::try_from(size.0).unwrap_or(u32::MAX)));
    match config.delayed_ack {
        None => {}
        Some(DelayedAck::Off) => tcp.delayed_ack = None,
        Some(DelayedAck::After(time)) => tcp.delayed_ack = Some(time),
    }
    match (config.linux, config.profile) {
        (None, _) => {}
        (Some(parts), Profile::Linux) => tcp.linux = parts.into(),
        (Some(_), Profile::Papers) => {
            let cure = "belongs to profile = \"linux\"; set the profile, or leave it out";
            return Err(Fault::new(&join(key, "linux"), cure));
        }
    }
    tcp.check().map_err(|error| Fault::new(key, error.to_string()))?;
    Ok(tcp)
}
